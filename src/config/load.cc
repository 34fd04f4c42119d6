#include "config/load.h"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "config/draft.h"
#include "config/yaml_tree.h"

namespace gimbal::config {
namespace {

void ReadFileInto(Draft& draft) {
  errno = 0;
  std::ifstream in(draft.file(), std::ios::binary);
  std::string text(kYamlMaxBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  // Reading to the end sets eofbit as well; a folder or a missing file only fails.
  if (!in.eof() && text.size() <= kYamlMaxBytes) {
    draft.Report(0, 0, "the file cannot be read: " + std::generic_category().message(errno));
    return;
  }
  if (text.size() > kYamlMaxBytes) {
    draft.Report(0, 0,
                 "expected a file of at most " +
                     FormatBytes(Bytes{static_cast<int64_t>(kYamlMaxBytes)}) +
                     ", got a larger one");
    return;
  }
  const ParsedYaml parsed = ParseYaml(text);
  if (parsed.error) {
    draft.Report(parsed.error->line, parsed.error->column, parsed.error->message);
  } else {
    ReadYaml(*parsed.root, draft);
  }
}

// NAME=DIR, or DIR alone. What stands before "=" is a name only when it has no "/".
void AddTarget(const std::string& target, Draft& draft) {
  const size_t equals = target.find('=');
  const bool named = equals != std::string::npos && target.find('/') > equals;
  ModelConfig model;
  model.path = named ? target.substr(equals + 1) : target;
  model.name = named ? target.substr(0, equals) : FolderName(model.path);
  const std::string at = ModelPath(draft.effective.config.models.size()) + ".";
  draft.SetFrom(at + "name", named ? "target" : "name of the folder");
  draft.SetFrom(at + "path", "target");
  if (model.path.empty()) {
    draft.MarkBad(at + "path");
    draft.ReportFlag("TARGET: expected DIR, NAME=DIR or a .yaml file, got \"" + target + "\"");
  } else if (const Status status = CheckName(model.name); !status.ok()) {
    draft.MarkBad(at + "name");
    draft.ReportFlag("TARGET \"" + target + "\": " + status.message() +
                     (named ? "" : "; write NAME=DIR"));
  }
  draft.effective.config.models.push_back(std::move(model));
}

void ApplyFlag(const FlagValue& flag, Draft& draft) {
  const Setting& setting = *flag.setting;
  const std::string name(setting.flag);
  // Tried on the side first: one finding, however many models there are, and none unchecked.
  ModelConfig scratch;
  ServerConfig server;
  LimitsConfig limits;
  const Status status = SetText(setting, flag.text, {&server, &limits, &scratch});
  if (!status.ok()) draft.ReportFlag(name + ": " + status.message());

  const bool model = setting.section == Section::kModel;
  const size_t places = model ? draft.effective.config.models.size() : 1;
  for (size_t i = 0; i < places; ++i) {
    const std::string path = (model ? ModelPath(i) : std::string(SectionName(setting.section))) +
                             "." + std::string(setting.key);
    if (!status.ok() || !SetText(setting, flag.text, draft.PlaceOf(i)).ok()) {
      draft.MarkBad(path);
    } else {
      draft.SetFrom(path, name);
    }
  }
}

}  // namespace

Loaded Load(const Sources& sources) {
  Draft draft(sources.file);
  if (!sources.file.empty()) ReadFileInto(draft);
  for (const std::string& target : sources.targets) AddTarget(target, draft);
  for (const FlagValue& flag : sources.flags) ApplyFlag(flag, draft);
  for (const Rule& rule : Rules()) rule.check(draft);
  Loaded loaded;
  loaded.findings = draft.TakeFindings();
  loaded.effective = std::move(draft.effective);
  return loaded;
}

Result<EffectiveConfig> LoadFile(const std::string& path) {
  Loaded loaded = Load({path, {}, {}});
  if (loaded.ok()) return std::move(loaded.effective);
  std::string text = FindingsText(loaded.findings);
  if (!text.empty()) text.pop_back();  // the last newline
  return InvalidError(text);
}

bool IsConfigFile(std::string_view target) {
  return target.ends_with(".yaml") || target.ends_with(".yml");
}

}  // namespace gimbal::config
