#include "sim/exec/entry_registers.h"

#include <algorithm>
#include <optional>

#include "drywell/core/bits.h"
#include "drywell/sim/arch_config.h"

namespace drywell::sim {
namespace {

constexpr uint64_t kUnit = 8;                // CUDA C++ Programming Guide: allocation per thread
constexpr uint32_t kLeastOfSetmaxnreg = 24;  // ptxas: "adjusting per thread register count of 20 to lower bound of 24"

// ptxas orders instructions so that values live shorter, most of all to come down to 32 registers, which let every thread of an SM be
// resident: 36 kernels of tests/corpus/timing (the half that is fitted) against ptxas 13.0.
uint32_t allocated(uint32_t estimate) {
  constexpr uint32_t kAllThreads = 32, kNear = 64;
  constexpr double kOfMany = 0.82;
  if (estimate <= kAllThreads) return estimate;
  return estimate <= kNear ? kAllThreads : std::max<uint32_t>(kNear / 2, static_cast<uint32_t>(round_up(static_cast<uint64_t>(kOfMany * estimate), 8)));
}

uint32_t most_of_thread(const Launch& l) { return static_cast<uint32_t>(l.arch->sm.registers_per_thread); }

// The share of the register file that the block's bound and the minimum of resident CTAs leave. Warps are spread over the sub-partitions,
// each with its part of the file: 13 warps (.maxntid 416) have 128 registers each, as 16 have.
std::optional<uint32_t> share(const Launch& l) {
  const isa::Directives& d = l.program->function->directives;
  const auto& bound = d.reqntid.has_value() ? d.reqntid : d.maxntid;
  if (!bound.has_value()) return std::nullopt;
  const auto partitions = static_cast<uint64_t>(l.arch->sm.partitions);
  const uint64_t threads = std::max<uint64_t>(1, uint64_t{(*bound)[0]} * (*bound)[1] * (*bound)[2]);
  const uint64_t warps = round_up(threads, kWarpSize) / kWarpSize * d.minnctapersm.value_or(1);
  const uint64_t of_warp = static_cast<uint64_t>(l.arch->sm.registers) / partitions / (round_up(warps, partitions) / partitions);
  return static_cast<uint32_t>(std::min<uint64_t>(of_warp / kWarpSize / kUnit * kUnit, most_of_thread(l)));
}

uint32_t allowed(const Launch& l) { return std::min(l.program->function->directives.maxnreg.value_or(most_of_thread(l)), share(l).value_or(most_of_thread(l))); }

}  // namespace

uint32_t known_registers(const Launch& l) {
  const isa::Directives& d = l.program->function->directives;
  if (!d.maxnreg.has_value() && !(share(l).has_value() && d.minnctapersm.has_value())) return 0;
  // A bound of the block without a minimum of CTAs limits nothing here: .maxnreg 200 .maxntid 512 has 200.
  const uint32_t most = d.minnctapersm.has_value() ? allowed(l) : *d.maxnreg;
  const uint32_t asked = l.program->most_registers;
  return std::max(asked == 0 ? most : std::min(most, asked), kLeastOfSetmaxnreg);
}

uint32_t entry_registers(const Launch& l) {
  const uint32_t known = l.program->sets_registers ? known_registers(l) : 0;
  if (known != 0) return known;
  // Who writes .maxnreg has looked at the kernel's need: quantize-fp8 has 40, ptxas takes 38, and the fit has 32.
  const bool said = l.program->function->directives.maxnreg.has_value();
  return std::min(said ? l.estimated_registers : allocated(l.estimated_registers), allowed(l));
}

}  // namespace drywell::sim
