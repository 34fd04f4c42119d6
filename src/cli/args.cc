#include "cli/args.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "base/units.h"
#include "config/load.h"
#include "config/settings.h"
#include "config/suggest.h"

namespace gimbal::cli {
namespace {

using Command = ParsedArgs::Command;

constexpr char kFooter[] =
    "Exit codes: 0 done, 1 a verdict of \"no\", 2 wrong usage or configuration, 3 the work failed.";

// The command line as CLI11 reads it: every value still text, checked by our own tables afterwards
// so that messages are the same for flags and files.
struct RawArgs {
  std::vector<std::string> serve_targets;
  std::string config_file;
  std::vector<std::string> setting_values;  // in the order of config::Settings()
  std::vector<std::string> reserved_values;
  std::string inspect_target;
  std::string bench_protocol;
  std::string bench_concurrency;
  std::string bench_rate;
  std::string bench_seed;
  std::string bench_duration;
  std::string bench_warmup;
  std::string bench_requests;
  std::string bench_batch_rows;
};

// Stops the reading: what is wrong with the usage.
Status UsageError(std::string message) { return InvalidError(std::move(message)); }

// CLI11's help without the values in braces that its flags carry.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name;
    bool braces = false;
    for (char c : CLI::Formatter::make_option_name(option, is_positional)) {
      braces = c == '{' || (braces && c != '}');
      if (!braces && c != '}') name += c;
    }
    return name;
  }
};

// ---- the flags of each command

std::string GroupName(config::Section section) {
  switch (section) {
    case config::Section::kServer:
      return "Server";
    case config::Section::kLimits:
      return "Limits";
    case config::Section::kModel:
      return "Every model";
  }
  return "";
}

void AddSetting(CLI::App& serve, const config::Setting& setting, std::string& value) {
  std::string help(setting.help);
  if (!setting.zero.empty()) {
    const bool number = setting.min != 0 || setting.max != 0;
    help += std::string(number ? " 0: " : " Empty: ") + std::string(setting.zero) + ".";
  }
  const std::string flag(setting.flag);
  CLI::Option* option = nullptr;
  if (setting.type == config::Type::kBool) {
    option = serve.add_flag(flag + "{true},!--no-" + flag.substr(2), value, help);
    option->type_name("");
  } else {
    std::string type = config::TypeText(setting);
    if (setting.type == config::Type::kChoice) {
      type = setting.choices;
      std::replace(type.begin(), type.end(), ' ', '|');
    }
    option = serve.add_option(flag, value, help)->type_name(type);
  }
  const std::string normal = config::DefaultText(setting);
  if (!normal.empty()) option->default_str(normal);
  option->group(GroupName(setting.section));
}

void AddServe(CLI::App& app, RawArgs& raw, ServeArgs& args) {
  CLI::App* serve = app.add_subcommand("serve", "Serve models over HTTP");
  serve->add_option("TARGET", raw.serve_targets,
                    "A model's folder (DIR or NAME=DIR) or a gimbal.yaml; several may be given");
  serve->add_option("--config", raw.config_file, "A gimbal.yaml")->type_name("FILE");
  serve->add_flag("--explain", args.explain,
                  "Print the effective configuration with the origin of each value, and stop");
  serve->add_flag("--json", args.json, "With --explain: print JSON");
  const auto settings = config::Settings();
  raw.setting_values.resize(settings.size());
  for (size_t i = 0; i < settings.size(); ++i) {
    if (!settings[i].flag.empty()) AddSetting(*serve, settings[i], raw.setting_values[i]);
  }
  const auto reserved = config::ReservedSettings();
  raw.reserved_values.resize(reserved.size());
  for (size_t i = 0; i < reserved.size(); ++i) {
    serve
        ->add_option(std::string(reserved[i].flag), raw.reserved_values[i],
                     std::string(reserved[i].why) + "; accepted with a warning")
        ->group(GroupName(reserved[i].section));
  }
}

