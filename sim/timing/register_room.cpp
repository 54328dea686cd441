#include "sim/timing/register_room.h"

#include <algorithm>

#include "drywell/isa/spec.h"
#include "sim/timing/block_motion.h"

namespace drywell::sim {
namespace {

// Registers of a lane; the stack pointer and an address. A kernel that needs up to kMost in PTX's order is kept to kFew, or to little more
// (least_label needs 38 and has 32, t_dropout 50 and 32, stencil7 33 and 36, t_adam 42 and 40).
constexpr uint32_t kFew = 32, kReserved = 2, kMost = 50;

// A value from before a loop that is read in it is needed until the loop ends.
bool extend(std::vector<LiveRange>& ranges, const std::vector<Loop>& loops) {
  bool changed = false;
  for (const Loop& l : loops) {
    for (LiveRange& r : ranges) {
      if (!r.used() || r.first >= l.first || r.last < l.first || r.last >= l.last) continue;
      r.last = l.last;
      changed = true;
    }
  }
  return changed;
}

}  // namespace

std::vector<LiveRange> live_ranges(const isa::Function& f, const std::vector<isa::Registers>& registers) {
  std::vector<LiveRange> ranges(f.regs.size());
  const auto name = [&](isa::RegId r, uint32_t at) { ranges[r] = {std::min(ranges[r].first, at), std::max(ranges[r].last, at)}; };
  for (uint32_t i = 0; i < f.body.size(); ++i) {
    for (const isa::RegId r : registers[i].reads) name(r, i);
    for (const isa::RegId r : registers[i].writes) name(r, i);
  }
  const std::vector<Loop> loops = loops_of(f);
  while (extend(ranges, loops)) {
  }
  return ranges;
}

uint32_t words_of(const isa::Function& f, const LanesApart& lanes, isa::RegId r) {
  const unsigned bits = isa::type_bits(f.regs[r].type);
  return bits == 1 || lanes.varies[r] == 0 ? 0 : (bits + 31) / 32;
}

std::vector<std::optional<uint32_t>> register_room(const isa::Function& f, const std::vector<LiveRange>& ranges, const LanesApart& lanes,
                                                   const std::vector<uint32_t>& starts) {
  std::vector<int64_t> change(f.body.size() + 1);
  for (isa::RegId r = 0; r < ranges.size(); ++r) {
    if (!ranges[r].used()) continue;
    change[ranges[r].first] += words_of(f, lanes, r);
    change[ranges[r].last] -= words_of(f, lanes, r);
  }
  std::vector<uint32_t> live(f.body.size() + 1);  // before each instruction
  int64_t now = 0;
  for (size_t i = 0; i < f.body.size(); ++i) live[i + 1] = static_cast<uint32_t>(now += change[i]);
  const bool few = *std::max_element(live.begin(), live.end()) <= kMost;
  std::vector<std::optional<uint32_t>> room(starts.size());
  for (size_t b = 0; few && b < starts.size(); ++b) room[b] = kFew - kReserved - std::min(kFew - kReserved, live[starts[b]]);
  return room;
}

}  // namespace drywell::sim
