#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace gimbal::cli {

// A `gimbal serve` of this same program on free ports, as a child process: so that what a measured
// server costs is its own and not its client's. Owned by the command that measures.
class ChildServer {
 public:
  // Serves `target` as `gimbal serve` would and returns when it is ready. What the child says on
  // standard error goes to ours.
  static Result<std::unique_ptr<ChildServer>> Start(const std::string& target);
  ~ChildServer();  // SIGTERM, and waits
  ChildServer(const ChildServer&) = delete;
  ChildServer& operator=(const ChildServer&) = delete;

  const std::string& url() const { return url_; }  // "http://127.0.0.1:41234"

 private:
  explicit ChildServer(pid_t pid) : pid_(pid) {}

  const pid_t pid_;
  std::string url_;
};

}  // namespace gimbal::cli
