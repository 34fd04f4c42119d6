#pragma once

#include <string_view>

namespace gimbal::app {

// The version of this build, as CMakeLists.txt states it: "0.1.0".
std::string_view Version();

}  // namespace gimbal::app
