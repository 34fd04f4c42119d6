#include "config/config.h"

#include <algorithm>

#include "base/json_writer.h"

namespace gimbal::config {

std::string_view Origins::Of(const std::string& path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? std::string_view("default") : std::string_view(found->second);
}

std::string ModelPath(size_t index) { return "models[" + std::to_string(index) + "]"; }

namespace {

std::string_view SeverityName(Finding::Severity severity) {
  return severity == Finding::Severity::kError ? "error" : "warning";
}

}  // namespace

std::string Finding::ToString() const {
  std::string text = file;
  if (line > 0) text += ":" + std::to_string(line) + ":" + std::to_string(column);
  if (!text.empty()) text += ": ";
  return text + std::string(SeverityName(severity)) + ": " + message;
}

bool HasErrors(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.severity == Finding::Severity::kError; });
}

std::string FindingsText(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += finding.ToString() + "\n";
  return text;
}

std::string FindingsJson(const std::vector<Finding>& findings) {
  JsonWriter w;
  w.BeginArray();
  for (const Finding& f : findings) {
    w.BeginObject().Key("file").String(f.file).Key("line").Int(f.line).Key("column").Int(f.column);
    w.Key("severity").String(SeverityName(f.severity)).Key("message").String(f.message);
    w.EndObject();
  }
  w.EndArray();
  return std::move(w).Take();
}

}  // namespace gimbal::config
