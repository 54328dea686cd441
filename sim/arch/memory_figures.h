// Figures only the timed driver's memory and launch model reads (sim/arch/memory_keys.inc), picked out of an architecture's entries.
#pragma once

#include "drywell/sim/arch_config.h"

namespace drywell::sim {

struct MemoryFigures {
  explicit MemoryFigures(const ArchConfig& arch);

  using Integer = uint64_t;
  using Real = double;
#define ARCH_SECTION(SECTION_, TENSOR_, DOC_) struct {
#define ARCH_VALUE(SECTION_, NAME_, TYPE_, ...) TYPE_ NAME_{};
#define ARCH_END(SECTION_) \
  }                        \
  SECTION_;
#include "sim/arch/memory_keys.inc"
#undef ARCH_SECTION
#undef ARCH_VALUE
#undef ARCH_END
};

}  // namespace drywell::sim
