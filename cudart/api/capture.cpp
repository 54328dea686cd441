// Stream capture in the runtime interface.
#include "cudart/api/per_thread.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

// cudaStreamCaptureStatus
constexpr int kNotCapturing = 0, kCapturing = 1, kInvalidated = 2;
int status_of(const Stream& s) { return s.capture == nullptr ? kNotCapturing : s.invalidated ? kInvalidated
                                                                                             : kCapturing; }
constexpr int kLastMode = 2;              // cudaStreamCaptureModeRelaxed
constexpr unsigned kSetDependencies = 1;  // cudaStreamSetCaptureDependencies; 0 adds

std::vector<GraphNode*> nodes_of(void* const* nodes, size_t count) {
  std::vector<GraphNode*> out;
  for (size_t i = 0; i < count; ++i) out.push_back(static_cast<GraphNode*>(nodes[i]));
  return out;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaStreamBeginCapture(void* stream, int mode) {
  return serve("cudaStreamBeginCapture", [&](Context& c) {
    require_value(mode >= 0 && mode <= kLastMode);
    c.streams.begin_capture(c.streams.get(stream), static_cast<CaptureMode>(mode));
  });
}
PER_THREAD_ALIAS(cudaStreamBeginCapture, _ptsz);

CudaError cudaStreamEndCapture(void* stream, void** graph) {
  return serve("cudaStreamEndCapture", [&](Context& c) {
    Stream& s = c.streams.get(stream);
    require_value(graph != nullptr || s.into_own_graph);  // cudaStreamBeginCaptureToGraph: the program has the graph
    if (graph != nullptr) *graph = nullptr;
    Graph& captured = c.streams.end_capture(s);
    if (graph != nullptr) *graph = &captured;
  });
}
PER_THREAD_ALIAS(cudaStreamEndCapture, _ptsz);

CudaError cudaStreamIsCapturing_ptsz(void* stream, int* out) {
  return serve("cudaStreamIsCapturing", [&](Context& c) {
    require_value(out != nullptr);
    *out = status_of(c.streams.get(stream));
  });
}
/// The legacy default stream must not even be asked while a capture of a stream that it waits for is in progress.
CudaError cudaStreamIsCapturing(void* stream, int* out) {
  const CudaError e = serve("cudaStreamIsCapturing", [&](Context& c) { require(!Streams::is_legacy(stream) || !c.streams.default_waits_for_capture(), CudaError::capture_implicit); });
  return e == CudaError::success ? cudaStreamIsCapturing_ptsz(stream, out) : e;
}

/// Records into a graph of the program's.
CudaError cudaStreamBeginCaptureToGraph(void* stream, void* graph, void* const* after, const GraphEdgeData*, size_t count, int mode) {
  return serve("cudaStreamBeginCaptureToGraph", [&](Context& c) {
    require_value(mode >= 0 && mode <= kLastMode && (count == 0 || after != nullptr));
    c.streams.begin_capture(c.streams.get(stream), static_cast<CaptureMode>(mode), &c.streams.graphs.get(graph), nodes_of(after, count));
  });
}
PER_THREAD_ALIAS(cudaStreamBeginCaptureToGraph, _ptsz);

/// The dependencies are valid until the stream's next call, as on a device.
CudaError cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id, void** graph, void* const** dependencies, const GraphEdgeData** edges,
                                   size_t* count) {
  return serve("cudaStreamGetCaptureInfo", [&](Context& c) {
    Stream& s = c.streams.get(stream);
    require_value(status != nullptr);
    *status = status_of(s);
    if (s.capture == nullptr) return;
    s.edges.assign(s.last.size(), {});
    if (id != nullptr) *id = s.capture_id;
    if (graph != nullptr) *graph = s.capture;
    if (dependencies != nullptr) *dependencies = reinterpret_cast<void* const*>(s.last.data());
    if (edges != nullptr) *edges = s.edges.data();
    if (count != nullptr) *count = s.last.size();
  });
}
PER_THREAD_ALIAS(cudaStreamGetCaptureInfo, _ptsz);

CudaError cudaStreamUpdateCaptureDependencies(void* stream, void* const* nodes, const GraphEdgeData*, size_t count, unsigned flags) {
  return serve("cudaStreamUpdateCaptureDependencies", [&](Context& c) {
    Stream& s = c.streams.get(stream);
    require(s.capture != nullptr, CudaError::illegal_state);
    require_value(flags <= kSetDependencies && (count == 0 || nodes != nullptr));
    const std::vector<GraphNode*> given = nodes_of(nodes, count);
    for (const GraphNode* n : given) require_value(n != nullptr && n->graph == s.capture);
    if (flags == kSetDependencies) s.last.clear();
    s.last.insert(s.last.end(), given.begin(), given.end());
  });
}
PER_THREAD_ALIAS(cudaStreamUpdateCaptureDependencies, _ptsz);

CudaError cudaThreadExchangeStreamCaptureMode(int* mode) {
  return serve("cudaThreadExchangeStreamCaptureMode", [&](Context& c) {
    require_value(mode != nullptr && *mode >= 0 && *mode <= kLastMode);
    *mode = static_cast<int>(c.streams.exchange_mode(static_cast<CaptureMode>(*mode)));
  });
}

#pragma GCC visibility pop
}
