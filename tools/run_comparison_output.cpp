// A comparison of two runs as text, as a page and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "drywell/core/terminal.h"
#include "tools/common/report_parts.h"
#include "tools/run_comparison.h"

namespace drywell::tools {
namespace {

/// Sums of cycles may be beyond what is counted exactly.
std::string counted(double x) {
  constexpr double kMost = 0x1p63;
  return with_commas(x < kMost ? static_cast<uint64_t>(std::llround(x)) : static_cast<uint64_t>(kMost));
}

std::string percent(double x) { return fmt::format("{:+.1f} %", 100 * x); }

/// "5,283 to 4,100 cycles, 22.4 % fewer"
std::string headline(const LaunchComparison& l) {
  if (l.before.cycles == 0 || l.after.cycles == 0) return "no cycles to compare: the timed driver has them";
  const std::string both = fmt::format("{} to {} cycles", counted(l.before.cycles),
                                       counted(l.after.cycles));
  if (l.before.cycles == l.after.cycles) return both + ", equal";
  return fmt::format("{}, {:.1f} % {}", both, 100 * std::abs(l.slower()), l.slower() > 0 ? "more" : "fewer");
}

std::string limit_of(const ReportedLaunch& l) {
  if (l.limit.empty()) return "none";
  return l.limit_fraction == 0 ? l.limit
                               : fmt::format("{} ({:.1f} % of it)", l.limit, 100 * l.limit_fraction);
}

std::vector<std::string> sentences(const LaunchComparison& l) {
  std::vector<std::string> out = {headline(l)};
  if (!l.before.limit.empty() || !l.after.limit.empty())
    out.push_back(fmt::format("binding limit: {} before, {} after", limit_of(l.before), limit_of(l.after)));
  if (l.before.instructions != l.after.instructions)
    out.push_back(fmt::format("warp instructions: {} to {}",
                              counted(l.before.instructions),
                              counted(l.after.instructions)));
  if (l.after.wrong != l.before.wrong)
    out.push_back(l.after.wrong ? "a fault, a hazard or a failed verification is new"
                                : "the fault, hazard or failed verification is gone");
  return out;
}

struct Table {
  const char* title;
  const std::vector<Change>& changes;
  bool shares;  // 0 to 1; otherwise warp cycles
};
std::vector<Table> tables(const LaunchComparison& l) {
  return {{"units: part of the time that they are busy", l.units, true},
          {"stalls: cycles of the warps", l.stalls, false},
          {"lines: cycles of the warps", l.lines, false}};
}

std::string value(double x, bool share) {
  return share ? fmt::format("{:.1f} %", 100 * x) : counted(x);
}
std::string difference(const Change& c, bool share) {
  if (share) return fmt::format("{:+.1f} points", 100 * c.difference());
  return fmt::format("{}{}{}", c.difference() < 0 ? "-" : "+",
                     counted(std::abs(c.difference())),
                     c.before == 0  ? " (new)"
                     : c.after == 0 ? " (gone)"
                                    : fmt::format(" ({})", percent(c.after / c.before - 1)));
}

std::string text_table(const Table& t, size_t most) {
  if (t.changes.empty()) return {};
  std::string out = fmt::format("\n{}\n", t.title);
  for (size_t i = 0; i < std::min(most, t.changes.size()); ++i) {
    const Change& c = t.changes[i];
    out += fmt::format("  {:<34} {:>12} {:>12}   {}\n", c.name, value(c.before, t.shares),
                       value(c.after, t.shares), difference(c, t.shares));
  }
  if (t.changes.size() > most)
    out += fmt::format("  and {} smaller ones (--most)\n", t.changes.size() - most);
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;"
                            : c == '>'   ? "&gt;"
                                         : std::string(1, c);
  return out;
}

std::string bars(const Change& c, double largest) {
  const auto bar = [&](double x, const char* kind) {
    return fmt::format("<i class=\"{}\" style=\"width:{:.1f}%\"></i>", kind, 100 * x / largest);
  };
  return bar(c.before, "a") + bar(c.after, "b");
}

std::string page_table(const Table& t, size_t most) {
  if (t.changes.empty()) return {};
  double largest = 1e-30;
  for (const Change& c : t.changes) largest = std::max({largest, c.before, c.after});
  std::string out = fmt::format(
      "<section><h2>{}</h2><table><tr><th></th><th class=\"n\">before</th><th class=\"n\">after</th><th "
      "class=\"n\">difference</th><th class=\"w\"></th></tr>\n",
      t.title);
  for (size_t i = 0; i < std::min(most, t.changes.size()); ++i) {
    const Change& c = t.changes[i];
    out += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n {}\">{}</td><td "
        "class=\"w\">{}</td></tr>\n",
        escaped(c.name), value(c.before, t.shares), value(c.after, t.shares),
        c.difference() > 0 ? "up" : "down", difference(c, t.shares), bars(c, largest));
  }
  if (t.changes.size() > most)
    out += fmt::format("<tr><td class=\"d\">and {} smaller ones</td></tr>", t.changes.size() - most);
  return out + "</table></section>\n";
}

constexpr const char* kStyle = R"(<style>
:root { --ink:#1c2430; --dim:#5b6676; --line:#d9dee6; --paper:#fff; --page:#f5f7fa; --a:#8a94a3; --b:#0072b2; --up:#b5400a; --down:#0a6b4f }
@media (prefers-color-scheme:dark) { :root { --ink:#e8ebf0; --dim:#a3adbb; --line:#333c4a; --paper:#1a1f28; --page:#12161c; --a:#6b7686; --b:#56b4e9; --up:#f0a070; --down:#5fd0a8 } }
body { margin:0; font:14px/1.45 system-ui,"DejaVu Sans",sans-serif; color:var(--ink); background:var(--page) } main { max-width:1100px; margin:0 auto; padding:18px 22px 40px }
h1 { font-size:19px; margin:0 } h2 { font-size:14px; margin:0 0 6px } .d, th { color:var(--dim) } th { font-weight:500 }
section { background:var(--paper); border:1px solid var(--line); border-radius:8px; padding:12px 16px; margin-top:14px }
table { border-collapse:collapse; width:100% } td, th { padding:2px 10px 2px 0; text-align:left; white-space:nowrap } .n { text-align:right; font-variant-numeric:tabular-nums }
.w { width:34% } .w i { display:block; height:6px; margin:1px 0; border-radius:2px } .a { background:var(--a) } .b { background:var(--b) } .up { color:var(--up) } .down { color:var(--down) }
.key { display:inline-block; width:18px; height:7px; border-radius:2px; margin:0 5px 1px 12px }
</style>)";

nlohmann::ordered_json changes_json(const std::vector<Change>& changes) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Change& c : changes) out.push_back({{"name", c.name}, {"before", c.before}, {"after", c.after}});
  return out;
}

}  // namespace

