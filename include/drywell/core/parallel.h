// Loops over the host's threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace drywell {

/// `wanted`; 0: one for each core of the host.
inline unsigned host_threads(unsigned wanted = 0) { return wanted != 0 ? wanted : std::max(1u, std::thread::hardware_concurrency()); }

/// Calls body(first, end) for pieces of [0, count) that follow one another and are of about the same size: one for each thread, the first
/// on the caller's. Returns when all are done. 0 threads: one for each core.
template <class Body>
void parallel_for(uint64_t count, unsigned threads, const Body& body) {
  const uint64_t pieces = std::clamp<uint64_t>(host_threads(threads), 1, std::max<uint64_t>(count, 1));
  std::vector<std::jthread> pool;
  for (uint64_t p = 1; p < pieces; ++p) pool.emplace_back([=, &body] { body(count * p / pieces, count * (p + 1) / pieces); });
  body(uint64_t{0}, count / pieces);
}

}  // namespace drywell
