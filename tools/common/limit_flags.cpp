#include "tools/common/limit_flags.h"

namespace drywell::tools {

void add_limit_flags(Command& sub, sim::RunLimits& limits) {
  constexpr const char* kGroup = "Bounds (docs/security.md)";
  sub.add_option("--max-instructions", limits.instructions,
                 "stop a runaway kernel after this many warp instructions; 0 = never")
      ->capture_default_str()
      ->group(kGroup);
  sub.add_option("--max-cycles", limits.cycles,
                 "timed driver: stop a kernel after this many cycles; 0 = never")
      ->capture_default_str()
      ->group(kGroup);
  sub.add_option("--timeout", limits.timeout,
                 "stop kernels when the command has taken this long: 90 or 0.5 (seconds), 5m, 1h; 0 = never")
      ->group(kGroup);
  sub.add_option("--memory", limits.memory, "host memory that this process may hold: bytes, or 512M, 8G")
      ->group(kGroup);
}

}  // namespace drywell::tools
