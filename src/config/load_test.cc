#include "config/load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "config/explain.h"

namespace gimbal::config {
namespace {

// A folder of its own that the test's process works in, so that findings show "gimbal.yaml".
class LoadTest : public testing::Test {
 protected:
  void SetUp() override {
    old_ = std::filesystem::current_path();
    folder_ =
        std::filesystem::temp_directory_path() / ("gimbal_config_test." + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
  }
  void TearDown() override {
    std::filesystem::current_path(old_);
    std::filesystem::remove_all(folder_);
  }

  static void Write(const std::string& file, std::string_view text) {
    std::ofstream(file, std::ios::binary) << text;
  }

  static Loaded LoadText(std::string_view text) {
    Write("gimbal.yaml", text);
    return Load({"gimbal.yaml", {}, {}});
  }

  static FlagValue Flag(std::string_view flag, std::string text) {
    for (const Setting& setting : Settings()) {
      if (setting.flag == flag) return {&setting, std::move(text)};
    }
    ADD_FAILURE() << "no flag " << flag;
    return {&Settings().front(), ""};
  }

 private:
  std::filesystem::path old_;
  std::filesystem::path folder_;
};

// The example of the design, without the gRPC address.
constexpr std::string_view kExample = R"(
server:   {http: 127.0.0.1:8080, metrics: 127.0.0.1:0}
limits:   {max_body: 8MiB, max_connections: 10, max_rows_per_request: 64, memory: 2GiB}
models:
  - name: minilm
    path: models/minilm
    scenario: batch                  # online | batch | edge
    slo: {p99: 50ms}
    task: text-embedding
    engine: onnxruntime
    batching: {max_rows: 16, max_tokens: 4096, max_wait: 3ms}
    instances: 2
    threads: 3
    memory: 512MiB
    queue: {max_rows: 100, max_bytes: 1MiB, max_predicted_wait: 1s}
)";

TEST_F(LoadTest, ReadsTheExample) {
  const Loaded loaded = LoadText(kExample);
  ASSERT_EQ(FindingsText(loaded.findings), "");
  const Config& config = loaded.effective.config;
  EXPECT_EQ(config.server.http, "127.0.0.1:8080");
  EXPECT_EQ(config.server.metrics, "127.0.0.1:0");
  EXPECT_EQ(config.limits.max_body, MiB(8));
  EXPECT_EQ(config.limits.max_connections, 10);
  EXPECT_EQ(config.limits.max_rows_per_request, 64);
  EXPECT_EQ(config.limits.memory, GiB(2));
  ASSERT_EQ(config.models.size(), 1u);
  const ModelConfig& model = config.models[0];
  EXPECT_EQ(model.name, "minilm");
  EXPECT_EQ(model.path, "models/minilm");
  EXPECT_EQ(model.scenario, "batch");
  EXPECT_EQ(model.slo.p99, std::chrono::milliseconds(50));
  EXPECT_EQ(model.task, "text-embedding");
  EXPECT_EQ(model.engine, "onnxruntime");
  EXPECT_EQ(model.batching.max_rows, 16);
  EXPECT_EQ(model.batching.max_tokens, 4096);
  EXPECT_EQ(model.batching.max_wait, std::chrono::milliseconds(3));
  EXPECT_EQ(model.instances, 2);
  EXPECT_EQ(model.threads, 3);
  EXPECT_EQ(model.memory, MiB(512));
  EXPECT_EQ(model.queue.max_rows, 100);
  EXPECT_EQ(model.queue.max_bytes, MiB(1));
  EXPECT_EQ(model.queue.max_predicted_wait, std::chrono::seconds(1));
}

struct Mistake {
  std::string_view yaml;
  std::string_view finding;  // behind "gimbal.yaml:"
};
constexpr Mistake kMistakes[] = {
    // Unknown keys.
    {"servr: {}", "1:1: error: unknown key \"servr\"; did you mean \"server\"?"},
    {"colour: red", "1:1: error: unknown key \"colour\"; expected server, limits or models"},
    {"max_rows: 3",
     "1:1: error: unknown key \"max_rows\"; did you mean "
     "\"models[].batching.max_rows\"?"},
    {"http: h:1", "1:1: error: unknown key \"http\"; did you mean \"server.http\"?"},
    {"server: {htp: h:1}", "1:10: error: unknown key \"htp\" in server; did you mean \"http\"?"},
    {"server:\n  log:\n    lvel: info",
     "3:5: error: unknown key \"lvel\" in server.log; did you mean \"level\"?"},
    {"server: {max_body: 1MiB}",
     "1:10: error: unknown key \"max_body\" in server; did you mean \"limits.max_body\"?"},
    {"models: [{path: x, max_batch_size: 8}]",
     "1:20: error: unknown key \"max_batch_size\" in models[0]; did you mean "
     "\"batching.max_rows\"?"},
    {"models: [{path: x, slo: {p90: 1s}}]",
     "1:26: error: unknown key \"p90\" in models[0].slo; did you mean \"p99\"?"},
    {"models: [{path: x, batching: {zzz: 1}}]",
     "1:31: error: unknown key \"zzz\" in models[0].batching; expected max_rows, max_tokens or "
     "max_wait"},
    // Wrong kinds of node.
    {"[]", "1:1: error: the file: expected a map, got a list"},
    {"just text", "1:1: error: the file: expected a map, got a single value"},
    {"server: 8000", "1:9: error: server: expected a map, got a single value"},
    {"models: {path: x}", "1:9: error: models: expected a list, got a map"},
    {"models: [x]", "1:10: error: models[0]: expected a map, got a single value"},
    {"models:\n  -", "2:1: error: models[0]: expected a map, got nothing"},
    {"server: {http: [h]}", "1:16: error: server.http: expected a value (HOST:PORT), got a list"},
    {"server: {http: ~}", "1:16: error: server.http: expected a value (HOST:PORT), got nothing"},
    {"server: {io_threads: \"2\"}",
     "1:22: error: server.io_threads: expected 0 or 1..256 threads without quotes, got a text"},
    // Wrong values.
    {"limits: {max_body: 16}",
     "1:20: error: limits.max_body: expected a size such as 16MiB, got "
     "\"16\" (the unit is missing)"},
    {"limits: {max_body: 16ms}",
     "1:20: error: limits.max_body: expected a size such as 16MiB, "
     "got \"16ms\" (unknown unit)"},
    {"limits: {max_connections: 0}",
     "1:27: error: limits.max_connections: expected 1..1000000 connections, got 0"},
    {"models: [{path: x, scenario: onlin}]",
     "1:30: error: models[0].scenario: expected online, batch or edge, got \"onlin\"; did you "
     "mean \"online\"?"},
    {"models: [{path: x, batching: {max_tokens: 0}}]",
     "1:43: error: models[0].batching.max_tokens: expected 1..268435456 tokens, got 0"},
    // Stated twice, or not at all.
    {"limits:\n  memory: 1GiB\n  memory: 2GiB",
     "3:3: error: \"memory\" stands twice in limits; it was first stated in line 2"},
    {"server: {}\nserver: {}",
     "2:1: error: \"server\" stands twice; it was first stated in line 1"},
    {"models:\n  - name: a", "2:5: error: models[0].path is missing: the folder of the model"},
    {"models:\n  - path: a b",
     "2:5: error: models[0].name: expected a name of letters, digits, \".\", \"_\" and \"-\" "
     "that starts with a letter or digit, got \"a b\"; state a name"},
    // Known, not served.
    {"server: {grpc: h:1}", "1:10: warning: server.grpc: gRPC is not served by this version"},
};

TEST_F(LoadTest, OneFindingForEachMistake) {
  for (const Mistake& c : kMistakes) {
    const Loaded loaded = LoadText(c.yaml);
    EXPECT_EQ(FindingsText(loaded.findings), "gimbal.yaml:" + std::string(c.finding) + "\n");
  }
}

TEST_F(LoadTest, ContradictionsPointAtWhatSomebodyStated) {
  struct Case {
    std::string_view yaml;
    std::string_view finding;
  };
  const Case cases[] = {
      {"server: {http: h:1, metrics: h:1}",
       "1:30: error: server.metrics h:1 (gimbal.yaml:1) is server.http h:1 (gimbal.yaml:1): two "
       "listeners cannot share an address"},
      {"limits: {max_body: 1MiB, max_text: 2MiB}",
       "1:36: error: limits.max_text 2MiB (gimbal.yaml:1) is above limits.max_body 1MiB "
       "(gimbal.yaml:1): such a text never fits a body"},
      {"models:\n  - {name: a, path: x}\n  - {name: a, path: y}",
       "3:12: error: models[1].name: \"a\" is the name of another model (gimbal.yaml:2); names "
       "must differ"},
      {"models:\n  - {path: x/a}\n  - {path: y/a}",
       "3:5: error: models[1].name: \"a\" is the name of another model (name of the folder); names "
       "must differ"},
      {"models:\n  - {name: a.graph, path: x}\n  - {name: a, path: y}",
       "2:12: error: models[0].name: \"a.graph\" is the name of the bare graph of \"a\"; names "
       "must differ"},
      {"models: [{path: x, batching: {max_wait: 30ms}, slo: {p99: 25ms}}]",
       "1:41: error: models[0].batching.max_wait 30ms (gimbal.yaml:1) is not below "
       "models[0].slo.p99 25ms (gimbal.yaml:1): waiting alone would use up the limit"},
      {"models: [{path: x, slo: {p99: 2ms}}]",
       "1:31: error: models[0].batching.max_wait 2ms (default) is not below models[0].slo.p99 2ms "
       "(gimbal.yaml:1): waiting alone would use up the limit"},
      {"models: [{path: x, batching: {max_rows: 2048}}]",
       "1:41: error: models[0].queue.max_rows 1024 (default) is below models[0].batching.max_rows "
       "2048 (gimbal.yaml:1): a full batch could never form"},
      {"models: [{path: x, queue: {max_predicted_wait: 1ms}}]",
       "1:48: error: models[0].batching.max_wait 2ms (default) is above "
       "models[0].queue.max_predicted_wait 1ms (gimbal.yaml:1): rows would be refused for a wait "
       "that is allowed"},
      {"limits: {memory: 1GiB}\nmodels:\n  - {name: a, path: x, memory: 600MiB}\n"
       "  - {name: b, path: y, memory: 600MiB}",
       "4:32: error: models[1].memory: the models' memory adds up to 1200MiB, which is above "
       "limits.memory 1GiB (gimbal.yaml:1)"},
  };
  for (const Case& c : cases) {
    const Loaded loaded = LoadText(c.yaml);
    EXPECT_EQ(FindingsText(loaded.findings), "gimbal.yaml:" + std::string(c.finding) + "\n");
  }
}

TEST_F(LoadTest, AgreeingNeighboursAreNoContradiction) {
  for (std::string_view yaml : {
           "server: {http: h:0, metrics: h:0}",
           "limits: {max_body: 1MiB}",  // the default text limit is larger, and does no harm
           "limits: {memory: 1GiB}\nmodels: [{path: a, memory: 512MiB}, {path: b, memory: 512MiB}]",
           "models: [{path: x, batching: {max_rows: 8}, queue: {max_rows: 8}}]",
           "models: [{path: x, queue: {max_predicted_wait: 0s}, batching: {max_wait: 10s}}]",
           "models: [{name: a.graph, path: x}, {name: b, path: y}]",
           "models: [{path: x, batching: }]",
           "",
           "# nothing\n",
       }) {
    EXPECT_EQ(FindingsText(LoadText(yaml).findings), "") << yaml;
  }
}

TEST_F(LoadTest, ReportsEverythingInTheFilesOrder) {
  const Loaded loaded = LoadText(
      "server: {http: 1}\n"
      "models:\n"
      "  - {path: x, slo: {p99: 1ms}}\n"  // a contradiction, found last
      "  - {path: y, threads: 0}\n"
      "limits: {max_text: 1}\n");
  ASSERT_EQ(loaded.findings.size(), 4u);
  EXPECT_FALSE(loaded.ok());
  const int lines[] = {1, 3, 4, 5};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(loaded.findings[i].line, lines[i]);
}

TEST_F(LoadTest, ARefusedValueMakesNoSecondFinding) {
  const Loaded loaded = LoadText("models: [{path: x, batching: {max_wait: 5}, slo: {p99: 1ms}}]");
  EXPECT_EQ(loaded.findings.size(), 1u) << FindingsText(loaded.findings);
}

TEST_F(LoadTest, FlagsStandOverTheFileAndTheFileOverDefaults) {
  Write("gimbal.yaml",
        "server: {http: h:1, io_threads: 2}\n"
        "models:\n"
        "  - {name: a, path: x, threads: 2, batching: {max_rows: 4}}\n");
  const Loaded loaded =
      Load({"gimbal.yaml", {"b=dir"}, {Flag("--http", "h:2"), Flag("--max-rows", "8")}});
  ASSERT_EQ(FindingsText(loaded.findings), "");
  const Config& config = loaded.effective.config;
  const Origins& origins = loaded.effective.origins;
  EXPECT_EQ(config.server.http, "h:2");
  EXPECT_EQ(origins.Of("server.http"), "--http");
  EXPECT_EQ(config.server.io_threads, 2);
  EXPECT_EQ(origins.Of("server.io_threads"), "gimbal.yaml:1");
  EXPECT_EQ(config.server.metrics, "127.0.0.1:8002");
  EXPECT_EQ(origins.Of("server.metrics"), "default");
  ASSERT_EQ(config.models.size(), 2u);
  EXPECT_EQ(config.models[0].batching.max_rows, 8);
  EXPECT_EQ(origins.Of("models[0].batching.max_rows"), "--max-rows");
  EXPECT_EQ(config.models[0].threads, 2);
  EXPECT_EQ(origins.Of("models[0].threads"), "gimbal.yaml:3");
  EXPECT_EQ(config.models[1].name, "b");
  EXPECT_EQ(config.models[1].path, "dir");
  EXPECT_EQ(origins.Of("models[1].path"), "target");
  EXPECT_EQ(config.models[1].batching.max_rows, 8);
  EXPECT_EQ(config.models[1].threads, 1);
}

TEST_F(LoadTest, AFlagCanContradictTheFile) {
  // The finding points at no line: what the file says of max_wait is not what counts.
  Write("gimbal.yaml", "models: [{path: x, slo: {p99: 25ms}, batching: {max_wait: 1ms}}]");
  const Loaded loaded = Load({"gimbal.yaml", {}, {Flag("--max-wait", "30ms")}});
  EXPECT_EQ(FindingsText(loaded.findings),
            "error: models[0].batching.max_wait 30ms (--max-wait) is not below models[0].slo.p99 "
            "25ms (gimbal.yaml:1): waiting alone would use up the limit\n");
}

TEST_F(LoadTest, AWrongFlagIsReportedOnce) {
  const Loaded loaded = Load({"", {"a", "b"}, {Flag("--max-rows", "0")}});
  EXPECT_EQ(FindingsText(loaded.findings), "error: --max-rows: expected 1..65536 rows, got 0\n");
}

TEST_F(LoadTest, NamesTargets) {
  struct Case {
    std::string target;
    std::string name;
    std::string path;
  };
  const Case cases[] = {
      {"models/minilm", "minilm", "models/minilm"},
      {"models/minilm/", "minilm", "models/minilm/"},
      {"models/x/../y", "y", "models/x/../y"},
      {"e5=models/minilm", "e5", "models/minilm"},
      {"./a=b/c", "c", "./a=b/c"},  // a folder's name may hold "="
  };
  for (const Case& c : cases) {
    const Loaded loaded = Load({"", {c.target}, {}});
    EXPECT_EQ(FindingsText(loaded.findings), "");
    EXPECT_EQ(loaded.effective.config.models[0].name, c.name);
    EXPECT_EQ(loaded.effective.config.models[0].path, c.path);
  }
  EXPECT_EQ(FindingsText(Load({"", {"a="}, {}}).findings),
            "error: TARGET: expected DIR, NAME=DIR or a .yaml file, got \"a=\"\n");
  EXPECT_EQ(FindingsText(Load({"", {"x/my model"}, {}}).findings),
            "error: TARGET \"x/my model\": expected a name of letters, digits, \".\", \"_\" and "
            "\"-\" that starts with a letter or digit, got \"my model\"; write NAME=DIR\n");
}

TEST_F(LoadTest, PathsOfAFileAreRelativeToItsFolder) {
  std::filesystem::create_directory("deploy");
  Write("deploy/gimbal.yaml",
        "server: {log: {file: logs/g.log}}\n"
        "models: [{path: ../models/a}, {path: /abs/b}]");
  const Loaded loaded = Load({"deploy/gimbal.yaml", {}, {}});
  ASSERT_EQ(FindingsText(loaded.findings), "");
  EXPECT_EQ(loaded.effective.config.server.log.file, "deploy/logs/g.log");
  EXPECT_EQ(loaded.effective.config.models[0].path, "models/a");
  EXPECT_EQ(loaded.effective.config.models[1].path, "/abs/b");
}

TEST_F(LoadTest, AliasesShareValues) {
  const Loaded loaded = LoadText(
      "models:\n"
      "  - {path: a, batching: &b {max_rows: 7}}\n"
      "  - {path: b, batching: *b}\n");
  ASSERT_EQ(FindingsText(loaded.findings), "");
  EXPECT_EQ(loaded.effective.config.models[1].batching.max_rows, 7);
  EXPECT_EQ(loaded.effective.origins.Of("models[1].batching.max_rows"), "gimbal.yaml:2");
}

std::string Repeat(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_F(LoadTest, HostileFilesAreBounded) {
  struct Case {
    std::string yaml;
    std::string finding;
  };
  const Case cases[] = {
      {std::string((1 << 20) + 1, '#'),
       ": error: expected a file of at most 1MiB, got a larger one"},
      {Repeat("[", 500'000), ":1:17: error: YAML: nested deeper than 32 levels"},
      {Repeat("{a: ", 200'000), ":1:125: error: YAML: nested deeper than 32 levels"},
      {Repeat("- ", 500'000), ":1:65: error: YAML: nested deeper than 32 levels"},
      {"models: &m [*m]", ":1:13: error: YAML: an alias inside what it names"},
      {"models:\n - &m {path: x}\n" + Repeat(" - *m\n", 2000),
       ":2:2: error: models: expected at most 1000 models, got 2001"},
      {"a: [" + Repeat("1,", 200'000) + "1]", ":1:199999: error: YAML: too many values"},
      {"server:\n  http: \xff", ":2:9: error: expected UTF-8 text"},
      {"server: {}\n---\nlimits: {}", ":3:1: error: expected one YAML document, got a second one"},
      {"? [a]\n: b", ":1:3: error: YAML: expected a key, got something else"},
      {"server: {http: \"h", ":1:18: error: YAML: illegal EOF in scalar"},
      {"server: {http: h:1", ":1:1: error: YAML: end of map flow not found"},
  };
  for (const Case& c : cases) {
    const Loaded loaded = LoadText(c.yaml);
    EXPECT_EQ(FindingsText(loaded.findings), "gimbal.yaml" + c.finding + "\n");
  }
}

TEST_F(LoadTest, AnAliasBombCostsNothing) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 20; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int j = 1; j < 10; ++j) bomb += "," + last;
    bomb += "]\n";
  }
  const Loaded loaded = LoadText(bomb + "models: *a19\n");
  EXPECT_EQ(loaded.findings.size(), 30u);  // 20 unknown keys, 10 models that are lists
}

TEST_F(LoadTest, ManyFindingsAreCut) {
  std::string yaml;
  for (int i = 0; i < 1000; ++i) yaml += "zzzzzz" + std::to_string(i) + ": 1\n";
  const Loaded loaded = LoadText(yaml);
  ASSERT_EQ(loaded.findings.size(), 101u);
  EXPECT_EQ(loaded.findings.back().ToString(),
            "gimbal.yaml: error: 900 more findings are not shown");
}

TEST_F(LoadTest, LoadFileGivesAllErrorsAsOneStatus) {
  Write("gimbal.yaml", "servr: {}\nlimit: {}\n");
  const auto result = LoadFile("gimbal.yaml");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::kInvalid);
  EXPECT_EQ(result.status().message(),
            "gimbal.yaml:1:1: error: unknown key \"servr\"; did you mean \"server\"?\n"
            "gimbal.yaml:2:1: error: unknown key \"limit\"; did you mean \"limits\"?");
  EXPECT_EQ(LoadFile("none.yaml").status().message(),
            "none.yaml: error: the file cannot be read: No such file or directory");
  Write("gimbal.yaml", kExample);
  EXPECT_TRUE(LoadFile("gimbal.yaml").ok());
}

TEST_F(LoadTest, FindingsAsJson) {
  EXPECT_EQ(FindingsJson(LoadText("servr: {}").findings),
            R"([{"file":"gimbal.yaml","line":1,"column":1,"severity":"error",)"
            R"("message":"unknown key \"servr\"; did you mean \"server\"?"}])");
}

TEST_F(LoadTest, ExplainShowsOrigins) {
  Write("gimbal.yaml", kExample);
  const Loaded loaded = Load({"gimbal.yaml", {}, {Flag("--max-wait", "0s")}});
  const std::string text = Explain(loaded.effective);
  EXPECT_EQ(text.substr(0, text.find("  io_threads")),
            "server:\n"
            "  http: 127.0.0.1:8080        # gimbal.yaml:2\n"
            "  metrics: 127.0.0.1:0        # gimbal.yaml:2\n");
  EXPECT_NE(text.find("models:\n"
                      "  - name: minilm              # gimbal.yaml:5\n"
                      "    path: models/minilm       # gimbal.yaml:6\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    batching:\n"
                      "      max_rows: 16            # gimbal.yaml:11\n"
                      "      max_tokens: 4096        # gimbal.yaml:11\n"
                      "      max_wait: 0s            # --max-wait\n"),
            std::string::npos)
      << text;
}

TEST_F(LoadTest, ExplainLoadsAgainAsTheSame) {
  Write("gimbal.yaml", kExample);
  const std::vector<std::string> targets = {"b=some where/it's \"b\" #1", "c=null", "e5=1e3"};
  const std::vector<FlagValue> flags = {Flag("--http", "[::1]:0"), Flag("--log-file", "a: b"),
                                        Flag("--access-log", "false")};
  Loaded first = Load({"gimbal.yaml", targets, flags});
  ASSERT_EQ(FindingsText(first.findings), "");
  const std::string text = Explain(first.effective);
  EXPECT_NE(text.find("path: \"1e3\""), std::string::npos) << "other readers see a number";
  const Loaded second = LoadText(text);
  ASSERT_EQ(FindingsText(second.findings), "");
  EXPECT_EQ(second.effective.config.models.size(), 4u);
  EffectiveConfig plain = second.effective;
  first.effective.origins = {};
  plain.origins = {};
  EXPECT_EQ(Explain(plain), Explain(first.effective));
  EXPECT_EQ(plain.config.models[1].path, "some where/it's \"b\" #1");
  EXPECT_EQ(plain.config.models[3].path, "1e3");
}

TEST_F(LoadTest, ExplainJsonHasEveryValue) {
  const Loaded loaded = Load({"", {"a"}, {Flag("--max-rows", "8")}});
  const std::string json = ExplainJson(loaded.effective);
  EXPECT_NE(
      json.find(R"({"setting":"models[0].batching.max_rows","value":8,"origin":"--max-rows"})"),
      std::string::npos)
      << json;
  EXPECT_NE(json.find(R"({"setting":"server.log.access","value":true,"origin":"default"})"),
            std::string::npos);
  EXPECT_NE(json.find(R"({"setting":"limits.max_body","value":"16MiB","origin":"default"})"),
            std::string::npos);
}

TEST_F(LoadTest, ExplainOfOriginsSetLater) {
  Loaded loaded = Load({"", {"a"}, {}});
  loaded.effective.config.models[0].task = "text-embedding";
  loaded.effective.origins.Set("models[0].task", "a/config.json\nx: y");  // stays one comment
  const std::string text = Explain(loaded.effective);
  EXPECT_NE(text.find("    task: text-embedding      # a/config.json?x: y\n"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace gimbal::config
