// The border between C and C++: every entry point runs its body through serve(), which holds the lock, passes the
// process's context and converts exceptions to CUDA's error numbers. Calls may come from several threads; they run one
// after the other.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>

#include "cudart/call.h"
#include "cudart/context.h"

namespace drywell::cudart {

using Body = void (*)(void* closure, Context& c);
CudaError serve_call(const char* name, Body body, void* closure, bool after_fault);

/// Runs `f(Context&)`. After a kernel's fault every call fails at once with the fault's error, as on a device.
template <class F>
CudaError serve(const char* name, F&& f) {
  return serve_call(
      name, [](void* closure, Context& c) { (*static_cast<std::remove_reference_t<F>*>(closure))(c); }, &f, false);
}
/// As serve, for calls that work after a fault and before cuInit.
template <class F>
CudaError serve_always(const char* name, F&& f) {
  return serve_call(
      name, [](void* closure, Context& c) { (*static_cast<std::remove_reference_t<F>*>(closure))(c); }, &f, true);
}

/// A kernel is about to be launched: lets the framework say what its allocator has handed out. It may need the lock of its interpreter, which
/// another thread may hold that waits for this one's.
void before_launch();

/// Waits until held work (streams.h) lets `done` be true. Values may come from another thread, which can call CUDA meanwhile; after a second
/// `what` is reported once.
void wait_until(Context& c, const char* what, const std::function<bool()>& done);
/// Waits for all work in front of what the default stream gets next: the end of calls that copy before they return.
CudaError settled(CudaError error);

/// What calls of the runtime change beside their results, and calls of the driver do not: the last error, and which contexts there are.
struct RuntimeState {
  CudaError last = CudaError::success;
  ContextStack contexts;
  bool primary_context = false;
};
/// Of this thread; nullopt if nothing has initialised the driver.
std::optional<RuntimeState> runtime_state();
void restore(const RuntimeState& state);

/// For functions of the driver interface that do what one of the runtime does: calls it, and leaves the runtime's state as it was. PyTorch asks
/// for the last error after driver calls that may fail. Before cuInit the driver refuses its calls.
template <class... P, class... A>
CudaError forward(CudaError (*runtime)(P...), A... arguments) {
  const std::optional<RuntimeState> before = runtime_state();
  if (!before.has_value()) return CudaError::initialization;
  const CudaError error = runtime(arguments...);
  restore(*before);
  return error;
}

/// For entry points that are not served: reports each of them once.
CudaError not_served(const char* name);

}  // namespace drywell::cudart
