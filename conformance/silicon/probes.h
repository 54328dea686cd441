// Probes: small random programs with a recorded result of real silicon (traces/hw/*.record). No expected value is computed:
// the device's words are the expected value, and the simulator must produce the same words. Probes target sm_90a, which a
// Hopper GPU runs; the probed behaviour is the same for sm_100a (docs/facts/tma-mbarrier.md §9).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/programs/program.h"

namespace drywell::kernels::silicon {

using conformance::Program;

/// One probe. `make` throws InputError if the instruction table does not have one of its instructions.
struct Probe {
  std::string name, family;
  std::function<Program()> make;
  uint64_t digest = 0;  // of text, launch and inputs
};

/// Returns all probes. The meaning of a name never changes: a changed program gets a new name.
std::vector<Probe> probes();

// ---- the families, one file each
void add_tma(std::vector<Probe>& out);       // tile loads, stores, reductions; im2col
void add_mbarrier(std::vector<Probe>& out);  // accounting and parity
void add_bulk(std::vector<Probe>& out);      // cp.async.bulk, cp.reduce.async.bulk
void add_cluster(std::vector<Probe>& out);   // multicast, DSMEM, remote arrivals, barriers
void add_numerics(std::vector<Probe>& out);  // mma.sync and cvt on random bits
void add_scalar(std::vector<Probe>& out);    // integer and float arithmetic, comparisons, conversions

// ---- helpers for their text

/// FNV-1a, 64 bits.
class Digest {
 public:
  void add(std::span<const uint8_t> bytes) {
    for (const uint8_t b : bytes) h_ = (h_ ^ b) * 0x100000001B3ull;
  }
  void add(std::string_view text) { add({reinterpret_cast<const uint8_t*>(text.data()), text.size()}); }
  uint64_t value() const { return h_; }

 private:
  uint64_t h_ = 0xCBF29CE484222325ull;
};

/// Random numbers of one probe.
class Draw {
 public:
  explicit Draw(uint64_t seed) : seed_(seed) {}
  uint64_t word();
  /// Returns a number in 0 … n-1
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((word() >> 32) % n); }
  int32_t between(int32_t least, int32_t greatest) { return least + static_cast<int32_t>(below(static_cast<uint32_t>(greatest - least + 1))); }
  bool one_in(uint32_t n) { return below(n) == 0; }
  std::vector<uint8_t> bytes(size_t n);

 private:
  uint64_t seed_, at_ = 0;
};

/// Parses the module `text` (without header) and adds the launch and buffers.
struct ProbeText {
  std::string text;
  sim::LaunchConfig launch{{1, 1, 1}, {128, 1, 1}, {1, 1, 1}, 0};
  std::vector<std::vector<uint8_t>> buffers;
  std::vector<conformance::ProgramMap> maps;
};
Probe probe(std::string family, std::string name, ProbeText p);

/// Head of a kernel of 128 threads with `smem_bytes` of shared memory: registers, `area` and `bar`, threads' roles;
/// parameters b0, b1 (buffers), then a tensor map if `has_map`.
/// %r0 tid, %r1 area, %r2 bar, %rd0 b0, %rd1 b1, %rd2 map; %first: this is thread 0; %r10… and %rd10… are free.
std::string kernel_head(uint32_t smem_bytes, bool has_map);
/// Fills area with 0xA5 bytes, or with the bytes of %rd0; ends with the async proxy's fence and bar.sync.
std::string fill_area(uint32_t smem_bytes, bool from_buffer);
/// mbarrier.init by thread 0, then bar.sync.
std::string init_barrier(uint32_t arrivals);
/// All threads wait for the barrier's parity.
std::string wait_parity(uint32_t parity, std::string_view label);
/// Writes area to %rd1 + `offset`, then ends the kernel.
std::string dump_area(uint32_t smem_bytes);
/// Runs `lines` in thread 0 only.
std::string by_first(const std::string& lines, std::string_view label);

}  // namespace drywell::kernels::silicon
