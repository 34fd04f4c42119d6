#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// What the Hugging Face `tokenizers` library knows about code points, and no more: its crates are
// of several Unicode versions, so a Unicode library of today would give other answers. The tables
// come from tools/unicode/make_tables.py. All functions are pure; any thread may call them.
namespace gimbal::preprocess {

// Bits of CodePointRecord::flags.
inline constexpr uint8_t kRemoved = 1;      // clean_text drops it (controls, U+0000, U+FFFD)
inline constexpr uint8_t kSpace = 2;        // White_Space
inline constexpr uint8_t kPunctuation = 4;  // a word of its own for BertPreTokenizer
inline constexpr uint8_t kCjk = 8;          // handle_chinese_chars puts spaces around it
inline constexpr uint8_t kNonspacing = 16;  // strip_accents drops it; not set where kDecomposes is
inline constexpr uint8_t kWord = 32;        // \w in a regular expression
inline constexpr uint8_t kDecomposes = 64;  // has a canonical decomposition
inline constexpr uint8_t kLowers = 128;     // has another lower case

struct CodePointRecord {
  uint8_t flags;
  uint8_t combining_class;  // canonical; 0 where kDecomposes is set
};

// REQUIRES for all `cp`: cp <= U+10FFFF and no surrogate.
CodePointRecord RecordOf(char32_t cp);

inline constexpr size_t kMaxMapping = 4;  // code points that one decomposes or lowers to, at most

// Writes the full canonical decomposition (not reordered) to out and returns its length.
// REQUIRES: RecordOf(cp).flags & kDecomposes; room for kMaxMapping.
size_t Decompose(char32_t cp, char32_t* out);
// Writes the lower-case form to out and returns its length.
// REQUIRES: RecordOf(cp).flags & kLowers; room for kMaxMapping.
size_t Lowercase(char32_t cp, char32_t* out);

// ---- UTF-8 that is known to be valid ----

inline bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

// Decodes the code point at `pos` and moves `pos` behind it.
// REQUIRES: valid UTF-8; `pos` < text.size() and at the start of a code point.
char32_t NextCodePoint(std::string_view text, size_t* pos);
// Decodes the code point that ends at `pos`, and moves `pos` to its start. REQUIRES: *pos > 0.
char32_t PreviousCodePoint(std::string_view text, size_t* pos);
// Writes cp to out (room for 4 bytes) and returns how many bytes.
size_t EncodeUtf8(char32_t cp, char* out);
// Number of code points.
size_t CountCodePoints(std::string_view text);

}  // namespace gimbal::preprocess
