#include "codec/openai.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"
#include "codec/base64.h"
#include "codec/errors.h"
#include "codec/json_reader.h"
#include "codec/row_decode.h"

namespace gimbal::codec {
namespace {

constexpr size_t kMaxInputs = 2048;  // of the public API

Status AppendText(JsonValue value, std::string_view where, const DecodeLimits& limits,
                  OpenAiRequest& out) {
  ASSIGN_OR_RETURN(std::string text, DecodeText(value, where, limits));
  out.request.rows.emplace_back(model::RowInput{std::move(text), std::nullopt});
  return Status::Ok();
}

Status DecodeInput(JsonValue value, const DecodeLimits& limits, OpenAiRequest& out) {
  if (value.is(JsonType::kString)) return AppendText(value, "input", limits, out);
  if (!value.is(JsonType::kArray))
    return WrongType("input", "a string or a list of strings", value);
  DecodeLimits own = limits;
  own.max_rows = std::min(limits.max_rows, kMaxInputs);
  RETURN_IF_ERROR(CheckRowCount(value.size(), "input", own));
  out.request.rows.reserve(value.size());
  for (const JsonValue row : value.elements()) {
    if (row.is(JsonType::kNumber) || row.is(JsonType::kArray)) {
      return InvalidError("input: token-id input is not supported, send strings");
    }
    RETURN_IF_ERROR(
        AppendText(row, fmt::format("input[{}]", out.request.rows.size()), limits, out));
  }
  return Status::Ok();
}

Status DecodeModel(JsonValue value, OpenAiRequest& out) {
  if (!value.is(JsonType::kString)) return WrongType("model", "a string", value);
  out.request.model = value.string();
  return Status::Ok();
}

Status DecodeFormat(JsonValue value, OpenAiRequest& out) {
  constexpr std::string_view kExpected = "\"float\" or \"base64\"";
  if (value.is(JsonType::kNull)) return Status::Ok();
  if (!value.is(JsonType::kString)) return WrongType("encoding_format", kExpected, value);
  if (value.string() != "float" && value.string() != "base64") {
    return InvalidError(fmt::format("encoding_format: expected {}, got \"{}\"", kExpected,
                                    value.string().substr(0, 32)));
  }
  out.base64 = value.string() == "base64";
  return Status::Ok();
}

Status DecodeDimensions(JsonValue value, OpenAiRequest& out) {
  if (value.is(JsonType::kNull)) return Status::Ok();
  const auto n = value.is(JsonType::kNumber) ? value.integer() : std::nullopt;
  if (!n || *n < 1 || *n > 1 << 20) {
    return InvalidError("dimensions: expected a whole number above 0");
  }
  out.dimensions = static_cast<int>(*n);
  return Status::Ok();
}

struct FieldDecoder {
  std::string_view name;
  bool required;
  Status (*decode)(JsonValue, const DecodeLimits&, OpenAiRequest&);
};

// The model first: a failure further on is then counted under its name.
constexpr FieldDecoder kDecoders[] = {
    {"model", true,
     [](JsonValue v, const DecodeLimits&, OpenAiRequest& o) { return DecodeModel(v, o); }},
    {"encoding_format", false,
     [](JsonValue v, const DecodeLimits&, OpenAiRequest& o) { return DecodeFormat(v, o); }},
    {"dimensions", false,
     [](JsonValue v, const DecodeLimits&, OpenAiRequest& o) { return DecodeDimensions(v, o); }},
    {"input", true, DecodeInput},
};

Status DecodeField(const FieldDecoder& field, std::span<const JsonMember> members,
                   const DecodeLimits& limits, OpenAiRequest& out) {
  out.param = field.name;
  const auto found = std::find_if(members.rbegin(), members.rend(),
                                  [&](const JsonMember& m) { return m.key == field.name; });
  if (found != members.rend()) return field.decode(found->value, limits, out);
  if (!field.required) return Status::Ok();
  return InvalidError(fmt::format("{}: the field is missing", field.name));
}

// What our own codes mean on this route: a text that the model cannot take is the request's fault.
Status AsRequestError(const Status& row, size_t index) {
  const Status named = row.WithContext(fmt::format("input[{}]", index));
  if (row.code() != Code::kUnprocessable) return named;
  return InvalidError(named.message());
}

void WriteEmbedding(JsonWriter& w, const std::vector<float>& embedding, bool base64) {
  if (base64) {
    static_assert(std::endian::native == std::endian::little, "the format is little-endian");
    std::string text;
    AppendBase64(text, embedding.data(), embedding.size() * sizeof(float));
    w.String(text);
    return;
  }
  w.BeginArray();
  for (const float x : embedding) w.Float(x);
  w.EndArray();
}

void WriteModel(JsonWriter& w, const model::ModelInfo& model) {
  w.BeginObject().Key("id").String(model.name).Key("object").String("model");
  w.Key("created").Int(model.created_unix_s).Key("owned_by").String("gimbal").EndObject();
}

}  // namespace

Status DecodeOpenAiEmbeddings(std::string_view body, const DecodeLimits& limits,
                              OpenAiRequest& out) {
  out.request.protocol = model::Protocol::kOpenAi;
  out.request.truncate = false;
  if (body.empty()) return InvalidError("the body is empty, expected a JSON object");
  ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(body, "the body"));
  if (!document.root().is(JsonType::kObject)) {
    return WrongType("the body", "an object", document.root());
  }
  const std::vector<JsonMember> members = document.root().members();
  for (const FieldDecoder& field : kDecoders) {
    RETURN_IF_ERROR(DecodeField(field, members, limits, out));
  }
  out.param.clear();
  return Status::Ok();
}

