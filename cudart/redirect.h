// Makes a function of the process jump to another: how the stand-in takes the place of code that no loader
// binds by name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace drywell::cudart {

inline constexpr size_t kJumpBytes = 14;

/// Overwrites the first kJumpBytes of the code at `from`. Returns false, and changes nothing, if the system
/// does not allow it.
bool redirect(uintptr_t from, const void* to);

/// The dynamic loader will call `notified`, as it calls a debugger's breakpoint, before and after it changes
/// its list of libraries
/// (_r_debug.r_map): libraries_are_settled() in the call after, when new ones are mapped and none of their
/// constructors has run. The loader's lock is held: no dlopen. Returns false, and changes nothing, for a
/// loader whose notification is not an empty function.
bool watch_libraries(void (*notified)());
bool libraries_are_settled();

}  // namespace drywell::cudart
