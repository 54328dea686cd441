#include "isa/quotient.h"

#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "drywell/isa/registers.h"

namespace drywell::isa {
namespace {

Operand f32(float v) { return Operand::imm(std::bit_cast<uint32_t>(v), ImmKind::f32); }

/// Registers that one unguarded mov of an immediate writes and nothing else.
class Constants {
 public:
  explicit Constants(const Function& f) : f_(f), writers_(f.regs.size()), writer_(f.regs.size()) {
    const std::vector<Registers> registers = registers_of(f);
    for (uint32_t i = 0; i < f.body.size(); ++i) {
      for (const RegId r : registers[i].writes) {
        ++writers_[r];
        writer_[r] = i;
      }
    }
  }
  std::optional<float> of(const Operand& o) const {
    if (o.kind == Operand::Kind::imm) return std::bit_cast<float>(static_cast<uint32_t>(o.value));
    if (o.kind != Operand::Kind::reg || writers_[o.index] != 1) return std::nullopt;
    const Instruction& mov = f_.body[writer_[o.index]];
    const bool is_mov = spec(mov.op).timing == TimingClass::move && spec(mov.op).memory == MemoryRole::none && mov.guard == kNoReg;
    const auto operands = f_.operands(mov);
    if (!is_mov || operands.size() != 2 || operands[1].kind != Operand::Kind::imm) return std::nullopt;
    return of(operands[1]);
  }

 private:
  const Function& f_;
  std::vector<uint32_t> writers_, writer_;
};

}  // namespace

void multiply_by_reciprocals(Function& f) {
  const Constants constants(f);
  Function made;  // of one instruction
  for (Instruction& i : f.body) {
    if (spec(i.op).fold != Fold::float_quotient) continue;
    const std::optional<float> divisor = constants.of(f.operands(i)[2]);
    // Beyond these, ptxas scales both operands first.
    if (!divisor.has_value() || !(std::fabs(*divisor) >= 0x1p-126f && std::fabs(*divisor) <= 0x1p126f)) continue;
    const Operand d = f.operands(i)[0], a = f.operands(i)[1];
    made.pool.clear();
    made.body.clear();
    Emitter(made).push(i.has(Mod::ftz) ? "mul.ftz.f32" : "mul.f32", i, {d, a, f32(1 / *divisor)});
    i = made.body[0];
    i.operands = static_cast<uint32_t>(f.pool.size());
    f.pool.insert(f.pool.end(), made.pool.begin(), made.pool.end());
  }
}

std::pair<Operand, Operand> quotient_factors(const Function& f, const Instruction& q, Emitter& emit) {
  const bool ftz = q.has(Mod::ftz), full = q.has(Mod::full);
  const Operand a = f.operands(q)[1], b = f.operands(q)[2];
  const std::string type = ftz ? ".ftz.f32" : ".f32";
  const Operand magnitude = emit.fresh(Mod::f32), scale = emit.fresh(Mod::f32), reciprocal = emit.fresh(Mod::f32);
  const Operand beyond = emit.fresh(Mod::pred), dividend = emit.fresh(Mod::f32), divisor = emit.fresh(Mod::f32);
  emit.push("mov.f32", q, {scale, f32(1)});
  emit.push("abs" + type, q, {magnitude, b});
  if (full) {
    emit.push("setp.gt" + type, q, {beyond, magnitude, f32(0x1p126f)});
    emit.push("selp.f32", q, {scale, f32(0.25f), scale, beyond});
  }
  if (!ftz) {
    emit.push("setp.lt.f32", q, {beyond, magnitude, f32(0x1p-126f)});
    emit.push("selp.f32", q, {scale, f32(0x1p24f), scale, beyond});
  }
  emit.push("mul.rn" + type, q, {divisor, b, scale});
  emit.push("mul.rn" + type, q, {dividend, a, scale});
  emit.push("rcp.approx.ftz.f32", q, {reciprocal, divisor});
  return {reciprocal, dividend};
}

}  // namespace drywell::isa
