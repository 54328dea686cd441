#include "sim/timing/unrolled_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "sim/timing/counted_loop.h"

namespace drywell::sim {
namespace {

using isa::Instruction;
using isa::Mod;
using isa::Operand;
using isa::RegId;

constexpr int64_t kCopies = 4;

/// The test whether a whole round of copies is left: the counter against the bound less three steps.
struct RoundTest {
  Mod compare = Mod::none, type = Mod::none;
};

bool counts_up(Mod m) { return m == Mod::lt || m == Mod::le || m == Mod::lo || m == Mod::ls; }
bool counts_down(Mod m) { return m == Mod::gt || m == Mod::ge || m == Mod::hi || m == Mod::hs; }

bool is_signed(Mod type, Mod compare) {
  const bool by_name = compare == Mod::lo || compare == Mod::ls || compare == Mod::hi || compare == Mod::hs;
  return !by_name && (type == Mod::s32 || type == Mod::s64);
}

// A loop until equality has a whole round left if the counter is on its side of the bound by more than three steps, without a sign.
std::optional<RoundTest> round_test(const CountedLoop& loop) {
  const bool up = loop.counted().step > 0;
  if (up ? counts_up(loop.compare) : counts_down(loop.compare)) return RoundTest{loop.compare, loop.type};
  if (loop.compare != Mod::ne) return std::nullopt;
  return RoundTest{up ? Mod::lt : Mod::gt, isa::type_bits(loop.type) == 64 ? Mod::u64 : Mod::u32};
}

void set_mod(Instruction& i, isa::Slot slot, Mod m) {
  const isa::InstrSpec& row = isa::spec(i.op);
  const auto s = static_cast<size_t>(row.slot_index(slot));
  const auto values = row.slots[s].values();
  i.mods[s] = static_cast<uint8_t>(std::find(values.begin(), values.end(), m) - values.begin() + 1);
}

/// Writes the new body of one function.
class Unroller {
 public:
  explicit Unroller(isa::Function& f) : f_(f), registers_(registers_of(f)) {}

  void run() {
    const std::vector<uint32_t> starts = block_starts(f_);
    std::vector<uint32_t> moved(f_.body.size() + 1);
    for (size_t b = 0; b + 1 < starts.size(); ++b) {
      const std::optional<CountedLoop> loop = counted_loop(f_, registers_, starts[b], starts[b + 1]);
      const std::optional<RoundTest> test = loop.has_value() ? round_test(*loop) : std::nullopt;
      std::fill(moved.begin() + starts[b], moved.begin() + starts[b + 1], static_cast<uint32_t>(body_.size()));
      if (test.has_value() && unroll(*loop, *test)) continue;
      for (uint32_t i = starts[b]; i < starts[b + 1]; ++i) {
        moved[i] = static_cast<uint32_t>(body_.size());
        body_.push_back(f_.body[i]);
      }
    }
    moved[f_.body.size()] = static_cast<uint32_t>(body_.size());
    if (loops_ == 0) return;
    for (isa::Label& l : f_.labels) l.position = moved[l.position];
    for (isa::Annotation& a : f_.pragmas) a.position = moved[a.position];
    f_.labels.insert(f_.labels.end(), labels_.begin(), labels_.end());
    f_.body = std::move(body_);
  }

