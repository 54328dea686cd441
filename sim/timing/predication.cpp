#include "sim/timing/predication.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "sim/timing/block_motion.h"
#include "sim/timing/timed_program.h"

namespace drywell::sim {
namespace {

using isa::Instruction;
using isa::Operand;
using isa::RegId;

// ptxas 13.0 predicates skips of 20 instructions for sm_90a, loads and stores among them, and leaves 21 a branch; of the branches to
// one place it leaves sixteen instructions one (deep_16 of tests/corpus/timing/mechanisms/apart.cu).
constexpr uint32_t kLongestSkip = 20, kLongestOfMany = 10;
// Of two sides it predicates eight instructions before seven, but no load (ptxas 13.0 for sm_90a, sides of 1 to 13 instructions).
constexpr uint32_t kLongestFirst = 8, kLongestSecond = 7;

// It waits for the lanes of its member mask. A guard would let the lanes pass that took the branch; on an H100 a kernel hangs whose
// shfl.sync names lanes that took a short branch around it and wait at a bar.warp.sync.
bool waits_for_members(const Instruction& i) {
  const auto& operands = isa::spec(i.op).operands;
  return std::any_of(std::begin(operands), std::end(operands), [](const auto& o) { return o.name != nullptr && o.name == std::string_view("membermask"); });
}

class Predicator {
 public:
  explicit Predicator(isa::Function& f) : f_(f), registers_(registers_of(f)), last_read_(f.regs.size()), first_read_(f.regs.size(), ~0u), labelled_(f.body.size() + 1), jumps_(f.body.size() + 1) {
    for (uint32_t i = 0; i < registers_.size(); ++i) {
      for (const RegId r : registers_[i].reads) {
        first_read_[r] = std::min(first_read_[r], i);
        last_read_[r] = i;
      }
    }
    for (const isa::Label& l : f.labels) labelled_[l.position] = 1;
    for (const Instruction& i : f.body) {
      for (const Operand& o : f.operands(i)) {
        if (o.kind == Operand::Kind::label) ++jumps_[f.labels[o.index].position];
      }
    }
    for (const auto& targets : f.branch_targets) {
      for (const uint32_t t : targets) ++jumps_[f.labels[t].position];
    }
  }

  void run() {
    std::vector<Instruction> body;
    std::vector<uint32_t> moved(f_.body.size() + 1);
    for (uint32_t i = 0; i < f_.body.size(); ++i) {
      moved[i] = static_cast<uint32_t>(body.size());
      if (dropped_.erase(i) != 0) continue;
      if (const uint32_t end = skipped_until(i); end != 0)
        predicate(i + 1, end, {f_.body[i].guard, !f_.body[i].guard_negated});
      else if (const auto sides = two_sides(i); sides.has_value())
        predicate(*sides);
      else
        body.push_back(f_.body[i]);
    }
    moved[f_.body.size()] = static_cast<uint32_t>(body.size());
    for (isa::Label& l : f_.labels) l.position = moved[l.position];
    for (isa::Annotation& a : f_.pragmas) a.position = moved[a.position];
    f_.body = std::move(body);
  }

 private:
  struct Guard {
    RegId predicate;
    bool negated;
  };
  // A branch to one of two sides; the first one's last instruction jumps over the second one.
  struct TwoSides {
    uint32_t first, second, end;
    Guard guard;       // of the first side
    uint32_t dropped;  // the branch to the second side; 0: there is none
  };

  // The end of the instructions that the branch at `i` skips; 0: it is no such branch.
  uint32_t skipped_until(uint32_t i) const {
    const Instruction& b = f_.body[i];
    const uint32_t end = b.guard == isa::kNoReg ? 0 : target_of(i);
    if (end <= i + 1 || end - i - 1 > (jumps_[end] == 1 ? kLongestSkip : kLongestOfMany)) return 0;
    for (uint32_t k = i + 1; k < end; ++k) {
      if (labelled_[k] != 0 || !may_be_predicated(k, b.guard)) return 0;
    }
    return end;
  }

