#include <algorithm>
#include <optional>

#include "config/draft.h"
#include "config/suggest.h"

namespace gimbal::config {
namespace {

constexpr size_t kMostModels = 1000;

std::string_view KindName(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "a single value";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
  }
  return "";
}

// A map of the document: which settings may stand in it.
struct Scope {
  Section section;
  std::string prefix;   // of the keys below: "" or "batching."
  std::string display;  // "models[0].batching"
  size_t model = 0;     // index, in section kModel
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return lower;
}

// The names that may stand directly in the scope, in the table's order.
std::vector<std::string_view> KeysIn(const Scope& scope) {
  std::vector<std::string_view> keys;
  for (const Setting& setting : Settings()) {
    if (setting.section != scope.section || !setting.key.starts_with(scope.prefix)) continue;
    std::string_view rest = setting.key.substr(scope.prefix.size());
    rest = rest.substr(0, rest.find('.'));
    if (std::find(keys.begin(), keys.end(), rest) == keys.end()) keys.push_back(rest);
  }
  return keys;
}

// Where a key that does not belong here belongs: a setting of the same last name, or one that other
// servers call so. The nearest section wins.
std::string ElsewhereName(std::string_view key, const Scope& scope) {
  const std::string lower = Lower(key);
  std::string elsewhere;
  for (const Setting& setting : Settings()) {
    const std::string_view last = setting.key.substr(setting.key.rfind('.') + 1);
    const std::vector<std::string_view> known = SplitWords(setting.known_as);
    if (last != lower && std::find(known.begin(), known.end(), lower) == known.end()) continue;
    if (setting.section == scope.section) return std::string(setting.key);
    if (elsewhere.empty()) {
      const bool list = setting.section == Section::kModel;
      elsewhere = std::string(SectionName(setting.section)) + (list ? "[]." : ".");
      elsewhere += setting.key;
    }
  }
  return elsewhere;
}

std::string UnknownKey(std::string_view key, std::string_view display,
                       std::span<const std::string_view> keys, const std::string& elsewhere) {
  constexpr size_t kShown = 64;
  std::string message = "unknown key \"" + std::string(key.substr(0, kShown)) + "\"";
  if (!display.empty()) message += " in " + std::string(display);
  // A known name of another server is surer than a likeness of letters.
  std::string near = elsewhere.empty() ? std::string(Nearest(Lower(key), keys)) : elsewhere;
  if (!near.empty()) return message + "; did you mean \"" + near + "\"?";
  message += "; expected ";
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i > 0) message += i + 1 == keys.size() ? " or " : ", ";
    message += keys[i];
  }
  return message;
}

class Reader {
 public:
  explicit Reader(Draft& draft) : draft_(draft) {}

  void ReadRoot(const YamlNode& root) {
    if (root.kind == YamlNode::Kind::kNull) return;
    static constexpr std::string_view kKeys[] = {"server", "limits", "models"};
    if (!IsMap(root, "the file")) return;
    ReportDuplicates(root, "");
    for (const YamlNode::Entry& entry : root.entries) {
      if (entry.key == "server") {
        ReadMap(*entry.value, {Section::kServer, "", entry.key});
      } else if (entry.key == "limits") {
        ReadMap(*entry.value, {Section::kLimits, "", entry.key});
      } else if (entry.key == "models") {
        ReadModels(*entry.value);
      } else {
        const Scope top{Section::kServer, "", ""};
        const std::string below = ElsewhereName(entry.key, top);
        const std::string full =
            below.empty() || below.find('.') != std::string::npos ? below : "server." + below;
        draft_.Report(entry.line, entry.column, UnknownKey(entry.key, "", kKeys, full));
      }
    }
  }

 private:
  bool IsMap(const YamlNode& node, const std::string& what) {
    if (node.kind == YamlNode::Kind::kMap) return true;
    draft_.Report(node.line, node.column,
                  what + ": expected a map, got " + std::string(KindName(node)));
    return false;
  }

  void ReportDuplicates(const YamlNode& map, const std::string& display) {
    std::map<std::string_view, int> lines;
    for (const YamlNode::Entry& entry : map.entries) {
      const auto [first, added] = lines.emplace(entry.key, entry.line);
      if (added) continue;
      std::string message = "\"" + entry.key.substr(0, 64) + "\" stands twice";
      if (!display.empty()) message += " in " + display;
      message += "; it was first stated in line " + std::to_string(first->second);
      draft_.Report(entry.line, entry.column, std::move(message));
    }
  }

