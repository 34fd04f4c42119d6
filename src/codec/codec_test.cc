#include <gtest/gtest.h>

#include <cstring>

#include "codec/base64.h"
#include "codec/errors.h"
#include "codec/json_reader.h"
#include "codec/native.h"
#include "codec/openai.h"
#include "codec/v2.h"

namespace gimbal::codec {
namespace {

using model::Protocol;

DecodeLimits SmallLimits() { return {.max_rows = 3, .max_text = {8}}; }

// --- whole-request failures, by tables ---

struct BadBody {
  const char* name;
  std::string body;
  Code code;
  const char* says;  // part of the message
};
void PrintTo(const BadBody& bad, std::ostream* os) { *os << bad.name; }

class NativeRefuses : public testing::TestWithParam<BadBody> {};

TEST_P(NativeRefuses, Body) {
  NativeRequest out;
  const Status status = DecodeNative(GetParam().body, SmallLimits(), out);
  EXPECT_EQ(status.code(), GetParam().code) << status.ToString();
  EXPECT_NE(status.message().find(GetParam().says), std::string::npos) << status.ToString();
}

const BadBody kBadNative[] = {
    {"empty", "", Code::kInvalid, "the body is empty"},
    {"blank", "  \n", Code::kInvalid, "it is empty"},
    {"broken", R"({"text": "a")", Code::kInvalid, "not valid JSON"},
    {"trailing_garbage", R"({"text": "a"} x)", Code::kInvalid, "not valid JSON"},
    {"two_documents", R"({"text": "a"}{"text": "b"})", Code::kInvalid, "not valid JSON"},
    {"byte_order_mark", "\xEF\xBB\xBF{\"text\": \"a\"}", Code::kInvalid, "not valid JSON"},
    {"invalid_utf8", "{\"text\": \"a\xFFz\"}", Code::kInvalid, "not valid UTF-8 at byte 11"},
    {"low_surrogate", R"({"text": "\udc00"})", Code::kInvalid, "surrogate"},
    {"high_surrogate", R"({"text": "\ud800"})", Code::kInvalid, "surrogate"},
    {"split_surrogate", R"({"text": "\ud800\u0041"})", Code::kInvalid, "surrogate"},
    {"control_character", "{\"text\": \"a\nb\"}", Code::kInvalid, "control character"},
    {"single_quotes", "{'text': 'a'}", Code::kInvalid, "not valid JSON"},
    {"huge_number", R"({"text": "a", "timeout_ms": 1e999})", Code::kInvalid, "number"},
    {"huge_integer", R"({"text": "a", "timeout_ms": 123456789012345678901234567890})",
     Code::kInvalid, "number"},
    {"nan", R"({"text": "a", "timeout_ms": NaN})", Code::kInvalid, "not valid JSON"},
    {"deep", std::string(100000, '['), Code::kInvalid, "not valid JSON"},
    {"deep_balanced", R"({"inputs": )" + std::string(70, '[') + std::string(70, ']') + "}",
     Code::kInvalid, "deeper than 64"},
    {"list_at_top", R"(["a"])", Code::kInvalid, "the body: expected an object, got a list"},
    {"string_at_top", R"("a")", Code::kInvalid, "got a string"},
    {"no_row", R"({"id": "x"})", Code::kInvalid, "expected \"text\""},
    {"no_row_empty_object", "{}", Code::kInvalid, "expected \"text\""},
    {"unknown_field", R"({"text": "a", "prioritty": "bulk"})", Code::kInvalid,
     "unknown field \"prioritty\", did you mean \"priority\"?"},
    {"unknown_far", R"({"text": "a", "zzzzzz": 1})", Code::kInvalid, "unknown field \"zzzzzz\""},
    {"repeated_field", R"({"text": "a", "priority": "bulk", "priority": "bulk"})", Code::kInvalid,
     "priority: the field is given twice"},
    {"repeated_text", R"({"text": "a", "text": "b"})", Code::kInvalid,
     "text: the field is given twice"},
    {"repeated_inputs", R"({"inputs": ["a"], "inputs": ["b"]})", Code::kInvalid, "given twice"},
    {"repeated_id", R"({"text": "a", "id": "1", "id": "2"})", Code::kInvalid,
     "id: the field is given twice"},
    {"text_and_inputs", R"({"text": "a", "inputs": ["b"]})", Code::kInvalid, "exclude each other"},
    {"inputs_is_string", R"({"inputs": "a"})", Code::kInvalid,
     "inputs: expected a list of rows, got a string"},
    {"no_rows", R"({"inputs": []})", Code::kInvalid, "empty list"},
    {"too_many_rows", R"({"inputs": ["a", "b", "c", "d"]})", Code::kTooLarge,
     "inputs: 4 rows, the limit is 3 (limits.max_rows_per_request)"},
    {"long_text", R"({"text": "123456789"})", Code::kTooLarge,
     "text: the text has 9 bytes, the limit is 8B (limits.max_text)"},
    {"empty_text", R"({"text": ""})", Code::kInvalid, "text: the text is empty"},
    {"null_text", R"({"text": null})", Code::kInvalid, "text: expected a string, got null"},
    {"number_text", R"({"text": 5})", Code::kInvalid, "text: expected a string, got a number"},
    {"pair_alone", R"({"text_pair": "a"})", Code::kInvalid, "text: the field is missing"},
    {"image", R"({"image": "aGk="})", Code::kInvalid, "takes \"text\""},
    {"tensors", R"({"tensors": {"x": [1]}})", Code::kInvalid, "takes \"text\""},
    {"query", R"({"query": "a", "text": "b"})", Code::kInvalid, "query: the task text-embedding"},
    {"id_number", R"({"text": "a", "id": 5})", Code::kInvalid,
     "id: expected a string, got a number"},
    {"id_long", R"({"text": "a", "id": ")" + std::string(257, 'x') + "\"}", Code::kInvalid, "id: "},
    {"timeout_zero", R"({"text": "a", "timeout_ms": 0})", Code::kInvalid, "timeout_ms: "},
    {"timeout_negative", R"({"text": "a", "timeout_ms": -1})", Code::kInvalid, "got -1"},
    {"timeout_string", R"({"text": "a", "timeout_ms": "5"})", Code::kInvalid, "got a string"},
    {"priority_word", R"({"text": "a", "priority": "high"})", Code::kInvalid, "interactive"},
    {"priority_number", R"({"text": "a", "priority": 1})", Code::kInvalid, "priority: expected"},
    {"parameters_list", R"({"text": "a", "parameters": []})", Code::kInvalid, "got a list"},
    {"parameter_unknown", R"({"text": "a", "parameters": {"truncated": true}})", Code::kInvalid,
     "parameters: unknown field \"truncated\", did you mean \"truncate\"?"},
    {"truncate_string", R"({"text": "a", "parameters": {"truncate": "yes"}})", Code::kInvalid,
     "parameters.truncate: expected a boolean, got a string"},
};
INSTANTIATE_TEST_SUITE_P(Table, NativeRefuses, testing::ValuesIn(kBadNative),
                         [](const auto& info) { return info.param.name; });

class OpenAiRefuses : public testing::TestWithParam<BadBody> {};

TEST_P(OpenAiRefuses, Body) {
  OpenAiRequest out;
  const Status status = DecodeOpenAiEmbeddings(GetParam().body, SmallLimits(), out);
  EXPECT_EQ(status.code(), GetParam().code) << status.ToString();
  EXPECT_NE(status.message().find(GetParam().says), std::string::npos) << status.ToString();
}

const BadBody kBadOpenAi[] = {
    {"empty", "", Code::kInvalid, "the body is empty"},
    {"broken", "{", Code::kInvalid, "not valid JSON"},
    {"list", "[]", Code::kInvalid, "expected an object"},
    {"no_model", R"({"input": "a"})", Code::kInvalid, "model: the field is missing"},
    {"model_number", R"({"model": 1, "input": "a"})", Code::kInvalid, "model: expected a string"},
    {"no_input", R"({"model": "m"})", Code::kInvalid, "input: the field is missing"},
    {"empty_input", R"({"model": "m", "input": ""})", Code::kInvalid, "input: the text is empty"},
    {"empty_list", R"({"model": "m", "input": []})", Code::kInvalid, "empty list"},
    {"empty_row", R"({"model": "m", "input": ["a", ""]})", Code::kInvalid,
     "input[1]: the text is empty"},
    {"null_row", R"({"model": "m", "input": ["a", null]})", Code::kInvalid,
     "input[1]: expected a string, got null"},
    {"token_ids", R"({"model": "m", "input": [1, 2]})", Code::kInvalid,
     "token-id input is not supported"},
    {"token_lists", R"({"model": "m", "input": [[1, 2]]})", Code::kInvalid,
     "token-id input is not supported"},
    {"input_object", R"({"model": "m", "input": {}})", Code::kInvalid, "got an object"},
    {"rows", R"({"model": "m", "input": ["a", "a", "a", "a"]})", Code::kTooLarge,
     "4 rows, the limit is 3"},
    {"long_text", R"({"model": "m", "input": "123456789"})", Code::kTooLarge, "limits.max_text"},
    {"format", R"({"model": "m", "input": "a", "encoding_format": "hex"})", Code::kInvalid,
     "expected \"float\" or \"base64\", got \"hex\""},
    {"dimensions", R"({"model": "m", "input": "a", "dimensions": 0})", Code::kInvalid,
     "dimensions: "},
    {"dimensions_text", R"({"model": "m", "input": "a", "dimensions": "8"})", Code::kInvalid,
     "dimensions: "},
};
INSTANTIATE_TEST_SUITE_P(Table, OpenAiRefuses, testing::ValuesIn(kBadOpenAi),
                         [](const auto& info) { return info.param.name; });

// --- native ---

TEST(DecodeNative, TakesOneRow) {
  NativeRequest out;
  ASSERT_TRUE(
      DecodeNative(R"({"text": "caf\u00e9", "id": "a1", "timeout_ms": 1.5, "priority": "bulk",
                               "parameters": {"truncate": false}})",
                   {}, out)
          .ok());
  EXPECT_FALSE(out.many);
  EXPECT_EQ(out.request.id, "a1");
  EXPECT_EQ(out.request.timeout, std::chrono::microseconds(1500));
  EXPECT_EQ(out.request.lane, model::Lane::kBulk);
  EXPECT_FALSE(out.request.truncate);
  ASSERT_EQ(out.request.rows.size(), 1u);
  EXPECT_EQ(out.request.rows[0]->text, "caf\xC3\xA9");
}

