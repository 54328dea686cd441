// Closed forms of the tensor core's time (docs/facts/timing.md §4): the cost of one tcgen05.mma, from its shape and
// the place of its operands. Figures from ArchConfig::umma; the formulas stand in arch_keys.inc next to them.
#pragma once

#include "drywell/sim/arch_config.h"
#include "sim/state/async_op.h"

namespace drywell::sim {

struct UmmaShape {
  uint32_t m = 128, n = 8;
  bool pair = false;  // cta_group::2
  bool a_in_tmem = false;
  bool ws = false, sparse = false, scaled = false;
  bool k96 = false;             // K = 96 of sm_103: rows of 48 bytes in the time of 32 (data sheet: 1.5 times the rate)
  bool a_in_collector = false;  // A is kept from the instruction before: not fetched again
};

/// Bytes of an operand's row, if other kinds have `k_bytes`.
constexpr double row_bytes(const UmmaShape& s, int64_t k_bytes) { return static_cast<double>(k_bytes) * (s.k96 ? 1.5 : 1); }

struct UmmaCost {
  double interval = 0;  // cycles until the pipe accepts the next instruction
  double fetch = 0;     // cycles in which the SMEM read stage of each SM is occupied
  double pass = 0;      // start of service to the last column leaving the array, drain and pair extras included
};

UmmaShape umma_shape(const Umma& u);
UmmaCost umma_cost(const ArchConfig& arch, const UmmaShape& s);

/// Latency from the issue of one instruction and its commit to the return of the wait (docs/facts/timing.md §4.2): start, pass,
/// commit's signal and the wake-up of the waiter.
double umma_latency(const ArchConfig& arch, const UmmaShape& s);

/// Service of a tcgen05.cp: the cycles of its source's SMEM reads in steady state.
double tmem_copy_interval(const ArchConfig& arch, const TmemCopy& c);
/// Admission interval of tcgen05.cp from one warp.
double tmem_copy_issue(const ArchConfig& arch, const TmemCopy& c);

/// Cycles a tcgen05.ld or st occupies its sub-partition's TMEM port.
double tmem_port_service(const ArchConfig& arch, const TmemLdSt& t);

}  // namespace drywell::sim
