#include "model/names.h"

#include <array>
#include <string>

namespace gimbal::model {
namespace {

constexpr std::array<std::string_view, 3> kScenarios = {"online", "batch", "edge"};
constexpr std::array<std::string_view, kLaneCount> kLanes = {"interactive", "bulk"};
constexpr std::array<std::string_view, 1> kTasks = {"text-embedding"};
constexpr std::array<std::string_view, kProtocolCount> kProtocols = {"native", "openai", "kserve"};

template <typename Enum, size_t N>
Result<Enum> Parse(std::string_view name, const std::array<std::string_view, N>& names) {
  std::string expected;
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
    if (i > 0) expected += i + 1 == N ? " or " : ", ";
    expected += names[i];
  }
  return InvalidError("expected " + expected + ", got \"" + std::string(name.substr(0, 64)) + "\"");
}

}  // namespace

std::string_view ScenarioName(Scenario s) { return kScenarios[static_cast<size_t>(s)]; }
Result<Scenario> ParseScenario(std::string_view name) { return Parse<Scenario>(name, kScenarios); }
std::string_view LaneName(Lane lane) { return kLanes[static_cast<size_t>(lane)]; }
Result<Lane> ParseLane(std::string_view name) { return Parse<Lane>(name, kLanes); }
std::string_view TaskName(Task task) { return kTasks[static_cast<size_t>(task)]; }
Result<Task> ParseTask(std::string_view name) { return Parse<Task>(name, kTasks); }
std::string_view ProtocolName(Protocol p) { return kProtocols[static_cast<size_t>(p)]; }

}  // namespace gimbal::model
