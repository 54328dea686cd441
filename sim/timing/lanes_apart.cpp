#include "sim/timing/lanes_apart.h"

#include <algorithm>

#include "drywell/isa/spec.h"
#include "sim/timing/block_motion.h"

namespace drywell::sim {
namespace {

using isa::Flow;
using isa::Instruction;
using isa::Operand;
using isa::SpecialReg;

constexpr size_t kMostBlocks = 4096;  // beyond so many, lanes are taken to be together

bool same_for_all(SpecialReg r) {
  switch (r) {
    case SpecialReg::ctaid_x:
    case SpecialReg::ctaid_y:
    case SpecialReg::ctaid_z:
    case SpecialReg::nctaid_x:
    case SpecialReg::nctaid_y:
    case SpecialReg::nctaid_z:
    case SpecialReg::ntid_x:
    case SpecialReg::ntid_y:
    case SpecialReg::ntid_z:
    case SpecialReg::cluster_ctarank: return true;
    default: return false;
  }
}

/// Forward: a value varies if one that it is made of does.
class Values {
 public:
  Values(const isa::Function& f, const std::vector<isa::Registers>& registers) : f_(f), registers_(registers), varies_(f.regs.size(), 0) {
    while (pass()) {
    }
  }
  std::vector<uint8_t> take() { return std::move(varies_); }

 private:
  bool pass() {
    bool changed = false;
    for (uint32_t i = 0; i < f_.body.size(); ++i) {
      if (!result_varies(i)) continue;
      for (const isa::RegId r : registers_[i].writes) changed = changed || varies_[r] == 0, varies_[r] = 1;
    }
    return changed;
  }
  bool reads_varying(uint32_t i) const {
    return std::any_of(registers_[i].reads.begin(), registers_[i].reads.end(), [&](isa::RegId r) { return varies_[r] != 0; });
  }
  bool result_varies(uint32_t i) const {
    const Instruction& instr = f_.body[i];
    const isa::InstrSpec& row = isa::spec(instr.op);
    const bool arithmetic = row.memory == isa::MemoryRole::none && row.issue == isa::Issue::lane && !row.convergent && row.flow == Flow::next;
    if (!arithmetic && !reads_parameters(instr)) return true;
    for (const Operand& o : f_.operands(instr)) {
      if (o.kind == Operand::Kind::special && !same_for_all(static_cast<SpecialReg>(o.index))) return true;
    }
    return reads_varying(i);
  }
  static bool reads_parameters(const Instruction& i) {
    const isa::Mod space = i.mod(isa::Slot::space);
    return isa::spec(i.op).memory == isa::MemoryRole::load && (space == isa::Mod::param || space == isa::Mod::param_entry || space == isa::Mod::const_);
  }

  const isa::Function& f_;
  const std::vector<isa::Registers>& registers_;
  std::vector<uint8_t> varies_;
};

/// The function's blocks, and where lanes that part at a block's end meet again.
class Blocks {
 public:
  Blocks(const isa::Function& f, LanesApart& out) : f_(f), out_(out), starts_(block_starts(f)) {
    block_at_.resize(f.body.size() + 1, 0);
    for (uint32_t b = 0; b + 1 < starts_.size(); ++b) std::fill(block_at_.begin() + starts_[b], block_at_.begin() + starts_[b + 1], b);
    if (count() == 0 || count() > kMostBlocks) return;
    for (uint32_t b = 0; b < count(); ++b) next_.push_back(successors(b));
    find_meetings();
    for (uint32_t b = 0; b < count(); ++b) {
      if (parts(b)) part(b);
    }
  }

 private:
  uint32_t count() const { return static_cast<uint32_t>(starts_.size() - 1); }
  const Instruction& last(uint32_t b) const { return f_.body[starts_[b + 1] - 1]; }
  static bool ends(const Instruction& i) { return isa::spec(i.op).flow == Flow::return_ || isa::spec(i.op).flow == Flow::end; }
  // Lanes that go there end, and nobody waits for them.
  bool only_ends(uint32_t b) const { return ends(f_.body[starts_[b]]) && f_.body[starts_[b]].guard == isa::kNoReg; }

  void add(std::vector<uint32_t>& to, uint32_t position) const {
    if (position >= f_.body.size() || only_ends(block_at_[position])) return;
    if (std::find(to.begin(), to.end(), block_at_[position]) == to.end()) to.push_back(block_at_[position]);
  }
  std::vector<uint32_t> successors(uint32_t b) const {
    std::vector<uint32_t> to;
    const Instruction& i = last(b);
    const Flow flow = isa::spec(i.op).flow;
    if (flow == Flow::branch) {
      bool named = false;
      for (const Operand& o : f_.operands(i)) {
        if (o.kind != Operand::Kind::label) continue;
        named = true;
        add(to, f_.labels[o.index].position);
      }
      for (const auto& targets : f_.branch_targets) {
        for (size_t k = 0; !named && k < targets.size(); ++k) add(to, f_.labels[targets[k]].position);
      }
    }
    if ((flow != Flow::branch && !ends(i)) || i.guard != isa::kNoReg) add(to, starts_[b + 1]);
    return to;
  }

  // meets_[b]: the blocks that all ways from b lead through, a bit each.
  void find_meetings() {
    const size_t words = (count() + 63) / 64;
    meets_.assign(count(), std::vector<uint64_t>(words, ~uint64_t{0}));
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b = count(); b-- > 0;) changed = update(b, words) || changed;
    }
  }
  bool update(uint32_t b, size_t words) {
    std::vector<uint64_t> all(words, next_[b].empty() ? 0 : ~uint64_t{0});
    for (const uint32_t n : next_[b]) {
      for (size_t w = 0; w < words; ++w) all[w] &= meets_[n][w];
    }
    all[b / 64] |= uint64_t{1} << b % 64;
    if (all == meets_[b]) return false;
    meets_[b] = std::move(all);
    return true;
  }
  bool is_meeting(uint32_t of, uint32_t b) const { return b != of && (meets_[of][b / 64] >> b % 64 & 1) != 0; }

  bool parts(uint32_t b) const {
    const Instruction& i = last(b);
    return next_[b].size() > 1 && (i.guard == isa::kNoReg || out_.varies[i.guard] != 0);
  }
  void part(uint32_t b) {
    out_.parts[starts_[b + 1] - 1] = 1;
    std::vector<uint32_t> open = next_[b];
    std::vector<uint8_t> seen(count(), 0);
    while (!open.empty()) {
      const uint32_t n = open.back();
      open.pop_back();
      if (is_meeting(b, n)) out_.meets[starts_[n]] = 1;
      if (seen[n] != 0 || is_meeting(b, n)) continue;
      seen[n] = 1;
      std::fill(out_.apart.begin() + starts_[n], out_.apart.begin() + starts_[n + 1], 1);
      open.insert(open.end(), next_[n].begin(), next_[n].end());
    }
  }

  const isa::Function& f_;
  LanesApart& out_;
  std::vector<uint32_t> starts_, block_at_;
  std::vector<std::vector<uint32_t>> next_;
  std::vector<std::vector<uint64_t>> meets_;
};

}  // namespace

LanesApart lanes_apart(const isa::Function& f, const std::vector<isa::Registers>& registers) {
  const std::vector<uint8_t> none(f.body.size(), 0);
  LanesApart out{Values(f, registers).take(), none, none, none};
  const Blocks blocks(f, out);
  return out;
}

}  // namespace drywell::sim
