#include "base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace gimbal {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// Largest first, so that formatting takes the largest exact unit.
constexpr std::array<Unit, 7> kByteUnits = {{{"GiB", 1 << 30},
                                             {"MiB", 1 << 20},
                                             {"KiB", 1 << 10},
                                             {"GB", 1e9},
                                             {"MB", 1e6},
                                             {"kB", 1e3},
                                             {"B", 1}}};
constexpr std::array<Unit, 5> kTimeUnits = {
    {{"m", 60e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}};

template <size_t N>
Result<int64_t> ParseWithUnit(std::string_view text, const std::array<Unit, N>& units,
                              std::string_view what, std::string_view example) {
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  auto fail = [&](std::string_view why) {
    return InvalidError("expected " + std::string(what) + " such as " + std::string(example) +
                        ", got \"" + std::string(text.substr(0, 64)) + "\"" + std::string(why));
  };
  if (error != std::errc() || !std::isfinite(number)) return fail("");
  if (number < 0) return fail(" (negative)");
  if (unit.empty()) return fail(" (the unit is missing)");
  for (const Unit& u : units) {
    if (u.name != unit) continue;
    const double value = number * u.factor;
    if (value > 9.0e18) return fail(" (too large)");
    return static_cast<int64_t>(std::llround(value));
  }
  return fail(" (unknown unit)");
}

template <size_t N>
std::string FormatWithUnit(int64_t value, const std::array<Unit, N>& units) {
  if (value == 0) return "0" + std::string(units.back().name);
  for (const Unit& u : units) {
    const auto factor = static_cast<int64_t>(u.factor);
    if (value % factor == 0) return std::to_string(value / factor) + std::string(u.name);
  }
  return std::to_string(value);
}

}  // namespace

Result<Bytes> ParseBytes(std::string_view text) {
  ASSIGN_OR_RETURN(int64_t value, ParseWithUnit(text, kByteUnits, "a size", "16MiB"));
  return Bytes{value};
}

std::string FormatBytes(Bytes bytes) { return FormatWithUnit(bytes.value, kByteUnits); }

Result<Duration> ParseDuration(std::string_view text) {
  ASSIGN_OR_RETURN(int64_t value, ParseWithUnit(text, kTimeUnits, "a duration", "25ms"));
  return Duration(value);
}

std::string FormatDuration(Duration d) { return FormatWithUnit(d.count(), kTimeUnits); }

}  // namespace gimbal
