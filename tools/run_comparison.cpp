#include "tools/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace drywell::tools {
namespace {

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

/// For each launch of `of`, the index of the launch of `list` that has the same name and as many of that name in front of it, or
/// list.size().
std::vector<size_t> partners(const std::vector<ReportedLaunch>& of, const std::vector<ReportedLaunch>& list) {
  std::map<std::string_view, std::vector<size_t>> places;
  for (size_t i = list.size(); i-- > 0;) places[list[i].name].push_back(i);
  std::vector<size_t> out;
  for (const ReportedLaunch& l : of) {
    std::vector<size_t>& left = places[l.name];
    out.push_back(left.empty() ? list.size() : left.back());
    if (!left.empty()) left.pop_back();
  }
  return out;
}

}  // namespace

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
  const std::vector<size_t> in_before = partners(c.after.launches, c.before.launches),
                            in_after = partners(c.before.launches, c.after.launches);
  for (size_t i = 0; i < c.after.launches.size(); ++i) {
    const size_t k = in_before[i];
    if (k < c.before.launches.size())
      c.launches.push_back(compare(c.before.launches[k], c.after.launches[i]));
    else
      c.notes.push_back(fmt::format("launch {}, {}, is only in the run after", i, c.after.launches[i].name));
  }
  for (size_t i = 0; i < c.before.launches.size(); ++i)
    if (in_after[i] == c.after.launches.size())
      c.notes.push_back(
          fmt::format("launch {}, {}, is only in the run before", i, c.before.launches[i].name));
  return c;
}

}  // namespace drywell::tools
