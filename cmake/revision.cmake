# Writes generated/revision.h, at every build, and changes it only if the revision has changed: cmake -DSOURCE=… -DOUT=… -P revision.cmake
cmake_minimum_required(VERSION 3.25)
set(revision "unknown revision")
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --abbrev=12 --dirty=+ --exclude=* OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(revision "${found}")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "// Made by cmake/revision.cmake.\n#pragma once\n\nnamespace drywell::tools {\nconstexpr const char* kRevision = \"${revision}\";\n}  // namespace drywell::tools\n" @ONLY)
