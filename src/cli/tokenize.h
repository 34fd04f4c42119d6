#pragma once

#include <iosfwd>
#include <string>

#include "base/status.h"

namespace gimbal::cli {

struct TokenizeOptions {
  std::string tokenizer_file;  // tokenizer.json, or the folder that has it
  bool no_special = false;     // leave out the special tokens around a text
  bool bench = false;          // time the path that the server uses (ids only) instead
  bool json = false;           // figures of `bench` as JSON
};

// `gimbal tokenize`: one text a line of `in` (only \n ends a line; invalid UTF-8 becomes U+FFFD),
// one line {"ids": [...], "offsets": [[begin, end], ...]} to `out`. With `bench`: reads everything,
// then tokenises each line once and prints how fast that was.
Status RunTokenize(const TokenizeOptions& options, std::istream& in, std::ostream& out);

}  // namespace gimbal::cli
