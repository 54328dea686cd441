#include "cudart/guest_contexts.h"

#include <algorithm>

#include "cudart/call.h"

namespace drywell::cudart {

GuestContext& GuestContexts::make(GuestContext made) {
  made.id = all_.size() + 1;
  return all_.emplace_back(made);
}

GuestContext& GuestContexts::of_green(const void* green) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const GuestContext& c) { return c.green == green && !c.destroyed; });
  return found != all_.end() ? *found : make({.green = green});
}

void GuestContexts::green_destroyed(const void* green) {
  for (GuestContext& c : all_) c.destroyed = c.destroyed || c.green == green;
}

GuestContext& GuestContexts::get(const void* handle) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const GuestContext& c) { return &c == handle && !c.destroyed; });
  require(found != all_.end(), CudaError::invalid_context);
  return *found;
}

void ContextStack::pop() {
  require(!all_.empty(), CudaError::invalid_context);
  all_.pop_back();
}

void ContextStack::replace(GuestContext* context) {
  if (!all_.empty()) all_.pop_back();
  if (context != nullptr) all_.push_back(context);
}

}  // namespace drywell::cudart
