// Handles of a program's contexts. All contexts share the device's memory, modules and streams (docs/exec.md).
#pragma once

#include <deque>
#include <vector>

namespace drywell::cudart {

/// What a CUcontext points to.
struct GuestContext {
  unsigned long long id = 0;
  unsigned flags = 0;           // of cuCtxCreate
  const void* green = nullptr;  // the green context that it was made from
  bool destroyed = false;       // a handle is never used twice
};

class GuestContexts {
 public:
  GuestContexts() { make({}); }
  GuestContext& primary() { return all_.front(); }
  GuestContext& create(unsigned flags) { return make({.flags = flags}); }
  /// The same one for each call with a green context.
  GuestContext& of_green(const void* green);
  void green_destroyed(const void* green);
  /// Returns the context that exists under the handle. Throws CallFailed (invalid_context).
  GuestContext& get(const void* handle);

 private:
  GuestContext& make(GuestContext made);
  std::deque<GuestContext> all_;  // whose elements stay where they are
};

/// Each thread's stack of contexts; the last one is current.
class ContextStack {
 public:
  GuestContext* current() const { return all_.empty() ? nullptr : all_.back(); }
  void push(GuestContext& context) { all_.push_back(&context); }
  void pop();
  /// Replaces the current one; nullptr takes it away.
  void replace(GuestContext* context);

 private:
  std::vector<GuestContext*> all_;
};

}  // namespace drywell::cudart
