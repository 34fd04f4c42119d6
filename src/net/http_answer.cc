#include "net/http_answer.h"

#include <algorithm>
#include <charconv>

namespace gimbal::net {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameName(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Calls `visit(name, value)` for each field, until it returns false.
template <typename Visit>
void EachField(std::string_view fields, Visit visit) {
  while (!fields.empty()) {
    const size_t end = fields.find('\n');
    const std::string_view line = fields.substr(0, end);
    fields.remove_prefix(end + 1);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    if (!visit(line.substr(0, colon), Trim(line.substr(colon + 1)))) return;
  }
}

// Whether the comma-separated list holds this token.
bool HasToken(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (SameName(Trim(list.substr(0, comma)), token)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

bool ParseUint(std::string_view text, int base, uint64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::optional<std::string_view> HttpAnswer::Find(std::string_view name) const {
  std::optional<std::string_view> found;
  EachField(fields, [&](std::string_view field, std::string_view value) {
    if (SameName(field, name)) found = value;
    return !found.has_value();
  });
  return found;
}

void HttpAnswerParser::Reset() {
  answer_.status = 0;
  answer_.fields.clear();
  answer_.body.clear();
  part_ = Part::kStatus;
  line_.clear();
  head_bytes_ = 0;
  left_ = 0;
  until_close_ = false;
  http10_ = false;
  keep_alive_ = false;
  started_ = false;
}

HttpAnswerParser::State HttpAnswerParser::Feed(std::string_view& bytes) {
  if (!bytes.empty()) started_ = true;
  while (!bytes.empty()) {
    State state = State::kReading;
    if (part_ == Part::kBody || part_ == Part::kChunk) {
      state = TakeBody(bytes);
    } else {
      const bool complete = TakeLine(bytes);
      if (head_bytes_ > kMaxFieldBytes) return State::kTooLarge;
      if (!complete) return State::kReading;
      state = OnLine();
      line_.clear();
    }
    if (state != State::kReading) return state;
  }
  return State::kReading;
}

HttpAnswerParser::State HttpAnswerParser::End() {
  return until_close_ && part_ == Part::kBody ? Done() : State::kReading;
}

bool HttpAnswerParser::TakeLine(std::string_view& bytes) {
  const size_t end = bytes.find('\n');
  const bool complete = end != std::string_view::npos;
  const std::string_view taken = bytes.substr(0, complete ? end : bytes.size());
  line_ += taken;
  head_bytes_ += taken.size() + 1;
  bytes.remove_prefix(taken.size() + (complete ? 1 : 0));
  if (complete && line_.ends_with('\r')) line_.pop_back();
  return complete;
}

HttpAnswerParser::State HttpAnswerParser::OnLine() {
  switch (part_) {
    case Part::kStatus:
      return OnStatusLine() ? State::kReading : State::kMalformed;
    case Part::kFields:
      if (line_.empty()) return OnFieldsEnd();
      if (line_.find(':') == std::string::npos) return State::kMalformed;
      answer_.fields += line_;
      answer_.fields += '\n';
      return State::kReading;
    case Part::kChunkSize:
      head_bytes_ = 0;  // the limit is on the head and on each chunk's line, not on their sum
      return OnChunkSize() ? State::kReading : State::kMalformed;
    case Part::kChunkEnd:
      part_ = Part::kChunkSize;
      return line_.empty() ? State::kReading : State::kMalformed;
    case Part::kTrailer:
      return line_.empty() ? Done() : State::kReading;
    case Part::kBody:
    case Part::kChunk:
    case Part::kDone:
      break;
  }
  return State::kMalformed;
}

bool HttpAnswerParser::OnStatusLine() {
  const std::string_view line = line_;
  if (line.size() < 12 || !line.starts_with("HTTP/1.") || line[8] != ' ') return false;
  if (line.size() > 12 && line[12] != ' ') return false;
  uint64_t status = 0;
  if (!ParseUint(line.substr(9, 3), 10, &status) || status < 100) return false;
  answer_.status = static_cast<int>(status);
  http10_ = line[7] == '0';
  part_ = Part::kFields;
  return true;
}

HttpAnswerParser::State HttpAnswerParser::OnFieldsEnd() {
  if (answer_.status < 200) {  // interim: the real answer follows
    answer_.fields.clear();
    part_ = Part::kStatus;
    return State::kReading;
  }
  if (!ReadFraming()) return State::kMalformed;
  if (answer_.status == 204 || answer_.status == 304) return Done();  // never have a body
  if (until_close_) keep_alive_ = false;
  if (part_ == Part::kChunkSize) return State::kReading;
  if (!until_close_ && left_ == 0) return Done();
  if (!until_close_ && left_ > static_cast<uint64_t>(max_body_.value)) return State::kTooLarge;
  part_ = Part::kBody;
  return State::kReading;
}

bool HttpAnswerParser::ReadFraming() {
  std::optional<uint64_t> length;
  bool chunked = false, valid = true;
  keep_alive_ = !http10_;
  EachField(answer_.fields, [&](std::string_view name, std::string_view value) {
    if (SameName(name, "content-length")) {
      uint64_t read = 0;
      valid = valid && ParseUint(value, 10, &read) && length.value_or(read) == read;
      length = read;
    } else if (SameName(name, "transfer-encoding")) {
      chunked = HasToken(value, "chunked");
    } else if (SameName(name, "connection")) {
      if (HasToken(value, "close")) keep_alive_ = false;
      if (http10_ && HasToken(value, "keep-alive")) keep_alive_ = true;
    }
    return true;
  });
  if (chunked) {
    part_ = Part::kChunkSize;
    if (length) keep_alive_ = false;  // ambiguous; RFC 9112 6.3: chunked counts, then close
  } else if (length) {
    left_ = *length;
  } else {
    until_close_ = true;
  }
  return valid;
}

bool HttpAnswerParser::OnChunkSize() {
  const std::string_view line = line_;
  const std::string_view size = Trim(line.substr(0, line.find(';')));
  if (!ParseUint(size, 16, &left_)) return false;
  part_ = left_ == 0 ? Part::kTrailer : Part::kChunk;
  return true;
}

HttpAnswerParser::State HttpAnswerParser::TakeBody(std::string_view& bytes) {
  const size_t take =
      until_close_ ? bytes.size() : static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
  if (answer_.body.size() + take > static_cast<size_t>(max_body_.value)) return State::kTooLarge;
  answer_.body.append(bytes.substr(0, take));
  bytes.remove_prefix(take);
  if (until_close_) return State::kReading;
  left_ -= take;
  if (left_ > 0) return State::kReading;
  if (part_ == Part::kBody) return Done();
  part_ = Part::kChunkEnd;
  return State::kReading;
}

HttpAnswerParser::State HttpAnswerParser::Done() {
  part_ = Part::kDone;
  return State::kComplete;
}

}  // namespace gimbal::net
