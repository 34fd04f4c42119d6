#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace gimbal::net {

// One answer as a client received it.
struct HttpAnswer {
  int status = 0;
  std::string fields;  // header lines as they came, each ended by \n; no status line
  std::string body;    // chunks joined

  // Value of the first field of that name (ASCII case does not matter), without outer blanks.
  std::optional<std::string_view> Find(std::string_view name) const;
};

// Reads answers of one connection, byte by byte if need be: Content-Length, chunked, or until the
// end of the connection; 1xx answers are skipped. Never throws. One thread.
class HttpAnswerParser {
 public:
  enum class State { kReading, kComplete, kMalformed, kTooLarge };
  static constexpr size_t kMaxFieldBytes = 64 << 10;  // status line and fields

  explicit HttpAnswerParser(Bytes max_body) : max_body_(max_body) {}

  // Forgets the answer, keeps the memory.
  void Reset();
  // Takes what belongs to this answer off the front of `bytes`. REQUIRES: state is kReading.
  State Feed(std::string_view& bytes);
  // The server closed. kComplete when the answer is one that ends so; kReading: it is cut short.
  State End();

  const HttpAnswer& answer() const { return answer_; }
  bool started() const { return started_; }        // at least one byte came
  bool keep_alive() const { return keep_alive_; }  // REQUIRES: kComplete

 private:
  enum class Part { kStatus, kFields, kBody, kChunkSize, kChunk, kChunkEnd, kTrailer, kDone };

  bool TakeLine(std::string_view& bytes);  // into line_; false: not complete yet
  State OnLine();
  bool OnStatusLine();
  State OnFieldsEnd();
  bool ReadFraming();
  bool OnChunkSize();
  State TakeBody(std::string_view& bytes);
  State Done();

  const Bytes max_body_;
  HttpAnswer answer_;
  Part part_ = Part::kStatus;
  std::string line_;
  size_t head_bytes_ = 0;
  uint64_t left_ = 0;         // bytes still to come of the body or the chunk
  bool until_close_ = false;  // the body ends with the connection
  bool http10_ = false;
  bool keep_alive_ = false;
  bool started_ = false;
};

}  // namespace gimbal::net
