# SPDX-License-Identifier: Apache-2.0
include(CMakeFindDependencyMacro)
find_dependency(OpenSSL)
find_dependency(CURL)
find_dependency(SQLite3)
find_dependency(yaml-cpp)
find_dependency(Threads)
find_dependency(CLI11)
include(${CMAKE_CURRENT_LIST_DIR}/holdfast-targets.cmake)
