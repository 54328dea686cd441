#include "sim/check/ordering_rules.h"

#include <bit>
#include <optional>
#include <tuple>

namespace drywell::sim::check {
namespace {

bool knows_issue(const Clock& seen, const Access& a) { return seen[a.issuer] >= a.issued_at; }
bool knows_end(const Clock& seen, const Access& a) { return a.done_at != kInFlight && seen[a.done] >= a.done_at; }
bool same_warp(const Access& a, const Access& b) { return a.issuer == b.issuer; }
bool combine(const Access& a, const Access& b) {
  return (a.reduction && b.reduction) || (a.agent == Agent::atomic && b.agent == Agent::atomic);
}

// Atomics whose scopes do not include each other race like any accesses (PTX ISA 8.7). What a flag of too narrow a scope means is a matter of the
// data behind it.
Rule combined(const Access& a, const Access& b, bool ordered) {
  if (ordered || !a.modifies || !b.modifies) return Rule::none;
  if (a.cluster != b.cluster) return a.in_cluster || b.in_cluster ? Rule::scope_too_narrow : Rule::none;
  return a.cta != b.cta && (a.in_cta || b.in_cta) ? Rule::scope_too_narrow : Rule::none;
}

// The later access's warp has read that strong write of the place, or an atomic that has.
bool has_read(const Access& prior, const Access& now) {
  return prior.strong_number != 0 && prior.strong_number >= now.behind.from && prior.strong_number <= now.behind.count;
}

// Both store the same values: whichever is last, the memory has them. Triton's layouts repeat data over warps, and every copy stores it.
// If the lanes of each store different values in one place, any of them may stay, with the other store or without it.
bool same_digest(const Access& a, const Access& b) { return a.write && b.write && a.stored != 0 && a.stored == b.stored; }
bool same_values(const Access& prior, const Access& now) { return (prior.write && now.write && now.unchanging) || same_digest(prior, now) || store_one_value(prior, now); }

// One reads, and the other stores what is there: the read returns the same before and after.
bool reads_the_same(const Access& prior, const Access& now) { return prior.write != now.write && (prior.write ? prior : now).unchanging; }

// One loads what an atomic of its own checks then, and the other is an atomic: hardware returns a value that the place has had.
bool guessed(const Access& a, const Access& b) {
  const auto guess = [](const Access& load, const Access& other) { return load.guesses && !load.write && other.modifies; };
  return guess(a, b) || guess(b, a);
}

// The order between threads of two CTAs has, at some step, only scopes of one CTA. Operations that write over what was read are forgiven: so
// kernels of CUTLASS give slots back to the CTA that multicasts.
bool too_narrow(const Access& prior, const Access& now, const WarpClock& who) {
  return prior.cta != now.cta && (is_plain(now.agent) || (prior.write && !now.write)) && who.now.wide[prior.done] < prior.done_at;
}

// One lane released for the others: what came to `seen` is its own order, not theirs.
bool released_by_one(const Access& prior, const Access& now, const Clock& seen) {
  return !same_warp(prior, now) && prior.agent == Agent::thread && !std::has_single_bit(prior.lanes) && seen[prior.issuer + 1] < prior.issued_at;
}

// Two ordinary accesses of a warp's lanes: lanes use data that one of them accessed alone, or each uses another's.
Rule lanes_exchange(const Access& prior, const Access& now, const WarpClock& who) {
  const bool alone = std::has_single_bit(prior.lanes);
  if (prior.from != prior.to && who.places.latest().pc == now.pc && !who.places.come_to(prior.from, prior.to, ~prior.lanes)) return Rule::none;
  if (!who.places.knows(prior.places) || who.places.latest().pc != now.pc) return alone && prior.lanes != now.lanes ? Rule::lanes_unordered : Rule::none;
  if (!who.places.exchange(prior.places)) return Rule::none;
  return alone ? Rule::lanes_unordered : Rule::lanes_mixed;
}

// A lane uses what another lane's cp.async brought: each has waited for its own only, unless they met since.
bool lanes_copied(const Access& prior, const Access& now, const WarpClock& who) {
  return same_warp(prior, now) && now.agent == Agent::thread && prior.done_at > who.copies_met && !who.knows_copy(now.lanes, prior.done_at) && who.copied.knows(prior.places) && who.places.latest().pc == now.pc &&
         who.copied.exchange(prior.places, who.places.latest());
}

// One lane issues an asynchronous operation on data that all lanes wrote, or lanes exchange data.
Rule lanes_apart(const Access& prior, const Access& now, const WarpClock& who) {
  if (!same_warp(prior, now) || prior.issued_at < who.met || who.knows_step(now.lanes, prior.lanes, prior.issued_at)) return Rule::none;
  if (now.lone) return prior.write && (prior.lanes & ~now.lanes) != 0 ? Rule::lanes_unordered : Rule::none;
  if (prior.agent != Agent::thread || now.agent != Agent::thread || (now.write && now.unchanging)) return Rule::none;
  return lanes_exchange(prior, now, who);
}

// What was written through the generic proxy, for an operation of the async proxy.
Rule across_proxies(const Access& prior, const Access& now, const Clock& fenced) {
  if (!prior.write || !is_async_proxy(now.agent) || fenced[prior.done] >= prior.done_at) return Rule::none;
  return now.write ? Rule::proxy_write_to_async_write : Rule::proxy_write_to_async_read;
}

// An ordinary access, then any other: ordered if it happens before the later one; the async proxy sees a store only after a fence.
Rule after_plain(const Access& prior, const Access& now, const WarpClock& who, const Clock& seen, const Clock& fenced) {
  if (!knows_issue(seen, prior)) {
    if (!is_plain(now.agent)) return Rule::not_ordered_before_async;
    if (same_values(prior, now)) return Rule::none;
    return guessed(prior, now) ? Rule::race_guessed : Rule::shared_race;
  }
  const Rule proxy = across_proxies(prior, now, fenced);
  if (proxy == Rule::none && too_narrow(prior, now, who)) return Rule::scope_too_narrow;
  if (released_by_one(prior, now, seen)) return Rule::lanes_unordered;
  const Rule lanes = lanes_apart(prior, now, who);
  return lanes != Rule::none ? lanes : proxy;
}

Rule unfinished(const Access& prior, const Access& now) {
  if (prior.agent == Agent::cp_async) return Rule::cp_async_in_flight;
  if (prior.write) return now.write ? Rule::write_in_flight : Rule::read_in_flight;
  return prior.agent == Agent::store || prior.agent == Agent::load ? Rule::store_source_overwritten : Rule::operand_overwritten;
}

}  // namespace

namespace {

// The object's bytes behind its initialisation. One that nothing has used may have been given up: a compiler reuses its place.
Rule over_mbarrier(const Access& init, const Access& now, const Clock& seen) {
  if (now.agent == Agent::mbarrier) return Rule::none;
  return init.spare && knows_issue(seen, init) ? Rule::mbarrier_given_up : Rule::mbarrier_bytes;
}

// Volatile and relaxed accesses of lanes do not race; one lane may be ahead of the other all the same.
Rule strong_lanes(const Access& prior, const Access& now, const WarpClock& who) {
  if (prior.places == 0 || who.places.latest().pc != now.pc || prior.modifies || now.modifies || (now.write && now.unchanging)) return Rule::none;
  if (!same_warp(prior, now) || prior.issued_at < who.met || who.knows_step(now.lanes, prior.lanes, prior.issued_at)) return Rule::none;
  return who.places.knows(prior.places) && who.places.exchange(prior.places) ? Rule::lanes_mixed : Rule::none;
}

Rule shared_rule(const Access& prior, const Access& now, const WarpClock& who, const Clock& seen) {
  if (combine(prior, now)) {
    const Rule rule = combined(prior, now, knows_issue(seen, prior));
    return rule == Rule::none && prior.agent == Agent::atomic ? strong_lanes(prior, now, who) : rule;
  }
  if (has_read(prior, now)) return Rule::none;
  if (prior.agent == Agent::mbarrier) return over_mbarrier(prior, now, seen);
  if (is_plain(prior.agent)) return after_plain(prior, now, who, seen, who.now.proxy_shared);
  if (!knows_end(seen, prior)) return same_digest(prior, now) ? Rule::none : unfinished(prior, now);
  if (prior.agent == Agent::cp_async && prior.write && lanes_copied(prior, now, who)) return Rule::lanes_mixed;
  // cp.async and st.async write through the generic proxy (docs/facts/tma-mbarrier.md §3.1).
  if (prior.agent != Agent::cp_async && prior.agent != Agent::remote) return Rule::none;
  const Rule proxy = across_proxies(prior, now, who.now.proxy_shared);
  const bool narrow = proxy == Rule::none && prior.agent == Agent::cp_async && too_narrow(prior, now, who);
  return narrow ? Rule::scope_too_narrow : proxy;
}

Rule global_rule(const Access& prior, const Access& now, const WarpClock& who, const Clock& seen, bool opaque) {
  if (combine(prior, now)) return combined(prior, now, knows_issue(seen, prior));
  if (has_read(prior, now)) return Rule::none;
  if (prior.agent == Agent::map) return knows_end(seen, prior) || opaque ? Rule::none : Rule::map_in_use;
  if (!is_plain(prior.agent)) {
    if (knows_end(seen, prior) || opaque) return prior.write && now.incoherent ? Rule::incoherent_read : Rule::none;
    if (same_digest(prior, now)) return Rule::none;  // each warp elects a thread, and each of them copies the tile out
    const bool used = prior.write && prior.agent == Agent::store && now.agent != Agent::store;
    return used && knows_issue(seen, prior) ? Rule::store_unfinished : Rule::global_race;
  }
  if (!knows_issue(seen, prior)) {
    if (opaque || same_values(prior, now)) return Rule::none;
    if (guessed(prior, now)) return Rule::race_guessed;
    return reads_the_same(prior, now) ? Rule::race_unchanged : Rule::global_race;
  }
  if (too_narrow(prior, now, who)) return Rule::scope_too_narrow;
  if (prior.write && now.incoherent) return Rule::incoherent_read;
  if (released_by_one(prior, now, seen)) return Rule::lanes_unordered;
  const bool fenced = who.now.proxy_global[prior.issuer] >= prior.issued_at;
  return prior.write && is_async_proxy(now.agent) && !fenced ? Rule::proxy_global : Rule::none;
}

bool over(const Access& a, const CrossClusterClock& known) {
  if (is_plain(a.agent)) return known[{a.cluster, a.issuer}] >= a.issued_at;
  return a.done_at != kInFlight && known[{a.cluster, a.done}] >= a.done_at;
}

// Of a copy's map: a read through the tensormap proxy that ends with its instruction.
bool reads_map(const Access& a) { return !a.write && is_async_proxy(a.agent) && a.done == a.issuer && a.done_at == a.issued_at; }
bool is_store(const Access& a) { return a.write && is_plain(a.agent); }

// A copy from or to what a thread of another cluster has stored and released: the fence may be on either side.
bool proxy_missing(const Access& stored, const Access& copy, const CrossClusterKnowledge& knew) {
  const bool copies = is_async_proxy(copy.agent) && !reads_map(copy);
  return copies && is_store(stored) && over(stored, knew.known) && knew.proxy[{stored.cluster, stored.issuer}] < stored.issued_at;
}

// A map that a thread of another cluster has edited; nothing if the tensormap proxy has no part in it.
std::optional<Rule> map_rule(const Access& edit, const Access& use, const CrossClusterKnowledge& knew) {
  if (!is_store(edit) || !reads_map(use)) return std::nullopt;
  const CrossClusterClock::Key who{edit.cluster, edit.issuer};
  if (knew.maps_acquired[who] >= edit.issued_at) return Rule::none;
  if (knew.maps_released[who] >= edit.issued_at) return Rule::map_not_acquired;
  return over(edit, knew.known) ? std::optional(Rule::map_not_released) : std::nullopt;
}

// Checks with the order that all lanes of the access have; lanes_unordered if only some of them lack it.
template <class F>
Rule by_lanes(const WarpClock& who, const Access& now, F rule) {
  if (const Rule r = rule(who.now.seen); r != Rule::none) return r;
  return (now.lanes & ~who.ahead) != 0 && rule(who.common(now.lanes)) != Rule::none ? Rule::lanes_unordered : Rule::none;
}

}  // namespace

Rule shared_hazard(const Access& prior, const Access& now, const WarpClock& who) {
  return by_lanes(who, now, [&](const Clock& seen) { return shared_rule(prior, now, who, seen); });
}

Rule global_hazard(const Access& prior, const Access& now, const WarpClock& who, bool opaque) {
  return by_lanes(who, now, [&](const Clock& seen) { return global_rule(prior, now, who, seen, opaque); });
}

Rule cross_cluster_rule(const Access& one, const CrossClusterKnowledge& one_knew, const Access& other, const CrossClusterKnowledge& other_knew) {
  if ((one.write && other.incoherent && over(one, other_knew.known)) || (other.write && one.incoherent && over(other, one_knew.known))) return Rule::incoherent_read;
  for (const auto& [a, b, knew] : {std::tie(one, other, other_knew), std::tie(other, one, one_knew)}) {
    if (const auto r = map_rule(a, b, knew); r.has_value()) return *r;
    if (proxy_missing(a, b, knew)) return Rule::proxy_global;
  }
  if (combine(one, other)) return combined(one, other, over(one, other_knew.known) || over(other, one_knew.known));
  if (has_read(one, other) || has_read(other, one) || over(one, other_knew.known) || over(other, one_knew.known)) return Rule::none;
  // One store alone that leaves the memory as it is may be chance: two clusters that add 1 to a word they have read may store the same.
  if (one.write && other.write && one.unchanging && other.unchanging) return Rule::none;
  if (guessed(one, other)) return Rule::race_guessed;
  if (reads_the_same(one, other)) return Rule::race_unchanged;
  const auto read = [](const Access& a, const CrossClusterKnowledge& knew) { return over(a, knew.observed) || over(a, knew.fenced); };
  return read(one, other_knew) || read(other, one_knew) ? Rule::acquire_missing : Rule::global_race;
}

namespace {

// PTX ISA 9.7.16.6.2: the pairs of operations that execute in the order of their issue.
bool pipelines(const Access& prior, const Access& now) {
  switch (now.agent) {
    case Agent::mma: return prior.agent != Agent::mma || (prior.write && now.write && prior.form == now.form);
    case Agent::shift: return prior.agent == Agent::mma;
    case Agent::copy: return prior.agent == Agent::shift && now.form == kCopy4x256b;
    default: return false;
  }
}

// Fences of tensor memory on both sides of a relaxed synchronisation are enough there (PTX ISA 9.7.16.6.4, whose patterns wait with .relaxed).
bool ended_for(const WarpClock& who, const Access& prior) { return knows_end(who.now.seen, prior) || knows_end(who.now.tensor, prior); }

// Columns are freed once an operation has ended, which a relaxed wait sees.
bool ended_before(const Access& now, const WarpClock& who, const Access& prior) { return ended_for(who, prior) || (now.agent == Agent::dealloc && knows_end(who.observed.seen, prior)); }

// Both by the tensor core: the pipeline of one thread, or of two threads if the fences put one issue before the other.
Rule tensor_core_rule(const Access& prior, const Access& now, const WarpClock& who) {
  if (ended_for(who, prior)) return Rule::none;
  if (prior.done == now.done && prior.done_at == now.done_at) return Rule::none;  // parts of one operation
  if (prior.done == now.done || who.now.tensor[prior.issuer] >= prior.issued_at) return pipelines(prior, now) ? Rule::none : Rule::pipeline_order;
  return knows_issue(who.now.seen, prior) ? Rule::before_fence_missing : Rule::tensor_threads_unordered;
}

}  // namespace

Rule tensor_hazard(const Access& prior, const Access& now, const WarpClock& who) {
  const bool freeing = now.agent == Agent::dealloc;
  if (prior.agent == Agent::dealloc) return freeing ? Rule::none : Rule::dealloc_in_use;  // freed twice: TensorAllocation
  if (same_digest(prior, now)) return Rule::none;                                         // Triton's second warpgroup stores the scale factors that the first one stores
  if (now.scales && prior.write && prior.agent == Agent::mma) return Rule::scales_are_sums;
  if (now.scales && prior.write && prior.agent == Agent::copy && prior.copies < now.copies) return Rule::scales_not_repeated;
  if (is_tensor_core(prior.agent) && is_tensor_core(now.agent)) return tensor_core_rule(prior, now, who);
  if (!ended_before(now, who, prior)) {
    if (prior.used != 0 && who.now.seen[prior.used] >= prior.done_at) return same_warp(prior, now) && !freeing ? Rule::none : Rule::load_only_consumed;
    if (freeing) return Rule::dealloc_in_use;
    if (is_tensor_core(prior.agent)) return Rule::result_not_waited;
    // A warp's store after its own load reads the loaded registers, or at least keeps the order of issue.
    if (same_warp(prior, now) && now.agent == Agent::tmem_st) return Rule::none;
    return prior.agent == Agent::tmem_ld ? Rule::load_in_flight : Rule::store_in_flight;
  }
  if (freeing || prior.agent == Agent::tmem_ld || who.now.tensor[prior.done] >= prior.done_at) return Rule::none;
  return who.tensor_observed[prior.done] >= prior.done_at ? Rule::after_fence_missing : Rule::before_fence_missing;
}

const char* verb_of(const Access& a, bool earlier) {
  switch (a.agent) {
    case Agent::mbarrier: return earlier ? "the mbarrier was initialised by" : "initialises the mbarrier";
    case Agent::ended: return earlier ? "the mbarrier was ended by" : "ends the mbarrier";
    case Agent::expect: return "expects bytes";
    case Agent::dealloc: return "freed by";
    case Agent::map: return earlier ? "the tensor map is read, asynchronously, by" : "reads the tensor map, asynchronously";
    case Agent::arrival: return "arrives on its mbarrier";
    case Agent::shuffle: return "a lane that takes no part was read by";
    case Agent::hole: return "local memory that nothing has written was read by";
    case Agent::unset: return "shared memory that nothing has written was read by";
    case Agent::vacant: return "tensor memory that nothing has written was read by";
    case Agent::contested: return "lanes wrote different values by";
    case Agent::blank: return "a register that nothing has written was read by";
    default: break;
  }
  if (is_plain(a.agent)) return a.write ? (earlier ? "written by" : "writes") : (earlier ? "read by" : "reads");
  return a.write ? (earlier ? "written, asynchronously, by" : "writes, asynchronously") : (earlier ? "read, asynchronously, by" : "reads, asynchronously");
}

}  // namespace drywell::sim::check
