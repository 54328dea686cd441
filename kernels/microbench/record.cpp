#include "kernels/microbench/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kernels/support/record_text.h"

namespace drywell::kernels::microbench {
namespace {

constexpr std::string_view kFirstLine = "# drywell microbenchmark record, format 1";

}  // namespace

std::string print_record(const Record& r) {
  std::string out = fmt::format("{}\n", kFirstLine);
  for (const std::string& p : r.provenance) out += fmt::format("# {}\n", p);
  const std::vector<Microbench> known = suite();
  for (const Microbench& b : known) {
    const auto it = r.values.find(b.name);
    if (it != r.values.end()) out += fmt::format("{} {:.5g} {} {}\n", b.name, it->second, unit_name(b.unit), b.fitted ? "fit" : "check");
  }
  return out;
}

Record parse_record(std::string_view text, const std::string& name) {
  const RecordText read = read_record_text(text, name, kFirstLine);
  Record out{read.provenance, {}};
  for (const RecordText::Line& line : read.lines) {
    const auto& words = line.words;
    double value = 0;
    const bool is_number =
        words.size() >= 3 && std::from_chars(words[1].data(), words[1].data() + words[1].size(), value).ec == std::errc();
    if (!is_number || !(value > 0) || !std::isfinite(value)) read.fail(line.number, "a line has a name, a positive number and its unit");
    out.values.emplace(words[0], value);
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
