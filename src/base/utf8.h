#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gimbal {

// Length of the valid UTF-8 prefix of `text` in bytes; text.size() when all of it is valid.
// Overlong forms, surrogates and code points above U+10FFFF are invalid.
size_t ValidUtf8Prefix(std::string_view text);
inline bool IsValidUtf8(std::string_view text) { return ValidUtf8Prefix(text) == text.size(); }

// Each maximal invalid subpart replaced by U+FFFD, as the Unicode standard (§3.9, "best practice")
// and Python's errors="replace" do.
std::string ReplaceInvalidUtf8(std::string_view text);

}  // namespace gimbal
