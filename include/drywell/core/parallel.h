// Loops over the host's threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace drywell {

/// `wanted`; 0: one for each core of the host.
inline unsigned wanted_threads(unsigned wanted = 0) { return wanted != 0 ? wanted : std::max(1u, std::thread::hardware_concurrency()); }

/// The same, or as many as fit: each thread takes addresses for its stack and the heap that the C library gives it, and half of those that a
/// limit of the process leaves (ulimit -v) are kept for what the threads do.
unsigned host_threads(unsigned wanted = 0);

/// Calls body(first, end) for pieces of [0, count) that follow one another and are of about the same size: one for each thread, the first
/// on the caller's. Returns when all are done. 0 threads: one for each core. Throws what the first piece that threw has thrown; the others
/// still end.
template <class Body>
void parallel_for(uint64_t count, unsigned threads, const Body& body) {
  const uint64_t pieces = std::clamp<uint64_t>(host_threads(threads), 1, std::max<uint64_t>(count, 1));
  std::vector<std::exception_ptr> thrown(pieces);
  const auto run = [&](uint64_t p) {
    try {
      body(count * p / pieces, count * (p + 1) / pieces);
    } catch (...) {
      thrown[p] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> pool;
    uint64_t started = 1;
    try {
      for (; started < pieces; ++started) pool.emplace_back(run, started);
    } catch (const std::system_error&) {  // the host gives no more threads
    }
    run(0);
    for (; started < pieces; ++started) run(started);
  }
  for (const std::exception_ptr& e : thrown) {
    if (e != nullptr) std::rethrow_exception(e);
  }
}

}  // namespace drywell
