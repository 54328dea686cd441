#include "sim/check/unused_reads.h"

#include <fmt/format.h>

#include <algorithm>

namespace drywell::sim::check {
namespace {

constexpr size_t kMostOfAWarp = 64;  // held races: those of further instructions are reported as errors

}  // namespace

bool UnusedReads::has_stored(WarpKey warp, const LoadUse& use) {
  const std::vector<bool>& stored = warps_.of_cta(warp.first)[warp.second].stored;
  return !stored.empty() && std::any_of(use.stores.begin(), use.stores.end(), [&](uint32_t pc) { return stored[pc]; });
}

bool UnusedReads::hold(AccessId prior, AccessId now, uint64_t at) {
  const Access &a = accesses_[prior], &b = accesses_[now];
  if (a.agent != Agent::thread || b.agent != Agent::thread || a.write == b.write) return false;
  const Access& read = a.write ? b : a;
  const WarpKey warp{read.cta, read.warp};
  const LoadUse& use = launch_.load_uses->of(read.pc);
  if (use.everywhere || has_stored(warp, use)) return false;
  std::vector<Held>& held = held_[warp];
  const auto same = [&](const Held& h) { return accesses_[h.prior].pc == a.pc && accesses_[h.now].pc == b.pc; };
  if (std::any_of(held.begin(), held.end(), same)) return true;
  if (held.size() >= kMostOfAWarp) return false;
  held.push_back({prior, now, at, &use});
  return true;
}

void UnusedReads::report(Rule rule, const Held& h) const {
  reporter_.report(rule, &accesses_[h.prior], accesses_[h.now], [&] { return fmt::format("global memory at {:#x}", h.at); });
}

void UnusedReads::stored(const Warp& w, uint32_t pc) {
  std::vector<bool>& known = warps_.of(w).stored;
  if (known.empty()) known.resize(launch_.program->code.size());
  if (known[pc]) return;
  known[pc] = true;
  const auto of = held_.find({static_cast<uint16_t>(w.cta->rank), static_cast<uint16_t>(w.index)});
  if (of == held_.end()) return;
  const auto used = [&](const Held& h) { return std::binary_search(h.use->stores.begin(), h.use->stores.end(), pc); };
  for (const Held& h : of->second) {
    if (used(h)) report(Rule::global_race, h);
  }
  std::erase_if(of->second, used);
}

void UnusedReads::finish() {
  for (const auto& [warp, held] : held_) {
    for (const Held& h : held) report(Rule::race_unused, h);
  }
  held_.clear();
}

}  // namespace drywell::sim::check
