// How far an SM is from the L2. A GPC is next to one half; each line is at home in one half, and lines that SMs of the other half have
// read are there, too, as copies (traces/hw/h200-2026-11-26-l2-halves.csv).
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/sim/arch_config.h"

namespace drywell::sim {

class L2Distance {
 public:
  L2Distance(const ArchConfig& arch, uint32_t sms);

  uint32_t halves() const { return halves_; }
  uint32_t half_of_sm(uint32_t sm) const { return sms_[sm].half; }
  uint32_t home_of(uint32_t line) const;

  /// Cycles over the mean latency, negative if nearer: of the SM, and of a line seen from a half.
  double of_sm(uint32_t sm) const { return sms_[sm].extra; }
  double of_line(uint32_t line, uint32_t half) const;
  /// A line that is not in the SM's half comes from the other one.
  double across() const { return across_; }

  /// The least that of_sm() and of_line() add up to.
  double nearest() const { return -spread_; }

 private:
  struct Sm {
    uint32_t half = 0;
    double extra = 0;
  };
  uint32_t halves_;
  double spread_, across_;
  std::vector<Sm> sms_;
};

}  // namespace drywell::sim
