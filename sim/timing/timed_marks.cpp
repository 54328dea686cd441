// What a whole function decides about its instructions: the pipes of a block, places where lanes meet, atomic operations of a warp, divisors.
#include <algorithm>

#include "sim/timing/block_motion.h"
#include "sim/timing/divisors.h"
#include "sim/timing/lanes_apart.h"
#include "sim/timing/timed_program.h"
#include "sim/timing/warp_atomics.h"

namespace drywell::sim {
namespace {

// The unit whose results take a cycle more to another one.
Producer producer_of(Pipe p) { return p == Pipe::alu ? Producer::alu : p == Pipe::fma ? Producer::fma
                                                                   : p == Pipe::xu    ? Producer::xu
                                                                                      : Producer::other; }

// A loop's branch has its meeting place behind the loop.
bool goes_forward(const isa::Function& f, const isa::Instruction& i, size_t at) {
  const auto operands = f.operands(i);
  return std::all_of(operands.begin(), operands.end(), [&](const isa::Operand& o) { return o.kind != isa::Operand::Kind::label || f.labels[o.index].position > at; });
}

}  // namespace

// ptxas gives a sum or a shift to the FMA pipe where the block's instructions before it keep the ALU busier (lop_add and add_fma of cross.toml,
// traces/hw/h200-2026-11-27-crossings.csv).
void TimedProgram::balance_pipes(const isa::Function& f, size_t first) {
  const std::vector<uint32_t> starts = block_starts(f);
  for (size_t b = 0; b + 1 < starts.size(); ++b) {
    double alu = 0, fma = 0;
    for (uint32_t i = starts[b]; i < starts[b + 1]; ++i) {
      OpInfo& x = ops[first + i];
      if (x.kind != OpKind::local) continue;
      if (x.either_pipe && fma < alu) x.pipe = Pipe::fma;
      if (x.pipe == Pipe::alu) alu += x.interval;
      if (x.pipe == Pipe::fma) fma += x.interval;
      x.unit = producer_of(x.pipe);
    }
  }
}

// Where lanes may part, ptxas notes the place where they meet before the branch, and lets them wait there (jump_lane_* of jumps.toml,
// traces/hw/h200-2026-11-27-crossings.csv: four issue cycles more than a branch of all lanes).
void TimedProgram::mark_meetings(const isa::Function& f, const LanesApart& lanes, size_t first) {
  constexpr uint8_t kMeeting = 4, kElsewhere = 4;
  for (size_t i = 0; i < f.body.size(); ++i) {
    ops[first + i].parts = lanes.parts[i] != 0;
    ops[first + i].meets = lanes.meets[i] != 0;
    if (lanes.parts[i] == 0 || !goes_forward(f, f.body[i], i)) continue;
    ops[first + i].slots += kMeeting;
    ops[first + i].elsewhere = kElsewhere;
  }
}

void TimedProgram::mark_warp_atomics(const isa::Function& f, const LanesApart& lanes, size_t first) {
  const Places places(f, isa::registers_of(f));
  for (size_t i = 0; i < f.body.size(); ++i) {
    if (!is_one_for_the_warp(f, f.body[i], places, lanes)) continue;
    ops[first + i].one_lane = true;
    ops[first + i].slots += kJoinOfLanes;
  }
}

// nvcc writes `atom` for every atomic operation; where nothing reads the old value, ptxas makes it a reduction, and nothing waits for it (cta_uni of
// warp_atomics.toml, traces/hw/h200-2026-11-28-tiles.csv). Exchanges have no such form (swap_once of swaps.toml, traces/hw/h200-2026-11-28-apart.csv).
void TimedProgram::forget_old_values(const isa::Function& f, size_t first) {
  const std::vector<uint8_t> unread = isa::unread_results(f, isa::registers_of(f));
  for (size_t i = 0; i < f.body.size(); ++i) {
    const bool swaps = f.body[i].has(isa::Mod::cas) || f.body[i].has(isa::Mod::exch);
    if (ops[first + i].atomic && unread[i] != 0 && !swaps) ops[first + i].writes = 0;
  }
}

// The reciprocal of a divisor, and the signs of both numbers (div_u64-32-small, div_s32-1024-small of divide.toml of tests/corpus/timing/mechanisms against
// rem_u32, whose divisor is known before the loop; traces/hw/h200-2026-11-28-apart.csv).
void TimedProgram::bill_reciprocals(const isa::Function& f, size_t first) {
  constexpr uint16_t kReciprocal = 62, kReciprocalSlots = 7, kSigns = 2, kSignsOf64 = 39, kSignSlots = 8, kSignSlotsOf64 = 12;
  const std::vector<uint8_t> takes = takes_reciprocal(f, isa::registers_of(f));
  for (size_t i = 0; i < f.body.size(); ++i) {
    OpInfo& x = ops[first + i];
    const bool wide = x.timing == isa::TimingClass::idiv64;
    if (x.timing != isa::TimingClass::idiv && !wide) continue;
    const bool has_signs = isa::is_signed_type(f.body[i].mod(isa::Slot::type));
    const auto more = static_cast<uint16_t>((takes[i] != 0 ? kReciprocalSlots : 0) + (!has_signs ? 0 : wide ? kSignSlotsOf64
                                                                                                            : kSignSlots));
    x.latency += static_cast<uint16_t>((takes[i] != 0 ? kReciprocal : 0) + (!has_signs ? 0 : wide ? kSignsOf64
                                                                                                  : kSigns));
    x.slots += more;
    x.interval += more;
  }
}

}  // namespace drywell::sim