 private:
  //   first:  limit = bound - 3 steps; to rest if that overflows, or if no round is left
  //   round:  four copies; again while a round is left; to done if no pass is left
  //   rest:   the loop as it was
  //   done:
  bool unroll(const CountedLoop& loop, const RoundTest& test) {
    const Instruction& compare = f_.body[loop.test];
    const std::optional<Operand> limit = limit_of(loop, test);
    if (!limit.has_value()) return false;
    const RegId goes_on = f_.body[loop.branch].guard, whole = new_register(goes_on);
    const uint32_t round = new_label("round"), rest = new_label("rest"), done = new_label("done");
    const Operand counter = Operand::reg(loop.counter);
    const auto is_whole = [&](const Operand& a, const Operand& b) {
      Instruction i = made(compare, {Operand::reg(whole), a, b});
      set_mod(i, isa::Slot::cmp, test.compare);
      set_mod(i, isa::Slot::type, test.type);
      body_.push_back(i);
    };
    if (limit->kind == Operand::Kind::reg) {
      body_.push_back(made(sum_in(loop.counted()), {*limit, loop.bound, Operand::imm((1 - kCopies) * loop.counted().step)}));
      is_whole(*limit, loop.bound);
      branch(loop, rest, whole, true);
    }
    is_whole(counter, *limit);
    branch(loop, rest, whole, true);
    place(round);
    for (int64_t k = 0; k < kCopies; ++k) copy(loop, k);
    is_whole(counter, *limit);
    branch(loop, round, whole, false);
    body_.push_back(made(compare, {Operand::reg(goes_on), counter, loop.bound}));
    branch(loop, done, goes_on, true);
    place(rest);
    for (uint32_t i = loop.first; i < loop.branch; ++i) body_.push_back(f_.body[i]);
    branch(loop, rest, goes_on, false);
    place(done);
    ++loops_;
    return true;
  }

  // An immediate limit must not leave the type's range; a register's is tested when the kernel runs.
  std::optional<Operand> limit_of(const CountedLoop& loop, const RoundTest& test) {
    if (loop.bound.kind == Operand::Kind::reg) return Operand::reg(new_register(loop.bound.index));
    const bool wide = isa::type_bits(test.type) == 64;
    const bool with_sign = is_signed(test.type, test.compare);
    if (wide && !with_sign && loop.bound.value < 0) return std::nullopt;
    const int64_t bound = wide ? loop.bound.value : with_sign ? static_cast<int32_t>(loop.bound.value)
                                                              : static_cast<int64_t>(static_cast<uint32_t>(loop.bound.value));
    const int64_t least = with_sign ? wide ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int32_t>::min() : 0;
    const int64_t greatest = wide ? std::numeric_limits<int64_t>::max() : with_sign ? std::numeric_limits<int32_t>::max()
                                                                                    : std::numeric_limits<uint32_t>::max();
    const int64_t less = (kCopies - 1) * loop.counted().step;
    if (less > 0 ? bound < least + less : bound > greatest + less) return std::nullopt;
    return Operand::imm(bound - less);
  }

  // Copy k of the body: its temporaries are its own, and inductions have the value of their pass.
  void copy(const CountedLoop& loop, int64_t k) {
    const bool last = k + 1 == kCopies;
    renamed_.clear();
    values_.clear();
    if (!last) {
      for (const RegId r : loop.temporaries) renamed_[r] = new_register(r);
    }
    for (uint32_t i = loop.first; i < loop.branch; ++i) {
      if (i == loop.test || changes_induction(loop, i)) continue;
      copy_instruction(loop, i, k);
    }
    if (!last) return;
    for (const auto& [r, induction] : loop.inductions) {
      body_.push_back(made(sum_in(induction), {Operand::reg(r), Operand::reg(r), Operand::imm(kCopies * induction.step)}));
    }
  }

  bool changes_induction(const CountedLoop& loop, uint32_t i) const {
    return std::any_of(loop.inductions.begin(), loop.inductions.end(), [&](const auto& x) { return x.second.changed_at == i; });
  }

  uint32_t sum_of(const Induction& x) const {
    const RegId next = f_.operands(f_.body[x.changed_at])[1].index;
    for (uint32_t i = x.changed_at; i-- > 0;) {
      if (std::find(registers_[i].writes.begin(), registers_[i].writes.end(), next) != registers_[i].writes.end()) return i;
    }
    return x.changed_at;
  }

  const Instruction& sum_in(const Induction& x) const { return f_.body[x.by_move ? sum_of(x) : x.changed_at]; }