TEST(DecodeNative, TruncatesByDefault) {
  NativeRequest out;
  ASSERT_TRUE(DecodeNative(R"({"text": "a", "text_pair": "b"})", {}, out).ok());
  EXPECT_TRUE(out.request.truncate);
  EXPECT_EQ(out.request.rows[0]->text_pair, "b");
  EXPECT_FALSE(out.request.lane.has_value());
  EXPECT_FALSE(out.request.timeout);
}

TEST(DecodeNative, AListOfOneIsAList) {
  NativeRequest out;
  ASSERT_TRUE(DecodeNative(R"({"inputs": ["a"]})", {}, out).ok());
  EXPECT_TRUE(out.many);
}

TEST(DecodeNative, KeepsTheIdOfARequestThatFails) {
  NativeRequest out;
  EXPECT_FALSE(DecodeNative(R"({"nope": 1, "text": "a", "id": "late"})", {}, out).ok());
  EXPECT_EQ(out.request.id, "late");
}

TEST(DecodeNative, OneBadRowLeavesTheOthersAlone) {
  const struct {
    const char* row;
    Code code;
    const char* says;
  } rows[] = {
      {R"("")", Code::kInvalid, "inputs[1]: the text is empty"},
      {"5", Code::kInvalid, "inputs[1]: expected a string or an object, got a number"},
      {"null", Code::kInvalid, "inputs[1]: expected a string or an object, got null"},
      {"[]", Code::kInvalid, "inputs[1]: expected a string or an object, got a list"},
      {"{}", Code::kInvalid, "inputs[1].text: the field is missing"},
      {R"({"text": 1})", Code::kInvalid, "inputs[1].text: expected a string, got a number"},
      {R"({"text": ""})", Code::kInvalid, "inputs[1].text: the text is empty"},
      {R"({"text": "a", "text": "b"})", Code::kInvalid, "inputs[1].text: the field is given twice"},
      {R"({"text": "a", "text_pair": null})", Code::kInvalid,
       "inputs[1].text_pair: expected a string"},
      {R"({"txt": "a"})", Code::kInvalid,
       "inputs[1]: unknown field \"txt\", did you mean \"text\"?"},
      {R"({"text": "a", "id": "x"})", Code::kInvalid, "inputs[1]: unknown field \"id\""},
      {R"({"image": "aGk="})", Code::kInvalid,
       "inputs[1].image: the task text-embedding takes \"text\""},
      {R"({"query": "q", "text": "a"})", Code::kInvalid, "inputs[1].query"},
      {R"("123456789")", Code::kTooLarge, "inputs[1]: the text has 9 bytes, the limit is 8B"},
  };
  for (const auto& bad : rows) {
    SCOPED_TRACE(bad.row);
    NativeRequest out;
    const std::string body = std::string(R"({"inputs": ["a", )") + bad.row + R"(, {"text": "b"}]})";
    ASSERT_TRUE(DecodeNative(body, SmallLimits(), out).ok());
    ASSERT_EQ(out.request.rows.size(), 3u);
    EXPECT_EQ(out.request.rows[0]->text, "a");
    EXPECT_EQ(out.request.rows[2]->text, "b");
    EXPECT_EQ(out.request.rows[1].status().code(), bad.code);
    EXPECT_NE(out.request.rows[1].status().message().find(bad.says), std::string::npos)
        << out.request.rows[1].status().message();
  }
}

