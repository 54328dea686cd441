#include "sim/check/lane_places.h"

#include <bit>

namespace drywell::sim::check {
namespace {

bool covers(const LanePlaces& outer, const LanePlaces& inner, uint32_t lane) {
  return (outer.lanes >> lane & 1) != 0 && outer.at[lane] <= inner.at[lane] && inner.at[lane] + inner.bytes <= outer.at[lane] + outer.bytes;
}

// Lanes of `p` that have a byte of `bytes` at `at`.
LaneMask lanes_at(const LanePlaces& p, uint64_t at, uint64_t bytes) {
  LaneMask there = 0;
  for (uint32_t l = 0; l < kWarpSize; ++l) there |= LaneMask{p.at[l] < at + bytes && at < p.at[l] + p.bytes} << l;
  return there & p.lanes;
}

}  // namespace

bool RecentPlaces::same_places(const LanePlaces& a, const LanePlaces& b) {
  bool same = a.lanes == b.lanes && a.bytes == b.bytes;
  for (uint32_t l = 0; l < kWarpSize; ++l) same = same && ((a.lanes >> l & 1) == 0 || a.at[l] == b.at[l]);
  return same;
}

std::array<LaneMask, kWarpSize> RecentPlaces::met_since(uint32_t number) const {
  std::array<LaneMask, kWarpSize> met{};
  for (const Meeting& m : meetings_) {
    if (m.before <= number) continue;
    LaneMask all = m.lanes;
    for (uint32_t l = 0; l < kWarpSize; ++l) all |= (m.lanes >> l & 1) != 0 ? met[l] : 0;
    for (uint32_t l = 0; l < kWarpSize; ++l) met[l] |= (m.lanes >> l & 1) != 0 ? all : 0;
  }
  return met;
}

bool RecentPlaces::come_to(uint64_t from, uint64_t to, LaneMask lanes) const { return (lanes_at(now_, from, to - from) & lanes) != 0; }

bool RecentPlaces::exchange(uint32_t prior, const LanePlaces& n) const {
  const LanePlaces& p = kept_[prior % kMost];
  if (p.together && !p.store) return false;  // all lanes had come to that ldmatrix
  if (p.together || n.together) return !(p.together && n.together && same_places(p, n));
  const auto met = met_since(prior);
  for (LaneMask left = n.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    if (covers(p, n, lane)) continue;
    if ((lanes_at(p, n.at[lane], n.bytes) & ~(LaneMask{1} << lane) & ~met[lane]) != 0) return true;
  }
  return false;
}

}  // namespace drywell::sim::check
