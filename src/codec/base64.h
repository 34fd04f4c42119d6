#pragma once

#include <cstddef>
#include <string>

namespace gimbal::codec {

// Standard alphabet, padded.
void AppendBase64(std::string& out, const void* data, size_t size);

}  // namespace gimbal::codec
