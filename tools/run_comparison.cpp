#include "tools/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "drywell/core/error.h"
#include "drywell/core/files.h"
#include "drywell/core/source_path.h"

namespace drywell::tools {
namespace {

using Json = nlohmann::json;

double number(const Json& j, const char* key) {
  return j.contains(key) && j[key].is_number() ? j[key].get<double>() : 0;
}
std::string word(const Json& j, const char* key) {
  return j.contains(key) && j[key].is_string() ? j[key].get<std::string>() : std::string();
}

void read_units(const Json& j, ReportedLaunch& l) {
  if (j.contains("units"))
    for (const auto& [name, unit] : j["units"].items()) l.units[name] = number(unit, "utilisation");
  if (j.contains("utilisation"))  // exec
    for (const auto& [name, busy] : j["utilisation"].items()) l.units[name] = busy.get<double>();
}

void read_stalls(const Json& j, ReportedLaunch& l) {
  if (!j.contains("stalls")) return;
  for (const auto& [role, reasons] : j["stalls"].items())
    for (const auto& [reason, cycles] : reasons.items())
      l.stalls[role + ": " + reason] = cycles.get<double>();
}

void read_lines(const Json& j, ReportedLaunch& l) {
  if (!j.contains("lines")) return;
  for (const Json& line : j["lines"])
    l.lines[fmt::format("{}:{}", base_name(word(line, "file")), line["line"].get<uint64_t>())] +=
        number(line, "cycles");
}

void read_limit(const Json& j, ReportedLaunch& l) {
  l.limit = word(j, "limit");  // exec
  if (!j.contains("limits") || j["limits"].empty()) return;
  l.limit = word(j["limits"][0], "name");
  l.limit_fraction = number(j["limits"][0], "fraction");
}

bool has_error(const Json& j) {
  if (j.contains("fault") && !j["fault"].is_null()) return true;
  if (j.contains("verify") && word(j["verify"], "status") == "failed") return true;
  if (!j.contains("hazards")) return false;
  const Json& h = j["hazards"];
  if (h.is_object()) return number(h, "errors") != 0;
  return std::any_of(h.begin(), h.end(), [](const Json& one) { return word(one, "level") == "error"; });
}

ReportedLaunch read_launch(const Json& j, std::string name) {
  ReportedLaunch l;
  l.name = std::move(name);
  l.cycles = number(j, "cycles");
  l.instructions = number(j, "warp_instructions");
  l.wrong = has_error(j);
  read_limit(j, l);
  read_units(j, l);
  read_stalls(j, l);
  read_lines(j, l);
  return l;
}

/// Those that differ by at least `least`, the smallest difference that is printed as one.
std::vector<Change> changes(const std::map<std::string, double>& before,
                            const std::map<std::string, double>& after, double least) {
  std::map<std::string, Change> all;
  for (const auto& [name, value] : before) all[name] = {name, value, 0};
  for (const auto& [name, value] : after) {
    Change& c = all.try_emplace(name, Change{name, 0, 0}).first->second;
    c.after = value;
  }
  std::vector<Change> out;
  for (auto& [name, c] : all)
    if (std::abs(c.difference()) >= least) out.push_back(std::move(c));
  std::stable_sort(out.begin(), out.end(), [](const Change& a, const Change& b) {
    return std::abs(a.difference()) > std::abs(b.difference());
  });
  return out;
}

LaunchComparison compare(const ReportedLaunch& before, const ReportedLaunch& after) {
  return {after.name,
          before,
          after,
          changes(before.units, after.units, 0.0005),
          changes(before.stalls, after.stalls, 0.5),
          changes(before.lines, after.lines, 0.5)};
}

void note_difference(std::string_view what, const std::string& before, const std::string& after,
                     std::vector<std::string>& notes) {
  if (before != after) notes.push_back(fmt::format("{}: {} before, {} after", what, before, after));
}

/// Index of the launch of `list` that has the same name and as many of that name in front of it.
size_t partner(const std::vector<ReportedLaunch>& of, size_t index, const std::vector<ReportedLaunch>& list) {
  size_t skip = 0;
  for (size_t i = 0; i < index; ++i) skip += of[i].name == of[index].name ? 1 : 0;
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name == of[index].name && skip-- == 0) return i;
  return list.size();
}

}  // namespace

ReportedRun read_report(const std::string& file) {
  const Json j = Json::parse(read_text_file(file), nullptr, false);
  const bool one = j.is_object() && j.contains("kernel"),
             several = j.is_object() && j.contains("launches") && j["launches"].is_array();
  if (!one && !several)
    throw InputError(Code::E4001, fmt::format("{} is no report of a run", file),
                     "drywell run … --json=FILE and drywell exec --report=FILE.json write one");
  try {
    ReportedRun r{one ? word(j, "kernel") : word(j, "file"), word(j, "arch"), word(j, "driver"), {}};
    if (one) r.launches.push_back(read_launch(j, r.name));
    if (one) return r;
    for (const Json& l : j["launches"])
      r.launches.push_back(read_launch(l, l.contains("entry") ? word(l, "entry") : word(l, "kernel")));
    if (!r.launches.empty()) r.launches.back().wrong |= has_error(j);
    return r;
  } catch (const Json::exception& e) {
    throw InputError(Code::E4001, fmt::format("{} is no report of a run: {}", file, e.what()));
  }
}

double LaunchComparison::slower() const {
  return before.cycles == 0 || after.cycles == 0 ? 0 : after.cycles / before.cycles - 1;
}

bool RunComparison::worse_than(double threshold) const {
  return std::any_of(launches.begin(), launches.end(), [&](const LaunchComparison& l) {
    return l.slower() > threshold || (l.after.wrong && !l.before.wrong);
  });
}

RunComparison compare_runs(ReportedRun before, ReportedRun after) {
  RunComparison c{std::move(before), std::move(after), {}, {}};
  note_difference("the kernel or file", c.before.name, c.after.name, c.notes);
  note_difference("the architecture", c.before.arch, c.after.arch, c.notes);
  note_difference("the driver", c.before.driver, c.after.driver, c.notes);
  // One kernel each: they are compared whatever their names are.
  if (c.before.launches.size() == 1 && c.after.launches.size() == 1) {
    c.launches.push_back(compare(c.before.launches[0], c.after.launches[0]));
    return c;
  }
  for (size_t i = 0; i < c.after.launches.size(); ++i) {
    const size_t k = partner(c.after.launches, i, c.before.launches);
    if (k < c.before.launches.size())
      c.launches.push_back(compare(c.before.launches[k], c.after.launches[i]));
    else
      c.notes.push_back(fmt::format("launch {}, {}, is only in the run after", i, c.after.launches[i].name));
  }
  for (size_t i = 0; i < c.before.launches.size(); ++i)
    if (partner(c.before.launches, i, c.after.launches) == c.after.launches.size())
      c.notes.push_back(
          fmt::format("launch {}, {}, is only in the run before", i, c.before.launches[i].name));
  return c;
}

}  // namespace drywell::tools
