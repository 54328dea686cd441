#include "tools/html_report.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "drywell/core/source_path.h"
#include "tools/common/script_data.h"
#include "tools/run_advice.h"

namespace drywell::tools {
namespace {

using PlainJson = nlohmann::json;

/// Lines of the files that are there: a kernel of the table has paths from Drywell's own root.
class SourceLines {
 public:
  /// Without its indentation; empty if there is no such line.
  std::string line(const std::string& file, uint32_t number) {
    const std::string text = whole(file, number);
    return text.substr(std::min(text.size(), text.find_first_not_of(" \t")));
  }
  std::string whole(const std::string& file, uint32_t number) {
    const std::vector<std::string>& lines = of(file);
    return number == 0 || number > lines.size() ? std::string() : lines[number - 1];
  }
  const std::vector<std::string>& of(const std::string& file) {
    const auto [it, fresh] = files_.try_emplace(file);
    if (fresh) it->second = read(file);
    return it->second;
  }

 private:
  static std::vector<std::string> read(const std::string& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  std::map<std::string, std::vector<std::string>> files_;
};

PlainJson stall_names() {
  PlainJson names = PlainJson::array();
  for (size_t i = 0; i < sim::kStallCount; ++i) names.push_back(sim::stall_name(static_cast<sim::Stall>(i)));
  return names;
}

/// Work for the roofline: operations, their most a second if the units that did them were always busy, and the bytes of device memory.
PlainJson roofline_json(const HtmlLaunch& l, const sim::ArchConfig& arch) {
  const sim::TimingReport& t = l.timing;
  const auto busy = [&](std::initializer_list<const char*> names) {
    double most = 0;
    for (const char* name : names) {
      const sim::UnitTime* u = t.unit(name);
      if (u != nullptr && u->instances != 0) most = std::max(most, u->utilisation * static_cast<double>(t.sms_used) / static_cast<double>(std::max<uint32_t>(1, t.sms)));
    }
    return most;
  };
  PlainJson out = {{"seconds", t.seconds}, {"bytes", t.hbm_bytes_read + t.hbm_bytes_written}, {"bytes_per_second", arch.hbm.peak * 1e12}, {"kinds", PlainJson::array()}};
  const auto add = [&](const char* name, double operations, double share) {
    if (operations > 0 && share > 0) out["kinds"].push_back({{"name", name}, {"operations", operations}, {"peak", operations / t.seconds / share}});
  };
  add("tensor cores", l.costs.matrix_operations, busy({"tensor", "mma"}));
  add("floating-point pipes", l.costs.lane_operations, busy({"fma", "half", "f64"}));
  return out;
}

PlainJson access_json(const sim::AccessPattern& a) {
  if (a.count == 0) return nullptr;
  return {{"bytes", a.bytes}, {"stride", a.stride}, {"uneven", a.uneven}, {"store", a.store}, {"shared", a.shared}, {"units", a.per_access()}, {"excess", a.excess()}};
}

using Place = std::pair<std::string, uint32_t>;

/// The instructions of each line, and the lines around it if its file is there.
class LineDetails {
 public:
  explicit LineDetails(const sim::LaunchCosts& costs) {
    for (const sim::InstructionCost& c : costs.instructions) of_line_[{c.file, c.line}].push_back(&c);
  }
  void add(PlainJson& line, const Place& place, double all) {
    line["code"] = PlainJson::array();
    for (const sim::InstructionCost* c : of_line_[place])
      line["code"].push_back({{"ptx", c->ptx}, {"executed", c->executed}, {"share", c->cycles / all}, {"access", access_json(c->access)}});
    constexpr uint32_t kAround = 4;
    const uint32_t first = place.second > kAround ? place.second - kAround : 1;
    line["first"] = first;
    line["around"] = PlainJson::array();
    const size_t end = std::min<size_t>(sources_.of(place.first).size(), place.second + kAround);
    for (size_t n = first; n <= end; ++n) line["around"].push_back(sources_.whole(place.first, static_cast<uint32_t>(n)));
    line["text"] = sources_.line(place.first, place.second);
  }

