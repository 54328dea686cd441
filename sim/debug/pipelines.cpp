#include "sim/debug/pipelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/debug/describe.h"

namespace drywell::sim {
namespace {

/// Fillers and waiters of the barriers at one offset, over all CTAs.
struct Part {
  std::set<std::string> fillers, waiters, filled_by, waited_by;

  // Without source lines: the wait of the first stage may be before the loop.
  auto key() const { return std::tie(filled_by, waited_by); }
  void take(const Part& other) {
    fillers.insert(other.fillers.begin(), other.fillers.end());
    waiters.insert(other.waiters.begin(), other.waiters.end());
  }
};

/// Collects parts while a launch runs.
class Watcher : public Listener {
 public:
  Watcher(const Session& s, const CodeMap& code) : session_(s), code_(code) {}

  void mbarrier(const Cta& cta, uint32_t offset, const Mbarrier& b, MbarrierEvent e, int64_t) override {
    if (e == MbarrierEvent::init || e == MbarrierEvent::inval) return;
    if (e == MbarrierEvent::phase_complete) {
      phases_[{cta.serial, offset}] = b.phase;
      const auto others = first_others_.find({cta.serial, offset});
      if (others == first_others_.end()) first_others_[{cta.serial, offset}] = phases_;
      return;
    }
    if (running_ != nullptr) note(offset, *running_, e);
    else events_.push_back({offset, e});
  }
  // mbarrier events of an instruction are received before the instruction's event, those of an operation between its write and
  // its signal.
  void instruction(const Warp& w, const DecodedOp& op, LaneMask) override {
    const auto pc = static_cast<uint32_t>(&op - session_.program().code.data());
    for (const auto& [offset, e] : events_) note(offset, w.index, pc, e == MbarrierEvent::wait_true, code_opcode(pc));
    events_.clear();
  }
  void blocked(const Warp& w, const DecodedOp& op) override {
    events_.clear();
    if (w.block.reason == BlockReason::mbarrier) note(shared_offset(w.block.address), w.index, static_cast<uint32_t>(&op - session_.program().code.data()), true, {});
  }
  void async(const Cluster&, const AsyncOp& op, AsyncMoment m) override {
    if (m == AsyncMoment::write) running_ = &op;
    if (m == AsyncMoment::signal) running_ = nullptr;
  }

  std::map<uint32_t, Part>& parts() { return parts_; }
  /// Phases that the barrier at `other` had completed when the barrier at `offset` completed its first, in any one CTA.
  uint64_t phases_before_first(uint32_t offset, uint32_t other) const {
    for (const auto& [key, then] : first_others_) {
      if (key.second != offset) continue;
      const auto at = then.find({key.first, other});
      return at == then.end() ? 0 : at->second;
    }
    return 0;
  }

 private:
  using BarrierKey = std::pair<uint64_t, uint32_t>;  // CTA, offset

  std::string role(uint32_t warp) const {
    const std::string_view name = role_of(session_.program(), warp);
    return name.empty() ? fmt::format("warp {}", warp) : std::string(name);
  }
  std::string code_opcode(uint32_t pc) const {
    const std::string& text = code_.at(pc).text;
    const size_t start = text.starts_with('@') ? text.find(' ') + 1 : 0;
    return text.substr(start, text.find_first_of(" ;", start) - start);
  }
  void note(uint32_t offset, uint32_t warp, uint32_t pc, bool waits, const std::string& how) {
    Part& p = parts_[offset];
    const std::string who = role(warp), place = code_.place(pc);
    (waits ? p.waited_by : p.filled_by).insert(who);
    // "mbarrier.arrive.expect_tx", without state spaces and types.
    (waits ? p.waiters : p.fillers).insert(waits ? fmt::format("{} at {}", who, place) : fmt::format("{}, {} at {}", who, how.substr(0, how.find(".shared")), place));
  }
  void note(uint32_t offset, const AsyncOp& op, MbarrierEvent) { note(offset, op.issuer.warp, op.issuer.pc, false, std::string(kind_name(op.payload))); }

