// The CUDA toolkit's programs, if they are installed.
#pragma once

#include <string>
#include <vector>

namespace drywell::tools {

/// Returns the path of ptxas or nvcc: $CUDA_HOME/bin, $CUDA_PATH/bin, the PATH, /usr/local/cuda/bin. Throws Unavailable E4510 if it
/// is in none of them.
std::string find_toolkit_program(const std::string& name);
std::string find_ptxas();

struct ProcessResult {
  int exit_code = -1;
  std::string output;  // standard output and standard error
};
/// Runs a program (no shell) and waits for it.
ProcessResult run_program(const std::string& path, const std::vector<std::string>& arguments);

}  // namespace drywell::tools
