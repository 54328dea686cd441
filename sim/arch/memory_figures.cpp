#include "sim/arch/memory_figures.h"

#include <algorithm>
#include <charconv>

#include "drywell/core/error.h"

namespace drywell::sim {
namespace {

template <class T>
T figure(const ArchConfig& arch, std::string_view key) {
  const auto it = std::find_if(arch.entries.begin(), arch.entries.end(), [&](const ArchEntry& e) { return e.key == key; });
  T value{};
  if (it == arch.entries.end() || std::from_chars(it->value.data(), it->value.data() + it->value.size(), value).ec != std::errc())
    throw InternalError("architecture without " + std::string(key));
  return value;
}

}  // namespace

MemoryFigures::MemoryFigures(const ArchConfig& arch) {
#define ARCH_SECTION(SECTION_, TENSOR_, DOC_)
#define ARCH_VALUE(SECTION_, NAME_, TYPE_, ...) SECTION_.NAME_ = figure<TYPE_>(arch, #SECTION_ "." #NAME_);
#define ARCH_END(SECTION_)
#include "sim/arch/memory_keys.inc"
#undef ARCH_SECTION
#undef ARCH_VALUE
#undef ARCH_END
}

}  // namespace drywell::sim
