#include "cli/bench.h"

#include <atomic>
#include <csignal>
#include <memory>
#include <ostream>

#include "bench/bench.h"
#include "cli/child_server.h"

namespace gimbal::cli {
namespace {

std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");

// While it lives, the first SIGINT or SIGTERM asks the run to end; a second one has its usual
// effect.
class Interruptible {
 public:
  Interruptible() {
    g_interrupted = false;
    struct sigaction action{};
    action.sa_handler = [](int) { g_interrupted = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // no SA_RESTART: a wait ends at once
    sigaction(SIGINT, &action, &int_before_);
    sigaction(SIGTERM, &action, &term_before_);
  }
  ~Interruptible() {
    sigaction(SIGINT, &int_before_, nullptr);
    sigaction(SIGTERM, &term_before_, nullptr);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  struct sigaction int_before_{};
  struct sigaction term_before_{};
};

bench::Options OptionsOf(const BenchArgs& args) {
  bench::Options options;
  options.target = args.target;
  options.model = args.model;
  options.protocol = args.protocol;
  options.concurrency = args.concurrency.value_or(0);
  options.rate = args.rate.value_or(0);
  options.seed = args.seed;
  options.duration = args.duration;
  options.warmup = args.warmup;
  options.requests = args.requests;
  options.batch_rows = args.batch_rows;
  options.texts = args.texts;
  return options;
}

}  // namespace

int RunBench(const BenchArgs& args, std::ostream& out, std::ostream& err) {
  bench::Options options = OptionsOf(args);
  const auto fail = [&](const Status& status) {
    err << "gimbal bench: " << status.message() << "\n";
    const Code code = status.code();
    return code == Code::kInvalid || code == Code::kNotFound ? kExitUsage : kExitFailed;
  };
  std::unique_ptr<ChildServer> child;  // when TARGET is a folder
  if (args.target != "null" && args.target.find("://") == std::string::npos) {
    auto started = ChildServer::Start(args.target);
    if (!started.ok()) return fail(started.status());
    child = std::move(started).value();
    options.target = child->url();
  }
  const Interruptible interruptible;
  const Result<bench::Report> report = bench::Measure(options, g_interrupted);
  if (!report.ok()) return fail(report.status());
  if (args.json) {
    out << bench::ReportJson(*report) << "\n";
  } else {
    out << bench::ReportText(*report);
  }
  return kExitDone;
}

}  // namespace gimbal::cli
