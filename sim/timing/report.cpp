#include "drywell/sim/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/core/source_path.h"
#include "sim/timing/make_report.h"

namespace drywell::sim {

std::string amount_of_work(double amount, std::string_view unit) {
  if (amount < 1e6) return fmt::format("{:.6g} {}", amount, unit);
  const bool giga = amount >= 1e9;
  const double scaled = amount / (giga ? 1e9 : 1e6);
  return fmt::format("{:.4g} {}{}{}", scaled, giga ? 'G' : 'M', unit == "B" ? "" : " ", unit);
}

std::string_view stall_name(Stall s) {
  static constexpr std::string_view kNames[] = {"issued", "not_selected", "register_dependency",
                                                "memory", "pipe_busy", "branch",
                                                "issue_cost", "mbarrier", "named_barrier",
                                                "cluster_barrier", "warp_sync", "tmem_wait",
                                                "tmem_alloc", "bulk_wait", "sleep",
                                                "finished"};
  static_assert(std::size(kNames) == kStallCount);
  return kNames[static_cast<size_t>(s)];
}

const UnitTime* TimingReport::unit(std::string_view name) const {
  const auto it = std::find_if(units.begin(), units.end(), [&](const UnitTime& u) { return u.name == name; });
  return it == units.end() ? nullptr : &*it;
}

const RoleTime* TimingReport::role(std::string_view name) const {
  const auto it = std::find_if(roles.begin(), roles.end(), [&](const RoleTime& r) { return r.name == name; });
  return it == roles.end() ? nullptr : &*it;
}

namespace {

void append_roles(const TimingReport& r, std::string& out) {
  out += "\nwhere the warps' cycles went\n";
  for (const RoleTime& role : r.roles) {
    const double total = std::max(role.total(), 1.0);
    out += fmt::format("  {:<16} {} warps, {} warp instructions\n", role.name, role.warps, role.instructions);
    std::array<size_t, kStallCount> order;
    for (size_t i = 0; i < kStallCount; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return role.cycles[a] > role.cycles[b]; });
    for (const size_t i : order) {
      if (role.cycles[i] / total < 0.005) continue;
      out += fmt::format("    {:<20} {:5.1f} %\n", stall_name(static_cast<Stall>(i)),
                         100 * role.cycles[i] / total);
    }
  }
}

}  // namespace

std::string to_text(const TimingReport& r, size_t lines) {
  std::string out = fmt::format(
      "time          {} cycles = {:.2f} us at {:.3f} GHz (an empty launch takes {:.2f} us more)\n", r.cycles,
      r.seconds * 1e6, r.clock_ghz, r.launch_seconds * 1e6);
  if (r.watts != 0) {
    out += fmt::format("power         {:.0f} W of {:.0f} W, if repeated for seconds with random data{}\n", r.watts, r.watts_limit,
                       r.watts > r.watts_limit + 0.5 ? ": --clock=sustained has the clock it would hold" : "");
  }
  out += fmt::format("SMs           {} of {} used, {} CTA{} at a time on each (limited by {})\n", r.sms_used,
                     r.sms, r.ctas_per_sm, r.ctas_per_sm == 1 ? "" : "s", r.residency_limit);
  if (!r.limits.empty()) {
    const Limit& l = r.limits.front();
    out += fmt::format("binding limit {}: {:.1f} % of it ({})\n", l.name, 100 * l.fraction, l.what);
  }
  out += "\nunits\n";
  for (const UnitTime& u : r.units) {
    if (u.busy_cycles == 0 && u.work == 0) continue;
    out += fmt::format("  {:<12} {:5.1f} % busy   {}\n", u.name, 100 * u.utilisation, amount_of_work(u.work, u.work_unit));
  }
  append_roles(r, out);
  if (!r.lines.empty() && lines != 0) {
    double total = 0;
    for (const LineTime& l : r.lines) total += l.cycles;
    out += "\nmost expensive lines\n";
    for (size_t i = 0; i < std::min(lines, r.lines.size()); ++i) {
      const LineTime& l = r.lines[i];
      out += fmt::format("  {:5.1f} %  {}:{}  {} warp instructions\n", 100 * l.cycles / std::max(total, 1.0), base_name(l.file),
                         l.line, l.instructions);
    }
  }
  return out;
}

}  // namespace drywell::sim
