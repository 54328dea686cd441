# A hash of all public headers, in drywell_launch: kernels from shared objects must have been built with the same ones.
file(GLOB_RECURSE public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/drywell/*)
set(header_stamp ${PROJECT_BINARY_DIR}/generated/generated/header_stamp.h)
add_custom_command(OUTPUT ${header_stamp} DEPENDS ${public_headers} ${PROJECT_SOURCE_DIR}/cmake/write_header_stamp.cmake VERBATIM
                   COMMAND ${CMAKE_COMMAND} -DINCLUDE=${PROJECT_SOURCE_DIR}/include/drywell -DOUT=${header_stamp}
                           -P ${PROJECT_SOURCE_DIR}/cmake/write_header_stamp.cmake)
target_sources(drywell_launch PRIVATE ${header_stamp})
set_source_files_properties(launch/kernel_library.cpp PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated OBJECT_DEPENDS ${header_stamp})
