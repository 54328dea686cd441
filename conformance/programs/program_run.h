// Runs one program on one machine: allocates buffers, encodes maps, launches the kernel, reads memory back.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/programs/program.h"
#include "drywell/launch/accelerator.h"

namespace drywell::kernels::conformance {

struct ProgramRun {
  sim::RunResult result;
  std::vector<std::vector<uint8_t>> buffers;  // content after the kernel; empty if it failed: a GPU's memory is lost
                                              // then
};
ProgramRun run_program(const Program& p, Accelerator& device, const sim::RunOptions& options);

}  // namespace drywell::kernels::conformance
