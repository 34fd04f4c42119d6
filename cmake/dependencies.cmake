# Vendor libraries. Their headers are included in .cc files only.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(Boost 1.74 REQUIRED)
pkg_check_modules(simdjson REQUIRED IMPORTED_TARGET simdjson)

# ONNX Runtime is opened at run time (dlopen), never linked: only its headers are needed to build.
set(GIMBAL_ONNXRUNTIME_ROOT "${CMAKE_SOURCE_DIR}/.deps/onnxruntime" CACHE PATH
    "Folder with include/ and lib/ of an ONNX Runtime release")
add_library(gimbal_onnxruntime_headers INTERFACE)
target_include_directories(gimbal_onnxruntime_headers SYSTEM INTERFACE ${GIMBAL_ONNXRUNTIME_ROOT}/include)
