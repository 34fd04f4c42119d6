#include "engine/onnxruntime/onnx_facts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

namespace gimbal::engine {
namespace {

// Field numbers of onnx.proto3, of the messages that lead to nodes and tensors.
namespace model_proto {
enum : uint32_t { kIrVersion = 1, kGraph = 7, kOpsetImport = 8, kFunctions = 25 };
}
namespace graph_proto {
enum : uint32_t { kNode = 1, kInitializer = 5, kSparseInitializer = 15 };
}
namespace node_proto {
enum : uint32_t { kOpType = 4, kAttribute = 5 };
}
namespace attribute_proto {
enum : uint32_t { kTensor = 5, kGraph = 6, kTensors = 10, kGraphs = 11 };
}
namespace tensor_proto {
enum : uint32_t {
  kFloats = 4,
  kInt32s,
  kStrings,
  kInt64s,
  kRaw = 9,
  kDoubles,
  kUint64s,
  kExternal = 13
};
}

// Deeper nesting of If and Loop bodies than any real model has; it bounds the recursion.
constexpr int kMaxDepth = 32;

struct Field {
  uint32_t number = 0;
  std::string_view bytes = {};  // of a length-delimited field, else empty
  bool delimited = false;
};

// Splits a protobuf message into its fields.
class Message {
 public:
  explicit Message(std::string_view rest) : rest_(rest) {}

  bool at_end() const { return rest_.empty(); }

  // The next field, or nothing when the bytes are no protobuf.
  std::optional<Field> Next() {
    const auto tag = Varint();
    if (!tag || (*tag >> 3) == 0 || (*tag >> 3) > UINT32_MAX) return std::nullopt;
    Field field{.number = static_cast<uint32_t>(*tag >> 3)};
    switch (*tag & 7) {
      case 0:
        return Varint() ? std::optional(field) : std::nullopt;
      case 1:
        return Take(8) ? std::optional(field) : std::nullopt;
      case 5:
        return Take(4) ? std::optional(field) : std::nullopt;
      case 2:
        break;
      default:
        return std::nullopt;
    }
    const auto size = Varint();
    if (!size) return std::nullopt;
    const auto bytes = Take(*size);
    if (!bytes) return std::nullopt;
    field.bytes = *bytes;
    field.delimited = true;
    return field;
  }

 private:
  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::optional<std::string_view> Take(uint64_t size) {
    if (size > rest_.size()) return std::nullopt;
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
};

class FactsReader {
 public:
  explicit FactsReader(const std::string& dir) : dir_(dir) {}

  // False: the bytes are not what they should be.
  bool Model(std::string_view bytes) {
    bool has_graph = false;
    const bool whole = EachField(bytes, [&](const Field& field) {
      if (field.number == model_proto::kFunctions) return Function(field.bytes);
      if (field.number != model_proto::kGraph) return true;
      has_graph = true;
      return field.delimited && Graph(field.bytes, 0);
    });
    return whole && has_graph;
  }

  GraphFacts Take() && { return std::move(facts_); }

 private:
  template <typename Visit>
  static bool EachField(std::string_view bytes, const Visit& visit) {
    Message message(bytes);
    while (!message.at_end()) {
      const auto field = message.Next();
      if (!field || !visit(*field)) return false;
    }
    return true;
  }

  bool Graph(std::string_view bytes, int depth) {
    if (depth > kMaxDepth) return false;
    return EachField(bytes, [&](const Field& field) {
      if (field.number == graph_proto::kNode) return Node(field.bytes, depth);
      if (field.number == graph_proto::kInitializer) return Tensor(field.bytes);
      if (field.number == graph_proto::kSparseInitializer) {
        facts_.weights.value += static_cast<int64_t>(field.bytes.size());
      }
      return true;
    });
  }

  bool Function(std::string_view bytes) {
    constexpr uint32_t kNode = 7;
    return EachField(
        bytes, [&](const Field& field) { return field.number != kNode || Node(field.bytes, 0); });
  }

  bool Node(std::string_view bytes, int depth) {
    return EachField(bytes, [&](const Field& field) {
      if (field.number == node_proto::kOpType) ++facts_.operators[std::string(field.bytes)];
      return field.number != node_proto::kAttribute || Attribute(field.bytes, depth);
    });
  }

