#include "service/infer.h"

#include <algorithm>
#include <atomic>

#include "pipeline/pipeline.h"

namespace gimbal::service {
namespace {

using obs::Stage;

// Gathers the rows of one request; the last one to be answered sends the call back. Rows write to
// places of their own, and the countdown orders them before the last one's reading.
class Gather : public pipeline::RowSink {
 public:
  Gather(std::unique_ptr<InferCall> call, std::shared_ptr<registry::ServedModel> model)
      : call_(std::move(call)),
        model_(std::move(model)),
        timelines_(call_->request.rows.size(), call_->timeline),
        batches_(call_->request.rows.size()),
        open_(call_->request.rows.size()) {
    call_->response.rows.assign(call_->request.rows.size(),
                                Status(Code::kInternal, "row not answered"));
  }

  InferCall& call() { return *call_; }

  void OnRow(size_t index, Result<model::RowOutput> output, const obs::Timeline& timeline,
             const model::BatchFacts& batch) override {
    call_->response.rows[index] = std::move(output);
    timelines_[index] = timeline;
    batches_[index] = batch;
    if (open_.fetch_sub(1, std::memory_order_acq_rel) == 1) Finish();
  }

 private:
  void Finish() {
    const auto finished = [](const obs::Timeline& t) { return t.EndOf(Stage::kPostprocess); };
    size_t last = 0;
    for (size_t i = 0; i < timelines_.size(); ++i) {
      call_->spans.Add(timelines_[i]);
      if (finished(timelines_[i]) > finished(timelines_[last])) last = i;
    }
    call_->timeline = timelines_[last];
    call_->response.batch = batches_[last];
    call_->response.batch.padded_tokens = 0;  // as the answer's tokens: of all rows together
    for (const model::BatchFacts& batch : batches_) {
      call_->response.batch.padded_tokens += batch.padded_tokens;
    }
    model_.reset();  // the version may go as soon as its last answer is gathered
    auto done = std::move(call_->done);
    done(std::move(call_));
  }

  std::unique_ptr<InferCall> call_;
  std::shared_ptr<registry::ServedModel> model_;  // keeps the version alive until then
  std::vector<obs::Timeline> timelines_;
  std::vector<model::BatchFacts> batches_;
  std::atomic<size_t> open_;
};

void Refuse(std::unique_ptr<InferCall> call, Status status) {
  call->status = std::move(status);
  call->spans.Add(call->timeline);
  auto done = std::move(call->done);
  done(std::move(call));
}

}  // namespace

InferService::InferService(registry::Registry& registry, const Clock& clock)
    : registry_(registry), clock_(clock) {}

void InferService::Infer(std::unique_ptr<InferCall> call) {
  // Resolve and admit, before any work is spent on the rows.
  auto found = registry_.Find(call->request.model, call->request.version);
  if (!found.ok()) return Refuse(std::move(call), found.status());
  const std::shared_ptr<registry::ServedModel> model = std::move(found).value();
  pipeline::Pipeline& pipeline = model->pipeline();
  call->response.model = model->info().name;
  call->response.version = model->info().version;
  if (call->request.deadline == kNever) {
    call->request.deadline = pipeline.DefaultDeadline(call->timeline.begin());
  }
  const Status admitted = pipeline.Admit(call->request, clock_.Now());
  call->timeline.End(Stage::kAdmit, clock_.Now());
  if (!admitted.ok()) return Refuse(std::move(call), admitted);

  // Preprocess: a row that cannot be tokenised answers at once and leaves the others alone.
  const auto gather = std::make_shared<Gather>(std::move(call), model);
  InferCall& c = gather->call();
  std::vector<std::unique_ptr<schedule::Row>> rows;
  std::vector<std::pair<size_t, Status>> failed;
  rows.reserve(c.request.rows.size());
  for (size_t i = 0; i < c.request.rows.size(); ++i) {
    Result<std::unique_ptr<pipeline::TokenRow>> row =
        c.request.rows[i].ok()
            ? pipeline.Preprocess(c.request, c.request.rows[i].value())
            : Result<std::unique_ptr<pipeline::TokenRow>>(c.request.rows[i].status());
    if (c.request.rows[i].ok()) c.request.rows[i].value() = {};  // large texts need not wait on
    if (!row.ok()) {
      failed.emplace_back(i, row.status());
      continue;
    }
    row.value()->index = i;
    row.value()->sink = gather;
    row.value()->cancel = c.cancel;
    rows.push_back(std::move(row).value());
  }
  obs::Timeline timeline = c.timeline;
  timeline.End(Stage::kPreprocess, clock_.Now());
  for (auto& row : rows) static_cast<pipeline::TokenRow&>(*row).timeline = timeline;

  // Queue, assemble, model and postprocess are the pipeline's; each row comes back to `gather`, and
  // after the last one `c` is gone.
  for (auto& [index, status] : failed) gather->OnRow(index, status, timeline, {});
  pipeline.Enqueue(std::move(rows));
}

std::vector<model::ModelInfo> InferService::Models() const { return registry_.List(); }

Result<model::ModelInfo> InferService::Model(const std::string& name,
                                             const std::string& version) const {
  ASSIGN_OR_RETURN(const std::shared_ptr<registry::ServedModel> model,
                   registry_.Find(name, version));
  return model->info();
}

bool InferService::ready() const { return registry_.ready(); }

}  // namespace gimbal::service
