#include "cli/serve.h"

#include <csignal>
#include <ostream>

#include "app/server.h"
#include "config/explain.h"

namespace gimbal::cli {
namespace {

// Blocked before any thread exists, so that every thread inherits it and only Wait() takes them.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE,
                SIG_IGN);  // a client that left is an error code, not the end of the server
  }
  void Wait() {
    int signal = 0;
    sigwait(&set_, &signal);
  }
  // From now on the next signal has its usual effect: whoever does not want to wait for the drain.
  void Unblock() { pthread_sigmask(SIG_UNBLOCK, &set_, nullptr); }

 private:
  sigset_t set_;
};

int ExitCodeOf(const Status& status) {
  return status.code() == Code::kInvalid || status.code() == Code::kNotFound ? kExitUsage
                                                                             : kExitFailed;
}

}  // namespace

int RunServe(const ServeArgs& args, std::ostream& out, std::ostream& err) {
  if (args.explain) {
    out << (args.json ? config::ExplainJson(args.effective) : config::Explain(args.effective));
    return kExitDone;
  }
  Signals signals;
  auto server = app::Server::Create(args.effective.config);
  if (!server.ok()) {
    err << "gimbal serve: " << server.status().message() << "\n";
    return ExitCodeOf(server.status());
  }
  if (const Status loaded = server.value()->LoadModels(); !loaded.ok()) {
    err << "gimbal serve: " << loaded.message() << "\n";
    return ExitCodeOf(loaded);
  }
  out << server.value()->ReadyLine() << std::endl;
  signals.Wait();
  signals.Unblock();
  if (!server.value()->Drain()) {
    err << "gimbal serve: requests were still open at the drain limit and were cut off\n";
    return kExitFailed;
  }
  return kExitDone;
}

}  // namespace gimbal::cli
