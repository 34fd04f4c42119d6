#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/settings.h"
#include "config/yaml_tree.h"

namespace gimbal::config {

// A configuration while it is put together: values and origins, what is wrong so far, and where in
// the file each value stands. Internal to this module; one thread.
class Draft {
 public:
  explicit Draft(std::string file) : file_(std::move(file)) {}

  EffectiveConfig effective;

  const std::string& file() const { return file_; }
  Place PlaceOf(size_t model) {
    Config& config = effective.config;
    return {&config.server, &config.limits,
            model < config.models.size() ? &config.models[model] : nullptr};
  }

  // A finding of the file. At most kMostFindings are kept.
  void Report(int line, int column, std::string message,
              Finding::Severity severity = Finding::Severity::kError);
  // A finding of the command line.
  void ReportFlag(std::string message, Finding::Severity severity = Finding::Severity::kError);
  // A finding about the value at `path`: at its place in the file, or without one.
  void ReportValue(const std::string& path, std::string message);

  // The value at `path` is what line `line` of the file says.
  void SetFromFile(const std::string& path, int line, int column);
  void SetFrom(const std::string& path, std::string origin);
  // Where findings about a value point that the file does not state itself.
  void PointTo(const std::string& path, int line, int column) { places_[path] = {line, column}; }
  // The value at `path` was refused; rules about it would only repeat that.
  void MarkBad(const std::string& path) { bad_.insert(path); }
  bool IsBad(const std::string& path) const { return bad_.count(path) > 0; }

  // The findings in the file's order, those without a place last.
  std::vector<Finding> TakeFindings();

 private:
  static constexpr size_t kMostFindings = 100;

  void Add(Finding finding);

  const std::string file_;
  std::vector<Finding> findings_;
  size_t dropped_ = 0;
  std::map<std::string, std::pair<int, int>> places_;
  std::set<std::string> bad_;
};

// Reads a document's settings into the draft: every key is known to the table, every value checked.
void ReadYaml(const YamlNode& root, Draft& draft);

// A relation between several settings, with the words of the docs.
struct Rule {
  std::string_view text;
  void (*check)(Draft& draft);
};
std::span<const Rule> Rules();

// The name of a model that states none: its folder's.
std::string FolderName(const std::string& path);

}  // namespace gimbal::config
