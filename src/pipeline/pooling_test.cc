#include "pipeline/pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gimbal::pipeline {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

model::TensorView View(std::vector<float>& data, model::Shape shape) {
  return {.name = "last_hidden_state",
          .type = model::DataType::kFp32,
          .shape = std::move(shape),
          .data = data.data(),
          .size_bytes = data.size() * sizeof(float)};
}

struct Case {
  Pooling pooling;
  std::vector<float> first;   // of the row with two tokens
  std::vector<float> second;  // of the row with three
};

// Two rows padded to three positions; what padding holds must not matter.
class PoolingModes : public ::testing::TestWithParam<Case> {};

TEST_P(PoolingModes, KnownValuesWhateverPaddingHolds) {
  for (const float padding : {kNan, std::numeric_limits<float>::infinity(), 0.0f, 1e30f}) {
    std::vector<float> states = {1, -4, 3,  2, padding, padding,  // tokens (1,-4), (3,2)
                                 0, 1,  -1, 5, 7,       -3};      // (0,1), (-1,5), (7,-3)
    std::vector<std::vector<float>> rows;
    const std::vector<int> lengths = {2, 3};
    ASSERT_TRUE(
        PoolBatch(View(states, {2, 3, 2}), lengths, {GetParam().pooling, false}, &rows).ok());
    ASSERT_EQ(rows.size(), 2u);
    for (int i = 0; i < 2; ++i) {
      EXPECT_FLOAT_EQ(rows[0][i], GetParam().first[i])
          << PoolingName(GetParam().pooling) << padding;
      EXPECT_FLOAT_EQ(rows[1][i], GetParam().second[i])
          << PoolingName(GetParam().pooling) << padding;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PoolingModes,
                         ::testing::Values(Case{Pooling::kMean, {2, -1}, {2, 1}},
                                           Case{Pooling::kCls, {1, -4}, {0, 1}},
                                           Case{Pooling::kMax, {3, 2}, {7, 5}},
                                           Case{Pooling::kMeanSqrtLen,
                                                {4 / std::sqrt(2.0f), -2 / std::sqrt(2.0f)},
                                                {6 / std::sqrt(3.0f), 3 / std::sqrt(3.0f)}}));

TEST(Pooling, NormalizedRowsHaveLengthOne) {
  std::vector<float> states = {3, 4, kNan, kNan, 3, 4, -3, 4};
  std::vector<std::vector<float>> rows;
  const std::vector<int> lengths = {1, 2};
  ASSERT_TRUE(PoolBatch(View(states, {2, 2, 2}), lengths, {Pooling::kMean, true}, &rows).ok());
  EXPECT_FLOAT_EQ(rows[0][0], 0.6f);
  EXPECT_FLOAT_EQ(rows[0][1], 0.8f);
  EXPECT_FLOAT_EQ(rows[1][0], 0.0f);
  EXPECT_FLOAT_EQ(rows[1][1], 1.0f);
}

TEST(Pooling, AZeroVectorStaysZero) {
  std::vector<float> zero(4, 0.0f);
  Normalize(zero);
  for (const float value : zero) EXPECT_EQ(value, 0.0f);
}

TEST(Pooling, WhatTheModelPooledIsOnlyNormalized) {
  std::vector<float> states = {3, 4, 0, 2};
  std::vector<std::vector<float>> rows;
  const std::vector<int> lengths = {9, 1};
  ASSERT_TRUE(PoolBatch(View(states, {2, 2}), lengths, {Pooling::kMax, true}, &rows).ok());
  EXPECT_FLOAT_EQ(rows[0][1], 0.8f);
  EXPECT_FLOAT_EQ(rows[1][1], 1.0f);
}

TEST(Pooling, ALongMeanIsExactToAMillionth) {
  constexpr int kTokens = 4096, kDim = 3;
  std::vector<float> states;
  std::vector<long double> sums(kDim);
  for (int i = 0; i < kTokens * kDim; ++i) {
    states.push_back(1000.0f + std::sin(static_cast<float>(i)));
    sums[i % kDim] += states.back();
  }
  std::vector<float> out(kDim);
  PoolTokens(Pooling::kMean, states, kTokens, out);
  for (int i = 0; i < kDim; ++i) {
    EXPECT_NEAR(out[i] / static_cast<double>(sums[i] / kTokens), 1.0, 1e-7);
  }
}

TEST(Pooling, OutputsThatDoNotFitAreErrors) {
  std::vector<float> states(12);
  std::vector<std::vector<float>> rows;
  const std::vector<int> lengths = {1, 3};
  const auto pool = [&](model::TensorView view) {
    return PoolBatch(view, lengths, {}, &rows).message();
  };
  EXPECT_EQ(pool(View(states, {3, 2, 2})),
            "output \"last_hidden_state\" is FP32 [3,2,2], expected 2 rows");
  EXPECT_EQ(pool(View(states, {2, 2, 3})),
            "output \"last_hidden_state\" is FP32 [2,2,3], expected at least 3 positions");
  EXPECT_NE(pool(View(states, {2, 3, 2, 1})), "");
  model::TensorView halves = View(states, {2, 3, 2});
  halves.type = model::DataType::kFp16;
  EXPECT_NE(pool(halves), "");
}

}  // namespace
}  // namespace gimbal::pipeline
