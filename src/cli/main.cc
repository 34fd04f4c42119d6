// The program: reads the command line and hands over to one file a subcommand.

#include <iostream>
#include <string>
#include <vector>

#include "app/version.h"
#include "cli/args.h"
#include "cli/bench.h"
#include "cli/inspect.h"
#include "cli/serve.h"
#include "cli/tokenize.h"
#include "config/docs.h"
#include "engine/onnxruntime/onnxruntime_engine.h"

namespace gimbal::cli {
namespace {

// Wrong input is wrong usage; anything else means that the work itself failed.
int Report(std::string_view command, const Status& status) {
  if (status.ok()) return kExitDone;
  std::cerr << "gimbal " << command << ": " << status.message() << "\n";
  return status.code() == Code::kInvalid || status.code() == Code::kNotFound ? kExitUsage
                                                                             : kExitFailed;
}

Status Inspect(const InspectArgs& args) {
  ASSIGN_OR_RETURN(
      const auto engine,
      engine::CreateOnnxRuntimeEngine({args.effective.config.server.onnxruntime_library, nullptr}));
  InspectOptions options;
  options.json = args.json;
  for (const config::ModelConfig& model : args.effective.config.models) {
    options.models.push_back({model.path, model.name, "1", model.threads, model.batching.max_rows,
                              model.batching.max_tokens, model.memory});
  }
  return RunInspect(options, *engine, std::cout);
}

Status Tokenize(const TokenizeArgs& args) {
  const TokenizeOptions options{args.tokenizer_file, args.no_special, args.bench, args.json};
  return RunTokenize(options, std::cin, std::cout);
}

int Dispatch(const ParsedArgs& args) {
  switch (args.command) {
    case ParsedArgs::Command::kExit:
      return args.exit_code;
    case ParsedArgs::Command::kServe:
      return RunServe(args.serve, std::cout, std::cerr);
    case ParsedArgs::Command::kTokenize:
      return Report("tokenize", Tokenize(args.tokenize));
    case ParsedArgs::Command::kInspect:
      return Report("inspect", Inspect(args.inspect));
    case ParsedArgs::Command::kBench:
      return RunBench(args.bench, std::cout, std::cerr);
    case ParsedArgs::Command::kDocs:
      std::cout << config::SettingsPage();
      return kExitDone;
  }
  return kExitUsage;
}

}  // namespace
}  // namespace gimbal::cli

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> words(argv + 1, argv + argc);
  const gimbal::cli::ParsedArgs args = gimbal::cli::ParseArgs(words, gimbal::app::Version());
  std::cout << args.out;
  std::cerr << args.err;
  const int code = gimbal::cli::Dispatch(args);
  std::cout.flush();
  return code;
}