Status CheckDimensions(const OpenAiRequest& request, const model::ModelInfo& model) {
  if (!request.dimensions || model.signature.outputs.empty()) return Status::Ok();
  const model::Shape& shape = model.signature.outputs.front().shape;
  const int64_t has = shape.empty() ? -1 : shape.back();
  if (has == *request.dimensions) return Status::Ok();
  return InvalidError(
      fmt::format("dimensions: {} was asked, the model \"{}\" has {} and cannot be shortened",
                  *request.dimensions, model.name, has));
}

Answer EncodeOpenAiEmbeddings(std::string_view model, bool base64,
                              const model::InferResponse& response) {
  int64_t tokens = 0;
  size_t floats = 0;
  for (size_t i = 0; i < response.rows.size(); ++i) {
    if (!response.rows[i].ok()) {
      return EncodeError(model::Protocol::kOpenAi, AsRequestError(response.rows[i].status(), i),
                         "input");
    }
    tokens += response.rows[i]->tokens;
    floats += response.rows[i]->embedding.size();
  }
  JsonWriter w;
  w.Reserve(256 + 64 * response.rows.size() + floats * (base64 ? 6 : 13));
  w.BeginObject().Key("object").String("list").Key("data").BeginArray();
  for (size_t i = 0; i < response.rows.size(); ++i) {
    w.BeginObject().Key("object").String("embedding").Key("index").Uint(i).Key("embedding");
    WriteEmbedding(w, response.rows[i]->embedding, base64);
    w.EndObject();
  }
  w.EndArray().Key("model").String(model).Key("usage").BeginObject();
  w.Key("prompt_tokens").Int(tokens).Key("total_tokens").Int(tokens).EndObject().EndObject();
  return {200, Code::kOk, std::move(w).Take(), std::nullopt};
}

std::string EncodeOpenAiModels(std::span<const model::ModelInfo> models) {
  JsonWriter w;
  w.BeginObject().Key("object").String("list").Key("data").BeginArray();
  for (const model::ModelInfo& model : models) WriteModel(w, model);
  w.EndArray().EndObject();
  return std::move(w).Take();
}

std::string EncodeOpenAiModel(const model::ModelInfo& model) {
  JsonWriter w;
  WriteModel(w, model);
  return std::move(w).Take();
}

}  // namespace gimbal::codec
