# Install tree: the command and its programs, static libraries, public headers (with the instruction table the opcode enum derives
# from), a package configuration for find_package(drywell), documentation, manual pages and completions of shells.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS drywell_core drywell_isa drywell_layouts drywell_sim drywell_views drywell_launch drywell_gpu drywell_kernels EXPORT drywell-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET drywell_conformance)
  install(TARGETS drywell_conformance EXPORT drywell-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET drywell_debug_shell)
  install(TARGETS drywell_debug_shell drywell_debug_dap EXPORT drywell-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/drywell DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT drywell-targets NAMESPACE drywell:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/drywell)
configure_package_config_file(cmake/drywell-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/drywell-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/drywell)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/drywell-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/drywell-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/drywell-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/drywell)

install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)  # where Debian looks
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET drywell)
  install(TARGETS drywell RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # Programs that the command starts (tools/common/other_program.cpp looks there).
  foreach(program drywell_lab drywell_inspect drywell_debug drywell_cuda)
    if(TARGET ${program})
      install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}/../libexec/drywell)
    endif()
  endforeach()
  install(TARGETS drywell_cudart EXPORT drywell-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/drywell)
  include(cmake/pages.cmake)
endif()
include(cmake/package.cmake)
