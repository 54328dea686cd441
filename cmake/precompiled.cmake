# Headers that nearly every source includes, compiled once for a target. Reading them is half of a build from scratch, and a
# compiler cache cannot use them: on where there is no cache. Sources still include what they use (builds with a cache tell).
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(precompile_by_default OFF)
else()
  set(precompile_by_default ON)
endif()
option(DRYWELL_PRECOMPILE "Precompile the headers nearly every source includes" ${precompile_by_default})

set(DRYWELL_STANDARD_HEADERS <algorithm> <array> <bit> <cstdint> <cstring> <functional> <map> <memory> <optional> <set> <span>
    <string> <string_view> <unordered_map> <variant> <vector> <fmt/format.h>)

# drywell_precompile(target [headers...]): the standard headers, and those named.
function(drywell_precompile target)
  if(DRYWELL_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${DRYWELL_STANDARD_HEADERS} ${ARGN})
    # g++ 12 forgets with a precompiled header that std::string is a system header's, and reports its copies wrongly (GCC bug 105651).
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
                           $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>)
  endif()
endfunction()
