#include "sim/exec/closed_waits.h"

#include <algorithm>
#include <map>
#include <set>

#include "drywell/isa/registers.h"
#include "drywell/isa/strong.h"

namespace drywell::sim {
namespace {

using isa::MemoryRole;
using isa::SyncRole;
using Pcs = std::set<uint32_t>;

constexpr size_t kMostInstructions = 200;  // of a loop: those of libcu++ have 20 to 130

bool is_wait(const Program& p, uint32_t pc) { return p.code[pc].sync == SyncRole::mbarrier_wait; }
/// What a loop may look at.
enum class Looks : uint8_t {
  strong_loads,
  any_load,
  atomics  // and strong loads
};

bool is_load(const isa::InstrSpec& row) { return row.memory == MemoryRole::load; }
bool is_atomic(const DecodedOp& op, Looks by) { return by == Looks::atomics && isa::spec(op.opcode).memory == MemoryRole::atomic; }
bool polls(const Program& p, uint32_t pc, Looks by) {
  return is_wait(p, pc) || is_atomic(p.code[pc], by) || (is_load(isa::spec(p.code[pc].opcode)) && (by == Looks::any_load || isa::is_uncached(p.instruction(p.code[pc]))));
}
bool only_waits(const DecodedOp& op, Looks by) { return changes_registers_only(op) || (is_atomic(op, by) && op.sync == SyncRole::none); }

/// Its results depend on the registers that it reads, on an mbarrier or on memory, and on nothing else.
bool is_function(const Program& p, uint32_t pc) {
  const isa::InstrSpec& row = isa::spec(p.code[pc].opcode);
  if (is_wait(p, pc)) return true;
  const isa::Instruction& i = p.instruction(p.code[pc]);
  const auto operands = p.function_of(p.code[pc]).operands(i);
  const bool special = std::any_of(operands.begin(), operands.end(), [](const isa::Operand& o) { return o.kind == isa::Operand::Kind::special; });
  return !special && row.issue == isa::Issue::lane && row.flow == isa::Flow::next && row.sync == SyncRole::none && i.mod(isa::Slot::carry) == isa::Mod::none;
}

/// Where control goes from an instruction of one function; the end of the function is a place like others.
class Flows {
 public:
  Flows(const Program& p, uint32_t first, uint32_t end) : first_(first), after_(end - first), before_(end - first) {
    for (uint32_t pc = first; pc < end; ++pc) {
      const DecodedOp& op = p.code[pc];
      const auto targets = branch_targets(p, op);
      after_[pc - first].assign(targets.begin(), targets.end());
      const bool always = op.flow != isa::Flow::next && op.flow != isa::Flow::call && op.guard.index == 0;
      if (!always && pc + 1 < end) after_[pc - first].push_back(pc + 1);
      for (const uint32_t to : after_[pc - first]) before_[to - first].push_back(pc);
    }
  }
  const std::vector<uint32_t>& after(uint32_t pc) const { return after_[pc - first_]; }
  const std::vector<uint32_t>& before(uint32_t pc) const { return before_[pc - first_]; }

 private:
  uint32_t first_;
  std::vector<std::vector<uint32_t>> after_, before_;
};

/// The instructions from which control comes back to `head`, and to which it comes from there. Empty: none, too many, or one does more than wait.
Pcs body_of(const Program& p, const Flows& flows, uint32_t head, Looks by) {
  Pcs body{head};
  std::vector<uint32_t> open;
  for (const uint32_t pc : flows.before(head))
    if (pc >= head) open.push_back(pc);
  if (open.empty()) return {};
  while (!open.empty()) {
    const uint32_t pc = open.back();
    open.pop_back();
    if (!body.insert(pc).second) continue;
    if (body.size() > kMostInstructions || !only_waits(p.code[pc], by)) return {};
    open.insert(open.end(), flows.before(pc).begin(), flows.before(pc).end());
  }
  return only_waits(p.code[head], by) ? body : Pcs{};
}

class LoopProof {
 public:
  LoopProof(const Program& p, const Flows& flows, const Pcs& body, uint32_t head) : p_(p), flows_(flows), body_(body), head_(head) {
    for (const uint32_t pc : body) registers_.emplace(pc, isa::registers_of(p.function_of(p.code[pc]), p.instruction(p.code[pc])));
    for (const auto& [pc, r] : registers_)
      for (const isa::RegId w : r.writes) written_[w].push_back(pc);
    find_meetings();
  }
  /// True if each way out depends on known values alone.
  bool closed() {
    while (learn()) {
    }
    return std::all_of(body_.begin(), body_.end(), [&](uint32_t pc) { return !leaves(pc) || (reads_known(pc) && !unsure_.contains(pc)); });
  }

