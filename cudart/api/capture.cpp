// Stream capture in the runtime interface.
#include "cudart/api/per_thread.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

// cudaStreamCaptureStatus
constexpr int kNotCapturing = 0, kCapturing = 1;
constexpr int kLastMode = 2;  // cudaStreamCaptureModeRelaxed

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaStreamBeginCapture(void* stream, int mode) {
  return serve("cudaStreamBeginCapture", [&](Context& c) {
    require_value(mode >= 0 && mode <= kLastMode);
    c.streams.begin_capture(c.streams.get(stream));
  });
}
PER_THREAD_ALIAS(cudaStreamBeginCapture, _ptsz);

CudaError cudaStreamEndCapture(void* stream, void** graph) {
  return serve("cudaStreamEndCapture", [&](Context& c) {
    require_value(graph != nullptr);
    *graph = nullptr;
    *graph = &c.streams.end_capture(c.streams.get(stream));
  });
}
PER_THREAD_ALIAS(cudaStreamEndCapture, _ptsz);

CudaError cudaStreamIsCapturing(void* stream, int* out) {
  return serve("cudaStreamIsCapturing", [&](Context& c) {
    require_value(out != nullptr);
    *out = c.streams.get(stream).capture != nullptr ? kCapturing : kNotCapturing;
  });
}
PER_THREAD_ALIAS(cudaStreamIsCapturing, _ptsz);

/// Returns no dependencies: a call that asks for the nodes of a capture fails.
CudaError cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id, void** graph, const void*** dependencies, const void** edges,
                                   size_t* count) {
  return serve("cudaStreamGetCaptureInfo", [&](Context& c) {
    const Stream& s = c.streams.get(stream);
    require_value(status != nullptr);
    *status = s.capture != nullptr ? kCapturing : kNotCapturing;
    if (s.capture == nullptr) return;
    require(dependencies == nullptr && edges == nullptr && count == nullptr, CudaError::not_supported);
    if (id != nullptr) *id = s.capture_id;
    if (graph != nullptr) *graph = s.capture;
  });
}
PER_THREAD_ALIAS(cudaStreamGetCaptureInfo, _ptsz);

CudaError cudaThreadExchangeStreamCaptureMode(int* mode) {
  return serve("cudaThreadExchangeStreamCaptureMode", [&](Context&) {
    require_value(mode != nullptr && *mode >= 0 && *mode <= kLastMode);
    *mode = 0;
  });
}

#pragma GCC visibility pop
}
