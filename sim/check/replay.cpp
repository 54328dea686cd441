#include "sim/check/replay.h"

#include <cstring>

#include "drywell/isa/spec.h"

namespace drywell::sim::check {
namespace {

constexpr uint32_t kWidest = 512;  // bytes of a register of 128-bit lanes

}  // namespace

bool is_computation(const DecodedOp& op) {
  const isa::InstrSpec& row = isa::spec(op.opcode);
  return row.engine == isa::Engine::alu && row.flow == isa::Flow::next && row.sync == isa::SyncRole::none && row.memory == isa::MemoryRole::none;
}

bool is_register_product(const DecodedOp& op) {
  const isa::InstrSpec& row = isa::spec(op.opcode);
  return row.timing == isa::TimingClass::mma_sync && row.completion == isa::Completion::sync && row.memory == isa::MemoryRole::none;
}

void Replay::load(const Warp& w, const DecodedOp& op, std::span<const uint32_t> registers) {
  const FunctionCode& code = w.cta->cluster->launch->program->functions[op.function];
  if (registers_.size() < code.frame_bytes + kWidest) registers_.resize(code.frame_bytes + kWidest);
  for (const uint32_t r : registers) std::memcpy(registers_.data() + r, w.bank[0] + r, std::min(kWidest, code.frame_bytes - r));
  predicates_.assign(w.preds, w.preds + code.pred_count);
  warp_.cta = w.cta;
  warp_.index = w.index;
  warp_.bank[0] = registers_.data();
  warp_.bank[1] = w.bank[1];
  warp_.preds = predicates_.data();
}

bool Replay::run(const DecodedOp& op, LaneMask mask) {
  warp_.active = warp_.alive = mask;
  return op.fn(warp_, op, mask) == Effect::next;
}

}  // namespace drywell::sim::check
