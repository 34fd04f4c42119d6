#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gimbal::model {

// Element types, by the names of the Open Inference Protocol.
enum class DataType {
  kBool,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFp16,
  kBf16,
  kFp32,
  kFp64,
  kBytes,
};

std::string_view DataTypeName(DataType type);  // "INT64"
std::optional<DataType> ParseDataType(std::string_view name);
size_t ElementSize(DataType type);  // bytes; 0 for kBytes, whose elements differ in size

using Shape = std::vector<int64_t>;         // -1: any size
std::string ShapeText(const Shape& shape);  // "[-1,384]"

// What a model declares of one input or output.
struct TensorSpec {
  std::string name;
  DataType type = DataType::kFp32;
  Shape shape;
};

struct Signature {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
};

// A dense row-major tensor in memory that someone else owns.
struct TensorView {
  std::string_view name;
  DataType type = DataType::kFp32;
  Shape shape;
  void* data = nullptr;
  size_t size_bytes = 0;
};

}  // namespace gimbal::model