  // The place that a branch goes to; 0: it is none, or has several.
  uint32_t target_of(uint32_t i) const {
    const auto operands = f_.operands(f_.body[i]);
    const bool jumps = isa::spec(f_.body[i].op).flow == isa::Flow::branch && operands.size() == 1 && operands[0].kind == Operand::Kind::label;
    return jumps ? f_.labels[operands[0].index].position : 0;
  }
  // The same of a branch without a guard.
  uint32_t jump_from(uint32_t i) const { return f_.body[i].guard == isa::kNoReg ? target_of(i) : 0; }
  std::optional<TwoSides> two_sides(uint32_t i) const {
    const Instruction& b = f_.body[i];
    const uint32_t to = b.guard == isa::kNoReg ? 0 : target_of(i), other = i + 1 < f_.body.size() ? jump_from(i + 1) : 0;
    if (to == 0) return std::nullopt;
    const bool over_a_jump = other != 0 && to == i + 2;
    const TwoSides s = over_a_jump ? TwoSides{i + 2, other, 0, {b.guard, b.guard_negated}, i + 1} : TwoSides{i + 1, to, 0, {b.guard, !b.guard_negated}, 0};
    return with_end(s);
  }
  std::optional<TwoSides> with_end(TwoSides s) const {
    if (s.second <= s.first + 1 || s.second - 1 - s.first > kLongestFirst || jumps_[s.second] != 1) return std::nullopt;
    s.end = jump_from(s.second - 1);
    if (s.end <= s.second || s.end - s.second > kLongestSecond) return std::nullopt;
    for (uint32_t k = s.first; k < s.end; ++k) {
      const bool label = labelled_[k] != 0 && k != s.second && (k != s.first || jumps_[k] > 1);
      if (label || (k != s.second - 1 && !computes(k, s.guard.predicate))) return std::nullopt;
    }
    return s;
  }
  bool computes(uint32_t k, RegId guard) const { return isa::spec(f_.body[k].op).memory == isa::MemoryRole::none && may_be_predicated(k, guard); }
  void predicate(const TwoSides& s) {
    predicate(s.first, s.second - 1, s.guard);
    predicate(s.second, s.end, {s.guard.predicate, !s.guard.negated});
    dropped_.insert(s.second - 1);
    if (s.dropped != 0) dropped_.insert(s.dropped);
  }

  bool may_be_predicated(uint32_t k, RegId guard) const {
    const Instruction& instr = f_.body[k];
    const bool many = is_sequence(timing_class(f_, instr));
    const auto& written = registers_[k].writes;
    return instr.guard == isa::kNoReg && motion_of(f_, instr) != Motion::wall && !isa::spec(instr.op).convergent && !waits_for_members(instr) && !many &&
           std::find(written.begin(), written.end(), guard) == written.end();
  }

  // Arithmetic whose results only these instructions read needs no guard, unless it reads what a guarded instruction may not have written.
  void predicate(uint32_t first, uint32_t last, Guard guard) {
    std::vector<RegId> guarded;
    for (uint32_t k = first; k < last; ++k) {
      Instruction& instr = f_.body[k];
      const auto& written = registers_[k].writes;
      // No earlier value is read here, and none of the new ones elsewhere.
      const bool inner = motion_of(f_, instr) == Motion::pure &&
                         std::all_of(written.begin(), written.end(), [&](RegId r) { return first_read_[r] > k && last_read_[r] < last; });
      const auto& read = registers_[k].reads;
      const bool defined = std::find_first_of(read.begin(), read.end(), guarded.begin(), guarded.end()) == read.end();
      if (inner && defined) continue;
      guarded.insert(guarded.end(), written.begin(), written.end());
      instr.guard = guard.predicate;
      instr.guard_negated = guard.negated;
    }
  }

  isa::Function& f_;
  const std::vector<Registers> registers_;
  std::vector<uint32_t> last_read_, first_read_;
  std::vector<uint8_t> labelled_;
  std::vector<uint32_t> jumps_;  // to each position
  std::set<uint32_t> dropped_;   // branches that are none any more
};

}  // namespace

isa::Module with_predicated_skips(isa::Module module) {
  for (isa::Function& f : module.functions) {
    if (!f.is_prototype) Predicator(f).run();
  }
  return module;
}

}  // namespace drywell::sim
