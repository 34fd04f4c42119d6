#pragma once

#include <string>

namespace gimbal::config {

// The whole of docs/configuration.md, made from the settings table.
std::string SettingsPage();

}  // namespace gimbal::config
