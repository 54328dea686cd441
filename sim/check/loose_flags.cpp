#include "sim/check/loose_flags.h"

#include <fmt/format.h>

#include "sim/check/place_words.h"
#include "sim/schedule/functional.h"

namespace drywell::sim::check {
namespace {

constexpr size_t kMost = 3;

std::string lines(const Program& program, const std::map<uint32_t, bool>& all, const char* does, const char* orders) {
  std::string out;
  size_t n = 0;
  for (const auto& [pc, reaches] : all) {
    if (n++ == kMost) break;
    GuestPlace p;
    locate(p, program, pc);
    out += fmt::format("{}'{}'{} {}, and {}", out.empty() ? "" : "; ", p.ptx, source_of(p), does, reaches ? orders : "its scope does not reach them");
  }
  return out;
}

}  // namespace

void LooseFlags::loaded(uint64_t place, uint64_t cluster, uint32_t pc, bool reaches, bool acquires) {
  const auto at = last_.find(place);
  if (at == last_.end() || at->second.cluster == cluster) return;
  const Store& s = at->second;
  if (!s.releases) stores_.emplace(s.pc, s.reaches);
  if (!acquires || !reaches) loads_.emplace(pc, reaches);
}

std::string LooseFlags::text(const Program& p) const {
  const std::string stores = lines(p, stores_, "stores what other CTAs read", "releases nothing to them");
  const std::string loads = lines(p, loads_, "reads what other CTAs store", "acquires nothing, unless a fence follows");
  return stores + (stores.empty() || loads.empty() ? "" : "; ") + loads;
}

}  // namespace drywell::sim::check
