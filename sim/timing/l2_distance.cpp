#include "sim/timing/l2_distance.h"

#include <cmath>

#include "sim/timing/residency.h"
#include "sim/timing/scattered.h"

namespace drywell::sim {
namespace {

// Of the spread of latencies, the part that SMs differ by; the rest depends on the line (means of 132 SMs, and lines of five SMs).
constexpr double kOfSms = 0.35;

}  // namespace

// The places of the TPCs on the chip are not known: their distances are spread evenly, and the first TPC's is the mean.
L2Distance::L2Distance(const ArchConfig& arch, uint32_t sms)
    : halves_(static_cast<uint32_t>(arch.l2.halves)),
      spread_(halves_ > 1 ? arch.l2.latency - arch.l2.near_latency : 0),
      across_(halves_ > 1 ? arch.l2.far_latency - arch.l2.latency : 0),
      sms_(sms) {
  constexpr double kGolden = 0.6180339887498949;
  const std::vector<uint32_t> gpcs = gpc_of_sms(arch, sms);
  const auto all = static_cast<uint32_t>(arch.chip.gpcs);
  for (uint32_t s = 0; s < sms; ++s) {
    const double place = 0.5 + kGolden * static_cast<double>(s / static_cast<uint32_t>(arch.chip.sms_per_tpc));
    sms_[s] = {gpcs[s] * halves_ / all, kOfSms * spread_ * (2 * (place - std::floor(place)) - 1)};
  }
}

// Four lines in a row are in one half.
uint32_t L2Distance::home_of(uint32_t line) const { return halves_ > 1 ? scattered(line / 4) % halves_ : 0; }

double L2Distance::of_line(uint32_t line, uint32_t half) const {
  return spread_ == 0 ? 0 : (1 - kOfSms) * spread_ * (2 * scattered_share(uint64_t{line} * 2 + half) - 1);
}

}  // namespace drywell::sim
