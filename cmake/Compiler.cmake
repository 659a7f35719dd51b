# SPDX-License-Identifier: Apache-2.0
# What every file of ours is compiled with: the language, the warnings, a sanitizer if one is asked for.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(CCACHE ccache)
if(CCACHE)
  # Builds of this tree at other paths share what they compile: its path does not count, nor does
  # the folder that the debugger is told.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true ${CCACHE})
endif()

add_compile_options(
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # TRY is a statement expression; gcc is content with its __extension__.
  add_compile_options(-Wno-gnu-statement-expression)
elseif(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # gcc 12 reports -Wrestrict for plain `"text" + std::string` (gcc bug 105651).
  add_compile_options(-Wno-restrict)
endif()

option(HOLDFAST_UNITY "Compile the sources of a folder in batches, which is several times faster" ON)
set(HOLDFAST_UNITY_BATCH 12 CACHE STRING "About how many sources are compiled as one; 0: all of a folder")
set(HOLDFAST_ALONE "" CACHE STRING "Sources that are compiled alone all the same, by their paths in the tree")
if(HOLDFAST_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc takes a .cc file that a batch includes for a header, and warns that the anonymous namespaces
  # in it differ from one file to the next.
  add_compile_options(-Wno-subobject-linkage)
endif()

set(HOLDFAST_SANITIZE "" CACHE STRING "What -fsanitize= gets; the presets asan, tsan and fuzz set it")
if(HOLDFAST_SANITIZE)
  # vptr needs the type information which the pure folders are built without.
  add_compile_options(
    -fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize=vptr)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code confuses this one: gcc's manual says so.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()

option(HOLDFAST_FUZZ "Build the fuzz targets (clang only); the preset fuzz sets it" OFF)
