// L1, L2 and device memory: chains of pointers, and streams of all SMs.
#include <fmt/format.h>

#include "kernels/microbench/microbench.h"
#include "kernels/microbench/text.h"

namespace drywell::kernels::microbench {
namespace {

constexpr uint64_t KiB = 1024, MiB = 1024 * KiB;

Microbench bench(std::string name, bool fitted, const KernelText& k, Unit unit, double work) {
  return microbench(std::move(name), "memory", fitted, unit, work, k);
}

// A ring of `hops` pointers, `stride` bytes apart, in an order no prefetcher follows. `load` reads %rd10 from [%rd10].
Microbench chase(const char* name, const char* load, uint64_t hops, uint64_t stride, bool fitted, Unit unit = Unit::cycles) {
  KernelText k;
  k.setup = "mov.u64 %rd10, %rd1;\n";
  k.loop = repeat(16, load);
  k.finish = "cvt.u32.u64 %r10, %rd10;\n";
  k.keep = "%r10";
  k.nanoseconds = unit == Unit::nanoseconds;
  Microbench b = bench(name, fitted, k, unit, 16);
  b.memory_bytes = hops * stride;
  const uint64_t step = hops * 5 / 8 | 1;  // odd: visits all of a power of two
  for (uint64_t i = 0, at = 0; i < hops; ++i, at = (at + step) % hops) b.links.push_back({at * stride, (at + step) % hops * stride});
  b.few = static_cast<uint32_t>(hops / 16);
  b.many = 3 * b.few;
  return b;
}

// The chain is walked once: every hop goes to device memory.
Microbench cold_chase() {
  constexpr uint64_t kHops = 2048;
  Microbench b = chase("hbm.latency", "ld.global.cg.u64 %rd10, [%rd10];\n", kHops, 128 * KiB + 128, true, Unit::nanoseconds);
  b.few = kHops / 16 / 4;
  b.many = kHops / 16;
  b.cold = true;
  return b;
}

// 1024 threads of every SM read (or write) 16 bytes each, `unroll` times an iteration. Every CTA keeps to its own part of the
// memory; iterations go over it again (L2) or on to fresh lines (device memory).
struct Stream {
  const char* name;
  const char* access;  // {i}: offset
  bool store, again, fitted;
  unsigned unroll;
  unsigned threads = 1024;
};

Microbench stream(const Stream& s) {
  constexpr unsigned kMostSms = 160;
  KernelText k;
  k.threads = s.threads;
  k.nanoseconds = !s.again;
  const unsigned bytes = s.threads * 16 * s.unroll;
  k.setup = fmt::format(
      "mov.u32 %r10, %ctaid.x;\nmul.wide.u32 %rd10, %r10, {};\nadd.u64 %rd10, %rd10, %rd1;\nmul.wide.u32 %rd11, %r0, 16;\nadd.u64 %rd10, %rd10, %rd11;\n"
      "mov.u32 %r20, {};\nmul.wide.u32 %rd12, %r20, {};\nmov.u32 %r19, 0;\n",
      bytes, s.again ? "%r4" : "%nctaid.x", bytes);  // %r4 is 0, which ptxas does not know: it keeps the loads in the loop
  k.loop = repeat(s.unroll, s.access, 0, s.threads * 16) + "add.u64 %rd10, %rd10, %rd12;\n";
  if (!s.store) {
    k.loop += repeat(s.unroll, "xor.b32 %r19, %r19, %va{n};\nxor.b32 %r19, %r19, %vd{n};\n");
    k.keep = "%r19";
  }
  Microbench b = bench(s.name, s.fitted, k, s.again ? Unit::bytes_per_cycle : Unit::gigabytes_per_second, bytes);
  b.per_cta = s.again;
  b.launch.grid.x = 0;
  b.launch.dynamic_smem = 120 << 10;  // one CTA on an SM
  b.few = s.again ? 4 : 8;
  b.many = s.again ? 12 : 24;
  b.memory_bytes = uint64_t{bytes} * kMostSms * (s.again ? 1 : b.many);
  b.cold = !s.again;
  return b;
}

constexpr char kRead[] =
    "ld.global.cg.v4.u32 {%va{n}, %vb{n}, %vc{n}, %vd{n}}, [%rd10+{i}];\n";
constexpr char kReadL1[] =
    "ld.global.ca.v4.u32 {%va{n}, %vb{n}, %vc{n}, %vd{n}}, [%rd10+{i}];\n";
constexpr char kWrite[] = "st.global.v4.u32 [%rd10+{i}], {%r0, %r1, %r2, %r3};\n";

Microbench warp_load_l1() {
  KernelText k;
  k.setup = "mul.wide.u32 %rd10, %r0, 8;\nadd.u64 %rd10, %rd10, %rd1;\nmov.u32 %r10, 0;\n";
  k.loop = repeat(16, "ld.global.ca.u64 %rd11, [%rd10];\nadd.u64 %rd10, %rd10, %rd11;\n");
  k.finish = "cvt.u32.u64 %r10, %rd10;\n";
  k.keep = "%r10";
  Microbench b = bench("l1.latency.warp", false, k, Unit::cycles, 16);
  b.few = 16;
  b.many = 64;
  return b;
}

Microbench atomic_latency() {
  KernelText k;
  k.setup = "mov.u32 %r10, %r4;\n@%others bra DONE;\n";
  k.loop = repeat(8, "atom.global.add.u32 %r10, [%rd1], %r10;\n");
  k.keep = "%r10";
  return bench("atom.global.add.latency", true, k, Unit::cycles, 8);
}

}  // namespace

void add_memory(std::vector<Microbench>& out) {
  out.push_back(chase("l1.latency", "ld.global.ca.u64 %rd10, [%rd10];\n", 64, 256, true));
  out.push_back(warp_load_l1());
  out.push_back(chase("l2.latency.1MiB", "ld.global.cg.u64 %rd10, [%rd10];\n", 256, 4 * KiB, true));
  out.push_back(chase("l2.latency.8MiB", "ld.global.cg.u64 %rd10, [%rd10];\n", 2048, 4 * KiB, false));
  out.push_back(cold_chase());
  out.push_back(atomic_latency());
  out.push_back(stream({"l1.read", kReadL1, false, true, true, 4}));
  out.push_back(stream({"l2.read", kRead, false, true, true, 16}));
  out.push_back(stream({"l2.read.half", kRead, false, true, false, 8}));
  out.push_back(stream({"l1.read.warps-8", kReadL1, false, true, false, 4, 256}));
  out.push_back(stream({"l2.read.warps-8", kRead, false, true, false, 16, 256}));
  out.push_back(stream({"l2.read.warps-16", kRead, false, true, false, 16, 512}));
  out.push_back(stream({"hbm.read", kRead, false, false, true, 8}));
  out.push_back(stream({"hbm.write", kWrite, true, false, false, 8}));
}

}  // namespace drywell::kernels::microbench
