#include "frontend/http/routes.h"

#include <fmt/format.h>

#include <optional>

namespace gimbal::frontend {
namespace {

using model::Protocol;

constexpr Route kRoutes[] = {
    {"POST", "/v1/infer/{model}", RouteId::kNativeInfer, Protocol::kNative, true, false,
     "one row or many, native form"},
    {"POST", "/v1/infer/{model}/versions/{version}", RouteId::kNativeInfer, Protocol::kNative, true,
     false, "the same for one version"},
    {"POST", "/v1/embeddings", RouteId::kOpenAiEmbeddings, Protocol::kOpenAi, true, false,
     "OpenAI form"},
    {"GET", "/v1/models", RouteId::kOpenAiModels, Protocol::kOpenAi, false, false,
     "the models that serve, OpenAI form"},
    {"GET", "/v1/models/{model}", RouteId::kOpenAiModel, Protocol::kOpenAi, false, false,
     "one of them"},
    {"GET", "/v2", RouteId::kServerMetadata, Protocol::kKserve, false, false,
     "server metadata, Open Inference Protocol"},
    {"GET", "/v2/health/live", RouteId::kLive, Protocol::kKserve, false, false,
     "the process answers"},
    {"GET", "/v2/health/ready", RouteId::kReady, Protocol::kKserve, false, false,
     "every model answers and no drain has begun"},
    {"GET", "/v2/models/{model}", RouteId::kModelMetadata, Protocol::kKserve, false, false,
     "inputs and outputs of a model"},
    {"GET", "/v2/models/{model}/versions/{version}", RouteId::kModelMetadata, Protocol::kKserve,
     false, false, ""},
    {"GET", "/v2/models/{model}/ready", RouteId::kModelReady, Protocol::kKserve, false, false,
     "whether a model answers"},
    {"GET", "/v2/models/{model}/versions/{version}/ready", RouteId::kModelReady, Protocol::kKserve,
     false, false, ""},
    // Known to clients and not served yet: the answer says so.
    {"POST", "/v2/models/{model}/infer", RouteId::kV2Infer, Protocol::kKserve, false, false, ""},
    {"POST", "/v2/models/{model}/versions/{version}/infer", RouteId::kV2Infer, Protocol::kKserve,
     false, false, ""},
    {"GET", "/metrics", RouteId::kMetrics, Protocol::kNative, false, true,
     "Prometheus metrics, also on the metrics port"},
    {"GET", "/", RouteId::kIndex, Protocol::kNative, false, true, "this text"},
};

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Nothing when an escape is malformed.
std::optional<std::string> PercentDecode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return out;
}

// Cuts the first segment, "/name", off `path`.
std::string_view TakeSegment(std::string_view& path) {
  const size_t end = path.find('/', 1);
  const std::string_view segment = path.substr(1, end == std::string_view::npos ? end : end - 1);
  path = end == std::string_view::npos ? std::string_view() : path.substr(end);
  return segment;
}

bool MatchPattern(std::string_view pattern, std::string_view path, RouteMatch& out) {
  out.model.clear();
  out.version.clear();
  if (path.empty() || path[0] != '/') return false;
  while (!pattern.empty() && !path.empty()) {
    const std::string_view expected = TakeSegment(pattern);
    const std::string_view segment = TakeSegment(path);
    if (expected.starts_with('{')) {
      auto name = PercentDecode(segment);
      if (!name || name->empty()) return false;
      (expected == "{model}" ? out.model : out.version) = std::move(*name);
    } else if (expected != segment) {
      return false;
    }
  }
  return pattern.empty() && path.empty();
}

}  // namespace

std::span<const Route> Routes() { return kRoutes; }

RouteMatch MatchRoute(std::string_view method, std::string_view path, bool metrics_port) {
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  RouteMatch out;
  for (const Route& route : kRoutes) {
    if (metrics_port && !route.on_metrics_port) continue;
    if (!MatchPattern(route.pattern, path, out)) continue;
    const bool get = route.method == "GET";
    if (method == route.method || (get && method == "HEAD")) {
      out.route = &route;
      return out;
    }
    out.allow +=
        fmt::format("{}{}", out.allow.empty() ? "" : ", ", get ? "GET, HEAD" : route.method);
  }
  return out;
}

model::Protocol ProtocolOfPath(std::string_view path) {
  if (path == "/v2" || path.starts_with("/v2/")) return Protocol::kKserve;
  for (const std::string_view prefix :
       {"/v1/embeddings", "/v1/models", "/v1/chat", "/v1/completions"}) {
    if (path.starts_with(prefix)) return Protocol::kOpenAi;
  }
  return Protocol::kNative;
}

std::string RoutesText(bool metrics_port) {
  std::string out = "Gimbal model server\n\n";
  for (const Route& route : kRoutes) {
    if (route.help.empty() || (metrics_port && !route.on_metrics_port)) continue;
    fmt::format_to(std::back_inserter(out), "{:4} {:40} {}\n", route.method, route.pattern,
                   route.help);
  }
  return out;
}

}  // namespace gimbal::frontend
