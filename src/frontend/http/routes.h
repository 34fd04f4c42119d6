#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/names.h"

namespace gimbal::frontend {

enum class RouteId {
  kIndex,
  kNativeInfer,
  kOpenAiEmbeddings,
  kOpenAiModels,
  kOpenAiModel,
  kServerMetadata,
  kLive,
  kReady,
  kModelMetadata,
  kModelReady,
  kV2Infer,
  kMetrics,
};

// One line of the table. `{model}` and `{version}` stand for one path segment each.
struct Route {
  std::string_view method;  // GET also answers HEAD
  std::string_view pattern;
  RouteId id;
  model::Protocol protocol;  // whose error shape is used
  bool infers = false;       // takes a JSON body and answers with stages
  bool on_metrics_port = false;
  std::string_view help;  // for GET /; empty: not listed
};

// Every route there is, and the only list of them.
std::span<const Route> Routes();

struct RouteMatch {
  const Route* route = nullptr;  // null: no such path, or only with the methods in `allow`
  std::string model;             // segments, percent-decoded
  std::string version;
  std::string allow;  // "GET, HEAD"; empty: no such path
};

// `path` as on the wire, without the query.
RouteMatch MatchRoute(std::string_view method, std::string_view path, bool metrics_port);

// Whose error shape fits a path without a route.
model::Protocol ProtocolOfPath(std::string_view path);

// The text of GET /.
std::string RoutesText(bool metrics_port);

}  // namespace gimbal::frontend