void AddTokenize(CLI::App& app, TokenizeArgs& args) {
  CLI::App* tokenize =
      app.add_subcommand("tokenize", "Lines in, {\"ids\", \"offsets\"} out, as JSON lines");
  tokenize->add_option("--tokenizer", args.tokenizer_file, "A tokenizer.json")->type_name("FILE");
  tokenize->add_flag("--no-special", args.no_special, "Leave out [CLS], [SEP] and their like");
  tokenize->add_flag("--bench", args.bench, "Print the speed over the input instead of tokens");
  tokenize->add_flag("--json", args.json, "With --bench: print JSON");
}

void AddInspect(CLI::App& app, RawArgs& raw, InspectArgs& args) {
  CLI::App* inspect = app.add_subcommand(
      "inspect", "Signature, tokenizer, batching safety and memory plan of a model");
  inspect->add_option("TARGET", raw.inspect_target, "DIR, NAME=DIR or a gimbal.yaml");
  inspect->add_flag("--json", args.json, "Print JSON");
}

void AddBench(CLI::App& app, RawArgs& raw, BenchArgs& args) {
  CLI::App* bench =
      app.add_subcommand("bench", "Measure a server, or a model that a child process serves");
  bench->add_option("TARGET", args.target, "URL of a server, a model's folder, or null");
  bench->add_option("--model", args.model, "Model to ask; left out: the only one")
      ->type_name("NAME");
  bench->add_option("--protocol", raw.bench_protocol, "native, openai or kserve")
      ->type_name("NAME")
      ->default_str("native");
  bench->add_option("--concurrency", raw.bench_concurrency, "Closed loop: requests in flight")
      ->type_name("N");
  bench->add_option("--rate", raw.bench_rate, "Open loop: Poisson arrivals a second")
      ->type_name("R");
  bench->add_option("--seed", raw.bench_seed, "Of arrivals and texts")
      ->type_name("S")
      ->default_str("1");
  bench->add_option("--duration", raw.bench_duration, "How long to measure")
      ->type_name("D")
      ->default_str("10s");
  bench->add_option("--warmup", raw.bench_warmup, "How long to send before measuring")
      ->type_name("D")
      ->default_str("1s");
  bench->add_option("--requests", raw.bench_requests, "Stop after so many; 0: no such limit")
      ->type_name("N")
      ->default_str("0");
  bench->add_option("--batch-rows", raw.bench_batch_rows, "Rows in each request")
      ->type_name("K")
      ->default_str("1");
  bench->add_option("--texts", args.texts, "File of one text a line; left out: built-in sentences")
      ->type_name("FILE");
  bench->add_flag("--json", args.json, "Print JSON");
}

void AddDocs(CLI::App& app, DocsArgs& args) {
  CLI::App* docs = app.add_subcommand("docs", "Print a page of the documentation");
  docs->add_option("TOPIC", args.topic, "settings: the page docs/configuration.md");
}

// ---- unknown words

