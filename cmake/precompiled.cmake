# Headers that nearly every source includes, compiled once per target. Reading them is half of a build from scratch, and a
# compiler cache cannot use them, so they are precompiled only without a cache. Sources still include the headers that they
# use (builds with a cache check that).
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(precompile_by_default OFF)
else()
  set(precompile_by_default ON)
endif()
option(DRYWELL_PRECOMPILE "Precompile the headers nearly every source includes" ${precompile_by_default})

set(DRYWELL_STANDARD_HEADERS <algorithm> <array> <bit> <cstdint> <cstring> <functional> <map> <memory> <optional> <set> <span>
    <string> <string_view> <unordered_map> <variant> <vector> <fmt/format.h>)

# With a precompiled header g++ 12 treats headers of the standard library as the project's own and warns about their code (GCC
# bug 105651 and similar). Builds with a compiler cache check for the project's own mistakes.
set(DRYWELL_PRECOMPILED_FLAGS)
if(DRYWELL_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(DRYWELL_PRECOMPILED_FLAGS -Wno-array-bounds -Wno-dangling-pointer -Wno-free-nonheap-object -Wno-maybe-uninitialized -Wno-nonnull
      -Wno-stringop-overflow -Wno-stringop-overread -Wno-use-after-free)
endif()

# drywell_precompile(target [headers...]): precompiles the standard headers and the named headers.
function(drywell_precompile target)
  if(DRYWELL_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${DRYWELL_STANDARD_HEADERS} ${ARGN})
    target_compile_options(${target} PRIVATE ${DRYWELL_PRECOMPILED_FLAGS})
  endif()
endfunction()

# drywell_precompiled_with(target other): uses the precompiled headers of `other`, which must have the same flags.
function(drywell_precompiled_with target other)
  if(DRYWELL_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
    target_compile_options(${target} PRIVATE ${DRYWELL_PRECOMPILED_FLAGS})
  endif()
endfunction()

# drywell_cold(target): code that runs once per command: the compiler's time matters more than the code's. All of it uses one
# precompiled header; g++ does not read one that was made with another -O.
set(DRYWELL_COLD_FLAGS $<$<CONFIG:Release>:-O1>)
function(drywell_cold target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)  # else -fPIE, and g++ does not read a header that was precompiled for -fPIC
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_compile_options(${target} PRIVATE ${DRYWELL_COLD_FLAGS})
  drywell_precompiled_with(${target} drywell_headers)
endfunction()

if(DRYWELL_PRECOMPILE)
  file(WRITE ${PROJECT_BINARY_DIR}/generated/headers.cpp.new "// Nothing: the target exists for its precompiled header.\n")
  file(COPY_FILE ${PROJECT_BINARY_DIR}/generated/headers.cpp.new ${PROJECT_BINARY_DIR}/generated/headers.cpp ONLY_IF_DIFFERENT)
  add_library(drywell_headers OBJECT ${PROJECT_BINARY_DIR}/generated/headers.cpp)
  target_include_directories(drywell_headers PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(drywell_headers PRIVATE drywell_flags fmt::fmt Threads::Threads)
  target_compile_options(drywell_headers PRIVATE ${DRYWELL_COLD_FLAGS})
  drywell_precompile(drywell_headers <drywell/sim/device.h> <drywell/isa/builder.h>)
endif()
