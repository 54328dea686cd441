#include "launch/unavailable.h"

#include <fmt/format.h>

#include <utility>

namespace drywell::kernels {

Unavailable::Unavailable(Code code, std::string message, std::string_view hint) : Error(code, std::move(message)) {
  what_ = fmt::format("error {}: {}", code_name(code), what_);
  if (!hint.empty()) what_ += fmt::format("\n    hint: {}", hint);
}

}  // namespace drywell::kernels
