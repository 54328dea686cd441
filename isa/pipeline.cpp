#include "drywell/isa/pipeline.h"

namespace drywell::isa {
namespace {

// CUTLASS's suspend-time hint, 10 ms (cutlass/arch/barrier.h); the chip ignores it (docs/facts/tma-mbarrier.md §1.3).
constexpr int kWaitHintNs = 0x989680;

}  // namespace

PipelineState::PipelineState(KernelBuilder& k, uint32_t stages, Role role, SourceLocation w) : k_(&k), stages_(stages) {
  index_ = k.emit_def(OpText("mov.u32", w), {0});
  phase_ = k.emit_def(OpText("mov.u32", w), {role == Role::producer ? 1 : 0});
}

void PipelineState::advance(SourceLocation w) {
  KernelBuilder& k = *k_;
  const Reg wrapped = k.reg(Mod::pred);
  k.emit(OpText("add.u32", w), {index_, index_, 1});
  k.emit(OpText("setp.eq.u32", w), {wrapped, index_, stages_});
  k.when(wrapped).emit(OpText("xor.b32", w), {phase_, phase_, 1});
  k.when(wrapped).emit(OpText("mov.u32", w), {index_, 0});
}

PipelineState PipelineState::snapshot(SourceLocation w) const {
  PipelineState s(*k_, stages_);
  s.index_ = k_->emit_def(OpText("mov.u32", w), {index_});
  s.phase_ = k_->emit_def(OpText("mov.u32", w), {phase_});
  return s;
}

void mbarrier_wait(KernelBuilder& k, Reg address, Arg parity, SourceLocation w) {
  const LabelRef top = k.label("wait");
  const Reg done = k.reg(Mod::pred);
  k.bind(top);
  k.emit(OpText("mbarrier.try_wait.parity.shared::cta.b64", w), {done, mem(address), std::move(parity), kWaitHintNs});
  k.unless(done).emit(OpText("bra", w), {top});
}

void MbarrierRing::init(uint32_t full_arrivals, uint32_t empty_arrivals, Where w) {
  for (uint32_t i = 0; i < stages_; ++i) k_->emit(OpText("mbarrier.init.shared::cta.b64", w), {mem(base_, offset_ + 8 * i), full_arrivals});
  for (uint32_t i = 0; i < stages_; ++i) k_->emit(OpText("mbarrier.init.shared::cta.b64", w), {mem(base_, offset_ + 8 * (stages_ + i)), empty_arrivals});
}

Reg MbarrierRing::address(const PipelineState& s, int64_t offset, Where w) {
  const Reg a = k_->emit_def(OpText("mad.lo.u32", w), {s.index(), 8, base_});
  return k_->emit_def(OpText("add.u32", w), {a, offset});
}

Reg MbarrierRing::full(const PipelineState& s, Where w) { return address(s, offset_, w); }
Reg MbarrierRing::empty(const PipelineState& s, Where w) { return address(s, offset_ + 8 * int64_t{stages_}, w); }

Reg MbarrierRing::try_acquire(const PipelineState& s, Where w) {
  const Reg done = k_->reg(Mod::pred);
  k_->emit(OpText("mbarrier.try_wait.parity.shared::cta.b64", w), {done, mem(empty(s, w)), s.phase()});
  return done;
}

Reg MbarrierRing::try_wait(const PipelineState& s, Where w) {
  const Reg done = k_->reg(Mod::pred);
  k_->emit(OpText("mbarrier.try_wait.parity.shared::cta.b64", w), {done, mem(full(s, w)), s.phase()});
  return done;
}

void MbarrierRing::acquire(const PipelineState& s, Reg token, Where w) {
  k_->if_not(
      token, [&] { acquire(s, w); }, w);
}
void MbarrierRing::acquire(const PipelineState& s, Where w) { mbarrier_wait(*k_, empty(s, w), s.phase(), w); }
void MbarrierRing::wait(const PipelineState& s, Reg token, Where w) {
  k_->if_not(
      token, [&] { wait(s, w); }, w);
}
void MbarrierRing::wait(const PipelineState& s, Where w) { mbarrier_wait(*k_, full(s, w), s.phase(), w); }

void MbarrierRing::tail(PipelineState& s, Where w) {
  k_->for_range(
      0, stages_, 1, [&](Reg) {
        acquire(s, w);
        s.advance(w);
      },
      w);
}

}  // namespace drywell::isa
