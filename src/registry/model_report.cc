#include "registry/model_report.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "pipeline/text_embedder.h"
#include "preprocess/text/tokenizer.h"

namespace gimbal::registry {
namespace {

// Longest input that is run where no file sets a limit.
constexpr int kLongestTried = 512;

Status HashFiles(const std::vector<std::string>& weight_files, ModelReport& report) {
  std::set<std::string> names(report.files.files.begin(), report.files.files.end());
  const auto graph_folder = std::filesystem::path(report.files.files.front()).parent_path();
  for (const std::string& name : weight_files) names.insert((graph_folder / name).generic_string());
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(report.hashes[name], Sha256File(report.files.dir + "/" + name));
  }
  return Status::Ok();
}

Status RunShape(pipeline::TextEmbedder& embedder, int rows, int length) {
  preprocess::Encoding row;
  row.ids.assign(static_cast<size_t>(length), 1);
  row.type_ids.assign(static_cast<size_t>(length), 0);
  embedder.Assemble(std::vector<const preprocess::Encoding*>(static_cast<size_t>(rows), &row),
                    length);
  return embedder.Run();
}

// The engine counts the peak since loading, which each larger shape raises.
Result<std::optional<Bytes>> MeasurePerRowToken(const engine::LoadedModel& model,
                                                pipeline::TextEmbedder& embedder, int length) {
  std::vector<Bytes> peaks;
  for (const int rows : {2, 4}) {
    RETURN_IF_ERROR(RunShape(embedder, rows, length));
    const auto memory = model.activations();
    if (!memory) return std::optional<Bytes>();
    peaks.push_back(memory->peak);
  }
  const Bytes growth = peaks[1] - peaks[0];
  if (growth <= Bytes{0}) return std::optional<Bytes>();
  return std::optional(Bytes{growth.value / (2 * length)});
}

std::vector<PlannedBatch> Plan(const ReportOptions& options, const ModelReport& report,
                               int longest) {
  std::vector<PlannedBatch> plan;
  const int64_t token = report.per_row_token->value;
  std::set<int> lengths = {longest};
  for (const int length : {16, 64, 128, 256}) {
    if (length < longest) lengths.insert(length);
  }
  for (const int length : lengths) {
    int64_t rows = std::min(options.max_rows, std::max(1, options.max_tokens / length));
    if (options.memory > Bytes{0}) {
      const Bytes left = options.memory - report.weights;
      rows = std::clamp<int64_t>(left.value / (token * length), 0, rows);
    }
    plan.push_back({length, static_cast<int>(rows), {token * length * rows}});
  }
  return plan;
}

}  // namespace

Result<ModelReport> ReportModel(const ReportOptions& options, engine::Engine& engine) {
  ModelReport report;
  ASSIGN_OR_RETURN(report.files, FindModelFiles(options.dir));
  ASSIGN_OR_RETURN(const auto tokenizer, preprocess::Tokenizer::FromFile(report.files.tokenizer));
  report.tokenizer_kind = tokenizer->kind();
  report.vocabulary = tokenizer->vocab_size();
  ASSIGN_OR_RETURN(const auto loaded,
                   engine.Load(report.files.graph, {.threads = options.threads}));
  report.signature = loaded->signature();
  auto binding = BindTextEmbedding(report.signature);
  if (!binding.ok()) return binding.status().WithContext(report.files.graph);
  ASSIGN_OR_RETURN(auto instance, loaded->NewInstance());
  report.weights = loaded->weights_bytes();
  RETURN_IF_ERROR(HashFiles(loaded->facts().weight_files, report));

  pipeline::TextEmbedder embedder(
      {*binding, report.files.pooling, report.files.pad_token_id, report.files.pad_type_id},
      std::move(instance));
  // First, while no other shape has raised the peak.
  const int longest = report.files.max_tokens > 0 ? report.files.max_tokens : kLongestTried;
  ASSIGN_OR_RETURN(report.per_row_token, MeasurePerRowToken(*loaded, embedder, longest));
  const ProbeOptions probe{.longest = report.files.max_tokens,
                           .vocabulary = static_cast<int>(std::max<size_t>(2, report.vocabulary))};
  ASSIGN_OR_RETURN(report.batching, ProbeBatching(loaded->facts(), *binding, embedder, probe));
  if (report.per_row_token) report.plan = Plan(options, report, longest);
  return report;
}

}  // namespace gimbal::registry
