#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gimbal::preprocess {

// From the bytes of a token to its id: an open-addressing table, half empty, bytes side by side in
// one string. The hash is extended byte by byte, so that one walk over a word gives the hashes of
// all its prefixes. Filled by one thread; then immutable and readable by any.
class TokenTable {
 public:
  static constexpr uint64_t kEmptyHash = 0xcbf29ce484222325u;
  static uint64_t ExtendHash(uint64_t hash, char c) {
    return (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  }

  // REQUIRES: tokens <= 2^30.
  explicit TokenTable(size_t tokens = 0);

  // False, and nothing changed, when the token is there already. REQUIRES: fewer than `tokens` yet.
  bool Insert(std::string_view token, int32_t id);

  // The token's id, or -1. REQUIRES: hash is kEmptyHash extended by all bytes of token.
  int32_t Find(std::string_view token, uint64_t hash) const;
  int32_t Find(std::string_view token) const { return Find(token, Hash(token)); }

  size_t size() const { return size_; }
  size_t longest() const { return longest_; }  // bytes of the longest token

 private:
  struct Slot {
    uint32_t offset = 0;
    uint32_t length = 0;
    uint32_t tag = 0;  // low half of the hash: most other tokens differ in it
    int32_t id = -1;   // -1: free
  };
  static uint64_t Hash(std::string_view token);
  // The multiplication carries upwards only, so the high bits are the well mixed ones.
  size_t FirstSlot(uint64_t hash) const { return (hash * 0x9E3779B97F4A7C15u) >> shift_; }

  std::vector<Slot> slots_;
  std::string bytes_;
  int shift_;
  size_t size_ = 0;
  size_t longest_ = 0;
};

}  // namespace gimbal::preprocess
