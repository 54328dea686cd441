#include "tools/html_report.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "drywell/core/source_path.h"
#include "tools/common/script_data.h"
#include "tools/run_advice.h"

namespace drywell::tools {
namespace {

using Json = nlohmann::json;

/// Lines of the files that are there: a kernel of the table has paths from Drywell's own root.
class SourceLines {
 public:
  std::string line(const std::string& file, uint32_t number) {
    const auto [it, fresh] = files_.try_emplace(file);
    if (fresh) it->second = read(file);
    if (number == 0 || number > it->second.size()) return {};
    const std::string& text = it->second[number - 1];
    return text.substr(std::min(text.size(), text.find_first_not_of(" \t")));
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

Json stall_names() {
  Json names = Json::array();
  for (size_t i = 0; i < sim::kStallCount; ++i) names.push_back(sim::stall_name(static_cast<sim::Stall>(i)));
  return names;
}

Json report_json(const sim::TimingReport& t) {
  Json j = {{"cycles", t.cycles},       {"ghz", t.clock_ghz},         {"us", t.seconds * 1e6},
            {"launch_us", t.launch_seconds * 1e6}, {"sms", t.sms},    {"sms_used", t.sms_used},
            {"ctas_per_sm", t.ctas_per_sm}, {"residency_limit", t.residency_limit},
            {"hbm_read", t.hbm_bytes_read}, {"hbm_written", t.hbm_bytes_written}, {"values", t.values}};
  for (const sim::UnitTime& u : t.units)
    j["units"].push_back({{"name", u.name}, {"utilisation", u.utilisation}, {"work", u.work}, {"work_unit", u.work_unit}, {"instances", u.instances}});
  for (const sim::Limit& l : t.limits) j["limits"].push_back({{"name", l.name}, {"cycles", l.cycles}, {"fraction", l.fraction}, {"what", l.what}});
  for (const sim::RoleTime& r : t.roles) j["roles"].push_back({{"name", r.name}, {"warps", r.warps}, {"instructions", r.instructions}, {"cycles", r.cycles}});
  j["advice"] = advice(t);
  double all = 0;
  SourceLines sources;
  for (const sim::LineTime& l : t.lines) all += l.cycles;
  for (size_t i = 0; i < std::min<size_t>(t.lines.size(), 40); ++i) {
    const sim::LineTime& l = t.lines[i];
    j["lines"].push_back({{"where", fmt::format("{}:{}", base_name(l.file), l.line)},
                          {"text", sources.line(l.file, l.line)},
                          {"share", l.cycles / std::max(all, 1.0)},
                          {"instructions", l.instructions}});
  }
  return j;
}

/// Numbers only, in flat lists: a track repeats start, length, state, line; each start is the distance from the previous
/// start.
Json timeline_json(const sim::Timeline& t) {
  Json j = {{"seen", t.seen}, {"cta", fmt::format("{}, {}, {}", t.cta.x, t.cta.y, t.cta.z)}, {"from", t.from}, {"to", t.to},
            {"truncated", t.truncated}, {"units", t.units}, {"lines", t.lines}, {"smem_capacity", t.smem_capacity}};
  j["warps"] = Json::array();
  for (const auto& w : t.warps) {
    Json spans = Json::array();
    uint64_t last = t.from;
    for (const auto& s : w.spans) {
      spans.insert(spans.end(), {s.from - last, s.to - s.from, static_cast<int>(s.state), s.line});
      last = s.from;
    }
    j["warps"].push_back({{"role", w.role}, {"spans", std::move(spans)}});
  }
  j["operations"] = Json::array();
  for (const auto& o : t.operations)
    j["operations"].push_back({o.unit, o.what, o.warp, o.line, o.issued, o.started, o.done, o.waiter, o.waited});
  j["levels"] = Json::array();
  for (const auto& l : t.levels) j["levels"].push_back({l.at, l.smem, l.arriving, l.tmem});
  return j;
}

}  // namespace

std::string html_report(const HtmlReport& r) {
  Json j = {{"title", r.title}, {"launch", r.launch}, {"verified", r.verified},
            {"arch", fmt::format("{} ({})", r.arch.name, r.arch.description)}, {"version", DRYWELL_VERSION}, {"stalls", stall_names()},
            {"report", report_json(*r.run.timing)}, {"timeline", timeline_json(r.timeline)}};
  return kReportHead + script_data(j) + kReportTail;
}

}  // namespace drywell::tools
