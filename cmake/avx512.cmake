# The kernels that truncate every product to the alignment window in double precision: a separate file, compiled for processors with
# AVX-512 and called only there (sim/numeric/avx512/window_kernels.h). Without compiler support the other kernels do all the work.
include(CheckCXXCompilerFlag)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  check_cxx_compiler_flag(-mavx512vpopcntdq DRYWELL_COMPILER_HAS_AVX512)
endif()
if(DRYWELL_COMPILER_HAS_AVX512)
  # -Wno-*uninitialized: g++ 12's own intrinsics (GCC bug 105593).
  set_source_files_properties(sim/numeric/avx512/window_kernels.cpp
    PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vpopcntdq;-mfma;-mf16c;-Wno-uninitialized;-Wno-maybe-uninitialized"
    SKIP_PRECOMPILE_HEADERS ON)
  set_source_files_properties(sim/numeric/avx512/window_plan.cpp PROPERTIES COMPILE_DEFINITIONS DRYWELL_WINDOW_KERNELS)
endif()
