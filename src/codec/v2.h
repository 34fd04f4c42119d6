#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/request.h"

namespace gimbal::codec {

// Open Inference Protocol v2, the parts that are read only.

// GET /v2. Only extensions that are really served may be named.
std::string EncodeServerMetadata(std::string_view version,
                                 std::span<const std::string_view> extensions);

// GET /v2/models/{model}; `versions` are all that serve.
std::string EncodeModelMetadata(const model::ModelInfo& model,
                                std::span<const std::string> versions);

std::string EncodeLive(bool live);                                // {"live": true}
std::string EncodeReady(bool ready);                              // {"ready": true}
std::string EncodeModelReady(std::string_view name, bool ready);  // {"name", "ready"}

}  // namespace gimbal::codec
