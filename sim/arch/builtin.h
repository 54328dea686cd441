// Architecture files compiled into the library (cmake/embed_arch.cmake).
#pragma once

#include <span>
#include <string_view>

namespace drywell::sim {

struct BuiltinArch {
  std::string_view name;
  std::string_view toml;
};
std::span<const BuiltinArch> builtin_archs();

}  // namespace drywell::sim
