// The bounds of a run as the words of --max-instructions, --max-cycles, --timeout and --memory: equal in
// every command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "drywell/sim/run.h"

namespace drywell::sim {

/// The bounds of a run as options give them.
struct RunLimits {
  uint64_t instructions = 0, cycles = 0;  // 0: no bound
  std::string timeout, memory;            // "2", "0.5", "90s", "5m", "1h"; "512M", "8G"; empty: no bound
};

/// Seconds, from 0 up. Throws InputError E4308.
double parse_seconds(std::string_view text);
/// Bytes; K, M, G and T are powers of 1024, also as KiB, MiB and so on. Throws InputError E4308.
uint64_t parse_bytes(std::string_view text);

/// Sets the bounds of `options`; the time begins now. Throws InputError E4308.
void set_limits(const RunLimits& limits, RunOptions& options);
/// The bounds of one run for another, and who watches them; both end at the same moment.
void copy_limits(const RunOptions& from, RunOptions& to);
/// Throws InputError with the fault's code if a bound ended the run: what it left is not what the program
/// does.
void expect_within_limits(const RunResult& r);
/// As set_limits for a command that runs under one driver. Throws InputError E4308 also for a limit of cycles
/// without a clock.
void set_limits_of_driver(const RunLimits& limits, RunOptions& options);

}  // namespace drywell::sim
