#include "tools/explore.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "drywell/sim/check.h"
#include "drywell/sim/driver_words.h"
#include "drywell/sim/inspect/progress_line.h"

namespace drywell::tools {

std::string Exploration::text() const {
  if (ended.has_value()) return fmt::format("{} of {} schedules, all alike; then {}", runs, asked, *ended);
  if (!seed.has_value()) return fmt::format("{} schedules, all alike", runs);
  return fmt::format("seed {} of {}: {}; `drywell step --seed={}` replays it", *seed, asked, what, *seed);
}

nlohmann::ordered_json Exploration::json() const {
  nlohmann::ordered_json j = {{"asked", asked}, {"runs", runs}, {"seed", nullptr}, {"what", what}};
  if (seed.has_value()) j["seed"] = *seed;
  if (ended.has_value()) j["ended"] = *ended;
  return j;
}

Exploration explore(uint64_t schedules, const sim::RunOptions& options, const std::function<std::string(const sim::RunOptions&)>& run) {
  Exploration e;
  e.asked = schedules;
  sim::InFlightPoison poison;
  sim::ProgressLine line;
  for (uint64_t seed = 1; seed <= schedules; ++seed) {
    line.phase(fmt::format("schedule {} of {}", seed, schedules));
    sim::RunOptions o = options;
    sim::set_schedule(seed, o);
    o.listeners = {poison.listener()};
    try {
      e.what = run(o);
    } catch (const InputError& bound) {
      if (code_kind(bound.code()) != 'F') throw;
      e.ended = bound.what();
      break;
    }
    ++e.runs;
    if (e.what.empty()) continue;
    e.seed = seed;
    break;
  }
  return e;
}

}  // namespace drywell::tools
