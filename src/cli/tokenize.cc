#include "cli/tokenize.h"

#include <filesystem>
#include <istream>
#include <iterator>
#include <memory>
#include <ostream>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/result.h"
#include "base/utf8.h"
#include "preprocess/text/tokenizer.h"

namespace gimbal::cli {
namespace {

using preprocess::EncodeOptions;
using preprocess::Encoding;
using preprocess::Tokenizer;

std::string EncodingAsJson(const Encoding& encoding) {
  JsonWriter json;
  json.BeginObject().Key("ids").BeginArray();
  for (const int32_t id : encoding.ids) json.Int(id);
  json.EndArray().Key("offsets").BeginArray();
  for (const Encoding::Span& span : encoding.offsets) {
    json.BeginArray().Uint(span.begin).Uint(span.end).EndArray();
  }
  json.EndArray().EndObject();
  return std::move(json).Take();
}

Status Print(const Tokenizer& tokenizer, EncodeOptions options, std::istream& in,
             std::ostream& out) {
  options.with_offsets = true;
  Encoding encoding;
  for (std::string line; std::getline(in, line);) {
    RETURN_IF_ERROR(tokenizer.Encode(ReplaceInvalidUtf8(line), options, &encoding));
    out << EncodingAsJson(encoding) << '\n';
  }
  return Status::Ok();
}

struct BenchResult {
  double seconds = 0;
  size_t lines = 0;
  size_t bytes = 0;  // without line ends
  size_t tokens = 0;

  double mb_per_s() const { return seconds > 0 ? static_cast<double>(bytes) / 1e6 / seconds : 0; }
};

Result<BenchResult> Measure(const Tokenizer& tokenizer, const EncodeOptions& options,
                            std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(ReplaceInvalidUtf8(line));
  BenchResult result;
  result.lines = lines.size();
  Encoding encoding;
  const TimePoint start = Clock::Steady().Now();
  for (const std::string& line : lines) {
    RETURN_IF_ERROR(tokenizer.Encode(line, options, &encoding));
    result.bytes += line.size();
    result.tokens += encoding.ids.size();
  }
  result.seconds = Seconds(Clock::Steady().Now() - start);
  return result;
}

void PrintBench(const BenchResult& result, bool as_json, std::ostream& out) {
  JsonWriter json;
  if (as_json) {
    json.BeginObject().Key("mb_per_s").Fixed(result.mb_per_s(), 2);
    json.Key("lines").Uint(result.lines).Key("bytes").Uint(result.bytes);
    json.Key("tokens").Uint(result.tokens).EndObject();
    out << json.str() << '\n';
    return;
  }
  json.Fixed(result.mb_per_s(), 2);
  out << json.str() << " MB/s: " << result.lines << " lines, " << result.bytes << " bytes, "
      << result.tokens << " tokens\n";
}

}  // namespace

Status RunTokenize(const TokenizeOptions& options, std::istream& in, std::ostream& out) {
  std::filesystem::path file = options.tokenizer_file;
  if (std::filesystem::is_directory(file)) file /= "tokenizer.json";
  ASSIGN_OR_RETURN(const std::unique_ptr<const Tokenizer> tokenizer,
                   Tokenizer::FromFile(file.string()));
  const EncodeOptions encode{.add_special_tokens = !options.no_special};
  if (!options.bench) return Print(*tokenizer, encode, in, out);
  ASSIGN_OR_RETURN(const BenchResult result, Measure(*tokenizer, encode, in));
  PrintBench(result, options.json, out);
  return Status::Ok();
}

}  // namespace gimbal::cli