model::InferResponse TwoRows(Result<model::RowOutput> second) {
  model::InferResponse response;
  response.model = "m";
  response.version = "1";
  response.rows.emplace_back(model::RowOutput{{0.5f, -1.0f}, 4});
  response.rows.push_back(std::move(second));
  response.batch = {8, 6};
  return response;
}

const StageCost kStages[] = {{"receive", std::chrono::microseconds(20)},
                             {"model", std::chrono::milliseconds(3)}};
const NativeCost kCost{kStages, std::chrono::microseconds(3020)};
constexpr char kCostText[] =
    R"("cost":{"receive_ms":0.020,"model_ms":3.000,"total_ms":3.020,"batch_size":8,"tokens":)";

TEST(EncodeNative, AnswersOneRow) {
  model::InferResponse response = TwoRows(InvalidError("x"));
  response.rows.pop_back();
  const Answer answer = EncodeNative("a1", false, response, kCost);
  EXPECT_EQ(answer.http_status, 200);
  EXPECT_EQ(answer.body, std::string(R"({"id":"a1","model":"m","version":"1","status":"ok",)"
                                     R"("result":[0.5,-1],)") +
                             kCostText + R"(4,"padded_tokens":6}})");
}

TEST(EncodeNative, OneFailedRowIsAWholeFailure) {
  model::InferResponse response;
  response.rows.emplace_back(Status(Code::kUnprocessable, "text: too long"));
  const Answer answer = EncodeNative("a1", false, response, kCost);
  EXPECT_EQ(answer.http_status, 422);
  EXPECT_EQ(answer.body,
            R"({"id":"a1","status":"error","type":"unprocessable","reason":"text: too long"})");
}

