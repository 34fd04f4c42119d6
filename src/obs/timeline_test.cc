#include "obs/timeline.h"

#include <gtest/gtest.h>

namespace gimbal::obs {
namespace {

using std::chrono::milliseconds;

TimePoint At(int ms) { return TimePoint(std::chrono::seconds(5)) + milliseconds(ms); }

TEST(Timeline, MarkedStagesAddUpToTheTotal) {
  Timeline t;
  t.Begin(At(0));
  t.End(Stage::kReceive, At(1));
  t.End(Stage::kParse, At(3));
  t.End(Stage::kModel, At(13));  // the stages between never happened
  t.End(Stage::kSend, At(14));
  Duration sum{};
  for (int i = 0; i < kStageCount; ++i) sum += t.Of(static_cast<Stage>(i));
  EXPECT_EQ(sum, t.Total());
  EXPECT_EQ(t.Of(Stage::kParse), milliseconds(2));
  EXPECT_EQ(t.Of(Stage::kQueue), Duration::zero());
  EXPECT_EQ(t.Of(Stage::kModel), milliseconds(10));
}

TEST(StageSpans, RunFromTheFirstStartToTheLastEnd) {
  StageSpans spans;
  for (const int shift : {0, 5}) {
    Timeline t;
    t.Begin(At(0));
    t.End(Stage::kQueue, At(2 + shift));
    t.End(Stage::kModel, At(10 + shift));
    spans.Add(t);
  }
  EXPECT_EQ(spans.Of(Stage::kModel), milliseconds(13));
  EXPECT_EQ(spans.Of(Stage::kAssemble), Duration::zero());
}

TEST(ServerTiming, NamesEachStageThroughSerializeThenTheTotal) {
  Timeline t;
  t.Begin(At(0));
  t.End(Stage::kReceive, At(1));
  StageSpans spans;
  spans.Add(t);
  const std::string text = ServerTiming(spans, milliseconds(4));
  EXPECT_EQ(text.rfind("receive;dur=1.000, parse;dur=0.000, ", 0), 0u) << text;
  EXPECT_NE(text.find("serialize;dur=0.000, total;dur=4.000"), std::string::npos) << text;
  EXPECT_EQ(text.find("send"), std::string::npos);
}

}  // namespace
}  // namespace gimbal::obs
