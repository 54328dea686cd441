// Streams and events of the runtime interface.
#include <cmath>
#include <cstring>

#include "cudart/api/per_thread.h"
#include "cudart/graph_work.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

constexpr unsigned kDisableTiming = 2;  // cudaEventDisableTiming
constexpr unsigned kExternal = 1;       // cudaEventRecordExternal, cudaEventWaitExternal: a node of the graph that is captured

void create(Context& c, void** out, unsigned flags, int priority) {
  require_value(out != nullptr && flags <= 1);
  c.device();
  Stream& s = c.streams.create(flags, priority);
  s.context = c.thread().contexts.current();
  *out = &s;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaStreamCreateWithPriority(void** out, unsigned flags, int priority) {
  return serve("cudaStreamCreateWithPriority", [&](Context& c) { create(c, out, flags, priority); });
}
CudaError cudaStreamCreateWithFlags(void** out, unsigned flags) {
  return serve("cudaStreamCreateWithFlags", [&](Context& c) { create(c, out, flags, 0); });
}
CudaError cudaStreamCreate(void** out) {
  return serve("cudaStreamCreate", [&](Context& c) { create(c, out, 0, 0); });
}
CudaError cudaStreamDestroy(void* stream) {
  return serve("cudaStreamDestroy", [&](Context& c) { c.streams.destroy(stream); });
}

// All submitted work has run, but what is held behind a wait for a value.
CudaError cudaStreamSynchronize(void* stream) {
  return serve("cudaStreamSynchronize", [&](Context& c) {
    Stream& s = c.streams.get(stream);
    c.streams.refuse_captured(s);
    wait_until(c, "cudaStreamSynchronize", [&] { return !c.streams.in_front(s); });
    c.launcher().queue_drained();
  });
}
PER_THREAD_ALIAS(cudaStreamSynchronize, _ptsz);
CudaError cudaStreamQuery(void* stream) {
  return serve("cudaStreamQuery", [&](Context& c) {
    Stream& s = c.streams.get(stream);
    c.streams.refuse_captured(s);
    c.streams.advance();
    require(!c.streams.in_front(s), CudaError::not_ready);
  });
}
PER_THREAD_ALIAS(cudaStreamQuery, _ptsz);

CudaError cudaStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return serve("cudaStreamWaitEvent", [&](Context& c) {
    Stream& s = c.streams.get(stream);
    if (s.capture != nullptr && flags == kExternal) return c.streams.submit(s, GraphNodeType::wait_event, wait_work(c, event));
    c.streams.wait(s, c.streams.events.get(event));
  });
}
PER_THREAD_ALIAS(cudaStreamWaitEvent, _ptsz);

CudaError cudaStreamGetPriority(void* stream, int* out) {
  return serve("cudaStreamGetPriority", [&](Context& c) { *out = c.streams.get(stream).priority; });
}
PER_THREAD_ALIAS(cudaStreamGetPriority, _ptsz);
CudaError cudaStreamGetFlags(void* stream, unsigned* out) {
  return serve("cudaStreamGetFlags", [&](Context& c) { *out = c.streams.get(stream).flags; });
}
PER_THREAD_ALIAS(cudaStreamGetFlags, _ptsz);
CudaError cudaStreamGetId(void* stream, unsigned long long* out) {
  return serve("cudaStreamGetId", [&](Context& c) { *out = c.streams.get(stream).id; });
}
PER_THREAD_ALIAS(cudaStreamGetId, _ptsz);
CudaError cudaStreamGetDevice(void* stream, int* out) {
  return serve("cudaStreamGetDevice", [&](Context& c) {
    c.streams.get(stream);
    *out = 0;
  });
}
PER_THREAD_ALIAS(cudaStreamGetDevice, _ptsz);

