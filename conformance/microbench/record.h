// Results of a device's microbenchmarks as text: provenance, then one line each: name, value, unit. Whole kernels have
// nanoseconds and cycles.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/microbench/microbench.h"
#include "conformance/microbench/stopwatch.h"

namespace drywell::kernels::microbench {

struct Record {
  std::vector<std::string> provenance;  // "device: …"
  std::map<std::string, double> values;
  std::map<std::string, Elapsed> kernels;  // whole kernels (whole.h)
};
std::string print_record(const Record& r);
/// Throws InputError E4506 if the text is not a record.
Record parse_record(std::string_view text, const std::string& name);

/// One line of the comparison.
struct Comparison {
  std::string name;
  bool fitted = true;
  Unit unit = Unit::cycles;
  double measured = 0, simulated = 0;
  /// |simulated / measured - 1|
  double error() const;
};

/// Simulates every microbenchmark of `r` that is in `suite`, under the timed driver.
std::vector<Comparison> compare(const Record& r, const std::vector<Microbench>& suite, Accelerator& simulator);
/// Returns the median error of the fitted benchmarks, or of the others; 0 if there are none.
double median_error(const std::vector<Comparison>& all, bool fitted);

}  // namespace drywell::kernels::microbench