TEST(EncodeNative, AnswersManyRowsInPart) {
  const Answer answer = EncodeNative("", true, TwoRows(InvalidError("inputs[1]: bad")), kCost);
  EXPECT_EQ(answer.http_status, 200);
  EXPECT_EQ(answer.code, Code::kOk);
  EXPECT_EQ(answer.body,
            std::string(R"({"model":"m","version":"1","status":"partial","results":[)"
                        R"({"status":"ok","result":[0.5,-1]},)"
                        R"({"status":"error","type":"invalid","reason":"inputs[1]: bad"}],)") +
                kCostText + R"(4,"padded_tokens":6}})");
}

TEST(EncodeNative, TakesTheCodeOfTheFirstErrorWhenEveryRowFailed) {
  model::InferResponse response = TwoRows(InvalidError("second"));
  response.rows[0] =
      Status(Code::kOverloaded, "first").WithRetryAfter(std::chrono::milliseconds(1200));
  const Answer answer = EncodeNative("", true, response, kCost);
  EXPECT_EQ(answer.http_status, 429);
  EXPECT_EQ(answer.code, Code::kOverloaded);
  EXPECT_EQ(answer.retry_after, std::chrono::milliseconds(1200));
  EXPECT_NE(answer.body.find(R"("status":"error","results":[{"status":"error","type":"overloaded",)"
                             R"("reason":"first","retry_after_ms":1200})"),
            std::string::npos)
      << answer.body;
}

