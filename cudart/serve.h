// The border between C and C++: every entry point runs its body through serve(), which holds the lock, passes the
// process's context and converts exceptions to CUDA's error numbers. Calls may come from several threads; they run one
// after the other.
#pragma once

#include <functional>
#include <type_traits>

#include "cudart/call.h"
#include "cudart/context.h"

namespace drywell::cudart {

using Body = void (*)(void* closure, Context& c);
CudaError serve_call(const char* name, Body body, void* closure, bool after_fault);

/// Runs `f(Context&)`. After a kernel's fault every call fails at once with the fault's error, as on a device.
template <class F>
CudaError serve(const char* name, F&& f) {
  return serve_call(name, [](void* closure, Context& c) { (*static_cast<std::remove_reference_t<F>*>(closure))(c); }, &f, false);
}
/// As serve, for calls that work after a fault.
template <class F>
CudaError serve_always(const char* name, F&& f) {
  return serve_call(name, [](void* closure, Context& c) { (*static_cast<std::remove_reference_t<F>*>(closure))(c); }, &f, true);
}

/// Waits until held work (streams.h) lets `done` be true. Values may come from another thread, which can call CUDA meanwhile; after a second
/// `what` is reported once.
void wait_until(Context& c, const char* what, const std::function<bool()>& done);
/// Waits for all work in front of what the default stream gets next: the end of calls that copy before they return.
CudaError settled(CudaError error);

/// The error that cudaGetLastError would return in this thread.
CudaError last_error();
void set_last_error(CudaError e);

/// For functions of the driver interface that do what one of the runtime does: calls it, and leaves the runtime's last error
/// as it was. PyTorch asks for the last error after driver calls that may fail.
template <class... P, class... A>
CudaError forward(CudaError (*runtime)(P...), A... arguments) {
  const CudaError before = last_error();
  const CudaError error = runtime(arguments...);
  set_last_error(before);
  return error;
}

/// For entry points that are not served: reports each of them once.
CudaError not_served(const char* name);

}  // namespace drywell::cudart
