#include "preprocess/text/unicode.h"

#include <algorithm>

namespace gimbal::preprocess {
namespace {

#include "preprocess/text/unicode_tables.inc"

constexpr size_t kBlock = 128;  // as in make_tables.py
static_assert(std::size(kRecordFirst) * kBlock == 0x110000);

// Hangul syllables decompose by arithmetic (Unicode standard, §3.12).
constexpr char32_t kHangulFirst = 0xAC00;
constexpr char32_t kHangulLast = 0xD7A3;

template <typename T>
T LookUp(const uint8_t* first, const T* blocks, char32_t cp) {
  return blocks[first[cp / kBlock] * kBlock + cp % kBlock];
}

size_t CopyMapping(const uint32_t* pool, size_t place, char32_t* out) {
  const size_t length = pool[place];
  std::copy_n(pool + place + 1, length, out);
  return length;
}

size_t DecomposeHangul(char32_t cp, char32_t* out) {
  const char32_t index = cp - kHangulFirst;
  out[0] = 0x1100 + index / (21 * 28);
  out[1] = 0x1161 + index % (21 * 28) / 28;
  if (index % 28 == 0) return 2;
  out[2] = 0x11A7 + index % 28;
  return 3;
}

}  // namespace

CodePointRecord RecordOf(char32_t cp) { return kRecords[LookUp(kRecordFirst, kRecordBlocks, cp)]; }

size_t Decompose(char32_t cp, char32_t* out) {
  if (cp >= kHangulFirst && cp <= kHangulLast) return DecomposeHangul(cp, out);
  return CopyMapping(kNfdPool, LookUp(kNfdFirst, kNfdBlocks, cp), out);
}

size_t Lowercase(char32_t cp, char32_t* out) {
  return CopyMapping(kLowerPool, LookUp(kLowerFirst, kLowerBlocks, cp), out);
}

char32_t NextCodePoint(std::string_view text, size_t* pos) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(text[*pos + i]); };
  const uint8_t lead = at(0);
  char32_t cp = lead;
  size_t length = 1;
  if (lead >= 0xF0) {
    cp = (lead & 7u) << 18 | (at(1) & 63u) << 12 | (at(2) & 63u) << 6 | (at(3) & 63u);
    length = 4;
  } else if (lead >= 0xE0) {
    cp = (lead & 15u) << 12 | (at(1) & 63u) << 6 | (at(2) & 63u);
    length = 3;
  } else if (lead >= 0x80) {
    cp = (lead & 31u) << 6 | (at(1) & 63u);
    length = 2;
  }
  *pos += length;
  return cp;
}

char32_t PreviousCodePoint(std::string_view text, size_t* pos) {
  do {
    --*pos;
  } while (IsContinuation(text[*pos]));
  size_t start = *pos;
  return NextCodePoint(text, &start);
}

size_t EncodeUtf8(char32_t cp, char* out) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (cp >> shift & 63)); };
  if (cp < 0x80) {
    out[0] = static_cast<char>(cp);
    return 1;
  }
  if (cp < 0x800) {
    out[0] = static_cast<char>(0xC0 | cp >> 6);
    out[1] = tail(0);
    return 2;
  }
  if (cp < 0x10000) {
    out[0] = static_cast<char>(0xE0 | cp >> 12);
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | cp >> 18);
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

size_t CountCodePoints(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), IsContinuation));
}

}  // namespace gimbal::preprocess