 private:
  std::map<Place, std::vector<const sim::InstructionCost*>> of_line_;
  SourceLines sources_;
};

std::string place_of(const std::string& file, uint32_t line) { return fmt::format("{}:{}", base_name(file), line); }

PlainJson lines_of(const HtmlLaunch& l) {
  constexpr size_t kMost = 40;
  PlainJson out = PlainJson::array();
  double all = 0;
  LineDetails details(l.costs);
  for (const sim::LineTime& x : l.timing.lines) all += x.cycles;
  all = std::max(all, 1.0);
  for (const sim::LineTime& x : std::span(l.timing.lines).first(std::min(kMost, l.timing.lines.size()))) {
    PlainJson line = {{"where", place_of(x.file, x.line)}, {"file", from_repository(x.file)}, {"share", x.cycles / all}, {"instructions", x.instructions}};
    details.add(line, {x.file, x.line}, all);
    out.push_back(std::move(line));
  }
  return out;
}

PlainJson report_json(const HtmlLaunch& l, const sim::ArchConfig& arch) {
  const sim::TimingReport& t = l.timing;
  PlainJson j = {{"cycles", t.cycles}, {"ghz", t.clock_ghz}, {"us", t.seconds * 1e6}, {"launch_us", t.launch_seconds * 1e6}, {"sms", t.sms}, {"sms_used", t.sms_used}, {"ctas_per_sm", t.ctas_per_sm}, {"residency_limit", t.residency_limit}, {"hbm_read", t.hbm_bytes_read}, {"hbm_written", t.hbm_bytes_written}, {"values", t.values}};
  for (const sim::UnitTime& u : t.units)
    j["units"].push_back({{"name", u.name}, {"utilisation", u.utilisation}, {"work", u.work}, {"work_unit", u.work_unit}, {"instances", u.instances}});
  for (const sim::Limit& x : t.limits) j["limits"].push_back({{"name", x.name}, {"cycles", x.cycles}, {"fraction", x.fraction}, {"what", x.what}});
  for (const sim::RoleTime& r : t.roles) j["roles"].push_back({{"name", r.name}, {"warps", r.warps}, {"instructions", r.instructions}, {"cycles", r.cycles}});
  for (const sim::ResidencyLimit& r : t.residency) j["residency"].push_back({{"what", r.what}, {"ctas", r.ctas}, {"of_cta", r.of_cta}, {"of_sm", r.of_sm}});
  j["advice"] = advice(t, l.costs);
  j["roofline"] = roofline_json(l, arch);
  j["lines"] = lines_of(l);
  return j;
}

/// Numbers only, in flat lists: a track repeats start, length, state, line; each start is the distance from the previous
/// start.
PlainJson timeline_json(const sim::Timeline& t) {
  PlainJson j = {{"seen", t.seen}, {"cta", fmt::format("{}, {}, {}", t.cta.x, t.cta.y, t.cta.z)}, {"from", t.from}, {"to", t.to}, {"truncated", t.truncated}, {"units", t.units}, {"lines", t.lines}, {"smem_capacity", t.smem_capacity}};
  j["warps"] = PlainJson::array();
  for (const auto& w : t.warps) {
    PlainJson spans = PlainJson::array();
    uint64_t last = t.from;
    for (const auto& s : w.spans) {
      spans.insert(spans.end(), {s.from - last, s.to - s.from, static_cast<int>(s.state), s.line});
      last = s.from;
    }
    j["warps"].push_back({{"role", w.role}, {"spans", std::move(spans)}});
  }
  j["operations"] = PlainJson::array();
  for (const auto& o : t.operations)
    j["operations"].push_back({o.unit, o.what, o.warp, o.line, o.issued, o.started, o.done, o.waiter, o.waited});
  j["levels"] = PlainJson::array();
  for (const auto& l : t.levels) j["levels"].push_back({l.at, l.smem, l.arriving, l.tmem});
  return j;
}

PlainJson launch_json(const HtmlLaunch& l, const sim::ArchConfig& arch) {
  PlainJson j = {{"name", l.name}, {"launch", l.launch}, {"report", report_json(l, arch)}, {"timelines", PlainJson::array()}};
  for (const sim::Timeline* t : l.timelines) j["timelines"].push_back(timeline_json(*t));
  return j;
}

PlainJson party_json(const sim::FindingParty& p) {
  const sim::GuestPlace& w = p.where;
  return {{"role", p.role}, {"kernel", w.kernel}, {"cta", fmt::format("{}, {}, {}", w.cta.x, w.cta.y, w.cta.z)}, {"warp", w.warp}, {"ptx", w.ptx}, {"when", p.when}, {"place", w.source.file.empty() ? "" : place_of(w.source.file, w.source.line)}};
}

PlainJson hazard_json(const sim::Finding& f) {
  PlainJson j = {{"code", f.code}, {"level", sim::hazard_level_name(f.level)}, {"rule", f.rule}, {"memory", f.memory}, {"order", f.order}, {"why", f.why}, {"fix", f.fix}, {"ptx_isa", f.ptx}, {"count", f.count}, {"here", party_json(f.here)}};
  j["other"] = f.other.role.empty() ? PlainJson(nullptr) : party_json(f.other);
  return j;
}

}  // namespace

std::string html_report(const HtmlReport& r) {
  PlainJson j = {{"title", r.title}, {"verified", r.verified}, {"checked", r.checked}, {"hazards", PlainJson::array()}, {"launches", PlainJson::array()}, {"arch", fmt::format("{} ({})", r.arch.name, r.arch.description)}, {"version", DRYWELL_VERSION}, {"stalls", stall_names()}};
  for (const HtmlLaunch& l : r.launches) j["launches"].push_back(launch_json(l, r.arch));
  for (const sim::Finding& f : r.hazards) j["hazards"].push_back(hazard_json(f));
  return kReportHead + script_data(j) + kReportTail + kReportTimeline;
}

}  // namespace drywell::tools