  void copy_instruction(const CountedLoop& loop, uint32_t i, int64_t k) {
    Instruction instr = f_.body[i];
    const std::vector<Operand> old(f_.operands(instr).begin(), f_.operands(instr).end());
    std::vector<Operand> operands;
    for (const Operand& o : old) operands.push_back(substituted(loop, o, i, k));
    if (instr.guard != isa::kNoReg) instr.guard = name(instr.guard);
    body_.push_back(made(instr, operands));
  }

  RegId name(RegId r) const {
    const auto at = renamed_.find(r);
    return at == renamed_.end() ? r : at->second;
  }

  Operand substituted(const CountedLoop& loop, Operand o, uint32_t i, int64_t k) {
    const bool composite = o.kind == Operand::Kind::vec || o.kind == Operand::Kind::tensor || o.kind == Operand::Kind::pair || o.kind == Operand::Kind::args;
    if (composite) {
      std::vector<Operand> elements(f_.elements(o).begin(), f_.elements(o).end());
      for (Operand& e : elements) e = substituted(loop, e, i, k);
      o.index = static_cast<uint32_t>(f_.pool.size());
      f_.pool.insert(f_.pool.end(), elements.begin(), elements.end());
      return o;
    }
    const bool address = o.kind == Operand::Kind::addr && o.base == Operand::Base::reg;
    if (o.kind != Operand::Kind::reg && !address) return o;
    const auto induction = loop.inductions.find(o.index);
    if (induction == loop.inductions.end()) {
      o.index = name(o.index);
      return o;
    }
    const Induction& x = induction->second;
    const int64_t passed = (k + (i > x.changed_at ? 1 : 0)) * x.step;
    if (address)
      o.value += passed;
    else
      o.index = value_of(o.index, x, passed);
    return o;
  }

  // The induction's value after some passes, in a register of its own.
  RegId value_of(RegId r, const Induction& x, int64_t passed) {
    if (passed == 0) return r;
    const auto [at, fresh] = values_.try_emplace({r, passed}, 0);
    if (fresh) {
      at->second = new_register(r);
      body_.push_back(made(sum_in(x), {Operand::reg(at->second), Operand::reg(r), Operand::imm(passed)}));
    }
    return at->second;
  }

  Instruction made(Instruction like, std::initializer_list<Operand> operands) { return made(like, std::vector<Operand>(operands)); }
  Instruction made(Instruction like, const std::vector<Operand>& operands) {
    like.operands = static_cast<uint32_t>(f_.pool.size());
    f_.pool.insert(f_.pool.end(), operands.begin(), operands.end());
    return like;
  }

  void branch(const CountedLoop& loop, uint32_t label, RegId guard, bool negated) {
    Instruction b = made(f_.body[loop.branch], {Operand::label(label)});
    b.guard = guard;
    b.guard_negated = negated;
    body_.push_back(b);
  }

  RegId new_register(RegId like) {
    f_.regs.push_back({fmt::format("%unrolled{}", f_.regs.size()), f_.regs[like].type});
    return static_cast<RegId>(f_.regs.size() - 1);
  }

  uint32_t new_label(std::string_view name) {
    labels_.push_back({fmt::format("$unrolled_{}_{}", name, f_.labels.size() + labels_.size()), 0});
    return static_cast<uint32_t>(f_.labels.size() + labels_.size() - 1);
  }
  void place(uint32_t label) { labels_[label - f_.labels.size()].position = static_cast<uint32_t>(body_.size()); }

  isa::Function& f_;
  const std::vector<Registers> registers_;
  std::vector<Instruction> body_;
  std::vector<isa::Label> labels_;
  std::map<RegId, RegId> renamed_;
  std::map<std::pair<RegId, int64_t>, RegId> values_;
  size_t loops_ = 0;
};

}  // namespace

isa::Module with_unrolled_loops(isa::Module module) {
  for (isa::Function& f : module.functions) {
    if (!f.is_prototype) Unroller(f).run();
  }
  return module;
}

}  // namespace drywell::sim
