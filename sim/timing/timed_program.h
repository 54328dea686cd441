// The timing driver's static data of each instruction: pipe, latency, interval, registers, and
// how it interacts with the rest of the SM. Made once per launch from the decoded program and the
// architecture's figures.
#pragma once

#include <string>
#include <vector>

#include "drywell/sim/arch_config.h"
#include "drywell/sim/space.h"
#include "sim/state/program.h"
#include "sim/timing/lanes_apart.h"
#include "sim/timing/merged_loads.h"
#include "sim/timing/scoreboard.h"

namespace drywell::sim {

/// The driver's treatment of an instruction.
enum class OpKind : uint8_t {
  folded,  // costs nothing (sim/timing/idioms.h)
  local,   // touches only its warp: a pipe of the sub-partition, results after a latency
  branch,
  exit,
  memory,   // load, store, atomic: its addresses determine its timing
  lsu,      // one pass through the load/store unit, results after a latency (shuffles, ldmatrix)
  hold,     // the warp continues after the latency; may block (fences, arrivals, waits, allocation)
  wait,     // mbarrier.try_wait, test_wait
  barrier,  // named barriers
  async,    // issues asynchronous operations
};

/// Scoreboard slots are the virtual registers of each function, predicates included.
struct OpInfo {
  OpKind kind = OpKind::local;
  Pipe pipe = Pipe::none;
  isa::TimingClass timing{};
  uint8_t queue = 1;      // operations the pipe admits ahead
  uint16_t slots = 1;     // issue cycles: the machine instructions that ptxas makes of it
  uint8_t elsewhere = 0;  // issue cycles of machine instructions that it needs in other places
  bool store = false;     // memory: writes only
  bool atomic = false;
  bool real = false;                // memory: of floats
  bool swaps = false;               // atomic: compare and swap
  bool counts = false;              // atomic: adds one
  bool one_lane = false;            // atomic: one access for the warp (warp_atomics.h)
  bool cached = false;              // memory: may hit in the L1, or leaves there what it stores
  bool constant = false;            // memory: of constant memory, at a register's address
  bool relaxed = false;             // .relaxed
  bool fenced = false;              // .release at cluster scope or wider: a fence comes first
  Producer unit = Producer::other;  // where its results come from
  bool either_pipe = false;         // ALU or FMA: which one is decided for the block (balance_pipes)
  bool sequence = false;            // is_sequence()
  bool arrives = false;             // barriers: does not wait
  bool parts = false;               // branch: lanes may go different ways, and meet again
  bool meets = false;               // lanes that went different ways meet before it
  Space space = Space::generic;
  uint16_t bytes = 0;    // memory: per lane
  uint8_t matrices = 0;  // ldmatrix, stmatrix
  uint8_t piece = 0;     // wmma loads and stores: bytes of a line that a machine instruction moves, of eight lines together; others: 0
  uint16_t latency = 0;
  uint16_t admission = 0;  // instructions of one class are accepted by their units at the same cycles (Pipes::admits)
  float interval = 0;
  uint32_t first = 0;  // in TimedProgram::slots: reads, then writes
  uint16_t reads = 0, writes = 0;
  uint32_t guard = ~0u;  // slot of the guard predicate
  uint32_t line = 0;     // in TimedProgram::lines
};

struct TimedProgram {
  TimedProgram(const Program& p, const ArchConfig& arch);

  /// The registers of an instruction of `ops`.
  Operands operands(const OpInfo& x) const {
    const uint32_t* first = slots.data() + x.first;
    return {{first, x.reads}, {first + x.reads, x.writes}, x.guard, guard_extra, x.unit};
  }

  std::vector<OpInfo> ops;  // per pc
  std::vector<uint32_t> slots;
  uint32_t slot_count = 0;
  struct Line {
    std::string file;
    uint32_t line = 0;
  };
  std::vector<Line> lines;
  uint16_t guard_extra = 0;         // cycles that a guard needs beyond a value's latency
  bool talks_between_ctas = false;  // global atomics, volatile or ordered accesses
  bool orders_ctas = false;         // and some of them do not commute: SMs must not run at the same time

 private:
  void bill_leaders(size_t first, const std::vector<MergedLoad>& loads);
  void balance_pipes(const isa::Function& f, size_t first);
  void mark_meetings(const isa::Function& f, const LanesApart& lanes, size_t first);
  void forget_old_values(const isa::Function& f, size_t first);
  void bill_reciprocals(const isa::Function& f, size_t first);
  void mark_warp_atomics(const isa::Function& f, const LanesApart& lanes, size_t first);
};

/// Many machine instructions, each dependent on the one before.
bool is_sequence(isa::TimingClass t);
/// A quotient or a root of doubles: an approximation, refined by dependent products.
bool is_refined(const isa::Instruction& i);
/// Cycles that a guard needs beyond a value's latency.
uint16_t extra_of_guards(const ArchConfig& arch);
/// The cost class of one instruction: that of its row, refined by its modifiers (state space, special register,
/// scope).
isa::TimingClass timing_class(const isa::Function& f, const isa::Instruction& i);

}  // namespace drywell::sim
