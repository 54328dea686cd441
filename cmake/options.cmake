# Compile flags shared by every target of the project.
add_library(drywell_flags INTERFACE)
# Bit-exactness: no contraction into fused multiply-adds, no reassociation, ever. -fno-trapping-math changes no value;
# it lets the compiler vectorise lane loops with selects around float operations (no code reads the exception flags).
# -Wrestrict of g++ 12 reports std::string concatenation wrongly (GCC bug 105651).
target_compile_options(drywell_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                       -ffp-contract=off -fno-math-errno -fno-trapping-math
                       # Source locations in PTX, traces and messages are relative to the repository.
                       -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
# g++ ends before its memory is worth collecting: a twentieth of its time, for a fifth more memory (docs/building.md).
target_compile_options(drywell_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>)
if(DRYWELL_WERROR)
  target_compile_options(drywell_flags INTERFACE -Werror)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # The baseline that every x86-64 host of the last decade has; wider vectors are dispatched at run time.
  target_compile_options(drywell_flags INTERFACE -march=x86-64-v2)
endif()
if(DRYWELL_SANITIZE)
  target_compile_options(drywell_flags INTERFACE -fsanitize=${DRYWELL_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(drywell_flags INTERFACE -fsanitize=${DRYWELL_SANITIZE})
endif()

# drywell_layer(name "deps" "globs"): static library drywell_<name>, alias drywell::<name>.
function(drywell_layer name deps globs)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${globs})
  add_library(drywell_${name} STATIC ${sources})
  add_library(drywell::${name} ALIAS drywell_${name})
  target_include_directories(drywell_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(drywell_${name} PRIVATE $<BUILD_INTERFACE:drywell_flags>)
  foreach(dep ${deps})
    target_link_libraries(drywell_${name} PUBLIC drywell_${dep})
  endforeach()
  set_target_properties(drywell_${name} PROPERTIES EXPORT_NAME ${name})
endfunction()

# drywell_without(name "regex"): takes the sources that match out of a layer.
function(drywell_without name regex)
  get_target_property(sources drywell_${name} SOURCES)
  list(FILTER sources EXCLUDE REGEX "${regex}")
  set_target_properties(drywell_${name} PROPERTIES SOURCES "${sources}")
endfunction()

# drywell_without_those_of(name other): takes the sources of another layer out of a layer.
function(drywell_without_those_of name other)
  get_target_property(sources drywell_${name} SOURCES)
  get_target_property(others drywell_${other} SOURCES)
  list(REMOVE_ITEM sources ${others})
  set_target_properties(drywell_${name} PROPERTIES SOURCES "${sources}")
endfunction()

# drywell_apart(name part "regex"): compiles the sources of a layer that match apart, as drywell_<name>_<part>, with flags of their
# own. Their objects are in the layer's library.
function(drywell_apart name part regex)
  get_target_property(sources drywell_${name} SOURCES)
  list(FILTER sources INCLUDE REGEX "${regex}")
  drywell_without(${name} "${regex}")
  add_library(drywell_${name}_${part} OBJECT ${sources})
  target_include_directories(drywell_${name}_${part} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(drywell_${name}_${part} PRIVATE drywell_flags)
  target_sources(drywell_${name} PRIVATE $<TARGET_OBJECTS:drywell_${name}_${part}>)
endfunction()
