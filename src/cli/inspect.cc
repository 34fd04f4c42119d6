#include "cli/inspect.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "base/json_writer.h"
#include "engine/engine.h"
#include "registry/model_report.h"

namespace gimbal::cli {
namespace {

using model::TensorSpec;
using registry::ModelReport;

std::string NameOf(const InspectTarget& target) {
  if (!target.name.empty()) return target.name;
  const auto path = std::filesystem::absolute(target.dir).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

void WriteSpecs(std::string_view key, const std::vector<TensorSpec>& specs, JsonWriter& w) {
  w.Key(key).BeginArray();
  for (const TensorSpec& spec : specs) {
    w.BeginObject().Key("name").String(spec.name);
    w.Key("datatype").String(model::DataTypeName(spec.type)).Key("shape").BeginArray();
    for (const int64_t size : spec.shape) w.Int(size);
    w.EndArray().EndObject();
  }
  w.EndArray();
}

void WriteTexts(std::string_view key, const std::vector<std::string>& texts, JsonWriter& w) {
  w.Key(key).BeginArray();
  for (const std::string& text : texts) w.String(text);
  w.EndArray();
}

void WriteMemory(const ModelReport& report, JsonWriter& w) {
  w.Key("memory").BeginObject().Key("weights").Int(report.weights.value).Key("per_row_token");
  if (report.per_row_token) {
    w.Int(report.per_row_token->value);
  } else {
    w.Null();
  }
  w.Key("plan").BeginArray();
  for (const auto& batch : report.plan) {
    w.BeginObject().Key("length").Int(batch.length).Key("rows").Int(batch.rows);
    w.Key("bytes").Int(batch.bytes.value).EndObject();
  }
  w.EndArray().EndObject();
}

void WriteJson(const InspectTarget& target, const ModelReport& report, engine::Engine& engine,
               JsonWriter& w) {
  w.BeginObject().Key("name").String(NameOf(target)).Key("version").String(target.version);
  w.Key("task").String(model::TaskName(report.files.task));
  w.Key("engine").String(engine.name()).Key("engine_version").String(engine.version());
  WriteSpecs("inputs", report.signature.inputs, w);
  WriteSpecs("outputs", report.signature.outputs, w);
  w.Key("tokenizer").BeginObject().Key("kind").String(report.tokenizer_kind);
  w.Key("vocab").Uint(report.vocabulary).Key("max_length").Int(report.files.max_tokens).EndObject();
  w.Key("pooling").String(pipeline::PoolingName(report.files.pooling.pooling));
  w.Key("normalize").Bool(report.files.pooling.normalize);
  w.Key("hashes").BeginObject();
  for (const auto& [file, hash] : report.hashes) w.Key(file).String(hash);
  w.EndObject();
  w.Key("batching").BeginObject().Key("safe").String(RowSharingName(report.batching.safe));
  WriteTexts("reasons", report.batching.reasons, w);
  w.EndObject();
  WriteMemory(report, w);
  WriteTexts("notes", report.files.notes, w);
  w.EndObject();
}

std::string SpecText(const TensorSpec& spec) {
  return fmt::format("{} {} {}", spec.name, model::DataTypeName(spec.type),
                     model::ShapeText(spec.shape));
}

std::string Mebibytes(Bytes bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes.value) / (1 << 20));
}

// A name in front of the first line of what it heads.
void PrintList(std::string_view heading, const std::vector<std::string>& lines, std::ostream& out) {
  for (const std::string& line : lines) {
    out << fmt::format("  {:<10} {}\n", heading, line);
    heading = "";
  }
}

void Print(const InspectTarget& target, const ModelReport& report, engine::Engine& engine,
           std::ostream& out) {
  const auto texts = [](const auto& items, auto text) {
    std::vector<std::string> lines;
    for (const auto& item : items) lines.push_back(text(item));
    return lines;
  };
  const auto& files = report.files;
  out << fmt::format("{} (version {}): {} with {} {}\n", NameOf(target), target.version,
                     model::TaskName(files.task), engine.name(), engine.version());
  PrintList("inputs", texts(report.signature.inputs, SpecText), out);
  PrintList("outputs", texts(report.signature.outputs, SpecText), out);
  const std::string limit =
      files.max_tokens > 0 ? fmt::format("at most {} tokens", files.max_tokens) : "no limit";
  PrintList("tokenizer",
            {fmt::format("{}, {} tokens known, {} in a text", report.tokenizer_kind,
                         report.vocabulary, limit)},
            out);
  PrintList("pooling",
            {fmt::format("{}{}", pipeline::PoolingName(files.pooling.pooling),
                         files.pooling.normalize ? ", normalized" : "")},
            out);
  PrintList("batching",
            {fmt::format("rows that may share a batch: {}", RowSharingName(report.batching.safe))},
            out);
  PrintList("", report.batching.reasons, out);
  PrintList("memory", {"weights " + Mebibytes(report.weights)}, out);
  if (report.per_row_token) {
    PrintList("",
              {fmt::format("each token of a row {:.1f} KiB",
                           static_cast<double>(report.per_row_token->value) / 1024)},
              out);
  }
  PrintList("",
            texts(report.plan,
                  [](const auto& batch) {
                    return fmt::format("{} rows of {} tokens {}", batch.rows, batch.length,
                                       Mebibytes(batch.bytes));
                  }),
            out);
  PrintList("files",
            texts(report.hashes,
                  [](const auto& item) { return fmt::format("{}  {}", item.second, item.first); }),
            out);
  PrintList("notes", files.notes, out);
}

}  // namespace

Status RunInspect(const InspectOptions& options, engine::Engine& engine, std::ostream& out) {
  std::vector<ModelReport> reports;
  for (const InspectTarget& target : options.models) {
    ASSIGN_OR_RETURN(auto report, registry::ReportModel({.dir = target.dir,
                                                         .threads = target.threads,
                                                         .max_rows = target.max_rows,
                                                         .max_tokens = target.max_tokens,
                                                         .memory = target.memory},
                                                        engine));
    reports.push_back(std::move(report));
  }
  if (!options.json) {
    for (size_t i = 0; i < reports.size(); ++i) Print(options.models[i], reports[i], engine, out);
    return Status::Ok();
  }
  JsonWriter w;
  w.BeginObject().Key("models").BeginArray();
  for (size_t i = 0; i < reports.size(); ++i) WriteJson(options.models[i], reports[i], engine, w);
  w.EndArray().EndObject();
  out << w.str() << "\n";
  return Status::Ok();
}

}  // namespace gimbal::cli
