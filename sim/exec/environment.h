// The values that the driver passes to a kernel besides its parameters. As on a device, they follow the parameters in memory:
// the environment registers are words of the memory that holds the parameters.
#pragma once

#include <cstdint>
#include <cstring>

#include "sim/state/cta.h"
#include "sim/state/program.h"

namespace drywell::sim {

/// Device address of the memory of a cooperative launch's barrier over the grid; 0 in other launches.
inline uint64_t grid_workspace(const Launch& l) {
  uint64_t address = 0;
  const size_t own = l.program->param_bytes;
  if (l.params.size() == own + sizeof address) std::memcpy(&address, l.params.data() + own, sizeof address);
  return address;
}
inline void set_grid_workspace(Launch& l, uint64_t address) {
  l.params.resize(l.program->param_bytes + sizeof address);
  std::memcpy(l.params.data() + l.program->param_bytes, &address, sizeof address);
}

}  // namespace drywell::sim