 private:
  bool inside(uint32_t pc) const { return pc != head_ && body_.contains(pc); }
  bool leaves(uint32_t pc) const {
    const auto& to = flows_.after(pc);
    const isa::Flow flow = p_.code[pc].flow;
    return (flow != isa::Flow::next && flow != isa::Flow::branch) || std::any_of(to.begin(), to.end(), [&](uint32_t t) { return !body_.contains(t); });
  }
  bool known(isa::RegId r) const { return !written_.contains(r) || known_.contains(r); }
  bool reads_known(uint32_t pc) const {
    const auto& reads = registers_.at(pc).reads;
    return std::all_of(reads.begin(), reads.end(), [&](isa::RegId r) { return known(r); });
  }
  // In each round every path from a place to the end of the round passes these. From the bottom up, until nothing changes.
  void find_meetings() {
    for (const uint32_t pc : body_) behind_[pc] = body_;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto pc = body_.rbegin(); pc != body_.rend(); ++pc) {
        Pcs now = common(*pc);
        now.insert(*pc);
        if (now != behind_[*pc]) changed = true;
        behind_[*pc] = std::move(now);
      }
    }
  }
  Pcs common(uint32_t pc) const {
    Pcs out;
    bool first = true;
    for (const uint32_t to : flows_.after(pc)) {
      if (!inside(to)) return {};
      Pcs both;
      const Pcs& other = behind_.at(to);
      if (first)
        both = other;
      else
        std::set_intersection(out.begin(), out.end(), other.begin(), other.end(), std::inserter(both, both.end()));
      out = std::move(both);
      first = false;
    }
    return out;
  }
  // Instructions that are executed or not, or in another order, as a branch decides.
  void add_decided(uint32_t branch) {
    std::vector<uint32_t> open(flows_.after(branch));
    while (!open.empty()) {
      const uint32_t pc = open.back();
      open.pop_back();
      const bool meets = pc != branch && behind_.at(branch).contains(pc);
      if (inside(pc) && !meets && unsure_.insert(pc).second) open.insert(open.end(), flows_.after(pc).begin(), flows_.after(pc).end());
    }
  }
  // Values that hang on themselves (counts of attempts) are never known.
  bool learn() {
    unsure_.clear();
    for (const uint32_t pc : body_)
      if (flows_.after(pc).size() > 1 && !reads_known(pc)) add_decided(pc);
    bool more = false;
    for (const auto& [r, places] : written_) {
      if (known_.contains(r)) continue;
      const bool all = std::all_of(places.begin(), places.end(), [&](uint32_t pc) { return is_function(p_, pc) && reads_known(pc) && !unsure_.contains(pc); });
      if (all) known_.insert(r);
      more = more || all;
    }
    return more;
  }

  const Program& p_;
  const Flows& flows_;
  const Pcs& body_;
  uint32_t head_;
  std::map<uint32_t, isa::Registers> registers_;
  std::map<isa::RegId, std::vector<uint32_t>> written_;  // in the loop, and where
  std::map<uint32_t, Pcs> behind_;
  std::set<isa::RegId> known_;
  Pcs unsure_;
};

void add_loops(const Program& p, uint32_t first, uint32_t end, Looks by, std::vector<ClosedWait>& all) {
  const Flows flows(p, first, end);
  for (uint32_t head = first; head < end; ++head) {
    const Pcs body = body_of(p, flows, head, by);
    ClosedWait loop{{body.begin(), body.end()}, {}, {}};
    for (const uint32_t pc : body) {
      if (is_wait(p, pc))
        loop.waits.push_back(pc);
      else if (is_load(isa::spec(p.code[pc].opcode)) || is_atomic(p.code[pc], by))
        loop.loads.push_back(pc);
    }
    const bool waits = std::any_of(body.begin(), body.end(), [&](uint32_t pc) { return polls(p, pc, by); });
    if (waits && LoopProof(p, flows, body, head).closed()) all.push_back(std::move(loop));
  }
}

std::vector<ClosedWait> loops_of(const Program& p, Looks by) {
  std::vector<ClosedWait> all;
  for (size_t f = 0; f < p.functions.size(); ++f) {
    const uint32_t end = f + 1 < p.functions.size() ? p.functions[f + 1].first : static_cast<uint32_t>(p.code.size());
    bool any = false;
    for (uint32_t pc = p.functions[f].first; pc + 1 < end && !any; ++pc) any = polls(p, pc, by);
    if (any) add_loops(p, p.functions[f].first, end, by, all);
  }
  return all;
}

}  // namespace

bool changes_registers_only(const DecodedOp& op) {
  const isa::InstrSpec& row = isa::spec(op.opcode);
  const bool memory = row.memory == MemoryRole::none || is_load(row);
  const bool sync = op.sync == SyncRole::none || op.sync == SyncRole::mbarrier_wait || op.sync == SyncRole::warp_barrier || op.sync == SyncRole::thread_fence;
  return memory && sync && row.completion == isa::Completion::sync && row.flow != isa::Flow::call;
}

std::vector<ClosedWait> closed_waits(const Program& p) { return loops_of(p, Looks::strong_loads); }
std::vector<ClosedWait> closed_waits_by_any_load(const Program& p) { return loops_of(p, Looks::any_load); }
std::vector<ClosedWait> closed_waits_by_atomics(const Program& p) { return loops_of(p, Looks::atomics); }

std::vector<uint32_t> closed_wait_at(const Program& p, const std::vector<ClosedWait>& all) {
  if (all.empty()) return {};
  std::vector<uint32_t> at(p.code.size());
  for (uint32_t l = 0; l < all.size(); ++l) {
    for (const uint32_t pc : all[l].body)
      if (at[pc] == 0 || all[l].body.size() < all[at[pc] - 1].body.size()) at[pc] = l + 1;
  }
  return at;
}

}  // namespace drywell::sim
