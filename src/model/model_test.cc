#include <gtest/gtest.h>

#include "model/names.h"
#include "model/tensor.h"

namespace gimbal::model {
namespace {

TEST(Names, RoundTripAndNameTheChoices) {
  EXPECT_EQ(ParseScenario("batch").value(), Scenario::kBatch);
  EXPECT_EQ(ScenarioName(Scenario::kEdge), "edge");
  EXPECT_EQ(ParseScenario("fast").status().message(),
            "expected online, batch or edge, got \"fast\"");
  EXPECT_EQ(ParseLane("bulk").value(), Lane::kBulk);
}

TEST(Tensor, TypesHaveTheNamesOfTheProtocol) {
  EXPECT_EQ(DataTypeName(DataType::kBf16), "BF16");
  EXPECT_EQ(ParseDataType("INT64"), DataType::kInt64);
  EXPECT_FALSE(ParseDataType("int64").has_value());
  EXPECT_EQ(ElementSize(DataType::kFp16), 2u);
  EXPECT_EQ(ShapeText({-1, 384}), "[-1,384]");
}

}  // namespace
}  // namespace gimbal::model
