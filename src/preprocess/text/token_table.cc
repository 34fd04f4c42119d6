#include "preprocess/text/token_table.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace gimbal::preprocess {

TokenTable::TokenTable(size_t tokens) : slots_(std::bit_ceil(std::max<size_t>(2 * tokens, 2))) {
  shift_ = 64 - std::countr_zero(slots_.size());
}

uint64_t TokenTable::Hash(std::string_view token) {
  uint64_t hash = kEmptyHash;
  for (const char c : token) hash = ExtendHash(hash, c);
  return hash;
}

bool TokenTable::Insert(std::string_view token, int32_t id) {
  CHECK(2 * size_ < slots_.size(), "the constructor was told how many tokens come");
  const uint64_t hash = Hash(token);
  if (Find(token, hash) >= 0) return false;
  size_t i = FirstSlot(hash);
  while (slots_[i].id >= 0) i = (i + 1) & (slots_.size() - 1);
  slots_[i] = {static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(token.size()),
               static_cast<uint32_t>(hash), id};
  bytes_.append(token);
  ++size_;
  longest_ = std::max(longest_, token.size());
  return true;
}

int32_t TokenTable::Find(std::string_view token, uint64_t hash) const {
  for (size_t i = FirstSlot(hash);; i = (i + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[i];
    if (slot.id < 0) return -1;
    if (slot.tag == static_cast<uint32_t>(hash) && slot.length == token.size() &&
        std::string_view(bytes_).substr(slot.offset, slot.length) == token) {
      return slot.id;
    }
  }
}

}  // namespace gimbal::preprocess
