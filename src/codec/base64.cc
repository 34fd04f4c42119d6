#include "codec/base64.h"

#include <cstdint>

namespace gimbal::codec {

void AppendBase64(std::string& out, const void* data, size_t size) {
  static constexpr char kAlphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* in = static_cast<const unsigned char*>(data);
  const size_t start = out.size();
  out.resize(start + (size + 2) / 3 * 4);
  char* to = out.data() + start;
  size_t i = 0;
  for (; i + 2 < size; i += 3) {
    const uint32_t v = uint32_t{in[i]} << 16 | uint32_t{in[i + 1]} << 8 | in[i + 2];
    *to++ = kAlphabet[v >> 18];
    *to++ = kAlphabet[v >> 12 & 63];
    *to++ = kAlphabet[v >> 6 & 63];
    *to++ = kAlphabet[v & 63];
  }
  if (i == size) return;
  const bool two = i + 2 == size;
  const uint32_t v = uint32_t{in[i]} << 16 | (two ? uint32_t{in[i + 1]} << 8 : 0);
  *to++ = kAlphabet[v >> 18];
  *to++ = kAlphabet[v >> 12 & 63];
  *to++ = two ? kAlphabet[v >> 6 & 63] : '=';
  *to++ = '=';
}

}  // namespace gimbal::codec
