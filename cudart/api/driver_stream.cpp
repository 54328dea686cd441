// Streams, events and graphs of the driver interface.
#include "cudart/runtime_api.h"

extern "C" {
#pragma GCC visibility push(default)

CudaError cuStreamCreate(void** out, unsigned flags) { return cudaStreamCreateWithPriority(out, flags, 0); }
CudaError cuStreamCreateWithPriority(void** out, unsigned flags, int priority) { return cudaStreamCreateWithPriority(out, flags, priority); }
CudaError cuStreamDestroy_v2(void* stream) { return cudaStreamDestroy(stream); }
CudaError cuStreamSynchronize(void* stream) { return cudaStreamSynchronize(stream); }
CudaError cuStreamQuery(void* stream) { return cudaStreamQuery(stream); }
CudaError cuStreamWaitEvent(void* stream, void* event, unsigned flags) { return cudaStreamWaitEvent(stream, event, flags); }
CudaError cuLaunchHostFunc(void* stream, void (*function)(void*), void* data) { return cudaLaunchHostFunc(stream, function, data); }
CudaError cuEventCreate(void** out, unsigned flags) { return cudaEventCreateWithFlags(out, flags); }
CudaError cuEventDestroy_v2(void* event) { return cudaEventDestroy(event); }
CudaError cuEventRecord(void* event, void* stream) { return cudaEventRecord(event, stream); }
CudaError cuEventSynchronize(void* event) { return cudaEventSynchronize(event); }
CudaError cuEventQuery(void* event) { return cudaEventQuery(event); }
CudaError cuEventElapsedTime(float* ms, void* start, void* end) { return cudaEventElapsedTime(ms, start, end); }
CudaError cuEventElapsedTime_v2(float* ms, void* start, void* end) { return cudaEventElapsedTime(ms, start, end); }
CudaError cuStreamBeginCapture_v2(void* stream, int mode) { return cudaStreamBeginCapture(stream, mode); }
CudaError cuStreamEndCapture(void* stream, void** graph) { return cudaStreamEndCapture(stream, graph); }
CudaError cuStreamIsCapturing(void* stream, int* out) { return cudaStreamIsCapturing(stream, out); }
CudaError cuGraphInstantiateWithFlags(void** out, void* graph, unsigned long long flags) { return cudaGraphInstantiate(out, graph, flags); }
CudaError cuGraphLaunch(void* executable, void* stream) { return cudaGraphLaunch(executable, stream); }
CudaError cuGraphDestroy(void* graph) { return cudaGraphDestroy(graph); }
CudaError cuGraphExecDestroy(void* executable) { return cudaGraphExecDestroy(executable); }

#pragma GCC visibility pop
}
