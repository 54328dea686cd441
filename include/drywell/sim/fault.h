// Guest misbehaviour found while a kernel ran: a value in the result, never thrown through the inner loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/core/types.h"

namespace drywell::sim {

/// Where in a launch something happened.
struct GuestPlace {
  std::string kernel;
  std::string function;       // the .func it happened in; empty: the kernel itself
  Dim3 cta{0, 0, 0};
  uint32_t warp = 0;
  LaneMask lanes = 0;
  uint32_t instruction = 0;   // index in the kernel's body
  std::string ptx;            // the instruction's text
  SourcePos source;           // the author's line, if known
  std::vector<SourcePos> called_from;  // the calls that line was inlined for, from the inside out
  std::string to_string() const;
};

/// What ended a launch: F3xxx, or U5xxx for an instruction that is not modelled (docs/errors.md).
struct Fault {
  Code code{};
  std::string message;
  GuestPlace where;
  std::string to_string() const;
};

}  // namespace drywell::sim