// --- openai ---

TEST(DecodeOpenAi, TakesStringsAndIgnoresWhatItDoesNotKnow) {
  OpenAiRequest out;
  ASSERT_TRUE(
      DecodeOpenAiEmbeddings(
          R"({"input": ["a", "b"], "user": "u", "new_field": {"x": 1}, "model": "no", "model": "m",
          "encoding_format": "base64", "dimensions": 384})",
          {}, out)
          .ok());
  EXPECT_EQ(out.request.model, "m");  // the last one counts
  EXPECT_TRUE(out.base64);
  EXPECT_EQ(out.dimensions, 384);
  EXPECT_FALSE(out.request.truncate);
  EXPECT_EQ(out.request.protocol, Protocol::kOpenAi);
  ASSERT_EQ(out.request.rows.size(), 2u);
  EXPECT_EQ(out.request.rows[1]->text, "b");
}

TEST(DecodeOpenAi, NamesTheFieldAtFault) {
  OpenAiRequest out;
  EXPECT_FALSE(DecodeOpenAiEmbeddings(R"({"input": "", "model": "m"})", {}, out).ok());
  EXPECT_EQ(out.param, "input");
  EXPECT_EQ(out.request.model, "m");
}

TEST(CheckDimensions, OnlyTheModelsOwn) {
  model::ModelInfo info;
  info.name = "m";
  info.signature.outputs = {{"embedding", model::DataType::kFp32, {-1, 384}}};
  OpenAiRequest request;
  EXPECT_TRUE(CheckDimensions(request, info).ok());
  request.dimensions = 384;
  EXPECT_TRUE(CheckDimensions(request, info).ok());
  request.dimensions = 256;
  EXPECT_EQ(CheckDimensions(request, info).code(), Code::kInvalid);
}

TEST(EncodeOpenAi, AnswersWithFloats) {
  model::InferResponse response = TwoRows(model::RowOutput{{1.0f, 2.0f}, 3});
  const Answer answer = EncodeOpenAiEmbeddings("alias", false, response);
  EXPECT_EQ(answer.body,
            R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,-1]},)"
            R"({"object":"embedding","index":1,"embedding":[1,2]}],"model":"alias",)"
            R"("usage":{"prompt_tokens":7,"total_tokens":7}})");
}

TEST(EncodeOpenAi, AnswersWithBase64) {
  model::InferResponse response = TwoRows(model::RowOutput{{1.0f}, 3});
  const Answer answer = EncodeOpenAiEmbeddings("m", true, response);
  EXPECT_NE(answer.body.find(R"("index":0,"embedding":"AAAAPwAAgL8=")"), std::string::npos)
      << answer.body;
  EXPECT_NE(answer.body.find(R"("index":1,"embedding":"AACAPw==")"), std::string::npos)
      << answer.body;
}

TEST(EncodeOpenAi, AnyFailedRowFailsTheRequest) {
  const Answer answer = EncodeOpenAiEmbeddings(
      "m", false, TwoRows(UnprocessableError("600 tokens, the limit is 512")));
  EXPECT_EQ(answer.http_status, 400);
  EXPECT_EQ(answer.body, R"({"error":{"message":"input[1]: 600 tokens, the limit is 512",)"
                         R"("type":"invalid_request_error","param":"input","code":"invalid"}})");
}

