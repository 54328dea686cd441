// The run-time library that code compiled by CuTe DSL calls, where it differs from CUDA's own functions. Most
// of its functions have the runtime's name after an underscore and do the same: second names that the linker
// gives (cudart/cute_names.cmake).
//
// Interface by observation of libcute_dsl_runtime.so of nvidia-cutlass-dsl 4.8.1: NVIDIA documents none of
// it.
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>

#include "cudart/errors.h"
#include "cudart/runtime_api.h"
#include "drywell/core/terminal.h"

extern "C" {
#pragma GCC visibility push(default)

CudaError _cudaStreamWaitEvent(void* stream, void* event) { return cudaStreamWaitEvent(stream, event, 0); }

const char* cuda_dialect_get_error_name(CudaError e) { return drywell::cudart::runtime_name(e); }

/// Loads the library of a compiled function at its first call: `load` makes it, `prepare` sets it up for a
/// device. Returns 0, or -1 after `report`.
int cuda_dialect_init_library_once(std::atomic<void*>* library, CudaError (*load)(void**),
                                   CudaError (*prepare)(void**, int),
                                   void (*report)(const char*, const char*)) {
  if (library->load() != nullptr) return 0;
  void* loaded = nullptr;
  CudaError e = load(&loaded);
  if (e == CudaError::success && prepare != nullptr) e = prepare(&loaded, 0);
  if (e != CudaError::success) {
    const char* text = drywell::cudart::error_text(e);
    report("CUDA",
           fmt::format("{}: {}", drywell::cudart::runtime_name(e), text != nullptr ? text : "").c_str());
    return -1;
  }
  library->store(loaded);
  return 0;
}

void cuda_dialect_unload_library_once(std::atomic<void*>* library) {
  if (void* loaded = library->exchange(nullptr); loaded != nullptr) cudaLibraryUnload(loaded);
}

void cuda_dialect_print_on_error(CudaError e) {
  if (e != CudaError::success)
    drywell::print_error(fmt::format("drywell: CuTe DSL: {}\n", drywell::cudart::runtime_name(e)));
}

void cuda_dialect_assert_success(CudaError e) {
  cuda_dialect_print_on_error(e);
  if (e != CudaError::success) std::abort();
}

/// TVM's foreign function interface (`--enable-tvm-ffi`) raises an error of that kind, whose text is the parts together.
using CuteRaise = void (*)(const char* kind, const char** parts, size_t count);

void CuteDSLRT_TVMFFISetRaisedCudaError(CuteRaise raise, CudaError e) {
  if (raise == nullptr) return;
  const std::string number = fmt::format("{} ({})", static_cast<int>(e), drywell::cudart::runtime_name(e));
  const char* parts[] = {"CUDA Error Code: ", number.c_str()};
  raise("CUDADialectError", parts, std::size(parts));
}

/// A launch that the device refuses; limits of the device and the place in the source follow in NVIDIA's.
void CuteDSLRT_TVMFFISetRaisedCudaLaunchError(CuteRaise raise, int grid_x, int grid_y, int grid_z, int block_x, int block_y, int block_z, ...) {
  if (raise == nullptr) return;
  const std::string text = fmt::format("1 (cudaErrorInvalidValue): grid {},{},{}, block {},{},{}", grid_x, grid_y, grid_z, block_x, block_y, block_z);
  const char* parts[] = {"CUDA Error Code: ", text.c_str()};
  raise("CUDADialectError", parts, std::size(parts));
}

#pragma GCC visibility pop
}
