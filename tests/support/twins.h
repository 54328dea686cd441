// Illegal twins: one instruction per rule, refused by the validator with the rule's code, and by ptxas where there is one.
#pragma once

#include <string>
#include <vector>

namespace drywell::test {

struct Twin {
  std::string instruction;
  std::string code;                  // of the validator; "" = legal: both must accept it
  std::string target = "sm_100a";
  bool ptxas_too = true;             // false: ptxas accepts it
};

/// Checks every twin. Registers as in row examples: %r b32, %rd b64, %rs b16, %f f32, %fd f64, %p pred, %rq b128.
void check_twins(const std::vector<Twin>& twins);

}  // namespace drywell::test
