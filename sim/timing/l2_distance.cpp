#include "sim/timing/l2_distance.h"

#include <cmath>

#include "sim/timing/residency.h"
#include "sim/timing/scattered.h"

namespace drywell::sim {
namespace {

// SMs differ by a part of what lines differ by (means of 132 SMs, and lines of five SMs).
constexpr double kOfSms = 0.35;

}  // namespace

// The places of the TPCs on the chip are not known: their distances are spread evenly. The first TPC is next to the L2: a chain of loads on all
// SMs takes 30 cycles a load more than on one (lat1_1 of traces/hw/h200-2026-11-27-launch-mechanisms.csv).
L2Distance::L2Distance(const ArchConfig& arch, uint32_t sms)
    : halves_(static_cast<uint32_t>(arch.l2.halves)),
      spread_(halves_ > 1 ? arch.l2.latency - arch.l2.near_latency : 0),
      across_(halves_ > 1 ? arch.l2.far_latency - arch.l2.latency : 0),
      sms_(sms) {
  constexpr double kGolden = 0.6180339887498949;
  const std::vector<uint32_t> gpcs = gpc_of_sms(arch, sms);
  const auto all = static_cast<uint32_t>(arch.chip.gpcs);
  for (uint32_t s = 0; s < sms; ++s) {
    const double place = kGolden * static_cast<double>(s / static_cast<uint32_t>(arch.chip.sms_per_tpc));
    sms_[s] = {gpcs[s] * halves_ / all, 2 * kOfSms * spread_ * (place - std::floor(place))};
  }
}

// Four lines in a row are in one half.
uint32_t L2Distance::home_of(uint32_t line) const { return halves_ > 1 ? scattered(line / 4) % halves_ : 0; }

double L2Distance::of_line(uint32_t line, uint32_t half) const {
  return spread_ == 0 ? 0 : spread_ * (2 * scattered_share(uint64_t{line} * 2 + half) - 1);
}

}  // namespace drywell::sim
