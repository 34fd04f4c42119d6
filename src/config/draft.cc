#include "config/draft.h"

#include <algorithm>
#include <tuple>

namespace gimbal::config {

void Draft::Add(Finding finding) {
  if (findings_.size() < kMostFindings) {
    findings_.push_back(std::move(finding));
  } else {
    ++dropped_;
  }
}

void Draft::Report(int line, int column, std::string message, Finding::Severity severity) {
  Add({file_, line, column, severity, std::move(message)});
}

void Draft::ReportFlag(std::string message, Finding::Severity severity) {
  Add({"", 0, 0, severity, std::move(message)});
}

void Draft::ReportValue(const std::string& path, std::string message) {
  const auto place = places_.find(path);
  if (place == places_.end()) return ReportFlag(std::move(message));
  Report(place->second.first, place->second.second, std::move(message));
}

void Draft::SetFromFile(const std::string& path, int line, int column) {
  places_[path] = {line, column};
  effective.origins.Set(path, file_ + ":" + std::to_string(line));
}

void Draft::SetFrom(const std::string& path, std::string origin) {
  places_.erase(path);
  effective.origins.Set(path, std::move(origin));
}

std::vector<Finding> Draft::TakeFindings() {
  std::stable_sort(findings_.begin(), findings_.end(), [](const Finding& a, const Finding& b) {
    return std::tuple(a.line == 0, a.line, a.column) < std::tuple(b.line == 0, b.line, b.column);
  });
  if (dropped_ > 0) {
    Finding rest{file_, 0, 0, Finding::Severity::kError, ""};
    rest.message = std::to_string(dropped_) + " more findings are not shown";
    findings_.push_back(std::move(rest));
  }
  return std::move(findings_);
}

}  // namespace gimbal::config