  bool Attribute(std::string_view bytes, int depth) {
    return EachField(bytes, [&](const Field& field) {
      if (!field.delimited) return true;
      switch (field.number) {
        case attribute_proto::kGraph:
        case attribute_proto::kGraphs:
          return Graph(field.bytes, depth + 1);
        case attribute_proto::kTensor:
        case attribute_proto::kTensors:
          return Tensor(field.bytes);
        default:
          return true;
      }
    });
  }

  bool Tensor(std::string_view bytes) {
    std::string location, length;
    const bool whole = EachField(bytes, [&](const Field& field) {
      switch (field.number) {
        case tensor_proto::kFloats:
        case tensor_proto::kInt32s:
        case tensor_proto::kStrings:
        case tensor_proto::kInt64s:
        case tensor_proto::kRaw:
        case tensor_proto::kDoubles:
        case tensor_proto::kUint64s:
          facts_.weights.value += static_cast<int64_t>(field.bytes.size());
          return true;
        case tensor_proto::kExternal:
          return External(field.bytes, &location, &length);
        default:
          return true;
      }
    });
    if (!location.empty()) AddExternal(location, length);
    return whole;
  }

  static bool External(std::string_view bytes, std::string* location, std::string* length) {
    std::string key, value;
    const bool whole = EachField(bytes, [&](const Field& field) {
      if (field.number == 1) key = field.bytes;
      if (field.number == 2) value = field.bytes;
      return true;
    });
    if (key == "location") *location = value;
    if (key == "length") *length = value;
    return whole;
  }

  void AddExternal(const std::string& location, const std::string& length) {
    auto& files = facts_.weight_files;
    if (std::find(files.begin(), files.end(), location) == files.end()) files.push_back(location);
    char* end = nullptr;
    const long long bytes = std::strtoll(length.c_str(), &end, 10);
    if (!length.empty() && *end == '\0' && bytes > 0 && bytes < (1LL << 50)) {
      facts_.weights.value += bytes;
      return;
    }
    std::error_code error;
    const auto size = std::filesystem::file_size(std::filesystem::path(dir_) / location, error);
    if (!error) facts_.weights.value += static_cast<int64_t>(size);
  }

  const std::string dir_;
  GraphFacts facts_;
};

// A whole file, mapped for reading.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat info;
    if (fd_ < 0 || fstat(fd_, &info) != 0) {
      error_ = errno;
      return;
    }
    if (!S_ISREG(info.st_mode)) {
      error_ = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
      return;
    }
    if (info.st_size == 0) return;
    data_ = mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, fd_, 0);
    if (data_ == MAP_FAILED) {
      error_ = errno;
      return;
    }
    size_ = info.st_size;
  }
  ~MappedFile() {
    if (size_ > 0) munmap(data_, size_);
    if (fd_ >= 0) close(fd_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  int error() const { return error_; }
  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  const int fd_;
  int error_ = 0;
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

Result<GraphFacts> ParseOnnxFacts(std::string_view bytes, const std::string& dir) {
  if (bytes.empty()) return InvalidError("the file is empty, expected an ONNX graph");
  if (bytes.starts_with("version https://git-lfs")) {
    return InvalidError(
        "this is a Git LFS pointer, not the graph itself; fetch it with git lfs pull");
  }
  FactsReader reader(dir);
  if (!reader.Model(bytes)) return InvalidError("not an ONNX file, or cut short");
  return std::move(reader).Take();
}

Result<GraphFacts> ReadOnnxFacts(const std::string& path) {
  const MappedFile file(path);
  if (file.error() != 0) {
    const std::string message = fmt::format("{}: {}", path, std::strerror(file.error()));
    return file.error() == ENOENT ? NotFoundError(message) : InvalidError(message);
  }
  Result<GraphFacts> facts =
      ParseOnnxFacts(file.bytes(), std::filesystem::path(path).parent_path().string());
  if (!facts.ok()) return facts.status().WithContext(path);
  return facts;
}

}  // namespace gimbal::engine
