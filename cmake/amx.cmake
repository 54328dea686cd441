# The kernels for the tile unit (AMX) of Intel processors: separate files, compiled for processors with AMX and called
# only there (sim/numeric/amx/unit.h). Without compiler support the other kernels do all the work.
include(CheckCXXCompilerFlag)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  check_cxx_compiler_flag(-mamx-bf16 DRYWELL_COMPILER_HAS_AMX)
endif()
if(DRYWELL_COMPILER_HAS_AMX)
  # -Wno-*uninitialized: g++ 12's own intrinsics (GCC bug 105593).
  set_source_files_properties(sim/numeric/amx/unit.cpp sim/numeric/amx/scaled.cpp
    sim/numeric/amx/scaled_product.cpp sim/numeric/amx/bytes.cpp sim/numeric/amx/bytes_product.cpp sim/numeric/amx/bytes_cut.cpp
    PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512cd;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vbmi;-mavx512bf16;-mfma;-mamx-tile;-mamx-int8;-mamx-bf16;-Wno-uninitialized;-Wno-maybe-uninitialized"
    SKIP_PRECOMPILE_HEADERS ON)
  set_source_files_properties(sim/numeric/amx/available.cpp sim/numeric/amx/plan.cpp sim/numeric/amx/plan_bytes.cpp
    PROPERTIES COMPILE_DEFINITIONS DRYWELL_TILE_UNIT)
endif()
