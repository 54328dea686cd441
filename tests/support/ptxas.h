// ptxas, if this machine has it, as a check of printed PTX.
#pragma once

#include <optional>
#include <string>

namespace drywell::test {

struct PtxasResult {
  bool accepted = false;
  std::string output;  // messages of ptxas
};

/// Path of ptxas: $CUDA_HOME/bin, the PATH, or CUDA's usual place; empty if there is none.
std::string find_ptxas();
/// Assembles `ptx` for `target` ("sm_100a"); nullopt if there is no ptxas.
std::optional<PtxasResult> run_ptxas(const std::string& ptx, const std::string& target);

}  // namespace drywell::test
