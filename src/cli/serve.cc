#include "cli/serve.h"

#include <csignal>
#include <ostream>
#include <thread>

#include "app/server.h"
#include "base/mutex.h"
#include "base/worker_pool.h"
#include "config/explain.h"

namespace gimbal::cli {
namespace {

// Takes SIGTERM and SIGINT, from its construction on and also while models load. Made before any
// other thread exists, so that all inherit the blocked signals and only `thread_` takes them. The
// second signal has its usual effect: whoever does not want to wait for the drain.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE,
                SIG_IGN);  // a client that left is an error code, not the end of the server
    thread_ = std::thread([this] {
      SetThreadName("signals");
      int signal = 0;
      sigwait(&set_, &signal);
      pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
      MutexLock lock(mu_);
      asked_ = true;
      changed_.NotifyAll();
      while (!ended_) changed_.Wait(mu_);
    });
  }
  ~Signals() {
    {
      MutexLock lock(mu_);
      ended_ = true;
      changed_.NotifyAll();
      // Nobody asked: the thread is still in sigwait, and its own signal is what it waits for.
      if (!asked_) pthread_kill(thread_.native_handle(), SIGTERM);
    }
    thread_.join();
  }
  bool asked() {
    MutexLock lock(mu_);
    return asked_;
  }
  void Await() {
    MutexLock lock(mu_);
    while (!asked_) changed_.Wait(mu_);
  }

 private:
  sigset_t set_;
  Mutex mu_;
  CondVar changed_;
  bool asked_ GUARDED_BY(mu_) = false;
  bool ended_ GUARDED_BY(mu_) = false;
  std::thread thread_;
};

// In one write: the log's thread writes to the same place.
void Say(std::ostream& err, const std::string& message) {
  err << ("gimbal serve: " + message + "\n") << std::flush;
}

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
    Say(err, server.status().message());
    return ExitCodeOf(server.status());
  }
  const Status loaded = server.value()->LoadModels([&signals] { return signals.asked(); });
  if (!loaded.ok()) {
    Say(err, loaded.message());
    return ExitCodeOf(loaded);
  }
  if (!signals.asked()) {
    out << server.value()->ReadyLine() << std::endl;
    signals.Await();
  }
  if (!server.value()->Drain()) {
    Say(err, "requests were still open at the drain limit and were cut off");
    return kExitFailed;
  }
  return kExitDone;
}

}  // namespace gimbal::cli
