// The picture of tensor memory at one cycle, from its history.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "drywell/sim/inspect/tmem_history.h"

namespace drywell::sim {
namespace {

constexpr size_t kAllocated = 0, kInFlight = 1, kFirstRole = 2;  // keys of the legend

/// Lanes [first, first + count) of a step.
struct Run {
  uint32_t lane = 0, lanes = 0;
};

/// An accumulator may use a part of the lanes in its rectangle only.
std::vector<Run> runs_of(const TmemHistoryData& h, const TmemStep& s) {
  if (s.form < 0) return {{s.lane, s.lanes}};
  const TmemForm& form = h.forms[static_cast<size_t>(s.form)];
  std::vector<Run> out;
  for (const isa::TmemBlock& b : form.blocks) {
    if (b.cta != (form.use.form.cta_group == 2 ? s.cta & 1 : 0)) continue;
    const uint32_t lane = b.lane + s.base_lane;
    if (std::any_of(out.begin(), out.end(),
                    [&](const Run& r) { return r.lane <= lane && lane < r.lane + r.lanes; }))
      continue;
    if (!out.empty() && out.back().lane + out.back().lanes == lane)
      out.back().lanes += b.lanes;
    else
      out.push_back({lane, b.lanes});
  }
  return out;
}

bool overlap(const TmemStep& a, const TmemStep& b) {
  return a.cta == b.cta && a.lane < b.lane + b.lanes && b.lane < a.lane + a.lanes &&
         a.column < b.column + b.columns && b.column < a.column + a.columns;
}

/// The tensor core's names for what a copy or a store wrote: "SFA", or nothing.
std::string read_as(const TmemHistoryData& h, const TmemStep& writer) {
  std::set<std::string_view> roles;
  for (const TmemStep& s : h.steps)
    if (s.form >= 0 && !s.writes && overlap(s, writer)) roles.insert(to_string(s.role));
  return fmt::format("{}", fmt::join(roles, "+"));
}

std::string extent(uint32_t first, uint32_t count) {
  return count == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, first + count - 1);
}

/// The partitions with the roles of the warps that reach them, or with their numbers.
std::vector<isa::ScaleGuide> guides_of(const TmemHistoryData& h) {
  std::vector<isa::ScaleGuide> out = isa::partition_guides();
  for (size_t p = 0; p < out.size(); ++p) {
    std::vector<std::string> names;
    for (size_t w = p; w < h.roles.size(); w += out.size())
      if (!h.roles[w].empty() && std::find(names.begin(), names.end(), h.roles[w]) == names.end()) names.push_back(h.roles[w]);
    if (!names.empty()) out[p].name = fmt::format("{}", fmt::join(names, ", "));
  }
  return out;
}

class StatePicture {
 public:
  StatePicture(const TmemHistoryData& h, uint64_t at) : h_(h), at_(at) {
    p_.x_name = "column of 32 bits";
    p_.y_name = "lane";
    p_.x_step = 32;
    p_.keys = {{"allocated", 0xC9D1DC}, {"in flight", 0xB0003A}};
    for (uint32_t r = 0; r < h.ranks; ++r)
      p_.panels.push_back({title_of(h.first_rank + r), 512, 128, guides_of(h), {}});
  }

  isa::ScalePicture draw() {
    for (const TmemHeld& a : h_.held)
      if (a.from <= at_ && (a.to == 0 || at_ < a.to))
        area(a.cta, {double(a.column),
                     0,
                     double(a.columns),
                     128,
                     kAllocated,
                     {},
                     fmt::format("columns {} allocated at {}", extent(a.column, a.columns), a.from),
                     false});
    for (const TmemStep* s : last_writes()) step(*s, key_of(*s), false);
    for (const TmemStep& s : h_.steps)
      if (s.issued <= at_ && (s.done == 0 || at_ < s.done)) step(s, kInFlight, true);
    return std::move(p_);
  }

 private:
  std::string title_of(uint32_t rank) const {
    const Dim3 c = h_.ctas[rank];
    return fmt::format("CTA {}, {}, {}{}", c.x, c.y, c.z,
                       h_.ranks == 1   ? ""
                       : rank % 2 == 0 ? ": even CTA of the pair"
                                       : ": odd CTA of the pair");
  }

  void area(uint32_t rank, isa::ScaleArea a) {
    p_.panels[rank - h_.first_rank].areas.push_back(std::move(a));
  }

  /// "D, written by tcgen05.mma", "SFA, written by tcgen05.cp", or "written by tcgen05.st" if no tcgen05.mma
  /// reads it.
  static std::string key_name(const TmemHistoryData& h, const TmemStep& s) {
    if (s.role == TmemRole::accumulator) return "D, written by tcgen05.mma";
    const std::string use = read_as(h, s);
    return fmt::format("{}written by tcgen05.{}", use.empty() ? "" : use + ", ", to_string(s.role));
  }

  size_t key_of(const TmemStep& s) {
    const auto [it, fresh] = keys_.try_emplace(key_name(h_, s), p_.keys.size());
    if (fresh) p_.keys.push_back({it->first, isa::scale_colour(it->second - kFirstRole)});
    return it->second;
  }

  /// Complete writes in the order of completion, of equal rectangles and lines the last.
  std::vector<const TmemStep*> last_writes() const {
    using Place = std::tuple<uint8_t, uint16_t, uint16_t, uint16_t, uint16_t, uint32_t>;
    std::map<Place, const TmemStep*> last;
    for (const TmemStep& s : h_.steps) {
      if (!s.writes || s.done == 0 || s.done > at_) continue;
      const TmemStep*& kept = last[{s.cta, s.lane, s.lanes, s.column, s.columns, s.place}];
      if (kept == nullptr || kept->done <= s.done) kept = &s;
    }
    std::vector<const TmemStep*> out;
    for (const auto& [place, s] : last) out.push_back(s);
    std::stable_sort(out.begin(), out.end(),
                     [](const TmemStep* a, const TmemStep* b) { return a->done < b->done; });
    return out;
  }

  void step(const TmemStep& s, size_t key, bool outline) {
    const std::string use = s.form < 0 && s.writes ? read_as(h_, s) : std::string();
    const std::string name =
        use.empty() ? std::string(to_string(s.role)) : fmt::format("{} ({})", use, to_string(s.role));
    const std::string& place = h_.places[s.place];
    const std::string tip = fmt::format("{}: {}, warp {}, columns {}, issued at {}{}", name, place, s.warp,
                                        extent(s.column, s.columns), s.issued,
                                        s.done == 0 ? "" : fmt::format(", complete at {}", s.done));
    std::vector<std::string> labels = {
        name + "\n" + place.substr(place.rfind('/') == std::string::npos ? 0 : place.rfind('/') + 1), name};
    if (outline) labels.clear();
    for (const Run& r : runs_of(h_, s))
      area(s.cta,
           {double(s.column), double(r.lane), double(s.columns), double(r.lanes), key, labels, tip, outline});
  }

  const TmemHistoryData& h_;
  uint64_t at_;
  isa::ScalePicture p_;
  std::map<std::string, size_t> keys_;
};

}  // namespace

isa::ScalePicture tmem_state_picture(const TmemHistoryData& h, uint64_t at) {
  return StatePicture(h, at).draw();
}

}  // namespace drywell::sim