  const Session& session_;
  const CodeMap& code_;
  const AsyncOp* running_ = nullptr;
  std::vector<std::pair<uint32_t, MbarrierEvent>> events_;
  std::map<uint32_t, Part> parts_;
  std::map<BarrierKey, uint64_t> phases_;
  std::map<BarrierKey, std::map<BarrierKey, uint64_t>> first_others_;
};

std::vector<std::string> list(const std::set<std::string>& all) { return {all.begin(), all.end()}; }

/// Joins neighbouring barriers with the same roles and a constant distance.
std::vector<Ring> rings_of(const std::map<uint32_t, Part>& parts) {
  std::vector<Ring> rings;
  Part whole;
  uint32_t stride = 0;
  const auto finish = [&] {
    if (rings.empty()) return;
    rings.back().fillers = list(whole.fillers);
    rings.back().waiters = list(whole.waiters);
    rings.back().filled_by = list(whole.filled_by);
    rings.back().waited_by = list(whole.waited_by);
  };
  for (const auto& [offset, part] : parts) {
    const uint32_t distance = rings.empty() ? 0 : offset - rings.back().offsets.back();
    const bool goes_on = !rings.empty() && whole.key() == part.key() && (rings.back().offsets.size() == 1 ? distance <= 64 : distance == stride);
    if (goes_on) {
      stride = distance;
      whole.take(part);
    } else {
      finish();
      rings.emplace_back();
      whole = part;
    }
    rings.back().offsets.push_back(offset);
  }
  finish();
  return rings;
}

bool meet(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& x) { return std::find(b.begin(), b.end(), x) != b.end(); });
}

/// True if a filler of each ring waits for the other ring.
bool answer_each_other(const Ring& full, const Ring& empty) {
  return full.offsets.size() == empty.offsets.size() && meet(full.filled_by, empty.waited_by) && meet(full.waited_by, empty.filled_by);
}

/// Order in which a ring is chosen as the full one of a pair: filled by copies, then by commits, then others.
int rank_of(const Ring& r) {
  const auto filled_with = [&](std::string_view how) {
    return std::any_of(r.fillers.begin(), r.fillers.end(), [&](const std::string& f) { return f.find(how) != std::string::npos; });
  };
  if (filled_with("TMA") || filled_with("copy") || filled_with("expect_tx")) return 0;
  return filled_with("commit") ? 1 : 2;
}

std::vector<Pipeline> pair_up(std::vector<Ring> rings, const Watcher& watcher) {
  std::vector<Pipeline> out;
  std::vector<bool> used(rings.size(), false);
  for (const int rank : {0, 1, 2}) {
    for (size_t i = 0; i < rings.size(); ++i) {
      if (used[i] || rings[i].filled_by.empty() || rank_of(rings[i]) != rank) continue;
      used[i] = true;
      Pipeline p{rings[i], {}, 0};
      for (size_t k = 0; k < rings.size(); ++k) {
        if (used[k] || !answer_each_other(rings[i], rings[k])) continue;
        used[k] = true;
        p.empty = rings[k];
        p.free_first = watcher.phases_before_first(p.full.offsets[0], p.empty.offsets[0]);
        break;
      }
      out.push_back(std::move(p));
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Pipeline& a, const Pipeline& b) { return a.full.offsets[0] < b.full.offsets[0]; });
  return out;
}

}  // namespace

std::vector<Pipeline> find_pipelines(Session& s, const CodeMap& code, uint64_t most, const std::function<bool()>& interrupted) {
  const uint64_t here = s.position();
  Watcher watcher(s, code);
  s.begin_with(watcher);
  while (s.position() < most && s.step()) {
    if (s.position() % 4096 == 0 && interrupted && interrupted()) break;
  }
  s.detach(watcher);
  s.seek(here);
  return pair_up(rings_of(watcher.parts()), watcher);
}

std::string describe_stage_of(const Pipeline& p, size_t stage, Cta& cta) {
  const Mbarrier* const full = cta.smem.find_mbarrier(p.full.offsets[stage]);
  if (full == nullptr || !full->live) return "not initialised";
  const bool begun = full->pending != full->expected || full->tx != 0;
  const std::string missing = full->tx != 0 ? fmt::format("{} bytes missing", full->tx) : fmt::format("{} of {} arrivals missing", full->pending, full->expected);
  const Mbarrier* empty = p.empty.offsets.empty() ? nullptr : cta.smem.find_mbarrier(p.empty.offsets[stage]);
  if (empty == nullptr) return begun ? fmt::format("being filled, {}", missing) : fmt::format("filled {} times", full->phase);
  if (full->phase + p.free_first > empty->phase) return empty->pending != empty->expected ? fmt::format("being freed, {} of {} arrivals missing", empty->pending, empty->expected) : "full";
  return begun ? fmt::format("being filled, {}", missing) : "free";
}

}  // namespace drywell::sim