// Stream attributes affect speed and overlap only.
CudaError cudaStreamSetAttribute(void* stream, int, const void*) {
  return serve("cudaStreamSetAttribute", [&](Context& c) { c.streams.get(stream); });
}
PER_THREAD_ALIAS(cudaStreamSetAttribute, _ptsz);
CudaError cudaStreamGetAttribute(void* stream, int, void* out) {
  return serve("cudaStreamGetAttribute", [&](Context& c) {
    c.streams.get(stream);
    require_value(out != nullptr);
    std::memset(out, 0, 64);  // cudaLaunchAttributeValue: every attribute as it is at first
  });
}
PER_THREAD_ALIAS(cudaStreamGetAttribute, _ptsz);
CudaError cudaStreamCopyAttributes(void* to, void* from) {
  return serve("cudaStreamCopyAttributes", [&](Context& c) {
    c.streams.get(to);
    c.streams.get(from);
  });
}
PER_THREAD_ALIAS(cudaStreamCopyAttributes, _ptsz);
CudaError cudaStreamAttachMemAsync(void* stream, void*, size_t, unsigned) {
  return serve("cudaStreamAttachMemAsync", [&](Context& c) { c.streams.get(stream); });
}
PER_THREAD_ALIAS(cudaStreamAttachMemAsync, _ptsz);

CudaError cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  return serve("cudaLaunchHostFunc", [&](Context& c) {
    require_value(function != nullptr);
    const HostNodeParams p{function, data};
    c.streams.submit(c.streams.get(stream), GraphNodeType::host, host_work(&p));
  });
}
PER_THREAD_ALIAS(cudaLaunchHostFunc, _ptsz);

CudaError cudaStreamAddCallback(void* stream, void (*function)(void*, CudaError, void*), void* data, unsigned) {
  return serve("cudaStreamAddCallback", [&](Context& c) {
    require_value(function != nullptr);
    Stream& s = c.streams.get(stream);
    c.streams.refuse_captured(s);
    c.streams.submit(s, GraphNodeType::host, [&c, function, stream, data] { function(stream, c.sticky, data); });
  });
}
PER_THREAD_ALIAS(cudaStreamAddCallback, _ptsz);

CudaError cudaEventCreateWithFlags(void** out, unsigned flags) {
  return serve("cudaEventCreateWithFlags", [&](Context& c) {
    require_value(out != nullptr && flags <= 7);
    c.device();
    auto e = std::make_unique<Event>();
    e->flags = flags;
    *out = &c.streams.events.make(std::move(e));
  });
}
CudaError cudaEventCreate(void** out) { return cudaEventCreateWithFlags(out, 0); }
CudaError cudaEventDestroy(void* event) {
  return serve("cudaEventDestroy", [&](Context& c) { c.streams.events.take(event); });
}

CudaError cudaEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return serve("cudaEventRecord", [&](Context& c) {
    Stream& s = c.streams.get(stream);
    if (s.capture != nullptr && flags == kExternal) return c.streams.submit(s, GraphNodeType::event_record, record_work(c, event));
    c.streams.record(c.streams.get(stream), c.streams.events.get(event));
    c.launcher().queue_drained();
  });
}
PER_THREAD_ALIAS(cudaEventRecordWithFlags, _ptsz);
CudaError cudaEventRecord(void* event, void* stream) { return cudaEventRecordWithFlags(event, stream, 0); }
PER_THREAD_ALIAS(cudaEventRecord, _ptsz);

CudaError cudaEventSynchronize(void* event) {
  return serve("cudaEventSynchronize", [&](Context& c) {
    const Event& e = c.streams.events.get(event);
    wait_until(c, "cudaEventSynchronize", [&] { return !e.pending(); });
  });
}
CudaError cudaEventQuery(void* event) {
  return serve("cudaEventQuery", [&](Context& c) {
    c.streams.advance();
    require(!c.streams.events.get(event).pending(), CudaError::not_ready);
  });
}

/// Simulated time. Without the timed driver the result is NaN, so that no one takes it for a measurement.
CudaError cudaEventElapsedTime(float* ms, void* start, void* end) {
  return serve("cudaEventElapsedTime", [&](Context& c) {
    const Event &a = c.streams.events.get(start), &b = c.streams.events.get(end);
    require_value(ms != nullptr);
    require(a.moment != nullptr && b.moment != nullptr && ((a.flags | b.flags) & kDisableTiming) == 0, CudaError::invalid_handle);
    require(!a.pending() && !b.pending(), CudaError::not_ready);
    if (!c.launcher().timed()) c.say_once("event times are not a number without --driver=timed: other drivers have no clock");
    *ms = c.launcher().timed() ? static_cast<float>((b.moment->seconds - a.moment->seconds) * 1e3) : std::nanf("");
  });
}

#pragma GCC visibility pop
}
