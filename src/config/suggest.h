#pragma once

#include <span>
#include <string_view>

namespace gimbal::config {

// The candidate nearest to `word` when it is near enough to be a slip of the hand (insertions,
// deletions, substitutions and swaps of neighbours: about one in three letters); else empty.
std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace gimbal::config
