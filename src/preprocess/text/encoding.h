#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gimbal::preprocess {

// A text as a model reads it. Reuse one for many texts: its buffers are kept.
struct Encoding {
  // Half-open range of Unicode characters of the original text; {0, 0} for tokens that were added.
  struct Span {
    uint32_t begin = 0;
    uint32_t end = 0;
    bool operator==(const Span&) const = default;
  };

  std::vector<int32_t> ids;
  std::vector<int32_t> type_ids;  // as long as ids
  std::vector<Span> offsets;      // as long as ids when asked for, else empty
  bool truncated = false;         // the text had more tokens than EncodeOptions::max_length allows
  // How much of the text (of both texts) was tokenised: less than all only when truncated.
  size_t bytes_read = 0;

  void Clear();
};

inline void Encoding::Clear() {
  ids.clear();
  type_ids.clear();
  offsets.clear();
  truncated = false;
  bytes_read = 0;
}

}  // namespace gimbal::preprocess
