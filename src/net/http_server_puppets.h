#pragma once

// A client, a handler and a fixture for the server's tests.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "net/http_server.h"

namespace gimbal::net {

// A blocking client on a plain socket. Reads give up after ten seconds, which fails the test.
class Client {
 public:
  explicit Client(const std::string& address) {
    const size_t colon = address.rfind(':');
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(colon + 1))));
    inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval limit{10, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  ~Client() { Close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  void Reset() {
    const linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    Close();
  }
  void HalfClose() { shutdown(fd_, SHUT_WR); }
  // Sends give up after this long without progress.
  void LimitSends(std::chrono::milliseconds limit) {
    const timeval time{0, std::chrono::microseconds(limit).count()};
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
  }
  // Whether the server took all of it.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  // Up to and with the empty line; what was read beyond stays for the next call.
  std::string ReadHead() {
    while (pending_.find("\r\n\r\n") == std::string::npos && More()) {
    }
    return Take(pending_.find("\r\n\r\n") + 4);
  }
  std::string Read(size_t bytes) {
    while (pending_.size() < bytes && More()) {
    }
    return Take(bytes);
  }
  // One response with Content-Length: status and body, as "200 body".
  std::string ReadResponse() {
    const std::string head = ReadHead();
    const size_t length = head.find("Content-Length: ");
    if (length == std::string::npos) return "no response";
    return head.substr(9, 3) + " " + Read(std::stoul(head.substr(length + 16)));
  }
  // Whether the server closes now, in order (not by a reset).
  bool ReadsEnd() {
    while (More()) {
    }
    return last_ == 0;
  }
  std::string ReadAll() {
    while (More()) {
    }
    return Take(pending_.size());
  }

 private:
  bool More() {
    char buffer[4096];
    last_ = recv(fd_, buffer, sizeof buffer, 0);
    if (last_ > 0) pending_.append(buffer, static_cast<size_t>(last_));
    return last_ > 0;
  }
  std::string Take(size_t n) {
    std::string out = pending_.substr(0, n);
    pending_.erase(0, out.size());
    return out;
  }

  int fd_ = -1;
  bool connected_ = false;
  ssize_t last_ = 0;
  std::string pending_;
};

// Answers at once with "METHOD target body", or, for targets that begin with /hold, keeps the
// exchange for the test. /refuse asks not to read the body.
class Puppet : public HttpHandler {
 public:
  BodyPlan OnHeaders(const RequestHead& head) override {
    return {!head.target().starts_with("/refuse"), KiB(64)};
  }
  void OnRequest(std::unique_ptr<HttpExchange> exchange) override {
    if (inside_.exchange(true)) reentered_ = true;
    Take(std::move(exchange));
    inside_ = false;
  }
  // With one I/O thread: whether a request was handed over inside another one's OnRequest.
  bool reentered() const { return reentered_; }

  void Take(std::unique_ptr<HttpExchange> exchange) {
    if (!exchange->refusal().status.ok()) return Refuse(std::move(exchange));
    if (exchange->head().target().starts_with("/drop")) return;
    if (!exchange->head().target().starts_with("/hold")) return Echo(std::move(exchange));
    exchange->WatchClient([this] {
      MutexLock lock(mu_);
      ++gone_;
      changed_.NotifyAll();
    });
    MutexLock lock(mu_);
    held_.push_back(std::move(exchange));
    changed_.NotifyAll();
  }

  std::unique_ptr<HttpExchange> TakeHeld() {
    MutexLock lock(mu_);
    while (held_.empty()) changed_.Wait(mu_);
    auto out = std::move(held_.front());
    held_.pop_front();
    return out;
  }
  void WaitGone(int n) {
    MutexLock lock(mu_);
    while (gone_ < n) changed_.Wait(mu_);
  }
  size_t held() {
    MutexLock lock(mu_);
    return held_.size();
  }
  std::vector<Status> WaitRefusals(size_t n) {
    MutexLock lock(mu_);
    while (refusals_.size() < n) changed_.Wait(mu_);
    return refusals_;
  }

  static void Echo(std::unique_ptr<HttpExchange> exchange) {
    HttpResponse response;
    response.body = std::string(exchange->head().method()) + " " +
                    std::string(exchange->head().target()) + " " + exchange->body();
    if (!exchange->body_read()) response.status = 404;
    exchange->Reply(std::move(response), nullptr);
  }

 private:
  void Refuse(std::unique_ptr<HttpExchange> exchange) {
    const Refusal refusal = exchange->refusal();
    HttpResponse response;
    response.status = refusal.http_status ? refusal.http_status : HttpStatus(refusal.status.code());
    response.body = refusal.status.message();
    exchange->Reply(std::move(response), nullptr);
    MutexLock lock(mu_);
    refusals_.push_back(refusal.status);
    changed_.NotifyAll();
  }

  std::atomic<bool> inside_{false};
  std::atomic<bool> reentered_{false};

  Mutex mu_;
  CondVar changed_;
  std::deque<std::unique_ptr<HttpExchange>> held_ GUARDED_BY(mu_);
  std::vector<Status> refusals_ GUARDED_BY(mu_);
  int gone_ GUARDED_BY(mu_) = 0;
};

// What each test works on.
class ServerUnderTest {
 protected:
  void Start(HttpServer::Options options = {}) {
    auto server = HttpServer::Create(std::move(options), puppet_);
    CHECK(server.ok(), "a free port on loopback can be had");
    server_ = std::move(server).value();
  }
  std::unique_ptr<Client> Connect() { return std::make_unique<Client>(server_->address()); }

  Puppet puppet_;
  std::unique_ptr<HttpServer> server_;
};

inline std::string Get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n";
}
inline std::string Post(const std::string& target, const std::string& body,
                        const std::string& fields = "") {
  return "POST " + target + " HTTP/1.1\r\nHost: h\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
inline SentFn Tell(std::promise<SentInfo>& to) {
  return [&to](const SentInfo& sent) { to.set_value(sent); };
}

}  // namespace gimbal::net
