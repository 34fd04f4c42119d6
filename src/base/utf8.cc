#include "base/utf8.h"

#include <cstdint>

namespace gimbal {
namespace {

struct Step {
  size_t length;  // bytes that belong together
  bool valid;
};

// The well-formed byte sequences are those of the Unicode standard, table 3-7.
Step NextSequence(std::string_view s) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
  const uint8_t lead = at(0);
  if (lead < 0x80) return {1, true};
  size_t length = 0;
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {1, false};
  }
  for (size_t i = 1; i < length; ++i) {
    if (i >= s.size() || at(i) < low || at(i) > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
}

}  // namespace

size_t ValidUtf8Prefix(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const Step step = NextSequence(text.substr(i));
    if (!step.valid) return i;
    i += step.length;
  }
  return i;
}

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Step step = NextSequence(text);
    if (step.valid) {
      out.append(text.substr(0, step.length));
    } else {
      out.append("\xEF\xBF\xBD");
    }
    text.remove_prefix(step.length);
  }
  return out;
}

}  // namespace gimbal
