# SPDX-License-Identifier: Apache-2.0
# A folder of src/ is a library and its tests:
#
#   holdfast_library(NAME codec PURE DEPS base LINK OpenSSL::Crypto)
#
# makes libholdfast_codec.a of the *.cc files beside the calling CMakeLists.txt, without main.cc and
# tests. DEPS names other folders, LINK targets of other people. PURE builds without exceptions and
# type information, and puts the archive under tools/check_purity.py. SUBFOLDERS names folders below
# that belong to the library. The tests go by file name:
#
#   x_test.cc            codec_test            label unit
#   x_property_test.cc   codec_property_test   label property   rapidcheck
#   x_slow_test.cc       codec_slow_test       label slow       left out of the short sanitizer run
#   x_threads_test.cc    codec_threads_test    label threads    also run under ThreadSanitizer

# Sets RESULT to what is compiled for SOURCES: with HOLDFAST_UNITY, generated files that include about
# HOLDFAST_UNITY_BATCH sources each. They are ours and not CMake's UNITY_BUILD for two reasons. They
# include by relative path, so that ccache shares objects between clones. And the name of a source alone
# decides its batch, so that a new source changes one batch and not all that follow in the alphabet.
function(holdfast_batches target sources result)
  list(LENGTH sources length)
  if(NOT HOLDFAST_UNITY OR length EQUAL 0)
    set(${result} ${sources} PARENT_SCOPE)
    return()
  endif()
  set(count 1)
  if(HOLDFAST_UNITY_BATCH GREATER 0)
    math(EXPR wanted "${length} / ${HOLDFAST_UNITY_BATCH}")
    # A power of two: the batches change rarely as a folder grows.
    while(count LESS wanted)
      math(EXPR count "${count} * 2")
    endwhile()
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_batches)
  set(files "")
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    if(path IN_LIST HOLDFAST_ALONE)
      list(APPEND files ${source})
      continue()
    endif()
    cmake_path(GET source FILENAME name)
    string(MD5 hash ${name})
    string(SUBSTRING ${hash} 0 6 hash)
    math(EXPR batch "0x${hash} % ${count}")
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${folder} OUTPUT_VARIABLE relative)
    string(APPEND content_${batch} "#include \"${relative}\"\n")
  endforeach()
  math(EXPR last "${count} - 1")
  foreach(batch RANGE ${last})
    if(content_${batch})
      # Written only when the content differs, so that nothing is compiled again without need.
      file(CONFIGURE OUTPUT ${folder}/${batch}.cc CONTENT "${content_${batch}}" @ONLY)
      list(APPEND files ${folder}/${batch}.cc)
    endif()
  endforeach()
  set(${result} ${files} PARENT_SCOPE)
endfunction()

function(holdfast_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PURE" "NAME" "DEPS;LINK;SUBFOLDERS")

  list(TRANSFORM arg_SUBFOLDERS APPEND "/*.cc" OUTPUT_VARIABLE below)
  file(GLOB sources CONFIGURE_DEPENDS *.cc ${below})
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cc$")
  set(library holdfast_${arg_NAME})
  holdfast_batches(${library} "${sources}" compiled)
  add_library(${library} STATIC ${compiled})
  target_include_directories(
    ${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                      $<INSTALL_INTERFACE:include>)
  list(TRANSFORM arg_DEPS PREPEND holdfast_)
  target_link_libraries(${library} PUBLIC ${arg_DEPS} PRIVATE ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_LIBRARIES ${library})
  if(arg_PURE)
    target_compile_options(${library} PRIVATE -fno-exceptions -fno-rtti)
    set_property(GLOBAL APPEND PROPERTY HOLDFAST_PURE_LIBRARIES ${library})
  endif()

  list(TRANSFORM arg_SUBFOLDERS APPEND "/*_test.cc" OUTPUT_VARIABLE tests_below)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cc ${tests_below})
  foreach(label property slow threads)
    set(labelled ${tests})
    list(FILTER labelled INCLUDE REGEX "_${label}_test\\.cc$")
    list(FILTER tests EXCLUDE REGEX "_${label}_test\\.cc$")
    holdfast_test(${arg_NAME}_${label}_test ${label} ${library} "${labelled}")
  endforeach()
  holdfast_test(${arg_NAME}_test unit ${library} "${tests}")
endfunction()

# One executable and one ctest entry; nothing where there are no sources.
function(holdfast_test name label library sources)
  if(NOT sources)
    return()
  endif()
  holdfast_batches(${name} "${sources}" compiled)
  add_executable(${name} ${compiled})
  target_link_libraries(${name} PRIVATE ${library} GTest::gmock GTest::gtest_main)
  # Unit tests run for seconds and compile for minutes: half of that is optimisation of code that runs once.
  # What they test is in the library, which is compiled as it is shipped.
  if(label STREQUAL "unit" AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    target_compile_options(${name} PRIVATE -O0)
  endif()
  if(label STREQUAL "property")
    target_link_libraries(${name} PRIVATE rapidcheck_gtest)
  elseif(label STREQUAL "threads")
    add_dependencies(threads_tests ${name})
  endif()
  if(NOT label STREQUAL "slow")
    add_dependencies(short_tests ${name})
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 1800)
endfunction()

# What the ThreadSanitizer build makes, and what the short run under AddressSanitizer does.
add_custom_target(threads_tests)
add_custom_target(short_tests)

# Makes one executable per *.cc file of the calling folder, linked with all our libraries and LINK,
# and the target NAME which builds them. They are not part of the default build.
function(holdfast_programs)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;PREFIX" "LINK")
  get_property(libraries GLOBAL PROPERTY HOLDFAST_LIBRARIES)
  add_custom_target(${arg_NAME})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  foreach(source ${sources})
    cmake_path(GET source STEM stem)
    set(program ${arg_PREFIX}${stem})
    add_executable(${program} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${program} PRIVATE ${libraries} ${arg_LINK})
    add_dependencies(${arg_NAME} ${program})
  endforeach()
endfunction()

# Writes the paths of the PURE archives, one per line.
function(holdfast_write_pure_archives file)
  get_property(libraries GLOBAL PROPERTY HOLDFAST_PURE_LIBRARIES)
  set(lines "")
  foreach(library ${libraries})
    string(APPEND lines "$<TARGET_FILE:${library}>\n")
  endforeach()
  file(GENERATE OUTPUT ${file} CONTENT "${lines}")
endfunction()
