#include "sim/check/followed_registers.h"

#include <algorithm>
#include <optional>

#include "drywell/isa/spec.h"

namespace drywell::sim::check {
namespace {

constexpr size_t kMostWords = 1 << 23;  // of all blocks' sets

/// Registers, then predicates, of the kernel's frame.
class ValueSet {
 public:
  explicit ValueSet(size_t values = 0) : words_((values + 63) / 64) {}
  bool has(size_t v) const { return (words_[v / 64] >> v % 64 & 1) != 0; }
  void put(size_t v, bool in) {
    const uint64_t bit = uint64_t{1} << v % 64;
    words_[v / 64] = in ? words_[v / 64] | bit : words_[v / 64] & ~bit;
  }
  /// Returns whether that changes it.
  bool intersect(const ValueSet& o) {
    uint64_t lost = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      lost |= words_[i] & ~o.words_[i];
      words_[i] &= o.words_[i];
    }
    return lost != 0;
  }

 private:
  std::vector<uint64_t> words_;
};

/// Which values are written on every path, at the beginning of each block: forwards, until nothing changes.
class WrittenOnEveryPath {
 public:
  WrittenOnEveryPath(const Program& p, const PredicateUse& predicates) : p_(p), predicates_(predicates), kernel_(p.kernel()), registers_(kernel_.frame_bytes / kRegisterSlot + 1), begins_(p.code.size(), 0) {}

  size_t registers() const { return registers_; }
  size_t values() const { return registers_ + kernel_.pred_count; }
  bool too_large() {
    find_blocks();
    return static_cast<size_t>(std::count(begins_.begin(), begins_.end(), 1)) * (values() / 64 + 1) > kMostWords;
  }
  void run() {
    at_.resize(p_.code.size());
    reach(0, at_start());
    while (!open_.empty()) {
      const size_t pc = open_.back();
      open_.pop_back();
      walk(pc, [](size_t, const ValueSet&) {});
    }
  }
  /// Calls f(pc, values) for the instructions that can be reached, with the values in front of each.
  template <class F>
  void each(F f) {
    for (size_t pc = 0; pc < at_.size(); ++pc)
      if (at_[pc].has_value()) walk(pc, f);
  }
  template <class F>
  void each_read(size_t pc, F f) const {
    const Program::RegUse& use = p_.reg_use[pc];
    const PredicateUse::Range r = predicates_.of(pc);
    for (uint32_t i = 0; i < use.reads; ++i) f(p_.reg_lists[use.first + i] / kRegisterSlot);
    for (uint32_t i = 0; i < r.reads; ++i) f(registers_ + r.at[i]);
  }
  template <class F>
  void each_written(size_t pc, F f) const {
    const Program::RegUse& use = p_.reg_use[pc];
    const PredicateUse::Range r = predicates_.of(pc);
    for (uint32_t i = 0; i < use.writes; ++i) f(p_.reg_lists[use.first + use.reads + i] / kRegisterSlot);
    for (uint32_t i = 0; i < r.writes; ++i) f(registers_ + r.at[r.reads + i]);
  }

 private:
  void find_blocks() {
    for (size_t pc = 0; pc < p_.code.size(); ++pc) {
      const std::span<const uint32_t> targets = branch_targets(p_, p_.code[pc]);
      for (const uint32_t t : targets)
        if (t < begins_.size()) begins_[t] = 1;
      if (!targets.empty() && pc + 1 < begins_.size()) begins_[pc + 1] = 1;
    }
  }
  ValueSet at_start() const {
    ValueSet s(values());
    const auto give = [&](uint32_t slot) { s.put(slot / kRegisterSlot, true); };
    give(kernel_.scratch);
    for (const FunctionCode::FrameAddress& a : kernel_.frame_addresses) give(a.slot);
    for (const uint32_t own : {0u, kernel_.carry, kernel_.sink_pred}) s.put(registers_ + own, true);
    return s;
  }
  void reach(size_t pc, const ValueSet& s) {
    if (pc >= p_.code.size()) return;
    const bool fresh = !at_[pc].has_value();
    if (fresh) at_[pc] = s;
    if (fresh || at_[pc]->intersect(s)) open_.push_back(pc);
  }
  /// A block's instructions, and the blocks behind it.
  template <class F>
  void walk(size_t pc, F f) {
    ValueSet s = *at_[pc];
    while (true) {
      f(pc, s);
      const DecodedOp& op = p_.code[pc];
      take(pc, s);
      for (const uint32_t target : branch_targets(p_, op)) reach(target, s);
      if (op.guard.index == 0 && op.flow != isa::Flow::next) return;  // without calls (see below)
      if (++pc >= p_.code.size()) return;
      if (begins_[pc] != 0) return reach(pc, s);
    }
  }
  /// A copy is written if its source is. A guard may leave out the write, not what a copy does to the value.
  void take(size_t pc, ValueSet& s) const {
    bool has_value = true;
    if (predicates_.of(pc).transfer != Transfer::uses) each_read(pc, [&](size_t v) { has_value = has_value && s.has(v); });
    const bool guarded = p_.code[pc].guard.index != 0;
    each_written(pc, [&](size_t v) { s.put(v, has_value && (s.has(v) || !guarded)); });
  }

  const Program& p_;
  const PredicateUse& predicates_;
  const FunctionCode& kernel_;
  size_t registers_;
  std::vector<uint8_t> begins_;              // by pc: a block begins there
  std::vector<std::optional<ValueSet>> at_;  // of blocks that can be reached
  std::vector<size_t> open_;
};

/// A product adds to the registers that it writes.
bool accumulates(const DecodedOp& op) { return isa::spec(op.opcode).completion == isa::Completion::wgmma_group; }

}  // namespace

FollowedRegisters::FollowedRegisters(const Program& p, const PredicateUse& predicates) {
  const auto calls = [](const DecodedOp& op) { return op.flow == isa::Flow::call; };
  if (p.functions.size() != 1 || p.code.empty() || std::any_of(p.code.begin(), p.code.end(), calls)) return;
  WrittenOnEveryPath written(p, predicates);
  if (written.too_large()) return;
  written.run();
  all_ = false;
  std::vector<bool> followed(written.values());
  written.each([&](size_t pc, const auto& values) {
    const auto note = [&](size_t v) { if (!values.has(v)) followed[v] = true; };
    written.each_read(pc, note);
    if (accumulates(p.code[pc])) written.each_written(pc, note);
  });
  pcs_.resize(p.code.size());
  for (size_t pc = 0; pc < p.code.size(); ++pc) {
    const auto note = [&](size_t v) { pcs_[pc] |= followed[v] ? 1 : 0; };
    written.each_read(pc, note);
    written.each_written(pc, note);
  }
  const auto end = followed.begin() + static_cast<ptrdiff_t>(written.registers());
  registers_.assign(followed.begin(), end);
  predicates_.assign(end, followed.end());
}

}  // namespace drywell::sim::check
