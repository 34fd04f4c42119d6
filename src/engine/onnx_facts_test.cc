#include "engine/onnxruntime/onnx_facts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace gimbal::engine {
namespace {

std::string TestGraph(const std::string& name) {
  std::ifstream file(std::string(GIMBAL_SOURCE_DIR) + "/src/engine/testdata/" + name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A protobuf field of bytes.
std::string Delimited(int number, const std::string& bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) out += static_cast<char>(size | 0x80);
  out += static_cast<char>(size);
  return out + bytes;
}

TEST(OnnxFacts, CountsNodesOfBranchesAndBytesOfConstants) {
  const auto facts = ParseOnnxFacts(TestGraph("branch.onnx"), "").value();
  EXPECT_EQ(
      facts.operators,
      (std::map<std::string, int>{
          {"DequantizeLinear", 1}, {"DynamicQuantizeLinear", 1}, {"Identity", 1}, {"If", 1}}));
  EXPECT_EQ(ParseOnnxFacts(TestGraph("sum.onnx"), "").value().weights, Bytes{16});
  EXPECT_EQ(ParseOnnxFacts(TestGraph("reshape.onnx"), "").value().weights, Bytes{16});
}

TEST(OnnxFacts, NoBytesAreDangerous) {
  const std::string good = TestGraph("branch.onnx");
  for (size_t size = 1; size < good.size(); ++size) {
    (void)ParseOnnxFacts(std::string_view(good).substr(0, size), "").ok();
  }
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ change);
      (void)ParseOnnxFacts(bad, "").ok();
    }
  }
  EXPECT_FALSE(ParseOnnxFacts(std::string(100, '\xff'), "").ok());
  EXPECT_FALSE(ParseOnnxFacts("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "").ok());
}

TEST(OnnxFacts, EndlessNestingIsRefusedAndNotFollowed) {
  std::string graph = Delimited(1, Delimited(4, "Relu"));
  const auto nested = [](const std::string& inner) {
    return Delimited(1, Delimited(4, "If") + Delimited(5, Delimited(6, inner)));
  };
  for (int i = 0; i < 20; ++i) graph = nested(graph);
  EXPECT_EQ(ParseOnnxFacts(Delimited(7, graph), "").value().operators.at("If"), 20);
  for (int i = 0; i < 5000; ++i) graph = nested(graph);
  EXPECT_FALSE(ParseOnnxFacts(Delimited(7, graph), "").ok());
}

}  // namespace
}  // namespace gimbal::engine
