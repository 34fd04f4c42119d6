#include "base/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace gimbal {
namespace {

TEST(WorkerPool, StopRunsWhatIsQueuedAndRefusesMore) {
  std::atomic<int> ran{0};
  WorkerPool pool("test", 2, 100);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(pool.TrySubmit([&] { ++ran; }));
  pool.Stop();
  EXPECT_EQ(ran.load(), 50);
  EXPECT_FALSE(pool.TrySubmit([] {}));
}

TEST(WorkerPool, AFullQueueIsAValueNotAWait) {
  std::latch started(1);
  std::latch release(1);
  WorkerPool pool("test", 1, 1);
  ASSERT_TRUE(pool.TrySubmit([&] {
    started.count_down();
    release.wait();
  }));
  started.wait();
  EXPECT_TRUE(pool.TrySubmit([] {}));
  EXPECT_FALSE(pool.TrySubmit([] {}));
  release.count_down();
}

}  // namespace
}  // namespace gimbal
