// Runs warp- and warpgroup-wide instructions from PTX text: the test sets and reads every register of every thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "drywell/sim/device.h"

namespace drywell::test {

/// A kernel of small CTAs around `body`. Input registers are %i0, %i1, … and output registers %o0, %o1, … of `bits` each;
/// %t<64> are .b32, %d<64> .b64, %p<8> predicates; %lane is the thread, %s the shared address of `smem_bytes`. Shared
/// memory is filled from `smem` before the body; with `store_smem`, the result has its first bytes.
struct WarpProgram {
  std::string body;
  unsigned inputs = 0, outputs = 0;
  unsigned bits = 32;
  std::string target = "sm_100a", version = "9.0";
  unsigned threads = 32;
  size_t smem_bytes = 8192;
  std::vector<uint8_t> smem = {};
  size_t store_smem = 0;  // bytes, a multiple of 4 * threads
};

struct WarpResult {
  std::vector<uint64_t> registers;  // [CTA][output][thread]
  std::vector<uint8_t> smem;        // of the first CTA
};

/// `in` is [CTA][input][thread]. Throws InputError with the fault if the guest made one.
WarpResult run_warps(const WarpProgram& program, const std::vector<uint64_t>& in, size_t ctas = 1,
                     sim::DriverKind driver = sim::DriverKind::eager, uint64_t seed = 0);

/// The module's text, for ptxas.
std::string warp_program_text(const WarpProgram& program);

}  // namespace drywell::test
