# Sources of one folder compiled together. Reading headers is most of the cost of a small source, and together they read them
# once. Only sources of one folder share a unit, so that a name is unique where a reader expects it to be. tools/build.sh turns
# it on; builds in which sources change are faster without.
option(DRYWELL_UNITY "Compile the sources of a folder together" OFF)
set(DRYWELL_UNITY_SIZE 20 CACHE STRING "Most sources of a folder that are compiled together")

# drywell_unity(target [regex]): groups the target's sources by folder. Sources that match the regex stay alone: those whose
# names collide on purpose (one set of names per file), and those with flags of their own (CMake leaves them alone, too).
# ${target}_UNITY_SIZE: another number of sources for this target.
function(drywell_unity target)
  if(NOT DRYWELL_UNITY)
    return()
  endif()
  set(size ${DRYWELL_UNITY_SIZE})
  if(DEFINED ${target}_UNITY_SIZE)
    set(size ${${target}_UNITY_SIZE})
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    if(ARGC GREATER 1 AND source MATCHES "${ARGV1}")
      continue()
    endif()
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "at_${folder}" folder)
    math(EXPR group "${${folder}_count}+0")
    math(EXPR ${folder}_count "${group}+1")
    math(EXPR group "${group}/${size}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${folder}_${group}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