// "max_batch_size" and "--Max-Batch-Size" are one word.
std::string Normal(std::string_view name) {
  while (name.starts_with('-')) name.remove_prefix(1);
  std::string normal(name);
  for (char& c : normal) {
    if (c == '-') c = '_';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return normal;
}

// What a flag of another server is called here: the flag, or how to say it; empty if unknown.
std::string NameHere(const std::string& normal) {
  for (const config::Setting& setting : config::Settings()) {
    const std::vector<std::string_view> known = config::SplitWords(setting.known_as);
    if (std::find(known.begin(), known.end(), normal) == known.end()) continue;
    if (!setting.flag.empty()) return "did you mean " + std::string(setting.flag) + "?";
    return "the model is given as NAME=DIR";
  }
  return normal == "model_repository" ? "the folder is given as TARGET" : "";
}

Status UnknownFlag(const CLI::App& command, const std::string& word) {
  const std::string flag = word.substr(0, word.find('='));
  std::string message = "unknown flag " + flag.substr(0, 64);
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(Normal(name));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string normal = Normal(flag);
  std::string hint = command.get_name() == "serve" ? NameHere(normal) : "";
  if (hint.empty()) {
    std::string near(config::Nearest(normal, views));
    std::replace(near.begin(), near.end(), '_', '-');
    if (!near.empty()) hint = "did you mean --" + near + "?";
  }
  return UsageError(message + (hint.empty() ? "" : "; " + hint));
}

// Words that no option or positional of the command took.
Status CheckNothingLeft(const CLI::App& command) {
  const std::vector<std::string> left = command.remaining();
  for (const std::string& word : left) {
    if (word.size() > 1 && word.front() == '-' && word != "--") return UnknownFlag(command, word);
  }
  if (left.empty()) return Status::Ok();
  return UsageError("unexpected argument \"" + left.front() + "\"");
}

Status UnknownCommand(const CLI::App& app, const std::string& word) {
  if (word.starts_with('-')) return UnknownFlag(app, word);
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string message = "unknown command \"" + word.substr(0, 64) + "\"";
  const std::string_view near = config::Nearest(word, views);
  if (!near.empty()) return UsageError(message + "; did you mean " + std::string(near) + "?");
  return UsageError(message);
}

// ---- the values of each command

// Without an exponent.
template <typename Number>
std::string Plain(Number number) {
  char buffer[64];
  char* end = nullptr;
  if constexpr (std::is_integral_v<Number>) {
    end = std::to_chars(buffer, buffer + sizeof(buffer), number).ptr;
  } else {
    end = std::to_chars(buffer, buffer + sizeof(buffer), number, std::chars_format::fixed).ptr;
  }
  return std::string(buffer, end);
}

// A number of a flag, which keeps its default when the flag was not given.
template <typename Number>
Status SetNumber(const std::string& flag, const std::string& text, Number low, Number high,
                 Number& value) {
  if (text.empty()) return Status::Ok();
  Number parsed{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  const bool ok = error == std::errc() && end == text.data() + text.size();
  if (ok && parsed >= low && parsed <= high) {
    value = parsed;
    return Status::Ok();
  }
  const std::string what = std::is_integral_v<Number> ? "an integer" : "a number";
  return UsageError(flag + ": expected " + what + " " + Plain(low) + ".." + Plain(high) +
                    ", got \"" + text + "\"");
}

Status SetDuration(const std::string& flag, const std::string& text, Duration low,
                   Duration& value) {
  if (text.empty()) return Status::Ok();
  const Result<Duration> parsed = ParseDuration(text);
  if (!parsed.ok()) return parsed.status().WithContext(flag);
  if (*parsed < low || *parsed > std::chrono::hours(24)) {
    return UsageError(flag + ": expected at least " + FormatDuration(low) + " and at most a day, " +
                      "got " + text);
  }
  value = *parsed;
  return Status::Ok();
}

Status SetProtocol(const std::string& text, model::Protocol& value) {
  if (text.empty()) return Status::Ok();
  std::vector<std::string_view> names;
  for (int i = 0; i < model::kProtocolCount; ++i) {
    names.push_back(model::ProtocolName(static_cast<model::Protocol>(i)));
    if (names.back() != text) continue;
    value = static_cast<model::Protocol>(i);
    return Status::Ok();
  }
  if (text == "grpc") return UsageError("--protocol: grpc is not served by this version");
  std::string message = "--protocol: expected native, openai or kserve, got \"" + text + "\"";
  const std::string_view near = config::Nearest(text, names);
  if (!near.empty()) message += "; did you mean \"" + std::string(near) + "\"?";
  return UsageError(message);
}

Status FinishBench(const RawArgs& raw, BenchArgs& args) {
  if (args.target.empty()) return UsageError("TARGET is missing: a URL, a model's folder, or null");
  RETURN_IF_ERROR(SetProtocol(raw.bench_protocol, args.protocol));
  if (raw.bench_concurrency.empty() == raw.bench_rate.empty()) {
    return UsageError("expected one of --concurrency N (closed loop) and --rate R (open loop), " +
                      std::string(raw.bench_rate.empty() ? "got neither" : "got both"));
  }
  if (!raw.bench_concurrency.empty()) {
    RETURN_IF_ERROR(
        SetNumber("--concurrency", raw.bench_concurrency, 1, 65'536, args.concurrency.emplace()));
  } else {
    RETURN_IF_ERROR(SetNumber("--rate", raw.bench_rate, 0.001, 1e6, args.rate.emplace()));
  }
  RETURN_IF_ERROR(SetNumber("--seed", raw.bench_seed, uint64_t{0}, UINT64_MAX, args.seed));
  RETURN_IF_ERROR(
      SetDuration("--duration", raw.bench_duration, std::chrono::milliseconds(1), args.duration));
  RETURN_IF_ERROR(SetDuration("--warmup", raw.bench_warmup, Duration::zero(), args.warmup));
  RETURN_IF_ERROR(
      SetNumber("--requests", raw.bench_requests, int64_t{0}, int64_t{1} << 40, args.requests));
  return SetNumber("--batch-rows", raw.bench_batch_rows, 1, 65'536, args.batch_rows);
}

Status FinishTokenize(const TokenizeArgs& args) {
  if (!args.tokenizer_file.empty()) return Status::Ok();
  return UsageError("--tokenizer is missing: a tokenizer.json");
}

Status FinishDocs(const DocsArgs& args) {
  if (args.topic == "settings") return Status::Ok();
  return UsageError("TOPIC: expected settings, got " +
                    (args.topic.empty() ? "nothing" : "\"" + args.topic + "\""));
}

// Sorts TARGETs into the configuration file and the folders.
Status AddTargets(const std::vector<std::string>& targets, config::Sources& sources) {
  for (const std::string& target : targets) {
    if (!config::IsConfigFile(target)) {
      sources.targets.push_back(target);
    } else if (!sources.file.empty()) {
      return UsageError("expected one configuration file, got " + sources.file + " and " + target);
    } else {
      sources.file = target;
    }
  }
  return Status::Ok();
}

// Loads the configuration; its errors end the command, its warnings ride along.
void LoadInto(const config::Sources& sources, config::EffectiveConfig& effective,
              ParsedArgs& parsed) {
  config::Loaded loaded = config::Load(sources);
  parsed.err += config::FindingsText(loaded.findings);
  if (!loaded.ok()) {
    parsed.command = Command::kExit;
    parsed.exit_code = kExitUsage;
  }
  effective = std::move(loaded.effective);
}

Status FinishServe(const CLI::App& command, const RawArgs& raw, ParsedArgs& parsed) {
  config::Sources sources;
  sources.file = raw.config_file;
  RETURN_IF_ERROR(AddTargets(raw.serve_targets, sources));
  if (sources.file.empty() && sources.targets.empty()) {
    return UsageError("TARGET is missing: a model's folder, NAME=DIR or a gimbal.yaml");
  }
  const auto settings = config::Settings();
  for (size_t i = 0; i < settings.size(); ++i) {
    if (settings[i].flag.empty()) continue;
    const bool given = command.get_option(std::string(settings[i].flag))->count() > 0;
    if (given) sources.flags.push_back({&settings[i], raw.setting_values[i]});
  }
  const auto reserved = config::ReservedSettings();
  for (const config::ReservedSetting& setting : reserved) {
    if (command.get_option(std::string(setting.flag))->count() == 0) continue;
    config::Finding finding;
    finding.severity = config::Finding::Severity::kWarning;
    finding.message = std::string(setting.flag) + ": " + std::string(setting.why);
    parsed.err += finding.ToString() + "\n";
  }
  LoadInto(sources, parsed.serve.effective, parsed);
  if (parsed.command == Command::kServe && parsed.serve.effective.config.models.empty()) {
    return UsageError("nothing to serve: " + sources.file + " states no models; add a TARGET");
  }
  return Status::Ok();
}

Status FinishInspect(const RawArgs& raw, ParsedArgs& parsed) {
  if (raw.inspect_target.empty()) {
    return UsageError("TARGET is missing: a model's folder, NAME=DIR or a gimbal.yaml");
  }
  parsed.inspect.target = raw.inspect_target;
  config::Sources sources;
  RETURN_IF_ERROR(AddTargets({raw.inspect_target}, sources));
  LoadInto(sources, parsed.inspect.effective, parsed);
  if (parsed.command == Command::kInspect && parsed.inspect.effective.config.models.empty()) {
    return UsageError("nothing to inspect: " + sources.file + " states no models");
  }
  return Status::Ok();
}

// Checks the command that was named and fills its struct.
Status Finish(const CLI::App& app, const RawArgs& raw, ParsedArgs& parsed) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  if (named.empty()) {
    const std::vector<std::string> left = app.remaining();
    if (!left.empty()) return UnknownCommand(app, left.front());
    return UsageError("a command is missing");
  }
  const CLI::App& command = *named.front();
  RETURN_IF_ERROR(CheckNothingLeft(command));
  const std::string name = command.get_name();
  if (name == "serve") {
    parsed.command = Command::kServe;
    return FinishServe(command, raw, parsed);
  }
  if (name == "tokenize") {
    parsed.command = Command::kTokenize;
    return FinishTokenize(parsed.tokenize);
  }
  if (name == "inspect") {
    parsed.command = Command::kInspect;
    return FinishInspect(raw, parsed);
  }
  if (name == "bench") {
    parsed.command = Command::kBench;
    return FinishBench(raw, parsed.bench);
  }
  parsed.command = Command::kDocs;
  return FinishDocs(parsed.docs);
}

// CLI11 counts arguments; people want to know what to do about it.
std::string MismatchText(const std::string& text) {
  const std::string flag = text.substr(0, text.find(':'));
  const bool twice = text.find("At Most") != std::string::npos;
  return flag + (twice ? ": stated more than once" : ": a value is missing");
}

ParsedArgs Exit(int code, std::string out, std::string err) {
  ParsedArgs parsed;
  parsed.exit_code = code;
  parsed.out = std::move(out);
  parsed.err = std::move(err);
  return parsed;
}

// "gimbal serve: message", and where to read on.
ParsedArgs Usage(const CLI::App& app, const std::string& message) {
  std::string program = "gimbal";
  for (const CLI::App* command : app.get_subcommands()) program += " " + command->get_name();
  return Exit(kExitUsage, "", program + ": " + message + "\nTry '" + program + " --help'.\n");
}

}  // namespace

ParsedArgs ParseArgs(const std::vector<std::string>& args, std::string_view version) {
  ParsedArgs parsed;
  RawArgs raw;
  CLI::App app("Gimbal, a model server", "gimbal");
  app.set_version_flag("--version", "gimbal " + std::string(version));
  app.require_subcommand(0, 1);  // so that a folder called "bench" is a TARGET of `serve`
  app.footer(kFooter);
  app.formatter(std::make_shared<HelpFormatter>());
  AddServe(app, raw, parsed.serve);
  AddTokenize(app, parsed.tokenize);
  AddInspect(app, raw, parsed.inspect);
  AddBench(app, raw, parsed.bench);
  AddDocs(app, parsed.docs);
  app.allow_extras();
  for (CLI::App* command : app.get_subcommands({})) command->allow_extras();
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));  // CLI11 reads from the back
  } catch (const CLI::CallForHelp&) {
    return Exit(kExitDone, app.help(), "");
  } catch (const CLI::CallForVersion& e) {
    return Exit(kExitDone, std::string(e.what()) + "\n", "");
  } catch (const CLI::ArgumentMismatch& e) {
    return Usage(app, MismatchText(e.what()));
  } catch (const CLI::ParseError& e) {
    return Usage(app, e.what());
  }
  const Status status = Finish(app, raw, parsed);
  return status.ok() ? std::move(parsed) : Usage(app, status.message());
}

}  // namespace gimbal::cli
