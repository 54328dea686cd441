// drywell run --explore N: the same launch under N random schedules, with the destinations of copies in flight poisoned.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "drywell/sim/device.h"

namespace drywell::tools {

struct Exploration {
  uint64_t asked = 0, runs = 0;
  std::optional<uint64_t> seed;      // the first seed that failed
  std::string what;                  // the failure of that seed
  std::optional<std::string> ended;  // the bound that ended the exploration
  /// Returns "100 schedules, all alike", or the failure and the command that repeats it.
  std::string text() const;
  nlohmann::ordered_json json() const;
};

/// `run` runs under the given options and returns the failure; empty: none. Stops at the first seed that fails, or that
/// expect_within_limits refuses.
Exploration explore(uint64_t schedules, const sim::RunOptions& options, const std::function<std::string(const sim::RunOptions&)>& run);

}  // namespace drywell::tools
