// Kernels from outside Drywell's tree: a shared object registers them, and the command takes it where it takes a kernel's name:
//
//   extern "C" void drywell_register(drywell::kernels::KernelList& list) {
//     static const drywell::kernels::Kernel kMine[] = {{.name = "mine", .doc = "…", .parameters = {…}, .build = build, .run = run}};
//     list.add(kMine);
//   }
//
//   drywell run ./libmine.so --verify          # its only kernel
//   drywell step ./libmine.so:mine             # one of several
//
// docs/dsl.md builds one. It must be built with the headers and libraries of the command that loads it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "drywell/launch/kernel.h"

namespace drywell::kernels {

/// What a shared object registers. The first two members never change: they are read before anything else of it is.
struct KernelList {
  const char* build = nullptr;    // of the libraries that the shared object is linked with
  unsigned calls = 0;             // of add()
  const Kernel* first = nullptr;  // of the kernels
  size_t count = 0;               // of the kernels
  /// Registers the kernels; they must live as long as the program. One call.
  void add(std::span<const Kernel> kernels);
};

/// Describes the public headers that this library was built with.
const char* library_build();

/// True for "./libmine.so" and "./libmine.so:gemm".
bool names_a_library(std::string_view name);
/// Loads the shared object and returns its kernel of that name, or its only one. It stays loaded. Throws InputError E4312 if it cannot be
/// loaded, registers nothing, or was built with other headers; E4305 for a name that it does not register.
const Kernel& find_library_kernel(std::string_view name);

}  // namespace drywell::kernels

/// A shared object with kernels defines this.
extern "C" [[gnu::visibility("default")]] void drywell_register(drywell::kernels::KernelList& list);
