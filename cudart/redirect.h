// Makes a function of the process jump to another: how the stand-in takes the place of code that no loader
// binds by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace drywell::cudart {

/// The jump is x86-64's. On other hosts nothing is overwritten, and what depends on it is refused with
/// runtime_stays().
#if defined(__x86_64__)
inline constexpr bool kCanRedirect = true;
#else
inline constexpr bool kCanRedirect = false;
#endif
inline constexpr size_t kJumpBytes = 14;

/// Why the CUDA runtime that is linked into `file` stays where it is: the host's code cannot be overwritten,
/// or its functions have no names.
std::string runtime_stays(std::string_view file, bool can_redirect = kCanRedirect);

/// Overwrites the first kJumpBytes of the code at `from`. Returns false, and changes nothing, if the system
/// does not allow it, or the host has another kind of code.
bool redirect(uintptr_t from, const void* to);

/// The dynamic loader will call `notified`, as it calls a debugger's breakpoint, before and after it changes
/// its list of libraries
/// (_r_debug.r_map): libraries_are_settled() in the call after, when new ones are mapped and none of their
/// constructors has run. The loader's lock is held: no dlopen. Returns false, and changes nothing, for a
/// loader whose notification is not an empty function, and on hosts whose code cannot be overwritten.
bool watch_libraries(void (*notified)());
bool libraries_are_settled();

}  // namespace drywell::cudart
