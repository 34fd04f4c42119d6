#include "cli/child_server.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

extern char** environ;

namespace gimbal::cli {
namespace {

// The child's standard output up to its first line break; empty when it ended before.
std::string ReadLine(int fd) {
  std::string line;
  char c = 0;
  while (true) {
    const ssize_t got = read(fd, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return "";
    if (c == '\n') return line;
    line += c;
  }
}

// The address in the ready line, which this program wrote itself.
std::string HttpAddress(const std::string& ready) {
  const std::string key = "\"http\":\"";
  const size_t begin = ready.find(key);
  if (begin == std::string::npos) return "";
  const size_t value = begin + key.size();
  return ready.substr(value, ready.find('"', value) - value);
}

}  // namespace

Result<std::unique_ptr<ChildServer>> ChildServer::Start(const std::string& target) {
  std::vector<std::string> words = {"gimbal",      "serve",     target,        "--http",
                                    "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--no-access-log",
                                    "--log-level", "error"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return InternalError(std::string("pipe: ") + strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  if (error != 0) {
    close(out[0]);
    return InternalError(std::string("the server could not be started: ") + strerror(error));
  }
  std::unique_ptr<ChildServer> child(new ChildServer(pid));
  const std::string address = HttpAddress(ReadLine(out[0]));
  close(out[0]);
  if (address.empty()) return InvalidError(target + ": the server did not become ready");
  child->url_ = "http://" + address;
  return child;
}

ChildServer::~ChildServer() {
  kill(pid_, SIGTERM);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace gimbal::cli
