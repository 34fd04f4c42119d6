#include "base/log.h"

#include <fmt/chrono.h>
#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <atomic>
#include <chrono>

namespace gimbal {
namespace {

constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info", "warning", "error"};

std::string Timestamp() {
  const auto now = std::chrono::system_clock::now();
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()) % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)), ms.count());
}

}  // namespace

Result<LogLevel> ParseLogLevel(std::string_view name) {
  for (size_t i = 0; i < kLevelNames.size(); ++i) {
    if (kLevelNames[i] == name) return static_cast<LogLevel>(i);
  }
  return InvalidError("expected debug, info, warning or error, got \"" + std::string(name) + "\"");
}

struct Log::Impl {
  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<spdlog::async_logger> logger;
  // Shared with the error handler, which the log's thread may still call while this goes.
  std::shared_ptr<std::atomic<uint64_t>> lost = std::make_shared<std::atomic<uint64_t>>(0);
};

Log::Log(LogLevel level, std::unique_ptr<Impl> impl) : level_(level), impl_(std::move(impl)) {}

Log::~Log() { impl_->logger->flush(); }

Result<std::unique_ptr<Log>> Log::Create(Options options) {
  try {
    spdlog::sink_ptr sink;
    if (options.file.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file);
    }
    sink->set_pattern("%v");
    auto impl = std::make_unique<Impl>();
    impl->pool = std::make_shared<spdlog::details::thread_pool>(options.queue_lines, 1);
    impl->logger = std::make_shared<spdlog::async_logger>(
        "gimbal", sink, impl->pool, spdlog::async_overflow_policy::overrun_oldest);
    impl->logger->set_level(spdlog::level::trace);
    // A write that fails (full disk) is counted; it must not print its own complaint for each line.
    impl->logger->set_error_handler(
        [lost = impl->lost](const std::string&) { lost->fetch_add(1, std::memory_order_relaxed); });
    impl->logger->flush_on(spdlog::level::warn);
    return std::unique_ptr<Log>(new Log(options.level, std::move(impl)));
  } catch (const spdlog::spdlog_ex& error) {
    return InvalidError("log file \"" + options.file + "\" cannot be opened: " + error.what());
  }
}

void Log::Write(LogLevel level, std::string_view event,
                const std::function<void(JsonWriter&)>& fields) {
  if (!Enabled(level)) return;
  JsonWriter w;
  w.BeginObject();
  w.Key("time").String(Timestamp());
  w.Key("level").String(kLevelNames[static_cast<size_t>(level)]);
  w.Key("event").String(event);
  if (fields) fields(w);
  w.EndObject();
  impl_->logger->log(level >= LogLevel::kWarning ? spdlog::level::warn : spdlog::level::info,
                     w.str());
}

uint64_t Log::dropped() const { return impl_->pool->overrun_counter() + impl_->lost->load(); }
void Log::Flush() { impl_->logger->flush(); }

}  // namespace gimbal
