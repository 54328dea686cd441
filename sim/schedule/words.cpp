#include <fmt/format.h>

#include <charconv>
#include <iterator>

#include "drywell/core/text.h"
#include "drywell/sim/driver_words.h"

namespace drywell::sim {

namespace {

constexpr std::string_view kDrivers[] = {"eager", "lazy", "shuffled", "timed", "parted"};
constexpr size_t kParted = 4;  // shuffled, with parted lanes

}  // namespace

void parse_driver(std::string_view text, RunOptions& options) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (size_t i = 0; i < std::size(kDrivers); ++i) {
    if (name != kDrivers[i]) continue;
    options.driver = i == kParted ? DriverKind::shuffled : static_cast<DriverKind>(i);
    const uint64_t lanes = i == kParted ? kPartLanes : 0;
    options.seed = lanes;
    if (colon == std::string_view::npos) return;
    const std::string_view seed = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), options.seed);
    const bool fits = error == std::errc() && end == seed.data() + seed.size() && options.seed < kPartLanes;
    options.seed |= lanes;
    if (options.driver == DriverKind::shuffled && fits) return;
    if (options.driver == DriverKind::shuffled) throw InputError(Code::E4306, fmt::format("driver '{}': the seed is not a number below 2^63", text), "e.g. shuffled:7");
    throw InputError(Code::E4306, fmt::format("driver '{}' takes no seed", name), "shuffled:SEED and parted:SEED do");
  }
  throw InputError(Code::E4306, fmt::format("no driver '{}'", text),
                   did_you_mean(name, kDrivers) + (did_you_mean(name, kDrivers).empty() ? "" : " ") + "drivers: eager, lazy, shuffled:SEED, parted:SEED, timed");
}

bool parts_lanes(const RunOptions& options) { return options.driver == DriverKind::shuffled && (options.seed & kPartLanes) != 0; }

void set_schedule(uint64_t seed, RunOptions& options) {
  options.driver = DriverKind::shuffled;
  options.seed = seed % 2 == 0 ? seed | kPartLanes : seed;
}

Caches parse_caches(std::string_view text) {
  static constexpr std::string_view kNames[] = {"cold", "warm", "carry"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (text == kNames[i]) return static_cast<Caches>(i);
  }
  throw InputError(Code::E4306, fmt::format("no state of the caches is called '{}'", text), "cold, warm, carry");
}

ClockChoice parse_clock(std::string_view text) {
  if (text == "nominal") return {};
  if (text == "sustained") return {ClockChoice::Kind::sustained};
  ClockChoice c{ClockChoice::Kind::fixed};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), c.ghz);
  const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
  if (error == std::errc() && (rest.empty() || rest == "GHz") && c.ghz >= 0.1 && c.ghz <= 10) return c;
  throw InputError(Code::E4306, fmt::format("no clock '{}'", text), "nominal, sustained, or a number of GHz from 0.1 to 10");
}

std::string print_driver(const RunOptions& options) {
  if (options.driver != DriverKind::shuffled) return std::string(driver_name(options.driver));
  return fmt::format("{}:{}", parts_lanes(options) ? kDrivers[kParted] : driver_name(options.driver), options.seed & ~kPartLanes);
}

}  // namespace drywell::sim
