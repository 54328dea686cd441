# Manual pages and completions, which the commands make of themselves (`drywell pages`): built after the programs, and installed.
# A build for another processor has none: its programs do not run here.
if(CMAKE_CROSSCOMPILING)
  return()
endif()
set(pages ${PROJECT_BINARY_DIR}/pages)
string(REPLACE ";" "|" built "${programs_built}")
add_custom_command(OUTPUT ${pages}/made VERBATIM DEPENDS ${programs_built} ${PROJECT_SOURCE_DIR}/cmake/write_pages.cmake
                   COMMAND ${CMAKE_COMMAND} -DDRYWELL=$<TARGET_FILE:drywell> "-DBUILT=${built}" -DOUT=${pages}
                           -DCOMMANDS=${PROJECT_SOURCE_DIR}/tools/common/commands.inc -P ${PROJECT_SOURCE_DIR}/cmake/write_pages.cmake)
add_custom_target(drywell_pages ALL DEPENDS ${pages}/made)
install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${pages}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME drywell)
install(FILES ${pages}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME drywell.fish)
# Debian's zsh looks for completions of packages in a folder of its own.
install(CODE "
  set(to site-functions)
  if(CMAKE_INSTALL_PREFIX MATCHES \"/usr\$\")
    set(to vendor-completions)
  endif()
  file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${to}\" TYPE FILE RENAME _drywell FILES \"${pages}/zsh\")")
