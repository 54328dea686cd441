// Programs of asynchronous and cluster instructions as PTX text: one kernel of 128 threads with 2 KiB of shared memory.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "conformance/programs/program.h"

namespace drywell::kernels::conformance {

constexpr uint32_t kTextThreads = 128, kArea = 2048;

using Bytes = std::vector<uint8_t>;

/// A program without its kernel's frame. Registers of the body:
///   %thread; %area and %bar, addresses of 2 KiB (aligned to 1024) and of 64 bytes of shared memory; %rank of the CTA in its cluster;
///   %b0 … the buffers' addresses; %map the first tensor map's; %first: this is thread 0;
///   %p, %h, %r, %d, %q0 … for free use (1, 16, 32, 64, 128 bits).
struct AsyncText {
  std::string body;
  std::vector<ProgramBuffer> buffers;
  std::vector<ProgramMap> maps = {};
  uint32_t ctas = 1, cluster = 1;
  std::string module_scope = {};   // functions and variables before the kernel
  std::string directives = {};     // of the kernel, after its .reqntid
  std::optional<Code> fault = {};  // Program::fault
  isa::PtxVersion version = {9, 0};
};

ProgramSpec text_program(std::string family, std::string name, AsyncText text);

/// Returns random bytes; different seeds give different streams.
Bytes random_bytes(size_t n, uint64_t seed);
/// A buffer that the kernel only reads, or that is not compared.
inline ProgramBuffer input(Bytes initial) { return {.initial = std::move(initial)}; }
inline ProgramBuffer output(Bytes expected) { return {.initial = Bytes(expected.size(), 0x3C), .expected = std::move(expected)}; }

template <class T>
T value_at(const Bytes& b, size_t i) {
  T v;
  std::memcpy(&v, b.data() + i * sizeof v, sizeof v);
  return v;
}
template <class T>
void put_value(Bytes& b, size_t i, T v) {
  std::memcpy(b.data() + i * sizeof v, &v, sizeof v);
}
template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes b(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) put_value(b, i, values[i]);
  return b;
}

// ---- text for the bodies

constexpr uint8_t kAreaFill = 0xA5;
/// Fills the area with kAreaFill, or with the bytes at `source` ("%b0"); visible to the async proxy and to the CTA.
std::string fill_area(const std::string& source = {});
/// mbarrier.init by thread 0, visible to the CTA.
std::string init_bar(uint32_t arrivals = 1);
/// mbarrier.arrive.expect_tx by thread 0.
std::string expect_bytes(uint32_t bytes);
/// All threads wait for a phase of the barrier. `label` is unique in the body.
std::string wait_bar(uint32_t parity = 0, const std::string& label = "WAIT");
/// Writes the area to `to`, at the position of this CTA's rank in the cluster.
std::string dump_area(const std::string& to);
/// st.global of each thread's `reg` to `to`, as an array of words over the CTAs of the cluster.
std::string store_words(const std::string& to, const std::string& reg);
/// All threads of the cluster synchronize.
std::string cluster_sync();
/// `d` = the address `a` of shared memory in the cluster's next CTA (of four).
std::string map_next(const std::string& d, const std::string& a);

}  // namespace drywell::kernels::conformance
