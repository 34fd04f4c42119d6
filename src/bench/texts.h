#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gimbal::bench {

// About 200 English sentences of 3 to 54 words; always the same.
std::vector<std::string> BuiltInTexts();

// One text a line; empty lines are left out. kInvalid when a line is not UTF-8, or when there is
// none.
Result<std::vector<std::string>> ReadTexts(const std::string& file);

}  // namespace gimbal::bench
