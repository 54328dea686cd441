// The functions that the driver interface calls, mostly the runtime's: both have the same meaning and the same error numbers.
#pragma once

#include "cudart/abi.h"

extern "C" {
using drywell::cudart::AbiDim3;
using drywell::cudart::CopyKind;
using drywell::cudart::CudaError;
using drywell::cudart::RuntimeLaunchConfig;

CudaError cudaMalloc(void** out, size_t bytes);
CudaError cudaFree(void* p);
CudaError cudaMallocAsync(void** out, size_t bytes, void* stream);
CudaError cudaFreeAsync(void* p, void* stream);
CudaError cudaMallocManaged(void** out, size_t bytes, unsigned flags);
CudaError cudaHostAlloc(void** out, size_t bytes, unsigned flags);
CudaError cudaFreeHost(void* p);
CudaError cudaHostRegister(void* p, size_t bytes, unsigned flags);
CudaError cudaHostUnregister(void* p);
CudaError cudaHostGetDevicePointer(void** out, void* p, unsigned flags);
CudaError cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height);
CudaError cudaMemGetDefaultMemPool(void** out, const drywell::cudart::MemLocation* where, int type);
CudaError cudaMemGetMemPool(void** out, const drywell::cudart::MemLocation* where, int type);
CudaError cudaMemSetMemPool(const drywell::cudart::MemLocation* where, int type, void* pool);
CudaError cudaMemPoolGetAccess(int* out, void* pool, const drywell::cudart::MemLocation* where);
CudaError cudaMemGetInfo(size_t* free, size_t* total);
CudaError cudaMemcpy(void* to, const void* from, size_t bytes, CopyKind kind);
CudaError cudaMemcpyAsync(void* to, const void* from, size_t bytes, CopyKind kind, void* stream);
CudaError cudaStreamCreateWithPriority(void** out, unsigned flags, int priority);
CudaError cudaStreamDestroy(void* stream);
CudaError cudaStreamSynchronize(void* stream);
CudaError cudaStreamQuery(void* stream);
CudaError cudaStreamWaitEvent(void* stream, void* event, unsigned flags);
CudaError cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data);
CudaError cudaEventCreateWithFlags(void** out, unsigned flags);
CudaError cudaEventDestroy(void* event);
CudaError cudaEventRecord(void* event, void* stream);
CudaError cudaEventSynchronize(void* event);
CudaError cudaEventQuery(void* event);
CudaError cudaEventElapsedTime(float* ms, void* start, void* end);
CudaError cudaDeviceSynchronize();
CudaError cudaDeviceReset();
CudaError cudaSetDevice(int device);
CudaError cudaGetDeviceCount(int* out);
CudaError cudaDeviceGetAttribute(int* out, int attribute, int device);
CudaError cudaDeviceGetPCIBusId(char* out, int bytes, int device);
CudaError cudaDeviceGetLimit(size_t* out, int limit);
CudaError cudaDeviceSetLimit(int limit, size_t value);
CudaError cudaFuncSetAttribute(const void* function, int attribute, int value);
CudaError cudaFuncGetName(const char** out, const void* function);
CudaError cudaLaunchKernelExC(const RuntimeLaunchConfig* config, const void* function, void** arguments);
CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, const void* function, int threads, size_t smem, unsigned flags);
CudaError cudaOccupancyAvailableDynamicSMemPerBlock(size_t* out, const void* function, int ctas, int threads);
CudaError cudaStreamBeginCapture(void* stream, int mode);
CudaError cudaStreamEndCapture(void* stream, void** graph);
CudaError cudaStreamIsCapturing(void* stream, int* out);
CudaError cudaGraphInstantiate(void** out, void* graph, unsigned long long flags);
CudaError cudaGraphLaunch(void* executable, void* stream);
CudaError cudaGraphDestroy(void* graph);
CudaError cudaGraphExecDestroy(void* executable);
CudaError cudaLibraryLoadData(void** out, const void* code, int* options, void** values, unsigned count, int* library_options, void** library_values,
                              unsigned library_count);
CudaError cudaLibraryLoadFromFile(void** out, const char* path, int* options, void** values, unsigned count, int* library_options, void** library_values,
                                  unsigned library_count);
CudaError cudaLibraryEnumerateKernels(void** out, unsigned most, void* library);
CudaError cudaLibraryUnload(void* library);
CudaError cudaLibraryGetKernel(void** out, void* library, const char* name);
CudaError cudaLibraryGetGlobal(void** out, size_t* bytes, void* library, const char* name);
CudaError cudaStreamGetPriority(void* stream, int* out);
CudaError cudaStreamGetFlags(void* stream, unsigned* out);
CudaError cudaStreamGetId(void* stream, unsigned long long* out);
CudaError cudaStreamGetDevice(void* stream, int* out);
CudaError cudaStreamAddCallback(void* stream, void (*function)(void*, CudaError, void*), void* data, unsigned flags);
CudaError cudaStreamAttachMemAsync(void* stream, void* p, size_t bytes, unsigned flags);
CudaError cudaStreamCopyAttributes(void* to, void* from);
CudaError cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id, void** graph, void* const** dependencies, const drywell::cudart::GraphEdgeData** edges,
                                   size_t* count);
CudaError cudaThreadExchangeStreamCaptureMode(int* mode);
CudaError cudaEventRecordWithFlags(void* event, void* stream, unsigned flags);
CudaError cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
CudaError cudaDeviceGetSharedMemConfig(int* out);
CudaError cudaDeviceSetSharedMemConfig(int config);
CudaError cudaFuncSetSharedMemConfig(const void* function, int config);
CudaError cudaDeviceGetP2PAttribute(int* out, int attribute, int from, int to);
CudaError cudaDeviceGetCacheConfig(int* out);
CudaError cudaDeviceSetCacheConfig(int config);
CudaError cudaCtxResetPersistingL2Cache();
CudaError cudaDeviceGetByPCIBusId(int* out, const char* id);
CudaError cudaProfilerStart();
CudaError cudaProfilerStop();
CudaError cudaHostGetFlags(unsigned* out, void* p);
CudaError cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* bytes);
CudaError cudaLibraryGetKernelCount(unsigned* out, void* library);
CudaError cudaDeviceGetDefaultMemPool(void** out, int device);
CudaError cudaDeviceGetMemPool(void** out, int device);
CudaError cudaDeviceSetMemPool(int device, void* pool);
CudaError cudaMemPoolCreate(void** out, const void* properties);
CudaError cudaMemPoolDestroy(void* pool);
CudaError cudaMemPoolTrimTo(void* pool, size_t bytes);
CudaError cudaMemPoolSetAttribute(void* pool, int attribute, const void* value);
CudaError cudaMemPoolGetAttribute(void* pool, int attribute, void* value);
CudaError cudaMemPoolSetAccess(void* pool, const void* list, size_t count);
CudaError cudaMallocFromPoolAsync(void** out, size_t bytes, void* pool, void* stream);
}
