// Streams, events and graphs of the driver interface.
#include "cudart/runtime_api.h"
#include "cudart/serve.h"

extern "C" {
#pragma GCC visibility push(default)

CudaError cuStreamCreate(void** out, unsigned flags) { return forward(cudaStreamCreateWithPriority, out, flags, 0); }
CudaError cuStreamCreateWithPriority(void** out, unsigned flags, int priority) { return forward(cudaStreamCreateWithPriority, out, flags, priority); }
CudaError cuStreamDestroy_v2(void* stream) { return forward(cudaStreamDestroy, stream); }
CudaError cuStreamSynchronize(void* stream) { return forward(cudaStreamSynchronize, stream); }
CudaError cuStreamQuery(void* stream) { return forward(cudaStreamQuery, stream); }
CudaError cuStreamWaitEvent(void* stream, void* event, unsigned flags) { return forward(cudaStreamWaitEvent, stream, event, flags); }
CudaError cuLaunchHostFunc(void* stream, void (*function)(void*), void* data) { return forward(cudaLaunchHostFunc, stream, function, data); }
CudaError cuEventCreate(void** out, unsigned flags) { return forward(cudaEventCreateWithFlags, out, flags); }
CudaError cuEventDestroy_v2(void* event) { return forward(cudaEventDestroy, event); }
CudaError cuEventRecord(void* event, void* stream) { return forward(cudaEventRecord, event, stream); }
CudaError cuEventSynchronize(void* event) { return forward(cudaEventSynchronize, event); }
CudaError cuEventQuery(void* event) { return forward(cudaEventQuery, event); }
CudaError cuEventElapsedTime(float* ms, void* start, void* end) { return forward(cudaEventElapsedTime, ms, start, end); }
CudaError cuEventElapsedTime_v2(float* ms, void* start, void* end) { return forward(cudaEventElapsedTime, ms, start, end); }
CudaError cuStreamBeginCapture_v2(void* stream, int mode) { return forward(cudaStreamBeginCapture, stream, mode); }
CudaError cuStreamEndCapture(void* stream, void** graph) { return forward(cudaStreamEndCapture, stream, graph); }
CudaError cuStreamIsCapturing(void* stream, int* out) { return forward(cudaStreamIsCapturing, stream, out); }
CudaError cuGraphInstantiateWithFlags(void** out, void* graph, unsigned long long flags) { return forward(cudaGraphInstantiate, out, graph, flags); }
CudaError cuGraphLaunch(void* executable, void* stream) { return forward(cudaGraphLaunch, executable, stream); }
CudaError cuGraphDestroy(void* graph) { return forward(cudaGraphDestroy, graph); }
CudaError cuGraphExecDestroy(void* executable) { return forward(cudaGraphExecDestroy, executable); }

CudaError cuEventRecordWithFlags(void* event, void* stream, unsigned flags) { return forward(cudaEventRecordWithFlags, event, stream, flags); }
CudaError cuStreamGetPriority(void* stream, int* out) { return forward(cudaStreamGetPriority, stream, out); }
CudaError cuStreamGetFlags(void* stream, unsigned* out) { return forward(cudaStreamGetFlags, stream, out); }
CudaError cuStreamGetId(void* stream, unsigned long long* out) { return forward(cudaStreamGetId, stream, out); }
CudaError cuStreamGetDevice(void* stream, int* out) { return forward(cudaStreamGetDevice, stream, out); }
CudaError cuStreamGetCtx(void* stream, void** out) {
  return serve("cuStreamGetCtx", [&](Context& c) {
    const Stream& s = c.streams.get(stream);
    require_value(out != nullptr);
    *out = s.context != nullptr ? s.context : &c.current_context();  // a default stream has that of the thread
  });
}
CudaError cuStreamGetCtx_v2(void* stream, void** out, void** green) {
  const CudaError e = cuStreamGetCtx(stream, out);
  if (e != CudaError::success) return e;
  return serve("cuStreamGetCtx", [&](Context& c) {
    const void* const of = static_cast<const GuestContext*>(*out)->green;
    if (green != nullptr) *green = const_cast<void*>(of);
    if (of != nullptr) *out = &c.contexts.primary();
  });
}
CudaError cuStreamAddCallback(void* stream, void (*function)(void*, CudaError, void*), void* data, unsigned flags) {
  return forward(cudaStreamAddCallback, stream, function, data, flags);
}
CudaError cuStreamAttachMemAsync(void* stream, uint64_t p, size_t bytes, unsigned flags) {
  return forward(cudaStreamAttachMemAsync, stream, reinterpret_cast<void*>(p), bytes, flags);
}
CudaError cuStreamCopyAttributes(void* to, void* from) { return forward(cudaStreamCopyAttributes, to, from); }
CudaError cuStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id, void** graph, void* const** dependencies, const GraphEdgeData** edges,
                                    size_t* count) {
  return forward(cudaStreamGetCaptureInfo, stream, status, id, graph, dependencies, edges, count);
}
CudaError cuStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph, void* const** dependencies, size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, nullptr, count);
}
CudaError cuThreadExchangeStreamCaptureMode(int* mode) { return forward(cudaThreadExchangeStreamCaptureMode, mode); }

#pragma GCC visibility pop
}
