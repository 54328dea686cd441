// The border between C and C++: every entry point runs its body through serve(), which holds the lock, passes the
// process's context and converts exceptions to CUDA's error numbers. Calls may come from several threads; they run one
// after the other.
#pragma once

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

/// For entry points that are not served: reports each of them once.
CudaError not_served(const char* name);

}  // namespace drywell::cudart
