# SPDX-License-Identifier: Apache-2.0
# `cmake --install build` puts the program, the headers and the libraries where they belong, so that
# another project can say
#
#   find_package(holdfast REQUIRED)
#   target_link_libraries(shop PRIVATE holdfast::holdfast)
#
# Only include/holdfast is for others; the libraries behind it are an affair of their own.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(holdfast_install)
  set(libraries base errors codec defs kernel steps native adapters tasks flows schedules dispatch env bundle store executors registry
      worker node engine workers cursors page gateway postgres cli)
  list(TRANSFORM libraries PREPEND holdfast_)
  # Those that others link; README.md says for which headers.
  set_target_properties(holdfast_engine PROPERTIES EXPORT_NAME holdfast)
  set_target_properties(holdfast_adapters PROPERTIES EXPORT_NAME memory)
  set_target_properties(holdfast_registry PROPERTIES EXPORT_NAME registry)
  set_target_properties(holdfast_worker PROPERTIES EXPORT_NAME worker)
  set_target_properties(holdfast_cli PROPERTIES EXPORT_NAME cli)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
  install(TARGETS holdfast RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(TARGETS ${libraries} EXPORT holdfast-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/holdfast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT holdfast-targets NAMESPACE holdfast:: DESTINATION ${package})
  write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/holdfast-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/holdfast-config.cmake
                ${PROJECT_BINARY_DIR}/holdfast-config-version.cmake DESTINATION ${package})
endfunction()
