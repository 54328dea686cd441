// The border between C and C++: every entry point runs its body through serve(), which holds the lock, hands it the
// process's context and turns whatever it throws into CUDA's number for it.
#pragma once

#include <type_traits>

#include "cudart/call.h"
#include "cudart/context.h"

namespace drywell::cudart {

using Body = void (*)(void* closure, Context& c);
CudaError serve_call(const char* name, Body body, void* closure, bool after_fault);

/// Runs `f(Context&)`. After a kernel's fault it fails at once with the fault's error, as every call does on a device.
template <class F>
CudaError serve(const char* name, F&& f) {
  return serve_call(name, [](void* closure, Context& c) { (*static_cast<std::remove_reference_t<F>*>(closure))(c); }, &f, false);
}
/// The same for calls that work after a fault.
template <class F>
CudaError serve_always(const char* name, F&& f) {
  return serve_call(name, [](void* closure, Context& c) { (*static_cast<std::remove_reference_t<F>*>(closure))(c); }, &f, true);
}

/// For entry points that exist and are not served: says so once.
CudaError not_served(const char* name);

}  // namespace drywell::cudart
