// Running warp-wide instructions from PTX text: whole warps, every register of every lane given and seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "drywell/sim/device.h"

namespace drywell::test {

/// A kernel of one-warp CTAs around `body`. Input registers are %i0, %i1, … and output registers %o0, %o1, … of `bits`
/// each; %t<64> are .b32, %d<64> .b64, %p<8> predicates; %lane is the lane, %s the shared address of 8 KiB. Shared memory
/// is filled from `smem` before the body and, with `store_smem`, its first bytes come back.
struct WarpProgram {
  std::string body;
  unsigned inputs = 0, outputs = 0;
  unsigned bits = 32;
  std::string target = "sm_100a";
  std::vector<uint8_t> smem = {};
  size_t store_smem = 0;  // bytes, a multiple of 128
};

struct WarpResult {
  std::vector<uint64_t> registers;  // [warp][output][lane]
  std::vector<uint8_t> smem;        // of the first warp
};

/// `in` is [warp][input][lane]. Throws InputError with the fault if the guest made one.
WarpResult run_warps(const WarpProgram& program, const std::vector<uint64_t>& in, size_t warps = 1,
                     sim::DriverKind driver = sim::DriverKind::eager, uint64_t seed = 0);

/// The module's text, for ptxas.
std::string warp_program_text(const WarpProgram& program);

}  // namespace drywell::test
