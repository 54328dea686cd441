// One program on one machine: its buffers placed, its maps encoded, its kernel launched, its memory read back.
#pragma once

#include <cstdint>
#include <vector>

#include "launch/accelerator.h"
#include "conformance/programs/program.h"

namespace drywell::kernels::conformance {

struct ProgramRun {
  sim::RunResult result;
  std::vector<std::vector<uint8_t>> buffers;  // as the kernel left them; none if it failed: a GPU's memory is gone then
};
ProgramRun run_program(const Program& p, Accelerator& device, const sim::RunOptions& options);

}  // namespace drywell::kernels::conformance
