#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace gimbal {

// A few named threads behind one bounded queue, for work too long for an I/O thread. Owned by
// `app`; any thread may submit. Jobs must not throw and run in order of submission.
class WorkerPool {
 public:
  // `name` is shown by tools such as top, at most 12 characters.
  WorkerPool(std::string name, int threads, size_t max_queued);
  ~WorkerPool();  // Stop()

  // Never blocks. False when the queue is full or the pool has stopped; the job then never runs.
  bool TrySubmit(std::function<void()> job);
  size_t queued();  // jobs that have not begun
  // Runs what is queued, then joins. Idempotent.
  void Stop();

 private:
  void Run();

  // Constant after construction.
  const size_t max_queued_;

  Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> jobs_ GUARDED_BY(mu_);
  bool stopping_ GUARDED_BY(mu_) = false;

  std::vector<std::thread> threads_;  // joined by Stop
};

// Names the calling thread for top, gdb and the like.
void SetThreadName(const std::string& name);

}  // namespace gimbal
