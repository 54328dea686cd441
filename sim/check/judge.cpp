#include "sim/check/judge.h"

namespace drywell::sim::check {
namespace {

bool knows_issue(const WarpClock& who, const Access& a) { return who.now.seen[a.issuer] >= a.issued_at; }
bool knows_end(const WarpClock& who, const Access& a) { return a.done_at != kInFlight && who.now.seen[a.done] >= a.done_at; }
bool same_warp(const Access& a, const Access& b) { return a.issuer == b.issuer; }
bool combine(const Access& a, const Access& b) {
  return (a.reduction && b.reduction) || (a.agent == Agent::atomic && b.agent == Agent::atomic);
}

// An ordinary access, then anything: ordered if the later thread knows of it; the async proxy sees a store only behind a fence.
Rule after_plain(const Access& prior, const Access& now, const WarpClock& who, const Clock& fenced) {
  if (!knows_issue(who, prior)) return is_plain(now.agent) ? Rule::shared_race : Rule::not_ordered_before_async;
  if (!prior.write || !is_async_proxy(now.agent) || fenced[prior.issuer] >= prior.issued_at) return Rule::none;
  return now.write ? Rule::proxy_write_to_async_write : Rule::proxy_write_to_async_read;
}

Rule unfinished(const Access& prior, const Access& now) {
  if (prior.agent == Agent::cp_async) return Rule::cp_async_in_flight;
  if (prior.write) return now.write ? Rule::write_in_flight : Rule::read_in_flight;
  return prior.agent == Agent::store || prior.agent == Agent::load ? Rule::store_source_overwritten : Rule::operand_overwritten;
}

}  // namespace

Rule judge_shared(const Access& prior, const Access& now, const WarpClock& who) {
  if (combine(prior, now)) return Rule::none;
  if (prior.agent == Agent::mbarrier) return now.agent == Agent::mbarrier ? Rule::none : Rule::mbarrier_bytes;
  if (is_plain(prior.agent)) return after_plain(prior, now, who, who.now.proxy_shared);
  if (!knows_end(who, prior)) {
    if (prior.agent == Agent::cp_async && now.agent == Agent::cp_async && same_warp(prior, now)) return Rule::none;
    return unfinished(prior, now);
  }
  // cp.async writes through the generic proxy.
  const bool fenced = who.now.proxy_shared[prior.done] >= prior.done_at;
  if (prior.agent == Agent::cp_async && is_async_proxy(now.agent) && !fenced)
    return now.write ? Rule::proxy_write_to_async_write : Rule::proxy_write_to_async_read;
  return Rule::none;
}

Rule judge_tensor(const Access& prior, const Access& now, const WarpClock& who) {
  const bool freeing = now.agent == Agent::dealloc;
  if (is_tensor_core(prior.agent) && is_tensor_core(now.agent)) {
    // One thread's operations pipeline; those of two threads if the fences put one issue before the other.
    if (prior.done == now.done || knows_end(who, prior) || who.now.tensor[prior.issuer] >= prior.issued_at) return Rule::none;
    return knows_issue(who, prior) ? Rule::before_fence_missing : Rule::tensor_threads_unordered;
  }
  if (!knows_end(who, prior)) {
    if (prior.used != 0 && who.now.seen[prior.used] >= prior.done_at) return same_warp(prior, now) && !freeing ? Rule::none : Rule::load_only_consumed;
    if (freeing) return Rule::dealloc_in_use;
    if (is_tensor_core(prior.agent)) return Rule::result_not_waited;
    // A warp's store after its own load takes the loaded registers, or at least its turn.
    if (same_warp(prior, now) && now.agent == Agent::tmem_st) return Rule::none;
    return prior.agent == Agent::tmem_ld ? Rule::load_in_flight : Rule::store_in_flight;
  }
  if (freeing || prior.agent == Agent::tmem_ld || who.now.tensor[prior.done] >= prior.done_at) return Rule::none;
  return who.tensor_heard[prior.done] >= prior.done_at ? Rule::after_fence_missing : Rule::before_fence_missing;
}

Rule judge_global(const Access& prior, const Access& now, const WarpClock& who, bool synchronised) {
  if (combine(prior, now)) return Rule::none;
  if (prior.cluster != now.cluster) return synchronised ? Rule::none : Rule::global_race;
  if (!is_plain(prior.agent)) return knows_end(who, prior) || synchronised ? Rule::none : Rule::global_race;
  if (!knows_issue(who, prior)) return synchronised ? Rule::none : Rule::global_race;
  const bool fenced = who.now.proxy_global[prior.issuer] >= prior.issued_at;
  return prior.write && is_async_proxy(now.agent) && !fenced ? Rule::proxy_global : Rule::none;
}

const char* verb_of(const Access& a, bool earlier) {
  switch (a.agent) {
    case Agent::mbarrier: return "the mbarrier was initialised by";
    case Agent::dealloc: return "freed by";
    default: break;
  }
  if (is_plain(a.agent)) return a.write ? (earlier ? "written by" : "writes") : (earlier ? "read by" : "reads");
  return a.write ? (earlier ? "written, asynchronously, by" : "writes, asynchronously") : (earlier ? "read, asynchronously, by" : "reads, asynchronously");
}

}  // namespace drywell::sim::check
