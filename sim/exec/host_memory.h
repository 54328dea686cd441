// How much memory the host still has for this process.
#pragma once

namespace drywell::sim {

/// True if the process holds most of what its host, or its control group, has: a runaway guest is stopped before the host's kernel stops
/// the process. Reads /proc; false where there is none. Any thread may call it.
bool host_memory_is_short();

}  // namespace drywell::sim