  void ReadModels(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::kNull) return;
    if (node.kind != YamlNode::Kind::kList) {
      draft_.Report(node.line, node.column,
                    "models: expected a list, got " + std::string(KindName(node)));
      return;
    }
    if (node.items.size() > kMostModels) {
      draft_.Report(node.line, node.column,
                    "models: expected at most " + std::to_string(kMostModels) + " models, got " +
                        std::to_string(node.items.size()));
      return;
    }
    for (const YamlNode::Ptr& item : node.items) {
      const size_t index = draft_.effective.config.models.size();
      draft_.effective.config.models.emplace_back();
      Scope scope{Section::kModel, "", ModelPath(index), index};
      ReadMap(*item, scope);
      if (item->kind == YamlNode::Kind::kMap) FinishModel(*item, scope);
    }
  }

  void FinishModel(const YamlNode& node, const Scope& scope) {
    ModelConfig& model = draft_.effective.config.models[scope.model];
    const std::string path = scope.display + ".path";
    const std::string name = scope.display + ".name";
    if (!draft_.effective.origins.IsSet(path) && !draft_.IsBad(path)) {
      draft_.Report(node.line, node.column, path + " is missing: the folder of the model");
    }
    if (!model.name.empty() || draft_.IsBad(name) || model.path.empty()) return;
    model.name = FolderName(model.path);
    draft_.SetFrom(name, "name of the folder");
    draft_.PointTo(name, node.line, node.column);
    if (const Status status = CheckName(model.name); !status.ok()) {
      draft_.MarkBad(name);
      draft_.Report(node.line, node.column, name + ": " + status.message() + "; state a name");
    }
  }

  void ReadMap(const YamlNode& node, const Scope& scope) {
    // "batching:" with nothing below it states nothing; a model of the list must be something.
    const bool model = scope.section == Section::kModel && scope.prefix.empty();
    if (node.kind == YamlNode::Kind::kNull && !model) return;
    if (!IsMap(node, scope.display)) return;
    ReportDuplicates(node, scope.display);
    for (const YamlNode::Entry& entry : node.entries) ReadEntry(entry, scope);
  }

  void ReadEntry(const YamlNode::Entry& entry, const Scope& scope) {
    const std::string key = scope.prefix + entry.key;
    const std::string display = scope.display + "." + entry.key;
    for (const Setting& setting : Settings()) {
      if (setting.section != scope.section) continue;
      if (setting.key == key) return ReadValue(*entry.value, setting, display, scope.model);
      if (setting.key.starts_with(key + ".")) {
        return ReadMap(*entry.value, {scope.section, key + ".", display, scope.model});
      }
    }
    for (const ReservedSetting& reserved : ReservedSettings()) {
      if (reserved.section != scope.section || reserved.key != key) continue;
      draft_.Report(entry.line, entry.column, display + ": " + std::string(reserved.why),
                    Finding::Severity::kWarning);
      return;
    }
    const std::vector<std::string_view> keys = KeysIn(scope);
    draft_.Report(entry.line, entry.column,
                  UnknownKey(entry.key, scope.display, keys, ElsewhereName(entry.key, scope)));
  }

  void ReadValue(const YamlNode& node, const Setting& setting, const std::string& path,
                 size_t model) {
    Status status = CheckKind(node, setting);
    if (status.ok()) {
      const bool relative = setting.type == Type::kPath && !node.text.empty();
      status = SetText(setting, relative ? Resolved(node.text) : node.text, draft_.PlaceOf(model));
    }
    if (status.ok()) {
      draft_.SetFromFile(path, node.line, node.column);
    } else {
      draft_.MarkBad(path);
      draft_.Report(node.line, node.column, path + ": " + status.message());
    }
  }

  // Whether the node can hold the setting's type at all.
  static Status CheckKind(const YamlNode& node, const Setting& setting) {
    const std::string expected = "expected a value (" + RangeText(setting) + "), got ";
    if (node.kind != YamlNode::Kind::kScalar) {
      return InvalidError(expected + std::string(KindName(node)));
    }
    const bool wants_plain = setting.type == Type::kInt || setting.type == Type::kBool;
    if (!wants_plain || !node.quoted) return Status::Ok();
    return InvalidError("expected " + RangeText(setting) + " without quotes, got a text");
  }

  // Paths are relative to the file's folder, so that a folder with its YAML can be moved.
  std::string Resolved(const std::string& text) const {
    const std::filesystem::path path(text);
    if (path.is_absolute()) return text;
    const std::filesystem::path folder = std::filesystem::path(draft_.file()).parent_path();
    return folder.empty() ? text : (folder / path).lexically_normal().string();
  }

  Draft& draft_;
};

}  // namespace

std::string FolderName(const std::string& path) {
  std::error_code error;
  std::filesystem::path full = std::filesystem::absolute(path, error).lexically_normal();
  if (error) return "";
  if (!full.has_filename()) full = full.parent_path();  // "models/minilm/"
  return full.filename().string();
}

void ReadYaml(const YamlNode& root, Draft& draft) { Reader(draft).ReadRoot(root); }

}  // namespace gimbal::config
