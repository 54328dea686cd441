// A CUDA program without nvcc: kernels in PTX, host entries whose addresses identify them, and declarations in C of the runtime
// functions that the tests call.
#pragma once

#include "cudart/abi.h"
#include "cudart/runtime_api.h"

namespace program {
extern const char kAxpy[], kStore[], kTrap[], kClusterSize[];  // host entries: only their addresses mean something
extern char kTable[];                                          // a __device__ variable's shadow
}  // namespace program

extern "C" {
CudaError cudaGetLastError();
CudaError cudaPeekAtLastError();
const char* cudaGetErrorName(CudaError e);
const char* cudaGetErrorString(CudaError e);
CudaError cudaLaunchKernel(const void* function, AbiDim3 grid, AbiDim3 block, void** arguments, size_t smem, void* stream);
CudaError cudaGetSymbolAddress(void** out, const void* symbol);
CudaError cudaGetSymbolSize(size_t* out, const void* symbol);
CudaError cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, CopyKind kind);
CudaError cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, CopyKind kind);
CudaError cudaPointerGetAttributes(drywell::cudart::PointerAttributes* out, const void* p);
CudaError cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height);
CudaError cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, CopyKind kind);
CudaError cudaFuncGetAttributes(drywell::cudart::FuncAttributes* out, const void* function);
CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* out, const void* function, int threads, size_t smem);
CudaError cudaOccupancyMaxActiveClusters(int* out, const void* function, const RuntimeLaunchConfig* config);
CudaError cudaIpcGetMemHandle(void* handle, void* p);
CudaError cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned version, unsigned long long flags, int* status);
CudaError cuTensorMapEncodeTiled(void* out, int type, uint32_t rank, void* address, const uint64_t* dim, const uint64_t* stride, const uint32_t* box,
                                 const uint32_t* element_stride, int interleave, int swizzle, int promotion, int fill);
CudaError cuTensorMapReplaceAddress(void* map, void* address);
}