std::string comparison_text(const RunComparison& c, size_t most) {
  std::string out;
  for (const std::string& note : c.notes) out += "note: " + note + "\n";
  for (const LaunchComparison& l : c.launches) {
    out += l.name + "\n";
    for (const std::string& s : sentences(l)) out += "  " + s + "\n";
    for (const Table& t : tables(l)) out += text_table(t, most);
  }
  return out;
}

std::string comparison_page(const RunComparison& c, size_t most) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>drywell: two runs of "
      "{}</title>{}</head><body><main>\n",
      escaped(c.after.name), kStyle);
  out += fmt::format(
      "<h1>{}: before and after</h1><div class=\"d\">{}, driver {}, drywell {}<span class=\"key "
      "a\"></span>before<span class=\"key b\"></span>after</div>\n",
      escaped(c.after.name), escaped(c.after.arch), escaped(c.after.driver), DRYWELL_VERSION);
  for (const std::string& note : c.notes) out += "<p>" + escaped(note) + "</p>\n";
  for (const LaunchComparison& l : c.launches) {
    out += fmt::format("<section><h2>{}</h2>", escaped(l.name));
    for (const std::string& s : sentences(l)) out += "<div>" + escaped(s) + "</div>";
    out += "</section>\n";
    for (const Table& t : tables(l)) out += page_table(t, most);
  }
  return out + "</main></body></html>\n";
}

nlohmann::ordered_json comparison_json(const RunComparison& c) {
  nlohmann::ordered_json j = {
      {"drywell", DRYWELL_VERSION}, {"before", c.before.name}, {"after", c.after.name}, {"notes", c.notes}};
  j["launches"] = nlohmann::ordered_json::array();
  for (const LaunchComparison& l : c.launches)
    j["launches"].push_back({{"name", l.name},
                             {"cycles", {{"before", l.before.cycles}, {"after", l.after.cycles}}},
                             {"slower", l.slower()},
                             {"limit", {{"before", l.before.limit}, {"after", l.after.limit}}},
                             {"units", changes_json(l.units)},
                             {"stalls", changes_json(l.stalls)},
                             {"lines", changes_json(l.lines)}});
  return j;
}

}  // namespace drywell::tools
