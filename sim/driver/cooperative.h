// Cooperative launches: every CTA of the grid runs at the same time, and cooperative groups find the memory of a barrier over
// the grid in %envreg1 and %envreg2.
#pragma once

#include "sim/driver/functional.h"

namespace drywell::sim {

/// Runs a launch cooperatively (RunOptions::runner), by `inner` if it is not nullptr, else by the options' driver. The caller has
/// checked that the grid fits.
class CooperativeRunner : public LaunchRunner {
 public:
  explicit CooperativeRunner(LaunchRunner* inner = nullptr) : inner_(inner) {}
  RunResult run(const Launch& launch, const RunOptions& options) override;

 private:
  LaunchRunner* inner_;
};

}  // namespace drywell::sim
