#include "sim/timing/divisors.h"

#include <algorithm>

#include "drywell/isa/spec.h"
#include "sim/timing/block_motion.h"

namespace drywell::sim {
namespace {

using isa::Instruction;
using isa::Operand;

class Divisors {
 public:
  Divisors(const isa::Function& f, const std::vector<isa::Registers>& registers) : f_(f), registers_(registers), loops_(loops_of(f)) {}

  std::vector<uint8_t> find() {
    std::vector<uint8_t> takes(f_.body.size(), 0);
    for (uint32_t i = 0; i < f_.body.size(); ++i) {
      if (!divides(i)) continue;
      takes[i] = is_known_before(i) || is_known_before_a_loop(i) ? 0 : 1;
      earlier_.push_back(i);
    }
    return takes;
  }

 private:
  bool divides(uint32_t i) const {
    const Instruction& x = f_.body[i];
    return isa::spec(x.op).timing == isa::TimingClass::idiv && isa::type_bits(x.mod(isa::Slot::type)) <= 32 && divisor(i).kind == Operand::Kind::reg;
  }
  const Operand& divisor(uint32_t i) const { return f_.operands(f_.body[i])[2]; }
  bool is_written(isa::RegId r, uint32_t from, uint32_t to) const {
    for (uint32_t i = from; i < to; ++i) {
      const auto& writes = registers_[i].writes;
      if (std::find(writes.begin(), writes.end(), r) != writes.end()) return true;
    }
    return false;
  }
  // A branch from `from` on goes over position `over` to a place up to `to`.
  bool is_skipped(uint32_t from, uint32_t over, uint32_t to) const {
    for (uint32_t i = from; i < over; ++i) {
      if (isa::spec(f_.body[i].op).flow != isa::Flow::branch) continue;
      for (const Operand& o : f_.operands(f_.body[i])) {
        if (o.kind == Operand::Kind::label && f_.labels[o.index].position > over && f_.labels[o.index].position <= to) return true;
      }
    }
    return false;
  }
  bool is_known_before(uint32_t i) const {
    return std::any_of(earlier_.begin(), earlier_.end(), [&](uint32_t e) {
      return divisor(e).index == divisor(i).index && !is_written(divisor(i).index, e, i) && !is_skipped(0, e, i);
    });
  }
  bool is_known_before_a_loop(uint32_t i) const {
    return std::any_of(loops_.begin(), loops_.end(), [&](const Loop& l) {
      return l.first <= i && i <= l.last && !is_written(divisor(i).index, l.first, l.last + 1) && !is_skipped(l.first, i, l.last);
    });
  }

  const isa::Function& f_;
  const std::vector<isa::Registers>& registers_;
  std::vector<Loop> loops_;
  std::vector<uint32_t> earlier_;
};

}  // namespace

std::vector<uint8_t> takes_reciprocal(const isa::Function& f, const std::vector<isa::Registers>& registers) { return Divisors(f, registers).find(); }

}  // namespace drywell::sim
