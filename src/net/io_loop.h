#pragma once

#include <functional>
#include <memory>
#include <string>

namespace boost::asio {
class io_context;
}

namespace gimbal::net {

// One thread that runs one event loop. Shared by the server and its connections, so that an
// exchange that outlives the server still has a loop to be refused by. Any thread may Post.
class IoLoop {
 public:
  explicit IoLoop(std::string thread_name);
  ~IoLoop();  // REQUIRES: Stop() was called

  boost::asio::io_context& context();
  bool InLoop() const;  // the caller is this loop's thread

  // Runs `work` on the loop's thread soon. False, and never run, once Stop() was called.
  bool Post(std::function<void()> work);

  // Lets the loop end when nothing is pending any more, and joins. REQUIRES: sockets and timers of
  // the loop are closed, or about to be by posted work. Not from the loop's thread.
  void Stop();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gimbal::net
