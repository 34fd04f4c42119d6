#include "app/version.h"

namespace gimbal::app {

std::string_view Version() { return GIMBAL_VERSION; }

}  // namespace gimbal::app
