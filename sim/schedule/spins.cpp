#include "sim/schedule/spins.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "drywell/core/source_path.h"
#include "drywell/isa/spec.h"
#include "drywell/isa/strong.h"
#include "sim/events/hub.h"
#include "sim/exec/exec.h"
#include "sim/schedule/functional.h"
#include "sim/schedule/look_ahead.h"
#include "sim/state/gmem.h"
#include "sim/state/payload/mbarrier.h"

namespace drywell::sim {
namespace {

constexpr size_t kMostLines = 8;

/// Instructions [first, last] that a backward branch encloses.
struct Loop {
  uint32_t first, last;
  bool has(uint32_t pc) const { return first <= pc && pc <= last; }
  uint32_t length() const { return last - first; }
};

bool polls(const Program& p, uint32_t pc) {
  const isa::InstrSpec& row = isa::spec(p.code[pc].opcode);
  if (row.memory == isa::MemoryRole::atomic || row.sync == isa::SyncRole::mbarrier_wait) return true;
  return row.memory == isa::MemoryRole::load && isa::is_uncached(p.instruction(p.code[pc]));
}

/// A loop of blocks that are not side by side, as nvcc may put the one that sleeps, is found as closed_waits() does.
std::vector<uint32_t> polls_of(const Program& p, const ClosedWait& l) {
  std::vector<uint32_t> all;
  std::copy_if(l.body.begin(), l.body.end(), std::back_inserter(all), [&](uint32_t pc) { return polls(p, pc); });
  return all;
}

std::vector<uint32_t> polls_of(const Program& p, const Loop& l) {
  std::vector<uint32_t> all;
  for (uint32_t pc = l.first; pc <= l.last; ++pc)
    if (polls(p, pc)) all.push_back(pc);
  return all;
}

bool only_branches(const Program& p, const Loop& l) {
  return std::all_of(p.code.begin() + l.first, p.code.begin() + l.last + 1, [](const DecodedOp& op) { return op.flow == isa::Flow::branch; });
}

/// The smallest loop around `pc` that polls, or that does nothing at all.
std::optional<Loop> find_loop(const Program& p, uint32_t pc) {
  std::optional<Loop> best;
  for (uint32_t end = pc; end < p.code.size() && p.code[end].function == p.code[pc].function; ++end) {
    for (const uint32_t target : branch_targets(p, p.code[end])) {
      const Loop l{target, end};
      if (target > end || !l.has(pc) || (best && best->length() <= l.length())) continue;
      if (!polls_of(p, l).empty() || only_branches(p, l)) best = l;
    }
  }
  return best;
}

/// The loops of a program, by the places that were asked for: many warps are at few.
class Loops {
 public:
  const std::optional<Loop>& around(const Program& p, uint32_t pc) {
    const auto known = all_.find(pc);
    return known != all_.end() ? known->second : all_.emplace(pc, find_loop(p, pc)).first->second;
  }

