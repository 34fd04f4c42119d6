#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"

namespace gimbal::config {

// The configuration as the rest of the program reads it. Defaults are written here, once; names,
// ranges, flags and help of every field are in the table (settings.cc). Text fields hold what the
// table's checks accept. Plain data: copied freely, changed by nobody after start.

struct LogConfig {
  std::string file;            // empty: standard error
  std::string level = "info";  // ParseLogLevel accepts it
  bool access = true;          // one line for each request
};

struct ServerConfig {
  std::string http = "127.0.0.1:8000";  // HOST:PORT; port 0 picks a free one
  std::string metrics = "127.0.0.1:8002";
  int io_threads = 1;  // 0: from the CPUs
  Duration header_timeout = std::chrono::seconds(10);
  Duration body_timeout = std::chrono::seconds(30);
  Duration idle_timeout = std::chrono::seconds(75);
  Duration write_timeout = std::chrono::seconds(30);
  Duration drain_timeout = std::chrono::seconds(30);
  std::string onnxruntime_library;  // empty: found
  LogConfig log;
};

struct LimitsConfig {
  Bytes max_body = MiB(16);
  int max_connections = 1024;
  int max_rows_per_request = 512;
  Bytes max_text = MiB(4);
  Bytes memory;  // 0: what the machine or the cgroup gives
};

struct BatchingConfig {
  int max_rows = 32;
  int max_tokens = 8192;                             // rows times padded length
  Duration max_wait = std::chrono::milliseconds(2);  // 0: a batch never waits for more rows
};

struct QueueConfig {
  int max_rows = 1024;
  Bytes max_bytes = MiB(64);
  Duration max_predicted_wait = std::chrono::seconds(5);  // 0: no bound
};

struct SloConfig {
  Duration p99{};  // 0: none
};

struct ModelConfig {
  std::string name;  // never empty once loaded
  std::string path;
  std::string scenario = "online";  // ParseScenario accepts it
  SloConfig slo;
  std::string task;  // empty: from the model's files
  std::string engine = "onnxruntime";
  BatchingConfig batching;
  int instances = 0;  // 0: from the CPUs and `threads`
  int threads = 1;    // of one instance
  Bytes memory;       // 0: only limits.memory bounds it
  QueueConfig queue;
};

struct Config {
  ServerConfig server;
  LimitsConfig limits;
  std::vector<ModelConfig> models;
};

// Where each effective value comes from, by its path: "limits.max_body",
// "models[0].batching.max_rows".
class Origins {
 public:
  void Set(const std::string& path, std::string origin) { by_path_[path] = std::move(origin); }
  // "default" when nothing was set; else "gimbal.yaml:12", "--max-rows", "target", or what a later
  // step that fills a value (the model's files, the cgroup) has put there.
  std::string_view Of(const std::string& path) const;
  bool IsSet(const std::string& path) const { return by_path_.count(path) > 0; }

 private:
  std::map<std::string, std::string> by_path_;
};

struct EffectiveConfig {
  Config config;
  Origins origins;
};

// "models[2]", the path of one model, to which "." and a key are added.
std::string ModelPath(size_t index);

// One thing that is wrong, or doubtful, in a configuration.
struct Finding {
  enum class Severity { kError, kWarning };

  std::string file;  // empty: the command line
  int line = 0;      // from 1; 0: the finding has no place
  int column = 0;
  Severity severity = Severity::kError;
  std::string message;  // what, expected, got, did you mean

  // "gimbal.yaml:12:5: error: message", the form that editors jump to.
  std::string ToString() const;
};

bool HasErrors(const std::vector<Finding>& findings);
std::string FindingsText(const std::vector<Finding>& findings);  // one line each
std::string FindingsJson(const std::vector<Finding>& findings);  // the list `gimbal check` prints

}  // namespace gimbal::config