TEST(EncodeOpenAi, ListsModels) {
  model::ModelInfo info;
  info.name = "m";
  info.created_unix_s = 7;
  EXPECT_EQ(
      EncodeOpenAiModels({&info, 1}),
      R"({"object":"list","data":[{"id":"m","object":"model","created":7,"owned_by":"gimbal"}]})");
}

// --- errors, v2, base64 ---

TEST(EncodeError, HasTheShapeOfEachProtocol) {
  const Status status =
      Status(Code::kOverloaded, "full").WithRetryAfter(std::chrono::milliseconds(250));
  const Answer native = EncodeError(Protocol::kNative, status, "a1");
  EXPECT_EQ(native.http_status, 429);
  EXPECT_EQ(
      native.body,
      R"({"id":"a1","status":"error","type":"overloaded","reason":"full","retry_after_ms":250})");
  EXPECT_EQ(
      EncodeError(Protocol::kOpenAi, status, "").body,
      R"({"error":{"message":"full","type":"rate_limit_error","param":null,"code":"overloaded","retry_after_ms":250}})");
  EXPECT_EQ(EncodeError(Protocol::kKserve, NotFoundError("no \"x\""), "").body,
            R"({"error":"no \"x\""})");
}

TEST(EncodeError, EveryCodeHasAnHttpStatusOfFailure) {
  for (int i = 1; i < kCodeCount; ++i) {
    const Status status(static_cast<Code>(i), "x");
    for (const Protocol protocol : {Protocol::kNative, Protocol::kOpenAi, Protocol::kKserve}) {
      EXPECT_GE(EncodeError(protocol, status, "").http_status, 400);
    }
  }
}

TEST(RetryAfter, IsWholeSecondsRoundedUp) {
  using std::chrono::milliseconds;
  EXPECT_EQ(RetryAfterSeconds(milliseconds(0)), "1");
  EXPECT_EQ(RetryAfterSeconds(milliseconds(1)), "1");
  EXPECT_EQ(RetryAfterSeconds(milliseconds(1000)), "1");
  EXPECT_EQ(RetryAfterSeconds(milliseconds(1001)), "2");
}

TEST(V2, MetadataHasTheSpecifiedShape) {
  model::ModelInfo info;
  info.name = "m";
  info.platform = "onnx_onnxv1";
  info.signature.inputs = {{"text", model::DataType::kBytes, {-1}}};
  info.signature.outputs = {{"embedding", model::DataType::kFp32, {-1, 384}}};
  const std::string versions[] = {"1"};
  EXPECT_EQ(EncodeModelMetadata(info, versions),
            R"({"name":"m","versions":["1"],"platform":"onnx_onnxv1",)"
            R"("inputs":[{"name":"text","datatype":"BYTES","shape":[-1]}],)"
            R"("outputs":[{"name":"embedding","datatype":"FP32","shape":[-1,384]}]})");
  EXPECT_EQ(EncodeServerMetadata("0.1", {}),
            R"({"name":"gimbal","version":"0.1","extensions":[]})");
  EXPECT_EQ(EncodeModelReady("m", true), R"({"name":"m","ready":true})");
}

TEST(Base64, MatchesTheStandardsExamples) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : cases) {
    std::string out;
    AppendBase64(out, plain, std::strlen(plain));
    EXPECT_EQ(out, encoded);
  }
}

TEST(JsonReader, ReadsEveryType) {
  const auto document = JsonDocument::Parse(R"({"a": [1, 2.5, true, null, "x"], "a": {}})", "text");
  ASSERT_TRUE(document.ok());
  const auto members = document->root().members();
  ASSERT_EQ(members.size(), 2u);  // duplicates are the caller's to judge
  const auto list = members[0].value.elements();
  ASSERT_EQ(list.size(), 5u);
  EXPECT_EQ(list[0].integer(), 1);
  EXPECT_EQ(list[0].number(), 1.0);
  EXPECT_EQ(list[1].number(), 2.5);
  EXPECT_FALSE(list[1].integer());
  EXPECT_TRUE(list[2].boolean());
  EXPECT_TRUE(list[3].is(JsonType::kNull));
  EXPECT_EQ(list[4].string(), "x");
}

}  // namespace
}  // namespace gimbal::codec
