#include "sim/timing/power.h"

#include <algorithm>
#include <cmath>

namespace drywell::sim {
namespace {

double work_of(const TimingReport& r, std::string_view name) {
  const UnitTime* u = r.unit(name);
  return u == nullptr ? 0 : u->busy_cycles / static_cast<double>(std::max<uint64_t>(u->instances, 1));
}

}  // namespace

// Units of SMs without a CTA are not in the report: `used` spreads the work over the chip.
UnitUse unit_use(const TimingReport& r, double sms) {
  const double total = std::max<double>(1, static_cast<double>(r.cycles));
  const double used = static_cast<double>(r.sms_used) / std::max(1.0, sms);
  UnitUse u;
  u.tensor = std::min(1.0, (work_of(r, "tensor") + work_of(r, "mma")) * used / total);
  u.issue = std::min(1.0, work_of(r, "issue") * used / total);
  u.l2 = std::min(1.0, work_of(r, "l2") / total);
  u.hbm_bytes_per_cycle = static_cast<double>(r.hbm_bytes_read + r.hbm_bytes_written) / total;
  return u;
}

double watts_at(const ArchConfig& arch, const UnitUse& use, double ghz) {
  const auto& p = arch.power;
  if (p.limit == 0) return 0;
  const double on_chip = p.clock + p.tensor * use.tensor + p.issue * use.issue + p.l2 * use.l2;
  const double hbm = use.hbm_bytes_per_cycle * ghz * 1e-3 / arch.hbm.peak;  // share of the memory's most
  return p.idle + on_chip * std::pow(ghz / arch.chip.clock, p.exponent) + p.hbm * hbm;
}

double sustained_clock(const ArchConfig& arch, const UnitUse& use, double most) {
  if (watts_at(arch, use, most) <= arch.power.limit) return most;
  double low = 0, high = most;
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    (watts_at(arch, use, middle) <= arch.power.limit ? low : high) = middle;
  }
  return low;
}

}  // namespace drywell::sim
