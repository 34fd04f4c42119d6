#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "config/config.h"

namespace gimbal::app {

// A whole server, built from a configuration. Made, started and stopped by one thread.
//
//   ASSIGN_OR_RETURN(auto server, Server::Create(config));   // ports are bound, nothing is ready
//   RETURN_IF_ERROR(server->LoadModels());                   // ready
//   ... wait for a signal ...
//   server->Drain();
class Server {
 public:
  // Opens the log, the engine and the ports: what is cheap and fails often comes before the models.
  static Result<std::unique_ptr<Server>> Create(const config::Config& config);
  ~Server();

  // Loads, warms up and tries each model, one after another; ready when all have answered. `stop`
  // is asked before each model; when it says so, loading ends early, without an error and not
  // ready.
  Status LoadModels(const std::function<bool()>& stop);

  // The line for standard output that tells a supervisor where the server is.
  std::string ReadyLine() const;

  // Not ready -> no new connections -> what is in flight finishes, up to the drain limit -> models
  // go. False when requests were still open at the limit.
  bool Drain();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace gimbal::app
