#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "base/result.h"

namespace gimbal {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
Result<LogLevel> ParseLogLevel(std::string_view name);  // "debug" | "info" | "warning" | "error"

// The log: JSON lines to standard error or a file, written by one background thread. Lossy and
// bounded: when the writer cannot keep up, the oldest lines go and `dropped` counts them, so that a
// full disk or a stuck terminal never stops serving. Owned by `app`; any thread may write.
//
//   log.Write(LogLevel::kWarning, "model_failed", [&](JsonWriter& w) { w.Key("model").String(name);
//   });
//
// Never log contents of requests or secrets.
class Log {
 public:
  struct Options {
    std::string file;                  // empty: standard error
    LogLevel level = LogLevel::kInfo;  // lines below it are not built
    size_t queue_lines = 8192;         // > 0
  };
  static Result<std::unique_ptr<Log>> Create(Options options);
  ~Log();  // flushes

  bool Enabled(LogLevel level) const { return level >= level_; }
  // Adds time, level and event; `fields` adds the rest.
  void Write(LogLevel level, std::string_view event,
             const std::function<void(JsonWriter&)>& fields = nullptr);
  uint64_t dropped() const;
  void Flush();

 private:
  struct Impl;
  Log(LogLevel level, std::unique_ptr<Impl> impl);

  const LogLevel level_;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gimbal
