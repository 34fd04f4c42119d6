# Compiler flags that every target of ours has, carried by the interface library gimbal_flags.
add_library(gimbal_flags INTERFACE)
target_include_directories(gimbal_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
target_compile_options(gimbal_flags INTERFACE -Wall -Wextra -Werror -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 reports false "maybe uninitialised" and string-overread findings inside libstdc++ at -O2/-O3.
  target_compile_options(gimbal_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow)
endif()

set(GIMBAL_SANITIZER "" CACHE STRING "Value of -fsanitize=, empty for none")
option(GIMBAL_SANITIZER_SUBSET "Leave out front-end files whose sanitized compile only costs time" OFF)
if(GIMBAL_SANITIZER)
  target_compile_options(gimbal_flags INTERFACE -fsanitize=${GIMBAL_SANITIZER} -O1 -g1)
  target_link_options(gimbal_flags INTERFACE -fsanitize=${GIMBAL_SANITIZER})
  if(GIMBAL_SANITIZER MATCHES "thread")
    # Asio and spdlog use fences that gcc's thread sanitizer cannot model.
    target_compile_options(gimbal_flags INTERFACE -Wno-tsan)
  else()
    target_compile_options(gimbal_flags INTERFACE -fno-sanitize-recover=all)
  endif()
endif()
