#include "cli/args.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "config/settings.h"

namespace gimbal::cli {
namespace {

using Command = ParsedArgs::Command;
using Words = std::vector<std::string>;

ParsedArgs Parse(const Words& words) { return ParseArgs(words, "1.2.3"); }

std::string Joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

struct WrongUsage {
  Words words;
  std::string err;  // its first line
};
const std::vector<WrongUsage> kWrongUsages = {
    {{}, "gimbal: a command is missing"},
    {{"serv", "x"}, "gimbal: unknown command \"serv\"; did you mean serve?"},
    {{"frobnicate"}, "gimbal: unknown command \"frobnicate\""},
    {{"--versio"}, "gimbal: unknown flag --versio; did you mean --version?"},
    {{"serve"}, "gimbal serve: TARGET is missing: a model's folder, NAME=DIR or a gimbal.yaml"},
    {{"serve", "x", "--max-row", "8"},
     "gimbal serve: unknown flag --max-row; did you mean --max-rows?"},
    {{"serve", "x", "--max-row=8"},
     "gimbal serve: unknown flag --max-row; did you mean --max-rows?"},
    {{"serve", "x", "--max_rows", "8"},
     "gimbal serve: unknown flag --max_rows; did you mean --max-rows?"},
    {{"serve", "x", "--max-batch-tokens", "8"},
     "gimbal serve: unknown flag --max-batch-tokens; did you mean --max-tokens?"},
    {{"serve", "--model-repository", "x"},
     "gimbal serve: unknown flag --model-repository; the folder is given as TARGET"},
    {{"serve", "x", "--model_name", "y"},
     "gimbal serve: unknown flag --model_name; the model is given as NAME=DIR"},
    {{"serve", "x", "--frobnicate"}, "gimbal serve: unknown flag --frobnicate"},
    {{"serve", "x", "-v"}, "gimbal serve: unknown flag -v"},
    {{"serve", "x", "--max-rows"}, "gimbal serve: --max-rows: a value is missing"},
    {{"serve", "x", "--max-rows", "8", "--max-rows", "9"},
     "gimbal serve: --max-rows: stated more than once"},
    {{"serve", "a.yaml", "b.yml"},
     "gimbal serve: expected one configuration file, got a.yaml and b.yml"},
    {{"serve", "a.yaml", "--config", "c"},
     "gimbal serve: expected one configuration file, got c and a.yaml"},
    {{"tokenize"}, "gimbal tokenize: --tokenizer is missing: a tokenizer.json"},
    {{"tokenize", "x"}, "gimbal tokenize: unexpected argument \"x\""},
    {{"inspect"}, "gimbal inspect: TARGET is missing: a model's folder, NAME=DIR or a gimbal.yaml"},
    {{"inspect", "x", "y"}, "gimbal inspect: unexpected argument \"y\""},
    {{"docs"}, "gimbal docs: TOPIC: expected settings, got nothing"},
    {{"docs", "all"}, "gimbal docs: TOPIC: expected settings, got \"all\""},
    {{"bench", "--rate", "1"}, "gimbal bench: TARGET is missing: a URL, a model's folder, or null"},
    {{"bench", "null"},
     "gimbal bench: expected one of --concurrency N (closed loop) and --rate R (open loop), got "
     "neither"},
    {{"bench", "null", "--rate", "1", "--concurrency", "1"},
     "gimbal bench: expected one of --concurrency N (closed loop) and --rate R (open loop), got "
     "both"},
    {{"bench", "null", "--concurency", "1"},
     "gimbal bench: unknown flag --concurency; did you mean --concurrency?"},
    {{"bench", "null", "--concurrency", "0"},
     "gimbal bench: --concurrency: expected an integer 1..65536, got \"0\""},
    {{"bench", "null", "--rate", "-5"},
     "gimbal bench: --rate: expected a number 0.001..1000000, got \"-5\""},
    {{"bench", "null", "--rate", "nan"},
     "gimbal bench: --rate: expected a number 0.001..1000000, got \"nan\""},
    {{"bench", "null", "--rate", "1", "--seed", "x"},
     "gimbal bench: --seed: expected an integer 0..18446744073709551615, got \"x\""},
    {{"bench", "null", "--rate", "1", "--duration", "5"},
     "gimbal bench: --duration: expected a duration such as 25ms, got \"5\" (the unit is "
     "missing)"},
    {{"bench", "null", "--rate", "1", "--duration", "0s"},
     "gimbal bench: --duration: expected at least 1ms and at most a day, got 0s"},
    {{"bench", "null", "--rate", "1", "--protocol", "openapi"},
     "gimbal bench: --protocol: expected native, openai or kserve, got \"openapi\"; did you mean "
     "\"openai\"?"},
    {{"bench", "null", "--rate", "1", "--protocol", "grpc"},
     "gimbal bench: --protocol: grpc is not served by this version"},
};

TEST(ArgsTest, WrongUsageSaysWhatAndExitsWith2) {
  for (const WrongUsage& c : kWrongUsages) {
    const ParsedArgs parsed = Parse(c.words);
    SCOPED_TRACE(Joined(c.words));
    EXPECT_EQ(parsed.command, Command::kExit);
    EXPECT_EQ(parsed.exit_code, kExitUsage);
    EXPECT_EQ(parsed.out, "");
    EXPECT_EQ(parsed.err.substr(0, parsed.err.find('\n')), c.err);
    const std::string program = c.err.substr(0, c.err.find(':'));
    EXPECT_TRUE(parsed.err.ends_with("\nTry '" + program + " --help'.\n")) << parsed.err;
  }
}

TEST(ArgsTest, HelpAndVersionExitWith0) {
  EXPECT_EQ(Parse({"--version"}).out, "gimbal 1.2.3\n");
  for (const Words& words : {Words{"--help"}, Words{"serve", "--help"}, Words{"bench", "-h"}}) {
    const ParsedArgs parsed = Parse(words);
    EXPECT_EQ(parsed.command, Command::kExit);
    EXPECT_EQ(parsed.exit_code, kExitDone);
    EXPECT_NE(parsed.out.find("Usage: gimbal"), std::string::npos);
    EXPECT_EQ(parsed.err, "");
  }
}

TEST(ArgsTest, HelpOfServeHasEverySetting) {
  const std::string help = Parse({"serve", "--help"}).out;
  for (const config::Setting& setting : config::Settings()) {
    if (setting.flag.empty()) continue;
    const std::string flag = "  " + std::string(setting.flag);
    EXPECT_TRUE(help.find(flag + " ") != std::string::npos ||
                help.find(flag + ",") != std::string::npos)
        << flag;
    EXPECT_NE(help.find(setting.help), std::string::npos) << setting.flag;
  }
  EXPECT_EQ(help.find('{'), std::string::npos) << "CLI11's notation must not be shown";
}

TEST(ArgsTest, EverySettingHasAWorkingFlag) {
  for (const config::Setting& setting : config::Settings()) {
    if (setting.flag.empty()) continue;
    const std::string value = config::DefaultText(setting);
    if (value.empty()) continue;
    const std::string word = std::string(setting.flag) + "=" + value;
    const ParsedArgs parsed = Parse({"serve", "m", word});
    ASSERT_EQ(parsed.command, Command::kServe) << word << "\n" << parsed.err;
    const bool model = setting.section == config::Section::kModel;
    const std::string path =
        (model ? "models[0]" : std::string(config::SectionName(setting.section))) + "." +
        std::string(setting.key);
    EXPECT_EQ(parsed.serve.effective.origins.Of(path), setting.flag);
  }
}

TEST(ArgsTest, Serve) {
  const ParsedArgs parsed =
      Parse({"serve", "bench", "e5=models/x", "--http", "[::1]:0", "--max-rows", "8",
             "--slo-p99=30ms", "--no-access-log", "--log-file", "", "--explain", "--json"});
  ASSERT_EQ(parsed.command, Command::kServe) << parsed.err;
  EXPECT_EQ(parsed.err, "");
  EXPECT_TRUE(parsed.serve.explain);
  EXPECT_TRUE(parsed.serve.json);
  const config::Config& config = parsed.serve.effective.config;
  EXPECT_EQ(config.server.http, "[::1]:0");
  EXPECT_FALSE(config.server.log.access);
  ASSERT_EQ(config.models.size(), 2u);
  EXPECT_EQ(config.models[0].name, "bench") << "a folder may be called like a command";
  EXPECT_EQ(config.models[1].name, "e5");
  for (const config::ModelConfig& model : config.models) {
    EXPECT_EQ(model.batching.max_rows, 8);
    EXPECT_EQ(model.slo.p99, std::chrono::milliseconds(30));
  }
  EXPECT_TRUE(Parse({"serve", "m", "--access-log"}).serve.effective.config.server.log.access);
}

TEST(ArgsTest, WrongConfigurationExitsWith2AndAllFindings) {
  const ParsedArgs parsed =
      Parse({"serve", "m", "--max-rows", "0", "--log-level", "inf", "--http", ""});
  EXPECT_EQ(parsed.command, Command::kExit);
  EXPECT_EQ(parsed.exit_code, kExitUsage);
  EXPECT_EQ(parsed.err,
            "error: --http: expected HOST:PORT such as 127.0.0.1:8000, got nothing\n"
            "error: --log-level: expected debug, info, warning or error, got \"inf\"; did you "
            "mean \"info\"?\n"
            "error: --max-rows: expected 1..65536 rows, got 0\n");
}

TEST(ArgsTest, GrpcIsKnownAndWarnedOf) {
  const ParsedArgs parsed = Parse({"serve", "m", "--grpc", "127.0.0.1:8001"});
  EXPECT_EQ(parsed.command, Command::kServe);
  EXPECT_EQ(parsed.err, "warning: --grpc: gRPC is not served by this version\n");
}

TEST(ArgsTest, ConfigurationFiles) {
  const std::string file = (std::filesystem::temp_directory_path() /
                            ("gimbal_args_test." + std::to_string(getpid()) + ".yaml"))
                               .string();
  std::ofstream(file) << "server: {io_threads: 3}\nmodels: [{path: /m/a}]\n";
  for (const Words& words : {Words{"serve", file}, Words{"serve", "--config", file}}) {
    const ParsedArgs parsed = Parse(words);
    ASSERT_EQ(parsed.command, Command::kServe) << parsed.err;
    EXPECT_EQ(parsed.serve.effective.config.server.io_threads, 3);
    EXPECT_EQ(parsed.serve.effective.origins.Of("server.io_threads"), file + ":1");
  }
  const ParsedArgs inspect = Parse({"inspect", file});
  ASSERT_EQ(inspect.command, Command::kInspect);
  EXPECT_EQ(inspect.inspect.effective.config.models[0].name, "a");

  std::ofstream(file) << "server: {io_threads: 3}\n";
  const ParsedArgs nothing = Parse({"serve", file});
  EXPECT_EQ(nothing.command, Command::kExit);
  EXPECT_EQ(nothing.exit_code, kExitUsage);
  EXPECT_NE(nothing.err.find("nothing to serve"), std::string::npos);
  EXPECT_EQ(Parse({"inspect", file}).exit_code, kExitUsage);
  std::filesystem::remove(file);
  EXPECT_EQ(Parse({"serve", file}).exit_code, kExitUsage);
}

TEST(ArgsTest, Bench) {
  const ParsedArgs closed = Parse({"bench", "http://h:1", "--model", "m", "--concurrency", "4"});
  ASSERT_EQ(closed.command, Command::kBench) << closed.err;
  EXPECT_EQ(closed.bench.target, "http://h:1");
  EXPECT_EQ(closed.bench.model, "m");
  EXPECT_EQ(closed.bench.concurrency, 4);
  EXPECT_FALSE(closed.bench.rate.has_value());
  EXPECT_EQ(closed.bench.protocol, model::Protocol::kNative);
  EXPECT_EQ(closed.bench.duration, std::chrono::seconds(10));
  EXPECT_FALSE(closed.bench.json);

  const ParsedArgs open = Parse({"bench", "null", "--rate", "2.5", "--seed", "7", "--duration",
                                 "3s", "--warmup", "0s", "--requests", "9", "--batch-rows", "2",
                                 "--texts", "t.txt", "--protocol", "kserve", "--json"});
  ASSERT_EQ(open.command, Command::kBench) << open.err;
  EXPECT_FALSE(open.bench.concurrency.has_value());
  EXPECT_EQ(open.bench.rate, 2.5);
  EXPECT_EQ(open.bench.seed, 7u);
  EXPECT_EQ(open.bench.duration, std::chrono::seconds(3));
  EXPECT_EQ(open.bench.warmup, Duration::zero());
  EXPECT_EQ(open.bench.requests, 9);
  EXPECT_EQ(open.bench.batch_rows, 2);
  EXPECT_EQ(open.bench.texts, "t.txt");
  EXPECT_EQ(open.bench.protocol, model::Protocol::kKserve);
  EXPECT_TRUE(open.bench.json);
}

TEST(ArgsTest, TokenizeInspectDocs) {
  const ParsedArgs tokenize =
      Parse({"tokenize", "--tokenizer", "t.json", "--no-special", "--bench", "--json"});
  ASSERT_EQ(tokenize.command, Command::kTokenize);
  EXPECT_EQ(tokenize.tokenize.tokenizer_file, "t.json");
  EXPECT_TRUE(tokenize.tokenize.no_special);
  EXPECT_TRUE(tokenize.tokenize.bench);
  EXPECT_TRUE(tokenize.tokenize.json);

  const ParsedArgs inspect = Parse({"inspect", "n=dir", "--json"});
  ASSERT_EQ(inspect.command, Command::kInspect);
  EXPECT_EQ(inspect.inspect.target, "n=dir");
  EXPECT_EQ(inspect.inspect.effective.config.models.at(0).name, "n");
  EXPECT_TRUE(inspect.inspect.json);

  const ParsedArgs docs = Parse({"docs", "settings"});
  ASSERT_EQ(docs.command, Command::kDocs);
  EXPECT_EQ(docs.docs.topic, "settings");
}

}  // namespace
}  // namespace gimbal::cli
