#pragma once

#include <string_view>

#include "base/result.h"

namespace gimbal::model {

// What the operator wants of a model; it selects the batching policy.
enum class Scenario { kOnline, kBatch, kEdge };
std::string_view ScenarioName(Scenario scenario);  // "online" | "batch" | "edge"
Result<Scenario> ParseScenario(std::string_view name);

// The two queues of a model. Neither starves the other.
enum class Lane { kInteractive, kBulk };
inline constexpr int kLaneCount = 2;
std::string_view LaneName(Lane lane);  // "interactive" | "bulk"
Result<Lane> ParseLane(std::string_view name);

// What a model is for, found from its files.
enum class Task { kTextEmbedding };
std::string_view TaskName(Task task);  // "text-embedding"
Result<Task> ParseTask(std::string_view name);

// The wire language of a request, a metric label.
enum class Protocol { kNative, kOpenAi, kKserve };
inline constexpr int kProtocolCount = 3;
std::string_view ProtocolName(Protocol protocol);  // "native" | "openai" | "kserve"

}  // namespace gimbal::model
