// Data that the groups of a launch share and do not change.
#pragma once

#include <string>
#include <vector>

#include "drywell/sim/arch_config.h"
#include "sim/schedule/run_bounds.h"
#include "sim/state/cta.h"
#include "sim/timing/timed_program.h"

namespace drywell::sim {

struct TimingContext {
  const Launch* launch = nullptr;
  const ArchConfig* arch = nullptr;
  const TimedProgram* program = nullptr;
  std::vector<std::string> roles;      // names
  std::vector<uint16_t> role_of_warp;  // by warp index in the CTA
  const RunBounds* bounds = nullptr;
  bool values = true;
  ClockChoice clock;
  uint64_t l1_bytes = 0;
};

}  // namespace drywell::sim
