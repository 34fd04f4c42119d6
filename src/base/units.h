#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace gimbal {

// A number of bytes. A type of its own so that it cannot be mixed with rows or tokens.
struct Bytes {
  int64_t value = 0;
  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes operator+(Bytes o) const { return {value + o.value}; }
  constexpr Bytes operator-(Bytes o) const { return {value - o.value}; }
  constexpr Bytes& operator+=(Bytes o) {
    value += o.value;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes o) {
    value -= o.value;
    return *this;
  }
};

constexpr Bytes KiB(int64_t n) { return {n << 10}; }
constexpr Bytes MiB(int64_t n) { return {n << 20}; }
constexpr Bytes GiB(int64_t n) { return {n << 30}; }

// "16MiB", "64KiB", "2GiB", "512B"; a bare number is refused, since the unit is part of the value.
Result<Bytes> ParseBytes(std::string_view text);
std::string FormatBytes(Bytes bytes);  // the largest exact unit: "16MiB", "1500B"

// "2ms", "25us", "1.5s", "3m"; a bare number is refused.
Result<Duration> ParseDuration(std::string_view text);
std::string FormatDuration(Duration d);

}  // namespace gimbal
