#pragma once

namespace gimbal {
// Prints the failed invariant with its place and aborts.
[[noreturn]] void CheckFailed(const char* condition, const char* why, const char* file, int line);
}  // namespace gimbal

// An internal invariant, and why it holds. Never used on input.
#define CHECK(condition, why)                                                     \
  do {                                                                            \
    if (!(condition)) ::gimbal::CheckFailed(#condition, why, __FILE__, __LINE__); \
  } while (false)
