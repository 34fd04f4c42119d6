#include "engine/onnxruntime/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <onnxruntime_cxx_api.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <mutex>

namespace gimbal::engine {
namespace {

struct OpenedLibrary {
  std::string version;
  const OrtApi* api = nullptr;
};

Result<std::string> FindLibrary(const std::string& wanted) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!wanted.empty()) {
    if (fs::exists(wanted, error)) return wanted;
    return NotFoundError(fmt::format("{}: no such file, expected libonnxruntime.so", wanted));
  }
  const auto candidates = DefaultOnnxRuntimeLibraries();
  for (const std::string& candidate : candidates) {
    if (fs::exists(candidate, error)) return candidate;
  }
  return NotFoundError(
      fmt::format("ONNX Runtime was not found; looked for {}", fmt::join(candidates, ", ")));
}

// RTLD_NODELETE: the library has threads and static objects of its own that nobody may unload.
Result<OpenedLibrary> OpenLibrary(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    return InvalidError(fmt::format("{}: not a library that can be opened: {}", path, dlerror()));
  }
  using GetApiBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetApiBase>(dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr) return InvalidError(path + ": not ONNX Runtime (no OrtGetApiBase)");
  OpenedLibrary library;
  library.version = get_base()->GetVersionString();
  // GetApi() of an older library complains on standard error by itself, so its version is looked at
  // first: API 29 came with release 1.29.
  int major = 0, minor = 0;
  sscanf(library.version.c_str(), "%d.%d", &major, &minor);
  if (major > 1 || minor >= ORT_API_VERSION) library.api = get_base()->GetApi(ORT_API_VERSION);
  if (library.api == nullptr) {
    return InvalidError(fmt::format("{}: ONNX Runtime {} is too old, expected 1.{} or later", path,
                                    library.version, ORT_API_VERSION));
  }
  return library;
}

LogLevel LevelOf(OrtLoggingLevel severity) {
  switch (severity) {
    case ORT_LOGGING_LEVEL_VERBOSE:
      return LogLevel::kDebug;
    case ORT_LOGGING_LEVEL_INFO:
      return LogLevel::kInfo;
    case ORT_LOGGING_LEVEL_WARNING:
      return LogLevel::kWarning;
    default:
      return LogLevel::kError;
  }
}

void ORT_API_CALL WriteLog(void* log, OrtLoggingLevel severity, const char* /*category*/,
                           const char* /*logger*/, const char* place, const char* message) {
  if (log == nullptr) return;
  static_cast<Log*>(log)->Write(LevelOf(severity), "onnxruntime", [&](JsonWriter& w) {
    w.Key("message").String(message).Key("place").String(place);
  });
}

// Telemetry has two doors: a library built with it starts an uploader with the environment, and
// opens a database and a device id below ~/.cache, unless this variable is set; and events are on
// until they are turned off. Nothing else of ours reads or writes the environment while threads
// run.
std::unique_ptr<Ort::Env> CreateEnv(Log* log) {
  setenv("ORT_DISABLE_TELEMETRY", "1", 1);
  auto env = std::make_unique<Ort::Env>(ORT_LOGGING_LEVEL_WARNING, "gimbal", &WriteLog, log);
  env->DisableTelemetryEvents();
  return env;
}

Code CodeOf(OrtErrorCode code) {
  switch (code) {
    case ORT_NO_SUCHFILE:
      return Code::kNotFound;
    case ORT_INVALID_ARGUMENT:
    case ORT_INVALID_PROTOBUF:
    case ORT_INVALID_GRAPH:
    case ORT_NO_MODEL:
    case ORT_NOT_IMPLEMENTED:
      return Code::kInvalid;
    default:
      return Code::kInternal;
  }
}

}  // namespace

std::vector<std::string> DefaultOnnxRuntimeLibraries() {
  std::error_code error;
  std::vector<std::string> candidates;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const auto prefix = executable.parent_path().parent_path();
    for (const char* name : {"libonnxruntime.so", "libonnxruntime.so.1"}) {
      candidates.push_back((prefix / "lib" / name).string());
    }
  }
  candidates.push_back(std::string(GIMBAL_ONNXRUNTIME_BUILD_LIB) + "/libonnxruntime.so");
  return candidates;
}

Result<std::shared_ptr<OnnxRuntimeLibrary>> OnnxRuntimeLibrary::Open(
    const OnnxRuntimeOptions& options) {
  // The C++ wrapper of ONNX Runtime keeps one API pointer a process; a second library cannot be
  // used.
  static std::mutex mu;
  static std::string opened;
  const std::lock_guard lock(mu);
  ASSIGN_OR_RETURN(const std::string path, FindLibrary(options.library));
  ASSIGN_OR_RETURN(const OpenedLibrary library, OpenLibrary(path));
  if (!opened.empty() && opened != path) {
    return InvalidError(fmt::format("{}: {} is already open in this process", path, opened));
  }
  try {
    Ort::InitApi(library.api);
    opened = path;
    return std::shared_ptr<OnnxRuntimeLibrary>(
        new OnnxRuntimeLibrary(library.version, CreateEnv(options.log)));
  } catch (...) {
    return StatusOfException(path);
  }
}

OnnxRuntimeLibrary::OnnxRuntimeLibrary(std::string version, std::unique_ptr<Ort::Env> env)
    : version_(std::move(version)), env_(std::move(env)) {}
OnnxRuntimeLibrary::~OnnxRuntimeLibrary() = default;

Status StatusOfException(const std::string& context) {
  try {
    throw;
  } catch (const Ort::Exception& error) {
    std::string message = error.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    return Status(CodeOf(error.GetOrtErrorCode()), context + ": " + message);
  } catch (const std::bad_alloc&) {
    return InternalError(context + ": out of memory");
  } catch (const std::exception& error) {
    return InternalError(context + ": " + error.what());
  }
}

}  // namespace gimbal::engine
