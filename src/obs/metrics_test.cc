#include "obs/metrics.h"

#include <gtest/gtest.h>

#include <thread>

namespace gimbal::obs {
namespace {

TEST(Metrics, TextHasCumulativeBucketsAndEscapedLabels) {
  Metrics metrics;
  const std::array bounds = {1.0, 2.0};
  auto h = metrics.AddHistogram("h", "Help.", {{"model", "a\"b\\"}}, bounds);
  h->Observe(0.5);
  h->Observe(1.0);  // a bound belongs to its own bucket
  h->Observe(5.0);
  const std::string text = metrics.Text();
  EXPECT_NE(text.find("# TYPE h histogram\n"), std::string::npos) << text;
  EXPECT_NE(text.find("h_bucket{model=\"a\\\"b\\\\\",le=\"1\"} 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("le=\"2\"} 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("le=\"+Inf\"} 3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("h_sum{model=\"a\\\"b\\\\\"} 6.5\n"), std::string::npos) << text;
}

TEST(Metrics, ASeriesLeavesWithItsOwner) {
  Metrics metrics;
  auto counter = metrics.AddCounter("c", "Help.", {});
  auto gauge = metrics.AddGauge("g", "Help.", {{"k", "v"}}, [] { return 2.5; });
  counter->Add(3);
  EXPECT_NE(metrics.Text().find("c 3\n"), std::string::npos) << metrics.Text();
  EXPECT_NE(metrics.Text().find("g{k=\"v\"} 2.5\n"), std::string::npos);
  counter.reset();
  gauge.reset();
  EXPECT_EQ(metrics.Text(), "");
}

TEST(Metrics, CountsFromManyThreadsAreAllThere) {
  Metrics metrics;
  auto counter = metrics.AddCounter("c", "Help.", {});
  auto histogram = metrics.AddHistogram("h", "Help.", {}, SecondsBuckets());
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        counter->Add();
        histogram->Observe(0.001);
        if (i % 100 == 0) {
          EXPECT_FALSE(metrics.Text().empty());
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(counter->value(), 4000u);
  EXPECT_EQ(histogram->Take().count, 4000u);
}

}  // namespace
}  // namespace gimbal::obs
