#include "conformance/microbench/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drywell/core/whole_number.h"
#include "kernels/support/record_text.h"

namespace drywell::kernels::microbench {
namespace {

constexpr std::string_view kFirstLine = "# drywell microbenchmark record, format 1";

constexpr std::string_view kWholePrefix = "kernel.";

/// Returns the `n`th word as a positive number; 0 if it is not one.
double positive(const std::vector<std::string_view>& words, size_t n) {
  const double value = n < words.size() ? whole_number<double>(words[n]).value_or(0) : 0;
  return value > 0 && std::isfinite(value) ? value : 0;
}

}  // namespace

std::string print_record(const Record& r) {
  std::string out = fmt::format("{}\n", kFirstLine);
  for (const std::string& p : r.provenance) out += fmt::format("# {}\n", p);
  const std::vector<Microbench> known = suite();
  for (const Microbench& b : known) {
    const auto it = r.values.find(b.name);
    if (it != r.values.end()) out += fmt::format("{} {:.5g} {} {}\n", b.name, it->second, unit_name(b.unit), b.fitted ? "fit" : "check");
  }
  for (const auto& [name, e] : r.kernels) out += fmt::format("{} {:.6g} ns {:.6g} cyc\n", name, e.nanoseconds, e.cycles);
  return out;
}

Record parse_record(std::string_view text, const std::string& name) {
  const RecordText read = read_record_text(text, name, kFirstLine);
  Record out{read.provenance, {}, {}};
  for (const RecordText::Line& line : read.lines) {
    const auto& words = line.words;
    const double value = positive(words, 1);
    if (value == 0 || words.size() < 3) read.fail(line.number, "a line has a name, a positive number and its unit");
    if (!words[0].starts_with(kWholePrefix)) {
      out.values.emplace(words[0], value);
      continue;
    }
    const double cycles = positive(words, 3);
    if (cycles == 0) read.fail(line.number, "a kernel's line has nanoseconds and cycles");
    out.kernels.emplace(words[0], Elapsed{value, cycles});
  }
  return out;
}

double Comparison::error() const { return std::abs(simulated / measured - 1); }

std::vector<Comparison> compare(const Record& r, const std::vector<Microbench>& suite, Accelerator& simulator) {
  sim::RunOptions options;
  options.driver = sim::DriverKind::timed;
  std::vector<Comparison> out;
  for (const Microbench& b : suite) {
    const auto it = r.values.find(b.name);
    if (it == r.values.end()) continue;
    out.push_back({b.name, b.fitted, b.unit, it->second, measure(b, simulator, options)});
  }
  return out;
}

double median_error(const std::vector<Comparison>& all, bool fitted) {
  std::vector<double> errors;
  for (const Comparison& c : all) {
    if (c.fitted == fitted) errors.push_back(c.error());
  }
  if (errors.empty()) return 0;
  const auto middle = errors.begin() + static_cast<ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  return *middle;
}

}  // namespace drywell::kernels::microbench
