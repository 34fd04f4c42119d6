#include "net/io_loop.h"

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <optional>
#include <thread>

#include "base/check.h"
#include "base/mutex.h"

namespace gimbal::net {

namespace asio = boost::asio;

struct IoLoop::Impl {
  using Guard = asio::executor_work_guard<asio::io_context::executor_type>;

  asio::io_context context{1};  // one thread runs it
  std::optional<Guard> guard{context.get_executor()};
  std::thread thread;

  Mutex mu;
  bool stopped GUARDED_BY(mu) = false;
};

IoLoop::IoLoop(std::string thread_name) : impl_(std::make_unique<Impl>()) {
  impl_->thread = std::thread([impl = impl_.get(), name = std::move(thread_name)] {
    pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
    impl->context.run();
  });
}

IoLoop::~IoLoop() { CHECK(!impl_->thread.joinable(), "the server stops its loops"); }

asio::io_context& IoLoop::context() { return impl_->context; }

bool IoLoop::InLoop() const { return impl_->context.get_executor().running_in_this_thread(); }

bool IoLoop::Post(std::function<void()> work) {
  // Under the lock, so that no work can slip in behind the loop's end.
  MutexLock lock(impl_->mu);
  if (impl_->stopped) return false;
  asio::post(impl_->context, std::move(work));
  return true;
}

void IoLoop::Stop() {
  {
    MutexLock lock(impl_->mu);
    if (std::exchange(impl_->stopped, true)) return;
  }
  impl_->guard.reset();
  impl_->thread.join();
}

}  // namespace gimbal::net
