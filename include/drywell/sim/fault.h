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
  std::string kernel;                  // the entry's name
  std::string function;                // the .func that contains the instruction; empty: the kernel itself
  Dim3 cta{0, 0, 0};                   // %ctaid
  uint32_t warp = 0;                   // in the CTA
  LaneMask lanes = 0;                  // bit l: lane l
  uint32_t instruction = 0;            // index in the kernel's body
  std::string ptx;                     // the instruction's text
  SourcePos source;                    // the author's source line, if available
  std::vector<SourcePos> called_from;  // the calls that were inlined to that line, innermost first

  /// One or two lines; without an instruction only kernel and CTA.
  std::string to_string() const;
};

/// The fault that ended a launch: F3xxx, or U5xxx for an unsupported instruction (docs/errors.md).
struct Fault {
  Code code{};          // F3xxx or U5xxx
  std::string message;  // cause and, where it can, fix
  GuestPlace where;     // the instruction; of an operation the one that issued it

  /// Code, message and place.
  std::string to_string() const;
};

}  // namespace drywell::sim
