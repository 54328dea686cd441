// The findings of a run as text: causes before their consequences, one entry for one cause, no more than a screen.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/source_path.h"
#include "drywell/sim/check.h"

namespace drywell::sim {
namespace {

/// Prefixes of codes, causes first: what an uninitialised barrier or a peer that does not run leads to comes behind it.
constexpr std::array<std::string_view, 9> kOrder{"H7301", "H7302", "H730", "H7801", "H79", "H70", "H71", "H72", "H7"};

size_t rank_of(const Finding& f) {
  const auto at = std::find_if(kOrder.begin(), kOrder.end(), [&](std::string_view prefix) { return f.code.starts_with(prefix); });
  return static_cast<size_t>(at - kOrder.begin());
}

std::string line_of(const SourcePos& s) { return fmt::format("{}:{}", base_name(s.file), s.line); }

/// "x.cu:12", "ptx.cuh:7 (from x.cu:12)", or the instruction if its line is unknown.
std::string place_of(const FindingParty& p) {
  if (p.role.empty()) return {};
  const GuestPlace& w = p.where;
  if (w.source.file.empty()) return w.ptx;
  return w.called_from.empty() ? line_of(w.source) : fmt::format("{} (from {})", line_of(w.source), line_of(w.called_from.back()));
}

/// The end of the earlier operation, which a wait would have to show: the first half of Finding::order (describe_order.cpp).
std::string_view end_of_first(const Finding& f) { return f.order.starts_with("the first ends") ? std::string_view(f.order).substr(0, f.order.find(';')) : std::string_view(); }

/// The same two places, the other one first: nothing orders the two.
bool reversed(const Finding& a, const Finding& b) {
  return !a.other.role.empty() && !b.other.role.empty() && place_of(a.here) == place_of(b.other) && place_of(a.other) == place_of(b.here);
}

/// Findings with one cause: of one rule and with a party at one place, about one operation that no warp waits for, or about two places in either order.
struct Cause {
  std::vector<const Finding*> all;
  bool has(const Finding& f) const {
    return std::any_of(all.begin(), all.end(), [&](const Finding* o) {
      const bool other = !f.other.role.empty() && place_of(o->other) == place_of(f.other);
      if (reversed(f, *o)) return true;
      if (o->code == f.code) return other || place_of(o->here) == place_of(f.here);
      return other && !end_of_first(f).empty() && end_of_first(f) == end_of_first(*o);
    });
  }
  const Finding& first() const { return *all.front(); }
};

std::string listed(const std::vector<std::string>& places, size_t most) {
  std::string out;
  for (size_t i = 0; i < std::min(places.size(), most); ++i) out += (i == 0 ? "" : ", ") + places[i];
  return places.size() > most ? out + fmt::format(" and {} more", places.size() - most) : out;
}

/// The places of all of them but the first, each once.
std::vector<std::string> other_places(const Cause& c, bool first_too) {
  std::vector<std::string> places;
  for (const Finding* f : c.all) {
    std::string place = place_of(f->here);
    if (f->code != c.first().code) place += " (" + f->code + ")";
    const bool known = std::find(places.begin(), places.end(), place) != places.end() || (!first_too && place == place_of(c.first().here));
    if (!known) places.push_back(std::move(place));
  }
  return places;
}

uint64_t times(const Cause& c) {
  uint64_t n = 0;
  for (const Finding* f : c.all) n += f->count;
  return n;
}

constexpr size_t kPlaces = 6;

std::string in_full(const Cause& c) {
  std::string out = c.first().to_string();
  const std::vector<std::string> more = other_places(c, false);
  if (!more.empty()) out += fmt::format("    the same at {} ({} times in all)\n", listed(more, kPlaces), times(c));
  return out;
}

/// The other parties, each once: "written by x.cu:12". Where a value that has none was made, for example.
std::vector<std::string> other_parties(const Cause& c) {
  std::vector<std::string> parties;
  for (const Finding* f : c.all) {
    if (f->other.role.empty()) continue;
    std::string party = fmt::format("{} {}", f->other.role, place_of(f->other));
    if (std::find(parties.begin(), parties.end(), party) == parties.end()) parties.push_back(std::move(party));
  }
  return parties;
}

constexpr size_t kParties = 3;

std::string in_a_line(const Cause& c) {
  const Finding& f = c.first();
  const std::vector<std::string> places = other_places(c, true), parties = other_parties(c);
  return fmt::format("{} {}: {} ({} time{} at {}{}{})\n    fix: {}\n", hazard_level_name(f.level), f.code, f.rule, times(c), times(c) == 1 ? "" : "s", listed(places, kPlaces), parties.empty() ? "" : "; ",
                     listed(parties, kParties), f.fix);
}

std::vector<Cause> causes_of(const std::vector<Finding>& findings) {
  std::vector<const Finding*> sorted;
  for (const Finding& f : findings) sorted.push_back(&f);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Finding* a, const Finding* b) { return std::pair(a->level, rank_of(*a)) < std::pair(b->level, rank_of(*b)); });
  std::vector<Cause> all;
  for (const Finding* f : sorted) {
    const bool error = f->level == HazardLevel::error;
    const auto same = std::find_if(all.begin(), all.end(), [&](const Cause& c) { return error ? c.has(*f) : c.first().code == f->code; });
    if (same != all.end()) {
      same->all.push_back(f);
    } else {
      all.push_back({{f}});
    }
  }
  return all;
}

}  // namespace

std::string describe_findings(const std::vector<Finding>& findings, size_t lines) {
  std::string out;
  size_t used = 0, left = 0;
  std::vector<std::string> codes;
  for (const Cause& c : causes_of(findings)) {
    const std::string text = c.first().level == HazardLevel::error ? in_full(c) : in_a_line(c);
    const auto height = static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    if (used != 0 && used + height > lines) {
      ++left;
      if (std::find(codes.begin(), codes.end(), c.first().code) == codes.end()) codes.push_back(c.first().code);
      continue;
    }
    used += height;
    out += "\n" + text;
  }
  if (left != 0) out += fmt::format("\nand {} more: {}\n", left, listed(codes, codes.size()));
  return out;
}

}  // namespace drywell::sim
