// What a machine lacks: a GPU, its driver, a program of the CUDA toolkit.
#pragma once

#include <string>
#include <string_view>

#include "drywell/core/error.h"

namespace drywell::kernels {

/// This machine has no GPU, no driver or no toolkit: exit code 6. E450x.
class Unavailable : public Error {
 public:
  Unavailable(Code code, std::string message, std::string_view hint = {});
};

}  // namespace drywell::kernels
