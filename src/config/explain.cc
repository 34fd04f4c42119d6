#include "config/explain.h"

#include <algorithm>
#include <vector>

#include "base/json_writer.h"
#include "config/settings.h"

namespace gimbal::config {
namespace {

// One effective value: where it stands, what it is, where it comes from.
struct Value {
  const Setting* setting;
  size_t model = 0;
  std::string path;
  Field field;
  std::string text;
};

std::vector<Value> ValuesOf(Config& config) {
  std::vector<Value> values;
  const auto add = [&](const Setting& setting, const std::string& prefix, size_t model) {
    const Place place{&config.server, &config.limits,
                      setting.section == Section::kModel ? &config.models[model] : nullptr};
    values.push_back({&setting, model, prefix + "." + std::string(setting.key),
                      setting.field(place), GetText(setting, place)});
  };
  for (const Setting& setting : Settings()) {
    if (setting.section != Section::kModel) {
      add(setting, std::string(SectionName(setting.section)), 0);
    }
  }
  for (size_t i = 0; i < config.models.size(); ++i) {
    for (const Setting& setting : Settings()) {
      if (setting.section == Section::kModel) add(setting, ModelPath(i), i);
    }
  }
  return values;
}

// Text that needs no quotes in YAML, and that no reader takes for a number, a boolean or nothing.
bool IsPlain(const Value& value) {
  if (!std::holds_alternative<std::string*>(value.field)) return true;
  static constexpr std::string_view kWords[] = {"true", "false", "null", "Null", "NULL", "yes",
                                                "no",   "on",    "off",  "y",    "n"};
  const std::string& text = value.text;
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '.' || c == '_';
  };
  const bool safe = std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == ':';
  });
  const bool address = value.setting->type == Type::kAddress;  // "127.0.0.1:80" starts with a digit
  return safe && !text.empty() && (letter(text.front()) || address) && text.back() != ':' &&
         std::find(std::begin(kWords), std::end(kWords), text) == std::end(kWords);
}

// JSON's escapes are YAML's, too.
std::string YamlText(const Value& value) {
  if (IsPlain(value)) return value.text;
  JsonWriter w;
  w.String(value.text);
  return std::move(w).Take();
}

// A path may hold anything; a comment ends at a line's end.
std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return line;
}

struct Line {
  std::string text;
  std::string origin;  // empty: a heading
};

// Adds the headings that `keys` needs and `open` does not have yet, then the value's own line.
void AddLine(const Value& value, std::string_view origin, std::vector<std::string>& open,
             std::vector<Line>& lines) {
  const bool model = value.setting->section == Section::kModel;
  std::vector<std::string> maps = {std::string(SectionName(value.setting->section))};
  std::string_view rest = value.setting->key;
  for (size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
    maps.emplace_back(rest.substr(0, dot));
    rest.remove_prefix(dot + 1);
  }
  size_t shared = 0;
  while (shared < std::min(open.size(), maps.size()) && open[shared] == maps[shared]) ++shared;
  const size_t base = model ? 2 : 0;  // the keys of a list's item stand behind "- "
  const auto indent = [&](size_t level) {
    return level == 0 ? std::string() : std::string(base + 2 * level, ' ');
  };
  for (size_t i = shared; i < maps.size(); ++i) lines.push_back({indent(i) + maps[i] + ":", ""});
  open = maps;
  std::string text = indent(maps.size()) + std::string(rest) + ": " + YamlText(value);
  if (model && value.setting->key == "name") text[base] = '-';
  lines.push_back({std::move(text), OneLine(origin)});
}

}  // namespace

std::string Explain(const EffectiveConfig& effective) {
  Config config = effective.config;  // fields are reached through non-const places
  std::vector<Line> lines;
  std::vector<std::string> open;
  for (const Value& value : ValuesOf(config)) {
    AddLine(value, effective.origins.Of(value.path), open, lines);
  }
  if (config.models.empty()) lines.push_back({"models: []", "default"});
  constexpr size_t kWidest = 60;  // a long path does not push all comments away
  size_t width = 0;
  for (const Line& line : lines) {
    if (!line.origin.empty()) width = std::max(width, std::min(line.text.size(), kWidest));
  }
  std::string text;
  for (const Line& line : lines) {
    text += line.text;
    if (!line.origin.empty()) {
      text.append(width > line.text.size() ? width - line.text.size() : 0, ' ');
      text += "  # " + line.origin;
    }
    text += '\n';
  }
  return text;
}

std::string ExplainJson(const EffectiveConfig& effective) {
  Config config = effective.config;
  JsonWriter w;
  w.BeginArray();
  for (const Value& value : ValuesOf(config)) {
    w.BeginObject().Key("setting").String(value.path).Key("value");
    if (auto* flag = std::get_if<bool*>(&value.field)) {
      w.Bool(**flag);
    } else if (auto* number = std::get_if<int*>(&value.field)) {
      w.Int(**number);
    } else {
      w.String(value.text);
    }
    w.Key("origin").String(effective.origins.Of(value.path)).EndObject();
  }
  w.EndArray();
  return std::move(w).Take();
}

}  // namespace gimbal::config
