#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "codec/answer.h"
#include "model/request.h"

namespace gimbal::codec {

struct OpenAiRequest {
  model::InferRequest request;
  bool base64 = false;            // encoding_format
  std::optional<int> dimensions;  // checked against the model by CheckDimensions
  std::string param;              // on failure: the field at fault, or empty
};

// Body of POST /v1/embeddings. Any row at fault fails the request, as the public API does; unknown
// fields are ignored and of repeated ones the last counts.
Status DecodeOpenAiEmbeddings(std::string_view body, const DecodeLimits& limits,
                              OpenAiRequest& out);

// kInvalid when the request asks for another number of dimensions than the model has.
Status CheckDimensions(const OpenAiRequest& request, const model::ModelInfo& model);

// {"object": "list", "data": [...], "model", "usage"}; base64 is little-endian float32.
Answer EncodeOpenAiEmbeddings(std::string_view model, bool base64,
                              const model::InferResponse& response);

std::string EncodeOpenAiModels(std::span<const model::ModelInfo> models);
std::string EncodeOpenAiModel(const model::ModelInfo& model);

}  // namespace gimbal::codec
