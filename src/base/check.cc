#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace gimbal {

void CheckFailed(const char* condition, const char* why, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: invariant broken: %s (%s)\n", file, line, condition, why);
  std::abort();
}

}  // namespace gimbal
