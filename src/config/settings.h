#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "config/config.h"

namespace gimbal::config {

enum class Section { kServer, kLimits, kModel };
enum class Type { kBool, kInt, kBytes, kDuration, kAddress, kName, kPath, kChoice };

// The structs that hold the values of one place: a server, or one of its models.
struct Place {
  ServerConfig* server = nullptr;
  LimitsConfig* limits = nullptr;
  ModelConfig* model = nullptr;
};
using Field = std::variant<bool*, int*, Bytes*, Duration*, std::string*>;

// One row of the settings table. The YAML parser and its checks, --explain, the flags and their
// help, and docs/configuration.md are all made from these rows; a setting is added here and in
// config.h.
struct Setting {
  Section section;
  std::string_view key;        // below its section: "batching.max_rows"
  std::string_view flag = "";  // "--max-rows"; empty: the TARGET argument states it
  Type type;
  std::string_view unit = "";  // of an int: "rows"; for people
  int64_t min = 0;             // of numbers, in the base unit (bytes, nanoseconds); inclusive
  int64_t max = 0;
  std::string_view zero = "";     // what 0 (or no text) means; empty: only if the range has it
  std::string_view choices = "";  // of a choice, separated by spaces
  std::string_view known_as =
      "";  // names in other servers, for "did you mean"; with spaces between
  std::string_view help;
  bool needs_restart = true;
  Field (*field)(const Place&);  // where it lives
};

std::span<const Setting> Settings();

// A setting that design and YAML know and this version does not serve: accepted with a warning.
struct ReservedSetting {
  Section section;
  std::string_view key;
  std::string_view flag;
  std::string_view why;
};
std::span<const ReservedSetting> ReservedSettings();

std::string_view SectionName(Section section);  // "server" | "limits" | "models"

// Puts the value that `text` spells into the field, or says what was expected and what came.
Status SetText(const Setting& setting, std::string_view text, const Place& place);
// The field's value, spelt so that SetText reads it back.
std::string GetText(const Setting& setting, const Place& place);

std::string DefaultText(const Setting& setting);
// "1..65536 rows", "online, batch or edge", "HOST:PORT".
std::string RangeText(const Setting& setting);
std::string TypeText(const Setting& setting);  // "integer", "size", "duration", ...

// ---- helpers of the parsers

std::vector<std::string_view> SplitWords(std::string_view words);
// HOST:PORT with a port of 0..65535; IPv6 hosts in brackets.
Status CheckAddress(std::string_view text);
// What may stand in a URL as a model's name: letters, digits, ".", "_", "-"; starts with one of the
// first two; at most 128 characters.
Status CheckName(std::string_view text);

}  // namespace gimbal::config
