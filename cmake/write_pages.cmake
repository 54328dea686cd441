# Writes OUT/man1/*.1 and OUT/{bash,zsh,fish}: cmake -DDRYWELL=… -DBUILT=drywell|drywell_lab|… -DCOMMANDS=commands.inc -DOUT=… -P write_pages.cmake
cmake_minimum_required(VERSION 3.25)
string(REPLACE "|" ";" BUILT "${BUILT}")

# write_page(file words...): what `drywell pages words...` prints.
function(write_page file)
  execute_process(COMMAND ${DRYWELL} pages ${ARGN} OUTPUT_FILE ${OUT}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${OUT}/man1)
file(MAKE_DIRECTORY ${OUT}/man1)
write_page(man1/drywell.1 man)
file(STRINGS ${COMMANDS} rows REGEX "^COMMAND")
foreach(row IN LISTS rows)
  string(REGEX MATCH "^COMMAND\\([a-z_]+, \"([a-z-]+)\", ([a-z]+)," found "${row}")
  set(name ${CMAKE_MATCH_1})
  if(CMAKE_MATCH_2 STREQUAL drywell OR drywell_${CMAKE_MATCH_2} IN_LIST BUILT)
    write_page(man1/drywell-${name}.1 man ${name})
  endif()
endforeach()
foreach(shell bash zsh fish)
  write_page(${shell} ${shell})
endforeach()
file(TOUCH ${OUT}/made)
