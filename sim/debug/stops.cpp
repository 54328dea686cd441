#include "sim/debug/stops.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/core/error.h"
#include "sim/debug/describe.h"
#include "sim/debug/hazard_positions.h"
#include "sim/debug/write_probe.h"

namespace drywell::sim {
namespace {

void append(std::vector<uint8_t>& out, const uint8_t* p, size_t n) { out.insert(out.end(), p, p + n); }

const Cta* find_cta(Session& s, const WarpRef& r) {
  const Cluster* c = s.find_cluster(r.cluster);
  return c == nullptr || r.cta >= c->ctas.size() ? nullptr : c->ctas[r.cta].get();
}

struct Watched {
  Session& s;
  std::vector<uint8_t> operator()(const WatchSmem& w) const {
    const Cta* cta = find_cta(s, w.cta);
    const uint8_t* p = cta == nullptr ? nullptr : smem_at(*cta, w.offset, w.bytes);
    return p == nullptr ? std::vector<uint8_t>() : std::vector<uint8_t>(p, p + w.bytes);
  }
  std::vector<uint8_t> operator()(const WatchGmem& w) const {
    const uint8_t* p = s.launch().gmem->translate(w.address, w.bytes);
    return p == nullptr ? std::vector<uint8_t>() : std::vector<uint8_t>(p, p + w.bytes);
  }
  std::vector<uint8_t> operator()(const WatchTmem& w) const {
    const Cta* cta = find_cta(s, w.cta);
    std::vector<uint8_t> out;
    for (uint32_t c = w.column; cta != nullptr && c < w.column + w.columns; ++c) {
      append(out, reinterpret_cast<const uint8_t*>(cta->tmem->column(c) + w.lane), size_t{4} * w.lanes);
    }
    return out;
  }
  std::vector<uint8_t> operator()(const WatchRegister& w) const {
    const Warp* warp = s.find(w.warp);
    std::vector<uint8_t> out;
    if (warp == nullptr || w.frame >= warp->frames.size()) return out;
    const auto lanes = read_register(*warp, find_register(*warp, w.name, w.frame), w.frame);
    append(out, reinterpret_cast<const uint8_t*>(lanes.data()), sizeof(lanes));
    return out;
  }
  template <class T>
  std::vector<uint8_t> operator()(const T&) const {
    return {};
  }
};

uint64_t word_of(const std::vector<uint8_t>& bytes, size_t at, size_t width) {
  uint64_t v = 0;
  std::memcpy(&v, bytes.data() + at, std::min(width, bytes.size() - at));
  return v;
}

/// "0x0 -> 0x7 in lane 3, 4 changed".
std::string describe_change(const StopWhat& what, const std::vector<uint8_t>& before, const std::vector<uint8_t>& now) {
  if (before.size() != now.size()) return now.empty() ? "it is gone" : "it is there";
  const size_t width = std::holds_alternative<WatchRegister>(what) ? 8 : std::min<size_t>(4, now.size());
  size_t first = ~size_t{0}, count = 0;
  for (size_t i = 0; i < now.size(); i += width) {
    if (word_of(before, i, width) == word_of(now, i, width)) continue;
    if (count++ == 0) first = i;
  }
  std::string out = fmt::format("{:#x} -> {:#x}", word_of(before, first, width), word_of(now, first, width));
  if (const auto* t = std::get_if<WatchTmem>(&what); t != nullptr && t->lanes * t->columns > 1) {
    out += fmt::format(" in lane {} column {}", t->lane + first / 4 % t->lanes, t->column + first / 4 / t->lanes);
  } else if (std::holds_alternative<WatchRegister>(what)) {
    out += fmt::format(" in lane {}", first / 8);
  } else if (now.size() > 4) {
    out += fmt::format(" at +{}", first);
  }
  return count > 1 ? out + fmt::format(", {} changed", count) : out;
}

/// Condition of a stop that is not a CodeStop, for lanes of the hit's warp. If the condition cannot be evaluated, returns true
/// and puts the error into `hit`.
bool condition_holds(Session& s, const Stop& stop, Hit& hit) {
  if (!stop.condition.has_value()) return true;
  const Warp* w = s.find(hit.who);
  if (w == nullptr) return false;
  const LaneMask lanes = s.last().kind == StepRecord::Kind::instruction && s.last().lanes != 0 ? s.last().lanes : w->active;
  try {
    return stop.condition->holds(s, *w, lanes != 0 ? lanes : 1);
  } catch (const InputError& e) {
    hit.text = fmt::format("its condition cannot be evaluated: {}", e.what());
    return true;
  }
}

struct Check {
  Session& s;
  Stop& stop;
  std::vector<uint8_t>& before;
  WriteProbe* probe;
  const StepRecord& r = s.last();

  std::optional<Hit> hit(WarpRef who, std::string text = {}) const { return Hit{stop.id, who, std::move(text)}; }

