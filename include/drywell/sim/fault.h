// Faults of the guest while a kernel runs: a value in the result, never thrown through the inner loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/core/types.h"

namespace drywell::sim {

/// Location of an event in a launch.
struct GuestPlace {
  std::string kernel;
  std::string function;       // the .func that contains the instruction; empty: the kernel itself
  Dim3 cta{0, 0, 0};
  uint32_t warp = 0;
  LaneMask lanes = 0;
  uint32_t instruction = 0;   // index in the kernel's body
  std::string ptx;            // the instruction's text
  SourcePos source;           // the author's source line, if available
  std::vector<SourcePos> called_from;  // the calls that were inlined to that line, innermost first
  std::string to_string() const;
};

/// The fault that ended a launch: F3xxx, or U5xxx for an unsupported instruction (docs/errors.md).
struct Fault {
  Code code{};
  std::string message;
  GuestPlace where;
  std::string to_string() const;
};

}  // namespace drywell::sim
