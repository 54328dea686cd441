# The kernels for the tile unit (AMX) of Intel processors: files of their own, compiled for processors that have it and
# entered only there (sim/numeric/tile_unit.h). Without compiler support the other kernels do everything.
include(CheckCXXCompilerFlag)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  check_cxx_compiler_flag(-mamx-bf16 DRYWELL_COMPILER_HAS_AMX)
endif()
if(DRYWELL_COMPILER_HAS_AMX)
  # -Wno-*uninitialized: g++ 12's own intrinsics (GCC bug 105593).
  set_source_files_properties(sim/numeric/tile_unit.cpp sim/numeric/tile_scaled.cpp
    sim/numeric/tile_scaled_product.cpp sim/numeric/tile_bytes.cpp sim/numeric/tile_bytes_product.cpp sim/numeric/tile_bytes_cut.cpp
    PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512cd;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vbmi;-mavx512bf16;-mfma;-mamx-tile;-mamx-int8;-mamx-bf16;-Wno-uninitialized;-Wno-maybe-uninitialized"
    SKIP_PRECOMPILE_HEADERS ON)
  set_source_files_properties(sim/numeric/tile_unit_available.cpp sim/numeric/tile_plan.cpp sim/numeric/tile_plan_bytes.cpp
    PROPERTIES COMPILE_DEFINITIONS DRYWELL_TILE_UNIT)
endif()