  std::optional<Hit> operator()(const CodeStop& c) const {
    if (stop.warp.has_value() && !(r.who == *stop.warp)) return std::nullopt;
    for (const Arrival& a : arrivals(s)) {
      if (!std::binary_search(c.pcs.begin(), c.pcs.end(), a.pc)) continue;
      if (!stop.condition.has_value()) return hit(r.who);
      try {
        if (stop.condition->holds(s, *s.find(r.who), a.lanes)) return hit(r.who);
      } catch (const InputError& e) {
        return hit(r.who, fmt::format("its condition cannot be evaluated: {}", e.what()));
      }
    }
    return std::nullopt;
  }
  std::optional<Hit> operator()(const PhaseStop& p) const {
    for (const StepRecord::Phase& done : r.phases) {
      if (!p.offset.has_value() || *p.offset == shared_offset(done.mbarrier)) return hit(r.who);
    }
    return std::nullopt;
  }
  std::optional<Hit> operator()(const AsyncStop& a) const {
    if (a.moment == AsyncMoment::issue) {
      const Cluster* c = r.issued.empty() ? nullptr : s.find_cluster(r.who.cluster);
      for (size_t i = c == nullptr ? 0 : c->pending.size(); i > 0; --i) {
        const AsyncOp& op = c->pending[i - 1];
        if (std::find(r.issued.begin(), r.issued.end(), op.id) != r.issued.end() && (!a.kind.has_value() || op.payload.index() == *a.kind)) {
          return hit(r.who, fmt::format("#{} {}", op.id, describe_op(s, op.payload, r.who)));
        }
      }
      return std::nullopt;
    }
    if (!r.moved || !(r.moment == a.moment || (r.read_too && a.moment == AsyncMoment::read)) || (a.kind.has_value() && r.payload.index() != *a.kind)) return std::nullopt;
    return hit(r.who);
  }
  std::optional<Hit> operator()(const HazardStop& h) const {
    const HazardMap::Entry* e = h.map->at(s.position());
    return e == nullptr ? std::nullopt : hit(r.who, e->to_string());
  }
  template <class W>
  std::optional<Hit> operator()(const W&) const {
    std::vector<uint8_t> now = watched_bytes(s, stop.what);
    const bool changed = now != before;
    std::string change = changed ? describe_change(stop.what, before, now) : "the same value again";
    before = std::move(now);
    if (probe == nullptr ? !changed : !probe->take()) return std::nullopt;
    if (probe != nullptr && !probe->detail().empty()) change += "; " + probe->detail();
    return hit(r.who, std::move(change));
  }
};

}  // namespace

bool is_watch(const StopWhat& what) { return what.index() > 3; }

std::vector<uint8_t> watched_bytes(Session& s, const StopWhat& what) { return std::visit(Watched{s}, what); }

std::vector<Arrival> arrivals(Session& s) {
  const StepRecord& r = s.last();
  if (r.kind != StepRecord::Kind::instruction) return {};
  const Warp* w = s.find(r.who);
  if (w == nullptr || w->finished()) return {};
  std::vector<Arrival> out{{w->pc, w->active}};
  // The warp also arrived at the folded instructions, and has executed them.
  for (const StepRecord::Executed& e : r.folded) {
    if (e.who == r.who) out.push_back({e.pc, e.lanes});
  }
  if (r.diverged) {
    for (const LaneGroup& g : w->waiting) out.push_back({g.pc, g.lanes});
  }
  return out;
}

Stop& Stops::add(StopWhat what, std::string text) {
  Stop stop;
  stop.what = std::move(what);
  return add(std::move(stop), std::move(text));
}

Stop& Stops::add(Stop made, std::string text) {
  Stop& stop = all_.emplace_back(std::move(made));
  stop.id = next_++;
  stop.text = std::move(text);
  return stop;
}

bool Stops::remove(uint32_t id) {
  return std::erase_if(all_, [&](const Stop& s) { return s.id == id; }) != 0;
}

Stop* Stops::find(uint32_t id) {
  const auto it = std::find_if(all_.begin(), all_.end(), [&](const Stop& s) { return s.id == id; });
  return it == all_.end() ? nullptr : &*it;
}

Stops::Stops() = default;
Stops::~Stops() = default;

void Stops::prime(Session& s) {
  release(s);
  values_.resize(all_.size());
  for (size_t i = 0; i < all_.size(); ++i) {
    values_[i] = watched_bytes(s, all_[i].what);
    probes_.push_back(all_[i].on_write ? std::make_unique<WriteProbe>(s, all_[i].what) : nullptr);
    if (probes_[i] != nullptr && probes_[i]->is_predicate()) probes_[i].reset();
    if (probes_[i] != nullptr) s.attach(*probes_[i]);
  }
}

void Stops::release(Session& s) {
  for (const auto& p : probes_) {
    if (p != nullptr) s.detach(*p);
  }
  probes_.clear();
}

bool Stops::needs_hazards() const {
  return std::any_of(all_.begin(), all_.end(), [](const Stop& s) { return s.enabled && std::holds_alternative<HazardStop>(s.what); });
}

std::optional<Hit> Stops::check(Session& s) {
  std::optional<Hit> first;
  for (size_t i = 0; i < all_.size(); ++i) {
    if (!all_[i].enabled) continue;
    std::optional<Hit> h = std::visit(Check{s, all_[i], values_[i], probes_[i].get()}, all_[i].what);
    if (h.has_value() && !std::holds_alternative<CodeStop>(all_[i].what) && !condition_holds(s, all_[i], *h)) continue;
    if (h.has_value() && !first.has_value()) first = std::move(h);
  }
  return first;
}

}  // namespace drywell::sim
