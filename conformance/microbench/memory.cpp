// L1, L2 and device memory: chains of pointers, and streams of all SMs.
#include <fmt/format.h>

#include <bit>

#include "conformance/microbench/microbench.h"
#include "conformance/microbench/text.h"

namespace drywell::kernels::microbench {
namespace {

constexpr uint64_t KiB = 1024, MiB = 1024 * KiB;

Microbench bench(std::string name, bool fitted, const KernelText& k, Unit unit, double work) {
  return microbench(std::move(name), "memory", fitted, unit, work, k);
}

// A ring of `hops` pointers, `stride` bytes apart, in an order that no prefetcher follows. `load` reads %rd10 from [%rd10].
Microbench chase(const char* name, const char* load, uint64_t hops, uint64_t stride, bool fitted, Unit unit = Unit::cycles) {
  KernelText k;
  k.setup = "mov.u64 %rd10, %rd1;\n";
  k.loop = repeat(16, load);
  k.finish = "cvt.u32.u64 %r10, %rd10;\n";
  k.keep = "%r10";
  k.nanoseconds = unit == Unit::nanoseconds;
  Microbench b = bench(name, fitted, k, unit, 16);
  b.memory_bytes = hops * stride;
  const uint64_t step = hops * 5 / 8 | 1;  // odd: visits every element of a power of two
  for (uint64_t i = 0, at = 0; i < hops; ++i, at = (at + step) % hops) b.links.push_back({at * stride, (at + step) % hops * stride});
  b.few = static_cast<uint32_t>(hops / 16);
  b.many = 3 * b.few;
  return b;
}

// The chain is walked once: every load goes to device memory.
Microbench cold_chase() {
  constexpr uint64_t kHops = 2048;
  Microbench b = chase("hbm.latency", "ld.global.cg.u64 %rd10, [%rd10];\n", kHops, 128 * KiB + 128, true, Unit::nanoseconds);
  b.few = kHops / 16 / 4;
  b.many = kHops / 16;
  b.cold = true;
  return b;
}

// 1024 threads of every SM read (or write) `pitch` bytes each, or of these 4, `unroll` times per iteration. Every CTA uses its own part of the
// memory; iterations read the same part again (L2) or continue with new lines (device memory).
struct Stream {
  const char* name;
  const char* access;  // {i}: offset
  bool store, again, fitted;
  unsigned unroll;
  unsigned threads = 1024;
  bool copy = false;      // stores the loaded values to %rd13, the other half of the memory
  unsigned ctas = 0;      // 0: one for each SM
  unsigned together = 1;  // so many successive CTAs read the same part
  unsigned parts = 1;     // CTAs that are this part of the grid away from each other read the same part
  unsigned pitch = 16;    // bytes from one thread's to the next one's
};

Microbench stream(const Stream& s) {
  constexpr unsigned kMostSms = 160;
  KernelText k;
  k.threads = s.threads;
  k.nanoseconds = !s.again;
  const unsigned row = s.threads * s.pitch, bytes = row * s.unroll;
  k.setup = fmt::format(
      "mov.u32 %r10, %ctaid.x;\nmov.u32 %r11, %nctaid.x;\ndiv.u32 %r11, %r11, {};\nrem.u32 %r10, %r10, %r11;\ndiv.u32 %r10, %r10, {};\nmul.wide.u32 %rd10, %r10, {};\nadd.u64 %rd10, %rd10, %rd1;\nmul.wide.u32 %rd11, %r0, {};\nadd.u64 %rd10, %rd10, %rd11;\n"
      "mov.u32 %r20, {};\nmul.wide.u32 %rd12, %r20, {};\nmov.u32 %r19, 0;\n",
      s.parts, s.together, bytes, s.pitch, s.again ? "%r4" : "%nctaid.x", bytes);  // %r4 is 0 at run time; ptxas cannot prove that, so it keeps the loads in the loop
  k.loop = repeat(s.unroll, s.access, 0, row) + "add.u64 %rd10, %rd10, %rd12;\n";
  const uint32_t few = s.again ? 4 : 8, many = 3 * few;
  const uint64_t half = uint64_t{bytes} * kMostSms * (s.again ? 1 : many);
  if (s.copy) {
    k.setup += fmt::format("add.u64 %rd13, %rd10, {};\n", half);
    k.loop += repeat(s.unroll, "st.global.v4.u32 [%rd13+{i}], {%va{n}, %vb{n}, %vc{n}, %vd{n}};\n", 0, row) + "add.u64 %rd13, %rd13, %rd12;\n";
  } else if (s.pitch > 16) {
    k.loop += repeat(s.unroll, "xor.b32 %r19, %r19, %va{n};\n");
    k.keep = "%r19";
  } else if (!s.store) {
    // All four words: of two, ptxas loads four bytes each, and every sector is requested twice.
    k.loop += repeat(s.unroll, "xor.b32 %r19, %r19, %va{n};\nxor.b32 %va{n}, %vb{n}, %vc{n};\nxor.b32 %r19, %r19, %vd{n};\nxor.b32 %r19, %r19, %va{n};\n");
    k.keep = "%r19";
  }
  Microbench b = bench(s.name, s.fitted, k, s.again ? Unit::bytes_per_cycle : Unit::gigabytes_per_second, s.pitch > 16 ? s.threads * s.unroll * 32 : bytes);
  b.per_cta = s.again;
  b.launch.grid.x = s.ctas;
  b.launch.dynamic_smem = 120 << 10;  // one CTA per SM
  b.few = few;
  b.many = many;
  b.memory_bytes = half * (s.copy ? 2 : 1);
  b.cold = !s.again;
  return b;
}

constexpr char kRead[] =
    "ld.global.cg.v4.u32 {%va{n}, %vb{n}, %vc{n}, %vd{n}}, [%rd10+{i}];\n";
// Every SM reads `warps` times 4 KiB that are in no cache, and waits for all of it: the time of a burst.
Microbench burst(unsigned warps, bool fitted) {
  const Stream s{"", kRead, false, false, fitted, 8, warps * 32};
  Microbench b = stream(s);
  b.name = fmt::format("hbm.burst.{}KiB", 4 * warps);
  b.text = substitute(b.text, "%globaltimer", "%clock64");
  b.unit = Unit::cycles;
  b.work = 1;
  b.few = 1;
  b.many = 3;
  return b;
}

constexpr char kReadWord[] = "ld.global.cg.u32 %va{n}, [%rd10+{i}];\n";
constexpr char kWritePair[] = "st.global.v2.u32 [%rd10+{i}], {%r0, %r1};\n";
constexpr char kReadL1[] =
    "ld.global.ca.v4.u32 {%va{n}, %vb{n}, %vc{n}, %vd{n}}, [%rd10+{i}];\n";
constexpr char kWrite[] = "st.global.v4.u32 [%rd10+{i}], {%r0, %r1, %r2, %r3};\n";

// Sixteen warps access 4 bytes per lane in `lines` lines each, which stay in the L1 (loads) or the L2 (stores).
Microbench scattered(bool store, unsigned lines, bool fitted) {
  constexpr unsigned kUnroll = 8, kWarps = 16, kPitch = 1024;
  KernelText k;
  k.threads = kWarps * 32;
  const unsigned lanes = 32 / lines;
  k.setup = fmt::format(
      "shr.u32 %r10, %r0, 5;\nmul.lo.u32 %r10, %r10, {};\nand.b32 %r11, %r0, 31;\nshr.u32 %r12, %r11, {};\nmad.lo.u32 %r10, %r12, {}, %r10;\nand.b32 %r11, %r11, {};\n"
      "mad.lo.u32 %r10, %r11, 4, %r10;\ncvt.u64.u32 %rd10, %r10;\nadd.u64 %rd10, %rd10, %rd1;\nmov.u32 %r19, 0;\nmul.wide.u32 %rd12, %r4, 16;\n",
      lines * kPitch, std::countr_zero(lanes), kPitch, lanes - 1);
  k.loop = store ? repeat(kUnroll, "st.global.b32 [%rd10+{i}], %r0;\n", 0, 16)
                 : repeat(kUnroll, "ld.global.ca.b32 %va{n}, [%rd10+{i}];\n", 0, 16) + repeat(kUnroll, "xor.b32 %r19, %r19, %va{n};\n");
  k.loop += "add.u64 %rd10, %rd10, %rd12;\n";
  if (!store) k.keep = "%r19";
  Microbench b = bench(fmt::format("{}.lines-{}.rate", store ? "stg" : "ldg", lines), fitted, k, Unit::cycles, kUnroll * kWarps);
  b.memory_bytes = uint64_t{kWarps} * lines * kPitch;
  b.few = 8;
  b.many = 40;
  return b;
}

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

// Over several lines: those in the L2's far half take twice the time.
Microbench atomic_latency() {
  constexpr unsigned kLines = 16, kPitch = 4096 + 128;
  KernelText k;
  k.setup = "mov.u32 %r10, %r4;\n@%others bra DONE;\n";
  k.loop = repeat(kLines, "atom.global.add.u32 %r10, [%rd1+{i}], %r10;\n", 0, kPitch);
  k.keep = "%r10";
  Microbench b = bench("atom.global.add.latency.lines-16", true, k, Unit::cycles, kLines);
  b.memory_bytes = kLines * kPitch;
  b.few = 8;
  b.many = 40;
  return b;
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
  out.push_back(stream({"l2.read.together-2", kRead, false, true, false, 16, 512, false, 0, 2}));
  out.push_back(stream({"l2.read.together-8", kRead, false, true, true, 16, 512, false, 0, 8}));
  out.push_back(stream({"l2.read.apart-2", kRead, false, true, false, 16, 512, false, 0, 1, 2}));
  // A sector for each thread.
  for (const unsigned pitch : {32u, 64u, 128u}) {
    out.push_back(stream({"", kReadWord, false, true, pitch == 128, 2, 512, false, 0, 1, 1, pitch}));
    out.back().name = fmt::format("l2.read.pitch-{}", pitch);
  }
  out.push_back(stream({"l2.read.pitch-128.one-sm", kReadWord, false, true, false, 2, 512, false, 1, 1, 1, 128}));
  out.push_back(stream({"hbm.read", kRead, false, false, true, 8}));
  out.push_back(stream({"hbm.write", kWrite, true, false, true, 8}));
  for (const unsigned lines : {1u, 2u, 4u, 8u, 16u, 32u}) {
    const bool fitted = lines == 1 || lines == 8;
    out.push_back(scattered(false, lines, fitted));
    out.push_back(scattered(true, lines, fitted));
  }
  out.push_back(stream({"hbm.copy", kRead, false, false, true, 8, 1024, true}));
  out.push_back(stream({"l2.copy", kRead, false, true, false, 8, 1024, true}));
  out.push_back(stream({"l2.copy.warps-8", kRead, false, true, true, 8, 256, true}));
  for (const unsigned warps : {1u, 2u, 4u, 8u, 16u}) out.push_back(burst(warps, warps == 1 || warps == 4));
  out.push_back(stream({"l2.read.one-sm", kRead, false, true, false, 16, 1024, false, 1}));
  out.push_back(stream({"l2.write", kWrite, true, true, true, 8}));
  out.push_back(stream({"l2.write.one-sm", kWrite, true, true, false, 8, 1024, false, 1}));
  out.push_back(stream({"l2.write.pairs.one-sm", kWritePair, true, true, false, 8, 1024, false, 1, 1, 1, 8}));
}

}  // namespace drywell::kernels::microbench
