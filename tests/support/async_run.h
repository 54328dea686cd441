// Running kernels of asynchronous instructions from PTX text under every driver.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/isa/tensor_map.h"
#include "drywell/sim/device.h"

namespace drywell::test {

using Bytes = std::vector<uint8_t>;

template <class T>
Bytes to_bytes(const std::vector<T>& values) {
  Bytes out(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}
template <class T>
std::vector<T> from_bytes(const Bytes& bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

/// A kernel and its memory. The body finds
///   buf0, buf1, …   (.b64) global addresses of `buffers`
///   map0, map1, …   (.b64) generic addresses of `maps`, tensor map parameters
///   bar             (.shared .b64[8]) memory for mbarriers
///   smem            (.extern .shared, 1024-byte aligned) `dynamic_smem` bytes
///   tid, rank, cta  (.b32) %tid.x, %cluster_ctarank, %ctaid.x
///   first, leader   (.pred) tid = 0; tid = 0 and rank = 0
///   %r, %rd, %h, %p, %q, %f: 32 free registers of each kind
struct AsyncCase {
  std::string body;
  std::vector<Bytes> buffers;
  struct Map {
    isa::TensorMapFields fields;  // address: an offset into `buffer`
    size_t buffer = 0;
  };
  std::vector<Map> maps;
  uint32_t threads = 32, ctas = 1, cluster = 1, dynamic_smem = 65536;
  std::string target = "sm_100a";
  std::string declarations;  // more module-level text
  std::string directives;    // between the parameters and the body

  std::string text() const;
};

struct AsyncRun {
  sim::RunResult result;
  std::vector<Bytes> buffers;
};
AsyncRun run_async(const AsyncCase& c, sim::DriverKind driver, uint64_t seed = 0);
AsyncRun run_async(const AsyncCase& c, const sim::RunOptions& options);

/// Runs under eager, lazy, several shuffled and the timed driver; expects success and equal memory. Returns
/// it.
std::vector<Bytes> run_everywhere(const AsyncCase& c);
/// Expects the fault under every driver.
void expect_fault(const AsyncCase& c, Code code);

/// PTX that waits for the phase of parity `parity` of the mbarrier at `address` ("[bar]").
std::string wait_for(std::string_view address, uint32_t parity);
/// barrier.cluster of the whole cluster.
std::string cluster_sync();

/// Expects the validator to refuse `instruction` with `code` for `target` (its operands: %r, %rd, %h, %p, %q,
/// %f and map, a parameter), and ptxas, if installed, to refuse it, too.
void expect_illegal(std::string_view instruction, Code code, std::string_view target = "sm_100a");
/// Expects both to take it.
void expect_legal(std::string_view instruction, std::string_view target = "sm_100a");

}  // namespace drywell::test
