// The memory that the host has for this process: its own, and the limits of control groups and of the
// process. Reads /proc and /sys at each call, and says "without limit" where they are missing. Any threads
// may call the functions at the same time.
#pragma once

#include <cstdint>
#include <string>

namespace drywell {

/// Memory that this process may use, in bytes.
struct HostMemory {
  uint64_t total = ~uint64_t{0};  // bytes that the process could have in all
  uint64_t available =
      ~uint64_t{0};                       // bytes that it can still take without another process or itself being ended
  uint64_t address_space = ~uint64_t{0};  // bytes of addresses left (RLIMIT_AS)
};

/// `root`: the folder that stands for /, for tests.
HostMemory host_memory(const std::string& root = {});

/// Bytes of memory that the process holds now; 0 where there is no /proc.
uint64_t resident_bytes();

}  // namespace drywell