 private:
  std::map<uint32_t, std::optional<Loop>> all_;
};

std::string at(const GuestPlace& p) {
  const auto line = [](const SourcePos& s) { return fmt::format("{}:{}", base_name(s.file), s.line); };
  if (p.source.file.empty()) return fmt::format("'{}'", p.ptx);
  return fmt::format("'{}' ({}{})", p.ptx, line(p.source), p.called_from.empty() ? "" : ", inlined at " + line(p.called_from.back()));
}

std::string in_memory(const uint8_t* bytes, uint32_t count) {
  uint64_t value = 0;
  if (bytes == nullptr) return "no memory";
  std::memcpy(&value, bytes, count);
  return value < 10 ? fmt::format("{}", value) : fmt::format("{} ({:#x})", value, value);
}

/// The mbarrier that a lane asks; empty: the phase is complete, and the lane goes on.
std::string mbarrier_in_words(const Warp& w, const DecodedOp& op, uint32_t lane) {
  const Cluster& c = *w.cta->cluster;
  const bool by_parity = c.launch->program->instruction(op).has(isa::Mod::parity);
  const uint64_t a = lane_address(w, op, lane), phase = lane_value(w, op.src[1], lane, !by_parity);
  const uint32_t address = shared_address(w, a, op.as<payload::Mbarrier>().cluster_space || is_shared_generic(a));
  const uint32_t parity = by_parity ? static_cast<uint32_t>(phase) & 1 : static_cast<uint32_t>(phase >> 63);
  if (shared_rank(address) >= c.ctas.size()) return {};
  const Mbarrier* const m = c.ctas[shared_rank(address)]->smem.find_mbarrier(shared_offset(address));
  return m == nullptr || m->parity_done(parity) ? "" : describe_mbarrier(c, address, parity);
}

/// The place that a lane polls: where it is and what it has, as words.
std::string place_in_words(const Warp& w, const DecodedOp& op, uint32_t lane) {
  const Cluster& c = *w.cta->cluster;
  if (op.sync == isa::SyncRole::mbarrier_wait) return mbarrier_in_words(w, op, lane);
  const isa::Instruction& i = c.launch->program->instruction(op);
  const isa::Mod space = i.mod(isa::Slot::space);
  const uint64_t a = lane_address(w, op, lane);
  const auto bytes = std::min<uint32_t>(8, std::max(1u, isa::type_bits(i.mod(isa::Slot::type)) / 8));
  const bool generic = space != isa::Mod::global && space != isa::Mod::shared && space != isa::Mod::shared_cta && space != isa::Mod::shared_cluster;
  const auto writer = [&](uint64_t address, bool shared) {
    const std::string text = c.launch->observers != nullptr ? c.launch->observers->last_writer(c, address, shared) : std::string();
    return text.empty() ? "" : "; " + text;
  };
  if (space == isa::Mod::global || (generic && a >= window::kGlobalBase)) {
    const Gmem::Allocation* m = c.launch->gmem->find(a);
    const std::string name = m == nullptr || m->name.empty() ? "" : fmt::format(" ({}{})", m->name, a == m->base ? "" : fmt::format("+{:#x}", a - m->base));
    return fmt::format("global memory at {:#x}{} has {}{}", a, name, in_memory(c.launch->gmem->translate(a, bytes), bytes), writer(a, false));
  }
  if (generic && !is_shared_generic(a)) return {};
  const uint32_t s = shared_address(w, a, space != isa::Mod::shared && space != isa::Mod::shared_cta);
  if (shared_rank(s) >= c.ctas.size()) return {};
  const Smem& smem = c.ctas[shared_rank(s)]->smem;
  const uint8_t* const there = shared_offset(s) + bytes <= smem.size() ? smem.data() + shared_offset(s) : nullptr;
  return fmt::format("shared memory{} at {:#x} has {}{}", c.ctas.size() == 1 ? "" : fmt::format(" of CTA rank {}", shared_rank(s)), shared_offset(s), in_memory(there, bytes), writer(s, true));
}

/// What the lanes at one place of the program wait for; empty: they may go on.
std::string spin_of(const Warp& w, uint32_t pc, LaneMask lanes, Loops& loops) {
  const LaneGroup group{pc, lanes, w.frame, 0};
  const Program& p = *w.cta->cluster->launch->program;
  const ClosedWait* const closed = closed_wait(p, pc);
  const std::optional<Loop>& loop = loops.around(p, pc);
  if (closed == nullptr && !loop) return {};
  const std::vector<uint32_t> reads = closed != nullptr ? polls_of(p, *closed) : polls_of(p, *loop);
  if (reads.empty()) return fmt::format("go round {} for ever: the loop reads no memory (a flag that is not volatile is read once, before the loop)", at(place_of(w, pc, lanes)));
  std::string out;
  for (const uint32_t read : reads) {
    const std::optional<Warp> there = look_ahead(w, group, read);  // nothing: of what the loop does not write, the lanes know it here
    std::set<std::string> places;
    for_lanes(there.has_value() ? there->active & lanes : lanes, [&](uint32_t lane) { places.insert(place_in_words(there.has_value() ? *there : w, p.code[read], lane)); });
    places.erase("");
    if (places.empty()) continue;
    out += fmt::format("{} {}: {}{}", out.empty() ? "poll by" : "\n      and by", at(place_of(w, read, lanes)), *places.begin(), places.size() == 1 ? "" : fmt::format("; {} more places", places.size() - 1));
  }
  return out;
}

/// Warps that wait for the same.
struct Group {
  std::string what;
  Dim3 cta;
  uint32_t warp;
  LaneMask lanes;
  uint64_t warps = 1;
};

class Groups {
 public:
  void add(const Warp& w, LaneMask lanes, std::string what) {
    const auto same = std::find_if(all_.begin(), all_.end(), [&](const Group& g) { return g.what == what; });
    if (same != all_.end()) return void(++same->warps);
    all_.push_back({std::move(what), w.cta->index, w.index, lanes});
  }
  std::string text() const {
    std::string out;
    for (size_t i = 0; i < std::min(all_.size(), kMostLines); ++i) {
      const Group& g = all_[i];
      out += fmt::format("\n  CTA ({},{},{}) warp {} lanes {:#010x}{} {}", g.cta.x, g.cta.y, g.cta.z, g.warp, g.lanes, g.warps == 1 ? "" : fmt::format(" and {} more warp{}", g.warps - 1, g.warps == 2 ? "" : "s"), g.what);
    }
    return all_.size() <= kMostLines ? out : out + fmt::format("\n  and {} more places", all_.size() - kMostLines);
  }

