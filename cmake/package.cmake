# Packages of the install tree, made by `cpack` in the build folder: drywell_VERSION_amd64.deb, and drywell-VERSION-Linux-….tar.zst that
# can be unpacked anywhere.
set(CPACK_GENERATOR DEB TZST)
set(CPACK_PACKAGE_NAME drywell)
set(CPACK_PACKAGE_VENDOR Drywell)
set(CPACK_PACKAGE_CONTACT "The authors of Drywell <drywell@invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME drywell-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
# The archive has one folder; the .deb installs into /usr. What its programs are linked with is what it depends on.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libedit2")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake, pkg-config, libfmt-dev, libhwy-dev, libtomlplusplus-dev, libzstd-dev, libboost-dev")
set(CPACK_DEBIAN_DESCRIPTION "Drywell executes PTX-level kernels for Hopper and Blackwell on a CPU, instruction by instruction: values bit for bit,
predicted cycles, and reports of missing waits and fences. To build against its libraries, install the suggested packages.")
include(CPack)
