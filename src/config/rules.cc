#include <cmath>

#include "base/units.h"
#include "config/draft.h"

namespace gimbal::config {
namespace {

// One of two values that contradict each other, as the message shows it.
struct Side {
  std::string path;
  std::string value;
};

std::string Shown(const Draft& draft, const Side& side) {
  return side.path + " " + side.value + " (" + std::string(draft.effective.origins.Of(side.path)) +
         ")";
}

// Reports at the value that somebody stated, rather than at a default.
void Contradiction(Draft& draft, const Side& a, std::string_view relation, const Side& b,
                   std::string_view so) {
  if (draft.IsBad(a.path) || draft.IsBad(b.path)) return;
  const Side& blamed = draft.effective.origins.IsSet(a.path) ? a : b;
  draft.ReportValue(blamed.path, Shown(draft, a) + " " + std::string(relation) + " " +
                                     Shown(draft, b) + ": " + std::string(so));
}

template <typename Check>
void EachModel(Draft& draft, Check check) {
  for (size_t i = 0; i < draft.effective.config.models.size(); ++i) {
    check(draft.effective.config.models[i], ModelPath(i) + ".");
  }
}

void CheckAddressesDiffer(Draft& draft) {
  const ServerConfig& server = draft.effective.config.server;
  if (server.http != server.metrics || server.http.ends_with(":0")) return;
  Contradiction(draft, {"server.metrics", server.metrics}, "is", {"server.http", server.http},
                "two listeners cannot share an address");
}

void CheckTextFitsBody(Draft& draft) {
  const LimitsConfig& limits = draft.effective.config.limits;
  // A smaller body with the default text limit is no contradiction: the body's limit comes first.
  if (limits.max_text <= limits.max_body || !draft.effective.origins.IsSet("limits.max_text")) {
    return;
  }
  Contradiction(draft, {"limits.max_text", FormatBytes(limits.max_text)}, "is above",
                {"limits.max_body", FormatBytes(limits.max_body)}, "such a text never fits a body");
}

void CheckNamesDiffer(Draft& draft) {
  std::map<std::string, std::string> first;
  EachModel(draft, [&](const ModelConfig& model, const std::string& at) {
    if (model.name.empty() || draft.IsBad(at + "name")) return;
    const auto [other, added] = first.emplace(model.name, at + "name");
    if (added) return;
    draft.ReportValue(at + "name", at + "name: \"" + model.name +
                                       "\" is the name of another model (" +
                                       std::string(draft.effective.origins.Of(other->second)) +
                                       "); names must differ");
  });
  EachModel(draft, [&](const ModelConfig& model, const std::string& at) {
    constexpr std::string_view kGraph = ".graph";
    if (!model.name.ends_with(kGraph)) return;
    const std::string base = model.name.substr(0, model.name.size() - kGraph.size());
    if (first.count(base) == 0) return;
    draft.ReportValue(at + "name", at + "name: \"" + model.name +
                                       "\" is the name of the bare graph of \"" + base +
                                       "\"; names must differ");
  });
}

void CheckWaitBelowSlo(Draft& draft) {
  EachModel(draft, [&](const ModelConfig& model, const std::string& at) {
    if (model.slo.p99 == Duration::zero() || model.batching.max_wait < model.slo.p99) return;
    Contradiction(draft, {at + "batching.max_wait", FormatDuration(model.batching.max_wait)},
                  "is not below", {at + "slo.p99", FormatDuration(model.slo.p99)},
                  "waiting alone would use up the limit");
  });
}

void CheckQueueHoldsBatch(Draft& draft) {
  EachModel(draft, [&](const ModelConfig& model, const std::string& at) {
    if (model.queue.max_rows >= model.batching.max_rows) return;
    Contradiction(draft, {at + "queue.max_rows", std::to_string(model.queue.max_rows)}, "is below",
                  {at + "batching.max_rows", std::to_string(model.batching.max_rows)},
                  "a full batch could never form");
  });
}

void CheckPredictedWait(Draft& draft) {
  EachModel(draft, [&](const ModelConfig& model, const std::string& at) {
    const Duration bound = model.queue.max_predicted_wait;
    if (bound == Duration::zero() || model.batching.max_wait <= bound) return;
    Contradiction(draft, {at + "batching.max_wait", FormatDuration(model.batching.max_wait)},
                  "is above", {at + "queue.max_predicted_wait", FormatDuration(bound)},
                  "rows would be refused for a wait that is allowed");
  });
}

void CheckMemoryAddsUp(Draft& draft) {
  const Bytes total = draft.effective.config.limits.memory;
  if (total.value == 0 || draft.IsBad("limits.memory")) return;
  double sum = 0;  // a double cannot overflow here
  std::string last;
  EachModel(draft, [&](const ModelConfig& model, const std::string& at) {
    if (model.memory.value == 0 || draft.IsBad(at + "memory")) return;
    sum += static_cast<double>(model.memory.value);
    last = at + "memory";
  });
  if (sum <= static_cast<double>(total.value)) return;
  draft.ReportValue(last, last + ": the models' memory adds up to " +
                              FormatBytes(Bytes{static_cast<int64_t>(sum)}) +
                              ", which is above limits.memory " + FormatBytes(total) + " (" +
                              std::string(draft.effective.origins.Of("limits.memory")) + ")");
}

constexpr Rule kRules[] = {
    {"`server.http` and `server.metrics` differ, unless their port is 0.", CheckAddressesDiffer},
    {"`limits.max_text`, when stated, is at most `limits.max_body`.", CheckTextFitsBody},
    {"Names of models differ, also from `NAME.graph` of every other model.", CheckNamesDiffer},
    {"`batching.max_wait` is below `slo.p99`.", CheckWaitBelowSlo},
    {"`queue.max_rows` is at least `batching.max_rows`.", CheckQueueHoldsBatch},
    {"`batching.max_wait` is at most `queue.max_predicted_wait`.", CheckPredictedWait},
    {"The `memory` of all models together is at most `limits.memory`.", CheckMemoryAddsUp},
};

}  // namespace

std::span<const Rule> Rules() { return kRules; }

}  // namespace gimbal::config
