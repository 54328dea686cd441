#include "sim/observer_adapter.h"

#include <array>
#include <variant>

#include "drywell/isa/print.h"
#include "sim/engine/footprint.h"
#include "sim/exec/exec.h"

namespace drywell::sim {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<AsyncOp::Payload>> kKindNames = {
#define ASYNC_KIND(KIND_, PAYLOAD_, UNIT_) #KIND_,
#include "drywell/sim/async_kinds.inc"
#undef ASYNC_KIND
};

CtaPlace place(const Cta& c) { return {c.index, c.cluster->index, c.rank, c.sm}; }
WarpPlace place(const Warp& w) { return {place(*w.cta), w.index}; }
uint64_t now(const Warp& w) { return w.cta->cluster->now; }

/// True for the implicit return after a function's last instruction; the module does not contain it.
bool is_end(const Program& p, uint32_t pc) { return pc + 1 == p.code.size() || p.code[pc + 1].function != p.code[pc].function; }

CodePoint code_point(const Program& p, uint32_t pc) {
  const DecodedOp& op = p.code[pc];
  const isa::Function& f = p.function_of(op);
  if (is_end(p, pc)) return {pc, op.opcode, &f, nullptr, "ret;", {}};
  const isa::Instruction& i = f.body[op.instr];
  const std::vector<SourcePos> lines = isa::InstructionRef{*p.module, f, i}.author_lines();
  return {pc, op.opcode, &f, &i, isa::print_instruction(f, i), lines.empty() ? SourcePos{} : lines.front()};
}

}  // namespace

std::string_view async_kind_name(AsyncKind k) { return kKindNames[static_cast<size_t>(k)]; }

void ObserverAdapter::launch_started(const Launch& l) {
  program_ = l.program;
  code_.clear();
  for (uint32_t pc = 0; pc < program_->code.size(); ++pc) code_.push_back(code_point(*program_, pc));
  to_.launch_started({program_->function->name, l.grid, l.block, l.cluster, l.smem_bytes, program_->module, code_});
}

void ObserverAdapter::cta_started(const Cta& c) { to_.cta_started({place(c), c.cluster->now}); }
void ObserverAdapter::cta_finished(const Cta& c) { to_.cta_finished({place(c), c.cluster->now}); }

// The hub sends every listener the events that any listener wants.
void ObserverAdapter::instruction(const Warp& w, const DecodedOp& op, LaneMask lanes) {
  if (wants_.instructions) to_.instruction({place(w), lanes, at(op), now(w)});
}

void ObserverAdapter::memory(const Warp& w, const DecodedOp& op, LaneMask lanes, Space s, uint32_t bytes, bool store) {
  MemoryEvent e{place(w), lanes, at(op), s, bytes, store, {}, now(w)};
  for_lanes(lanes, [&](uint32_t lane) { e.addresses[lane] = lane_address(w, op, lane); });
  to_.memory(e);
}

void ObserverAdapter::mbarrier(const Cta& c, uint32_t offset, const Mbarrier& b, MbarrierEvent e, int64_t amount) {
  if (e == MbarrierEvent::wait_true && !wants_.waits) return;
  to_.mbarrier({place(c), offset, e, amount, b.phase, b.pending, b.expected, b.tx, c.cluster->now});
}

void ObserverAdapter::async(const Cluster& c, const AsyncOp& op, AsyncMoment m) {
  std::vector<Span> reads, writes;
  if (m == AsyncMoment::issue && wants_.spans) {
    const Footprint touched(c, op);
    touched.reads([&](const Span& s) { reads.push_back(s); });
    touched.writes([&](const Span& s) { writes.push_back(s); });
  }
  const Warp& issuer = c.ctas[op.issuer.cta]->warps[op.issuer.warp];
  to_.async({op.id, static_cast<AsyncKind>(op.payload.index()), m, place(issuer), op.issuer.lane, code_[op.issuer.pc], reads, writes, c.now});
}

void ObserverAdapter::named_barrier(const Warp& w, uint32_t id, const NamedBarrier& b) {
  to_.named_barrier({place(w), id, b.expected, b.arrived, b.generation, now(w)});
}

void ObserverAdapter::blocked(const Warp& w, const DecodedOp& op) { to_.blocked({place(w), at(op), w.block.reason, now(w)}); }

void ObserverAdapter::stalled(const Warp& w, Stall s, uint64_t from, uint64_t to) { to_.stalled({place(w), s, from, to}); }

}  // namespace drywell::sim
