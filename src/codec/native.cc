#include "codec/native.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>

#include "base/json_writer.h"
#include "codec/errors.h"
#include "codec/json_reader.h"
#include "codec/row_decode.h"

namespace gimbal::codec {
namespace {

using model::RowInput;

constexpr size_t kMaxId = 256;
constexpr double kMaxTimeoutMs = 24.0 * 3600 * 1000;

// The keys of a request; the rows' keys follow the request's own, so that one list knows them all.
enum Field { kId, kTimeoutMs, kPriority, kParameters, kInputs, kText, kTextPair, kFieldCount };
constexpr std::array<std::string_view, kFieldCount> kFields = {
    "id", "timeout_ms", "priority", "parameters", "inputs", "text", "text_pair"};
constexpr std::array<std::string_view, 2> kRowFields = {"text", "text_pair"};
constexpr std::array<std::string_view, 1> kParameterFields = {"truncate"};
// Rows of other tasks, which a client may well try on the wrong model.
constexpr std::array<std::string_view, 3> kForeignRows = {"image", "tensors", "query"};

bool Contains(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string Join(std::string_view where, std::string_view key) {
  return where.empty() ? std::string(key) : fmt::format("{}.{}", where, key);
}

Status UnknownField(std::string_view where, std::string_view key,
                    std::span<const std::string_view> known) {
  constexpr size_t kShown = 64;
  return InvalidError(fmt::format("{}{}unknown field \"{}\"{}", where, where.empty() ? "" : ": ",
                                  key.substr(0, kShown), DidYouMean(key, known)));
}

Status RepeatedField(std::string_view where) {
  return InvalidError(fmt::format("{}: the field is given twice", where));
}

Status ForeignRow(std::string_view where) {
  return InvalidError(
      fmt::format("{}: the task text-embedding takes \"text\", not this kind of input", where));
}

// Reads the fields of one row as they come, wherever they stand: in a row's object or at the top.
class RowReader {
 public:
  RowReader(std::string where, const DecodeLimits& limits)
      : where_(std::move(where)), limits_(limits) {}

  // Whether `key` belongs to a row; its value is then taken.
  bool Take(std::string_view key, JsonValue value) {
    if (Contains(kForeignRows, key)) {
      Fail(ForeignRow(Join(where_, key)));
    } else if (key == "text") {
      TakeText(key, value, has_text_, row_.text);
    } else if (key == "text_pair") {
      TakeText(key, value, has_pair_, row_.text_pair.emplace());
    } else {
      return false;
    }
    return true;
  }
  void Fail(Status status) {
    any_ = true;
    if (status_.ok()) status_ = std::move(status);
  }
  bool any() const { return any_; }
  bool ok() const { return status_.ok(); }

  Result<RowInput> Finish() && {
    if (!status_.ok()) return status_;
    if (!has_text_) return InvalidError(Join(where_, "text") + ": the field is missing");
    return std::move(row_);
  }

 private:
  void TakeText(std::string_view key, JsonValue value, bool& seen, std::string& to) {
    any_ = true;
    const std::string where = Join(where_, key);
    if (std::exchange(seen, true)) return Fail(RepeatedField(where));
    Result<std::string> text = DecodeText(value, where, limits_);
    if (!text.ok()) return Fail(text.status());
    to = std::move(text).value();
  }

  const std::string where_;
  const DecodeLimits& limits_;
  RowInput row_;
  Status status_;
  bool any_ = false;
  bool has_text_ = false;
  bool has_pair_ = false;
};

Result<RowInput> DecodeRow(JsonValue value, std::string where, const DecodeLimits& limits) {
  if (value.is(JsonType::kString)) {
    ASSIGN_OR_RETURN(std::string text, DecodeText(value, where, limits));
    return RowInput{std::move(text), std::nullopt};
  }
  if (!value.is(JsonType::kObject)) return WrongType(where, "a string or an object", value);
  RowReader reader(where, limits);
  for (const auto& [key, member] : value.members()) {
    if (!reader.Take(key, member)) reader.Fail(UnknownField(where, key, kRowFields));
    if (!reader.ok()) break;  // a hostile row may have millions of members
  }
  return std::move(reader).Finish();
}

Status DecodeInputs(JsonValue value, const DecodeLimits& limits, NativeRequest& out) {
  if (!value.is(JsonType::kArray)) return WrongType("inputs", "a list of rows", value);
  RETURN_IF_ERROR(CheckRowCount(value.size(), "inputs", limits));
  out.many = true;
  out.request.rows.reserve(value.size());
  for (const JsonValue row : value.elements()) {
    out.request.rows.push_back(
        DecodeRow(row, fmt::format("inputs[{}]", out.request.rows.size()), limits));
  }
  return Status::Ok();
}

Status DecodeParameters(JsonValue value, NativeRequest& out) {
  if (!value.is(JsonType::kObject)) return WrongType("parameters", "an object", value);
  bool seen = false;
  for (const auto& [key, member] : value.members()) {
    if (key != "truncate") return UnknownField("parameters", key, kParameterFields);
    if (std::exchange(seen, true)) return RepeatedField("parameters.truncate");
    if (!member.is(JsonType::kBool)) return WrongType("parameters.truncate", "a boolean", member);
    out.request.truncate = member.boolean();
  }
  return Status::Ok();
}

Status DecodeTimeout(JsonValue value, NativeRequest& out) {
  constexpr std::string_view kExpected = "a number of milliseconds above 0";
  if (!value.is(JsonType::kNumber)) return WrongType("timeout_ms", kExpected, value);
  const double ms = value.number();
  if (!(ms > 0)) {
    return InvalidError(fmt::format("timeout_ms: expected {}, got {}", kExpected, ms));
  }
  out.request.timeout = FromSeconds(std::min(ms, kMaxTimeoutMs) / 1000);
  return Status::Ok();
}

Status DecodePriority(JsonValue value, NativeRequest& out) {
  if (!value.is(JsonType::kString)) {
    return WrongType("priority", "\"interactive\" or \"bulk\"", value);
  }
  const auto lane = model::ParseLane(value.string());
  if (!lane.ok()) return lane.status().WithContext("priority");
  out.request.lane = lane.value();
  return Status::Ok();
}

Status DecodeId(JsonValue value, NativeRequest& out) {
  if (!value.is(JsonType::kString)) return WrongType("id", "a string", value);
  const std::string_view id = value.string();
  if (id.size() > kMaxId) {
    return InvalidError(fmt::format("id: expected at most {} bytes, got {}", kMaxId, id.size()));
  }
  out.request.id = id;
  return Status::Ok();
}

Status DecodeField(Field field, JsonValue value, const DecodeLimits& limits, NativeRequest& out) {
  switch (field) {
    case kTimeoutMs:
      return DecodeTimeout(value, out);
    case kPriority:
      return DecodePriority(value, out);
    case kParameters:
      return DecodeParameters(value, out);
    case kInputs:
      return DecodeInputs(value, limits, out);
    default:
      return Status::Ok();  // the id was read before; a row's fields are the reader's
  }
}

// The id first, so that an answer to a request that fails further on can carry it.
Status ReadId(std::span<const JsonMember> members, NativeRequest& out) {
  bool seen = false;
  for (const auto& [key, value] : members) {
    if (key != "id") continue;
    if (std::exchange(seen, true)) return RepeatedField("id");
    RETURN_IF_ERROR(DecodeId(value, out));
  }
  return Status::Ok();
}

void WriteRow(JsonWriter& w, const model::RowOutput& row) {
  w.BeginArray();
  for (const float x : row.embedding) w.Float(x);
  w.EndArray();
}

void WriteCost(JsonWriter& w, const model::InferResponse& response, const NativeCost& cost) {
  w.Key("cost").BeginObject();
  std::string key;
  for (const StageCost& stage : cost.stages) {
    key.assign(stage.name).append("_ms");
    w.Key(key).Fixed(Milliseconds(stage.time), 3);
  }
  int tokens = 0;
  for (const auto& row : response.rows) tokens += row.ok() ? row->tokens : 0;
  w.Key("total_ms").Fixed(Milliseconds(cost.total), 3);
  w.Key("batch_size").Int(response.batch.batch_rows);
  w.Key("tokens").Int(tokens);
  w.Key("padded_tokens").Int(response.batch.padded_tokens).EndObject();
}

void WriteRows(JsonWriter& w, const model::InferResponse& response) {
  w.Key("results").BeginArray();
  for (const auto& row : response.rows) {
    w.BeginObject().Key("status").String(row.ok() ? "ok" : "error");
    if (row.ok()) {
      w.Key("result");
      WriteRow(w, *row);
    } else {
      const Status status = row.status();
      w.Key("type").String(CodeName(status.code())).Key("reason").String(status.message());
      if (status.retry_after()) w.Key("retry_after_ms").Int(status.retry_after()->count());
    }
    w.EndObject();
  }
  w.EndArray();
}

size_t ReserveFor(const model::InferResponse& response) {
  constexpr size_t kBytesPerFloat = 13;
  size_t floats = 0;
  for (const auto& row : response.rows) floats += row.ok() ? row->embedding.size() : 16;
  return 512 + floats * kBytesPerFloat;
}

}  // namespace

Status DecodeNative(std::string_view body, const DecodeLimits& limits, NativeRequest& out) {
  if (body.empty()) return InvalidError("the body is empty, expected a JSON object");
  ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(body, "the body"));
  if (!document.root().is(JsonType::kObject)) {
    return WrongType("the body", "an object", document.root());
  }
  out.request.protocol = model::Protocol::kNative;
  const std::vector<JsonMember> members = document.root().members();
  RETURN_IF_ERROR(ReadId(members, out));
  RowReader single("", limits);
  std::bitset<kFieldCount> seen;
  for (const auto& [key, value] : members) {
    if (single.Take(key, value)) continue;
    const auto found = std::find(kFields.begin(), kFields.end(), key);
    if (found == kFields.end()) return UnknownField("", key, kFields);
    const auto field = static_cast<Field>(found - kFields.begin());
    if (seen[field]) return RepeatedField(key);
    seen.set(field);
    RETURN_IF_ERROR(DecodeField(field, value, limits, out));
  }
  if (out.many && single.any()) {
    return InvalidError("\"inputs\" and a row at the top level exclude each other");
  }
  if (out.many) return Status::Ok();
  if (!single.any()) return InvalidError("expected \"text\" for one row or \"inputs\" for many");
  ASSIGN_OR_RETURN(RowInput row, std::move(single).Finish());
  out.request.rows.push_back(std::move(row));
  return Status::Ok();
}

Answer EncodeNative(std::string_view id, bool many, const model::InferResponse& response,
                    const NativeCost& cost) {
  Status first_error;
  bool any_ok = response.rows.empty();
  for (const auto& row : response.rows) {
    if (row.ok()) {
      any_ok = true;
    } else if (first_error.ok()) {
      first_error = row.status();
    }
  }
  if (!many && !first_error.ok()) {
    return EncodeError(model::Protocol::kNative, first_error, id);
  }
  JsonWriter w;
  w.Reserve(ReserveFor(response));
  w.BeginObject();
  if (!id.empty()) w.Key("id").String(id);
  w.Key("model").String(response.model).Key("version").String(response.version);
  w.Key("status").String(first_error.ok() ? "ok" : any_ok ? "partial" : "error");
  if (many) {
    WriteRows(w, response);
  } else {
    w.Key("result");
    response.rows.empty() ? void(w.Null()) : WriteRow(w, *response.rows.front());
  }
  WriteCost(w, response, cost);
  w.EndObject();
  const Code code = any_ok ? Code::kOk : first_error.code();
  return {HttpStatus(code), code, std::move(w).Take(),
          any_ok ? std::nullopt : first_error.retry_after()};
}

}  // namespace gimbal::codec
