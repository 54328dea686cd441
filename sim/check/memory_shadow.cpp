#include "sim/check/memory_shadow.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/isa/tensor_map.h"
#include "sim/check/absent_use.h"

namespace drywell::sim::check {
namespace {

constexpr size_t kMostSuspects = 1000;

bool is_poison(const uint8_t* p, uint64_t bytes) {
  return std::all_of(p, p + bytes, [](uint8_t b) { return b == 0xFF; });
}

std::string shared_place(uint32_t cta, uint64_t at) { return fmt::format("shared memory of CTA rank {} at {:#x}", cta, at); }

}  // namespace

MemoryShadow::MemoryShadow(const Cluster& c, const LaunchState& launch, const AccessTable& accesses, Reporter& reporter, Lifetimes& lifetimes, UnusedReads& unused, MbarrierLedger& mbarriers)
    : cluster_(c), launch_(launch), accesses_(accesses), states_(accesses), reporter_(reporter), lifetimes_(lifetimes), unused_(unused), mbarriers_(mbarriers) {
  ctas_.reserve(c.ctas.size());
  for (const auto& cta : c.ctas) ctas_.emplace_back(*cta, launch.full());
}

// Marks cells as read or written by an access, and reports earlier accesses that do not happen before it. `known` belongs to this one access.
template <class Cells, class RuleOf, class Where>
void MemoryShadow::touch_cells(Cells& cells, uint64_t begin, uint64_t end, const Touch& touch, const RuleOf& rule_of, const Where& where, Rule unwritten, Answers& known) {
  const AccessId id = touch.id;
  const Access& now = accesses_[id];
  const AccessTable& accesses = accesses_;
  StateTable& states = states_;
  const auto check = [&](AccessId prior, uint64_t cell) {
    if (prior == id) return;
    const Rule r = rule_of(accesses[prior], now);
    if (r == Rule::mbarrier_given_up) return mbarriers_.overwritten(prior, id);
    if (r == Rule::none || (r == Rule::global_race && unused_.hold(prior, id, cell))) return;
    reporter_.report(r, &accesses[prior], now, [&] { return where(cell); });
  };
  // A store that an ordinary read before this access has observed is in memory: no write through the async proxy comes before it.
  const auto observed = [&](StateId s, Rule r) {
    if (r != Rule::proxy_write_to_async_write) return false;
    const auto& readers = states.readers(s);
    return std::any_of(readers.begin(), readers.end(), [&](AccessId reader) {
      return is_plain(accesses[reader].agent) && rule_of(accesses[reader], now) == Rule::none;
    });
  };
  // A read that races with a store of the value that was there is harmless, unless it also races with the store that put the value there.
  const auto harmful = [&](StateId s, AccessId writer) {
    const AccessId first = states.same_before(s);
    return first != 0 && rule_of(accesses[writer], now) == Rule::race_unchanged && rule_of(accesses[first], now) != Rule::none ? first : writer;
  };
  // Returns the write whose values `now` stores again without a change, or 0.
  const auto same_before = [&](StateId s, AccessId writer) {
    if (writer == 0 || writer == id || (!now.unchanging && !store_one_value(accesses[writer], now))) return AccessId{0};
    return accesses[writer].unchanging ? states.same_before(s) : writer;
  };
  // Atomics do not race with each other, but with the store under an earlier atomic: returns that store, or 0.
  const auto under = [&](StateId s, AccessId writer) {
    if (!now.modifies || writer == 0) return AccessId{0};
    return accesses[writer].modifies ? states.under(s) : writer;
  };
  const auto has_run = [&](const Access& a) { return touch.who.now.executed[a.issuer] >= a.issued_at; };
  if (cells.replace(begin, end, known.last.in, known.last.out)) return;
  cells.update(begin, end, [&](StateId s, uint64_t cell) {
    Answers::Answer& answer = known.at(s);
    if (s == answer.in) {
      known.last = answer;
      return answer.out;
    }
    const AccessId writer = states.writer(s);
    // The word of tcgen05.alloc is no operand: for copies and the tensor core, memory that has only that word counts as unwritten. Triton has only a
    // relaxed cluster barrier between the uses of the word and a peer's copy into that memory: the uses have run by then.
    const bool word = accesses[writer].agent == Agent::alloc && is_async_proxy(now.agent);
    if (writer != 0 && !(word && (!now.write || has_run(accesses[writer])))) {
      if (!observed(s, rule_of(accesses[writer], now))) check(harmful(s, writer), cell);
      // An access that the second of two stores of one value happens before need not come after the first one.
      if (now.write && states.same_before(s) != 0 && rule_of(accesses[writer], now) == Rule::none) check(states.same_before(s), cell);
      if (now.modifies && accesses[writer].modifies && states.under(s) != 0) check(states.under(s), cell);
    } else if (unwritten != Rule::none && touch.follows) {
      touch.found = true;
    } else if (unwritten != Rule::none) {
      reporter_.report(unwritten, nullptr, now, [&] { return where(cell); });
    }
    if (now.write) {
      for (const AccessId r : states.readers(s))
        if (!word || !has_run(accesses[r])) check(r, cell);
    }
    answer = known.last = {s, now.write ? states.written(id, {same_before(s, writer), under(s, writer), states.was_read(s), states.earlier_writer(s, id), states.earlier_reader(s, id)}) : states.read(s, id)};
    return answer.out;
  });
}

void MemoryShadow::touch(const Span& s, Touch& t) {
  if (s.memory == Memory::global) return touch_global(s, t);
  if (s.memory == Memory::tmem) return touch_tensor(s, t);
  const SharedRun run{s.cta, static_cast<uint32_t>(s.begin), static_cast<uint32_t>(s.bytes)};
  touch({&run, 1}, t);
}

void MemoryShadow::touch(std::span<const SharedRun> runs, Touch& t) {
  const Access& now = accesses_[t.id];
  const bool reads = !now.write || now.reads;
  const Rule unwritten = !reads || !launch_.options.uninitialised ? Rule::none : Rule::shared_unwritten;
  const auto rule_of = [&](const Access& prior, const Access& a) {
    const Rule r = shared_hazard(prior, a, t.who);
    if (r != Rule::none || a.write) return r;
    const auto differ = [](uint8_t brought, uint8_t read) { return brought != 0 && read != 0 && (brought & read) == 0; };
    if (differ(prior.swizzles, a.swizzles)) return prior.swizzles > 1 ? Rule::swizzle_mismatch : Rule::swizzle_missing;
    return differ(prior.elements, a.elements) ? Rule::element_mismatch : Rule::none;
  };
  for (const SharedRun& s : runs) {
    if (s.cta >= ctas_.size()) continue;
    if (s.cta != now.cta) lifetimes_.visit(s.cta, t.id, t.who);
    if (!launch_.full()) continue;
    if (reads && !t.follows && ctas_[s.cta].undefined.any()) check_taken(s, now);
    if (now.write) ctas_[s.cta].undefined.clear(s.begin, s.bytes);
    touch_cells(
        ctas_[s.cta].shared, s.begin, uint64_t{s.begin} + s.bytes, t, rule_of, [&](uint64_t at) { return shared_place(s.cta, at); }, s.begin < kSmemReserved ? Rule::none : unwritten, t.shared);
  }
}

void MemoryShadow::check_taken(const SharedRun& s, const Access& now) {
  for (uint32_t at = s.begin; at < s.begin + s.bytes; ++at) {
    const Access& origin = undefined_origins_[ctas_[s.cta].undefined.at(at)];
    if (origin.agent != Agent::vacant && origin.agent != Agent::contested) continue;
    return reporter_.report(rule_of_origin(origin.agent), &origin, now, [&] { return shared_place(s.cta, at); });
  }
}

void MemoryShadow::touch_global(const Span& s, Touch& t) {
  if (!launch_.options.global_memory || !launch_.full()) return;
  if (s.begin + s.bytes < s.begin) return;  // around the end of the address space: no memory, a fault when it is performed
  const auto rule_of = [&](const Access& prior, const Access& a) { return global_hazard(prior, a, t.who, launch_.opaque); };
  check_grid_wait(s, t.id, t.who);
  if (launch_.options.pools != nullptr) check_pools(s, t.id);
  if (accesses_[t.id].write && !held_maps_.empty()) check_maps(s, t);
  const bool reads = !accesses_[t.id].write || accesses_[t.id].reads;
  if (reads && launch_.options.uninitialised) suspect_unwritten(s, t.id);
  touch_cells(
      global_, s.begin, s.begin + s.bytes, t, rule_of, [](uint64_t at) { return fmt::format("global memory at {:#x}", at); }, Rule::none, t.global);
}

void MemoryShadow::touch_tensor(const Span& s, Touch& t) {
  if (s.cta >= ctas_.size()) return;
  if (s.cta != accesses_[t.id].cta) lifetimes_.visit(s.cta, t.id, t.who);
  TensorShadow& cells = ctas_[s.cta].tensor;
  const Rule unwritten = launch_.options.uninitialised ? t.unwritten : Rule::none;
  const auto rule_of = [&](const Access& prior, const Access& a) { return tensor_hazard(prior, a, t.who); };
  const auto where = [&](uint64_t cell) { return fmt::format("tensor memory of CTA rank {}, lane {}, column {}", s.cta, cells.lane_of(cell), cells.column_of(cell)); };
  cells.runs(s.lane, s.lanes, s.column, s.columns, [&](uint64_t begin, uint64_t end) { touch_cells(cells, begin, end, t, rule_of, where, unwritten, t.tensor); });
}

// The tensormap proxy reads maps after a release and an acquire of its own (docs/facts/tma-mbarrier.md §3.2).
void MemoryShadow::read_map(uint64_t map, AccessId id, const WarpClock& who) {
  const Clock& acquired = acquired_maps_[map];
  const auto rule_of = [&](const Access& prior, const Access&) {
    if (!is_plain(prior.agent) || !prior.write) return Rule::none;
    if (who.now.seen[prior.issuer] < prior.issued_at) return launch_.opaque ? Rule::none : Rule::global_race;
    if (who.now.map_released[prior.issuer] < prior.issued_at) return Rule::map_not_released;
    return std::min(who.now.map_acquired[prior.issuer], acquired[prior.issuer]) < prior.issued_at ? Rule::map_not_acquired : Rule::none;
  };
  Answers known;
  touch_cells(
      global_, map, map + isa::kTensorMapBytes, {id, who}, rule_of, [](uint64_t at) { return fmt::format("tensor map in global memory at {:#x}", at); }, Rule::none, known);
}

void MemoryShadow::hold_map(uint64_t map, AccessId id, const WarpClock& who) {
  std::vector<AccessId>& copies = held_maps_[map];
  std::erase_if(copies, [&](AccessId c) { return global_hazard(accesses_[c], accesses_[id], who, false) == Rule::none; });
  copies.push_back(id);
}

void MemoryShadow::check_maps(const Span& s, const Touch& t) {
  for (auto at = held_maps_.lower_bound(s.begin - std::min<uint64_t>(s.begin, isa::kTensorMapBytes - 1)); at != held_maps_.end() && at->first < s.begin + s.bytes; ++at) {
    for (const AccessId c : at->second) {
      if (global_hazard(accesses_[c], accesses_[t.id], t.who, launch_.opaque) == Rule::none) continue;
      reporter_.report(Rule::map_in_use, &accesses_[c], accesses_[t.id], [&] { return fmt::format("tensor map in global memory at {:#x}", at->first); });
    }
  }
}

std::array<AccessId, 2> MemoryShadow::last_writers(uint64_t address, bool shared) const {
  std::array<AccessId, 2> found{};
  const auto take = [&](uint64_t, StateId s) { found = {states_.writer(s), states_.under(s)}; };
  if (!shared)
    global_.each_in(address, address + 1, take);
  else if (const uint32_t rank = shared_rank(static_cast<uint32_t>(address)), at = shared_offset(static_cast<uint32_t>(address)); rank < ctas_.size() && at < ctas_[rank].shared.cells())
    ctas_[rank].shared.each_in(at, at + 1, take);
  return found;
}

void MemoryShadow::store_undefined(uint32_t cta, uint32_t at, uint32_t bytes, const Access& origin) {
  if (cta >= ctas_.size()) return;
  const auto same = std::find_if(undefined_origins_.begin() + 1, undefined_origins_.end(), [&](const Access& a) { return a.pc == origin.pc && a.agent == origin.agent; });
  const auto number = static_cast<uint16_t>(same - undefined_origins_.begin());
  if (same == undefined_origins_.end()) undefined_origins_.push_back(origin);
  ctas_[cta].undefined.put(at, bytes, number);
}

bool MemoryShadow::is_undefined(uint32_t cta, uint32_t at, uint32_t bytes, uint16_t& stored) const {
  if (at < kSmemReserved || cta >= ctas_.size() || uint64_t{at} + bytes > ctas_[cta].shared.cells()) return false;  // zeros; a fault follows
  const CtaMemory& m = ctas_[cta];
  bool written = false;
  m.shared.each_in(at, at + bytes, [&](size_t i, StateId s) { written = written || (states_.writer(s) != 0 && m.undefined.at(i) == 0); });
  for (uint32_t i = at; i < at + bytes && stored == 0; ++i) stored = m.undefined.at(i);
  return !written;
}

bool MemoryShadow::is_vacant(uint32_t cta, uint32_t lane, uint32_t column) const {
  const TensorShadow& cells = ctas_[cta].tensor;
  bool written = false;
  cells.runs(lane, 1, column, 1, [&](uint64_t begin, uint64_t end) { cells.each_in(begin, end, [&](size_t, StateId s) { written = written || states_.writer(s) != 0; }); });
  return !written;
}

void MemoryShadow::overwrite(uint32_t cta, uint32_t begin, uint32_t bytes, AccessId id) {
  const StateId plain = states_.written(id);
  ctas_[cta].undefined.clear(begin, bytes);
  ctas_[cta].shared.update(begin, uint64_t{begin} + bytes, [&](StateId, uint64_t) { return plain; });
}

// Memory that a dependent launch touches before it has waited for the launches before (docs/facts/tma-mbarrier.md §3.4).
void MemoryShadow::check_grid_wait(const Span& s, AccessId id, const WarpClock& who) {
  if (!(launch_.waits_for_grids || launch_.overlaps) || who.now.seen[Components::kGridWait] != 0) return;
  const bool write = accesses_[id].write;
  launch_.previous.each_in(s.begin, s.begin + s.bytes, [&](uint64_t at, StateId what) {
    if (what != LaunchState::kWritten && !write) return;
    reporter_.report(Rule::before_grid_wait, nullptr, accesses_[id], [&] {
      return fmt::format("global memory at {:#x}, which the launch before {}", at, what == LaunchState::kWritten ? "writes" : "reads");
    });
  });
}

// Bytes that still have the poison of a new allocation, and that neither the host nor this cluster has written: whether another
// cluster wrote them is known when all have ended.
void MemoryShadow::check_pools(const Span& s, AccessId id) {
  const MemoryPools& pools = *launch_.options.pools;
  if (!pools.unowned(s.begin, s.begin + s.bytes)) return;
  reporter_.report(Rule::memory_unowned, nullptr, accesses_[id], [&] { return fmt::format("{} bytes of global memory at {:#x}{}", s.bytes, s.begin, pools.neighbourhood(s.begin, s.begin + s.bytes)); });
}

void MemoryShadow::suspect_unwritten(const Span& s, AccessId id) {
  if (cluster_.launch->gmem == nullptr) return;  // a cluster without a device
  const uint8_t* bytes = cluster_.launch->gmem->translate(s.begin, s.bytes, allocation_);
  if (bytes == nullptr || allocation_->written.touches(s.begin, s.begin + s.bytes) || !is_poison(bytes, s.bytes)) return;
  bool written = false;
  global_.update(s.begin, s.begin + s.bytes, [&](StateId state, uint64_t) {
    written = written || states_.writer(state) != 0;
    return state;
  });
  if (!written && suspects_.size() < kMostSuspects) suspects_.push_back({s.begin, s.begin + s.bytes, id});
}

}  // namespace drywell::sim::check