 private:
  std::vector<Group> all_;
};

}  // namespace

std::string describe_spins(const std::vector<const Cluster*>& clusters) {
  Groups spins, waits;
  Loops loops;
  bool checked = false;
  const auto spin = [&](const Warp& w, uint32_t pc, LaneMask lanes) {
    std::string what = lanes == 0 ? "" : spin_of(w, pc, lanes, loops);
    const bool spins_here = !what.empty();
    if (spins_here) spins.add(w, lanes, std::move(what));
    return spins_here;
  };
  for (const Cluster* c : clusters) {
    checked = checked || (c->launch->observers != nullptr && c->launch->observers->knows_writers());
    for (const auto& cta : c->ctas) {
      for (const Warp& w : cta->warps) {
        if (w.finished()) continue;
        bool any = spin(w, w.pc, w.active);
        for (const LaneGroup& g : w.waiting)
          if (g.frame == w.frame) any = spin(w, g.pc, g.lanes) || any;
        if (!any && w.block.reason != BlockReason::none) waits.add(w, w.active, fmt::format("wait at {} for {}", at(place_of(w, w.pc, w.active)), describe_wait(*c, w)));
      }
    }
  }
  const std::string text = spins.text();
  if (text.empty()) return {};
  return text + waits.text() + (checked ? "" : "\n  (--check says who wrote there last)");
}

std::string describe_spins(const Warp& w) {
  Groups spins;
  Loops loops;
  const auto add = [&](uint32_t pc, LaneMask lanes) {
    std::string what = lanes == 0 ? "" : spin_of(w, pc, lanes, loops);
    if (!what.empty()) spins.add(w, lanes, std::move(what));
  };
  add(w.pc, w.active);
  for (const LaneGroup& g : w.waiting)
    if (g.frame == w.frame) add(g.pc, g.lanes);
  const std::string text = spins.text();
  return text.empty() ? text : text.substr(1);
}

Fault grid_deadlock_of(const std::vector<const Cluster*>& clusters) {
  const std::string what = "deadlock: CTAs poll global memory that nothing of this launch changes any more (work of other streams and of the host comes behind it)";
  return with_spins({Code::F3601, what, place_of_first(*clusters.front())}, clusters);
}

Fault with_spins(Fault f, const std::vector<const Cluster*>& clusters) {
  f.message += describe_spins(clusters);
  return f;
}

}  // namespace drywell::sim
