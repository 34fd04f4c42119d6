#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "config/config.h"
#include "model/names.h"

namespace gimbal::cli {

// Exit codes of every command.
inline constexpr int kExitDone = 0;
inline constexpr int kExitVerdictNo = 1;
inline constexpr int kExitUsage = 2;  // wrong usage or configuration
inline constexpr int kExitFailed = 3;

struct ServeArgs {
  config::EffectiveConfig effective;
  bool explain = false;  // print the configuration and stop
  bool json = false;
};

struct TokenizeArgs {
  std::string tokenizer_file;
  bool no_special = false;
  bool bench = false;
  bool json = false;
};

struct InspectArgs {
  std::string target;                 // as written
  config::EffectiveConfig effective;  // what the target states, as `serve` would read it
  bool json = false;
};

struct BenchArgs {
  std::string target;  // URL, DIR or "null"
  std::string model;   // empty: the only model that the target serves
  model::Protocol protocol = model::Protocol::kNative;
  std::optional<int> concurrency;  // exactly one of these two is set
  std::optional<double> rate;      // requests a second, > 0
  uint64_t seed = 1;
  Duration duration = std::chrono::seconds(10);
  Duration warmup = std::chrono::seconds(1);
  int64_t requests = 0;  // stop after so many; 0: `duration` alone decides
  int batch_rows = 1;    // rows of each request
  std::string texts;     // a file of one text a line; empty: the built-in sentences
  bool json = false;
};

struct DocsArgs {
  std::string topic;  // "settings"
};

// What the command line asks for. Only the struct of the named command is filled.
struct ParsedArgs {
  enum class Command { kExit, kServe, kTokenize, kInspect, kBench, kDocs };

  Command command = Command::kExit;
  ServeArgs serve;
  TokenizeArgs tokenize;
  InspectArgs inspect;
  BenchArgs bench;
  DocsArgs docs;

  // kExit: leave with this code (help and version 0, wrong usage or configuration 2).
  int exit_code = kExitDone;
  std::string out;  // to standard output; with kExit
  std::string err;  // to standard error; also the warnings of a command that goes on
};

// Reads the command line, and the configuration it names. `args` is argv without the program's
// name; `version` is what --version prints. Never throws.
ParsedArgs ParseArgs(const std::vector<std::string>& args, std::string_view version);

}  // namespace gimbal::cli
