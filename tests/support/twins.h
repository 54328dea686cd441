// Illegal twins: one instruction per rule, refused by the validator with the rule's code, and by ptxas where there is one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "drywell/core/code.h"

namespace drywell::test {

struct Twin {
  std::string instruction;
  std::optional<Code> code;  // of the validator; nothing = legal: both must accept it
  std::string target = "sm_100a";
  bool ptxas_too = true;  // false: ptxas accepts it
};

/// Checks every twin. Registers as in row examples: %r b32, %rd b64, %rs b16, %f f32, %fd f64, %p pred, %rq b128.
void check_twins(const std::vector<Twin>& twins);

}  // namespace drywell::test
