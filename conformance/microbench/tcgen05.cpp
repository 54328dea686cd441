// tcgen05 and tensor memory, on machines that have them: rates of the matrix instructions, of copies and of loads, and what one
// allocation, commit or shift takes. Only a B200 or B300 can run these; the figures beside which they stand are docs/facts/timing.md §4, §5.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "conformance/microbench/microbench.h"
#include "conformance/microbench/text.h"

namespace drywell::kernels::microbench {
namespace {

constexpr unsigned kArea = 49152;  // A: 128 rows of 128 bytes, B: 256 rows

// Those that tools/fit_arch.py fits figures to.
bool is_fitted(std::string_view name) {
  constexpr std::string_view kFitted[] = {"tcgen05.mma.bf16.n256.batch-1", "tcgen05.mma.bf16.n256.batch-16", "tcgen05.mma.bf16.n64.batch-16", "tcgen05.commit", "tcgen05.shift", "tcgen05.alloc-dealloc",
                                          "tcgen05.ld.32x32b.x32.batch-8", "tcgen05.ld.16x64b.x32.batch-8", "tcgen05.ld.16x128b.x16.batch-8", "tcgen05.ld.16x256b.x8.batch-8", "tcgen05.cp.128x256b.batch-8"};
  return std::find(std::begin(kFitted), std::end(kFitted), name) != std::end(kFitted);
}

Microbench finished(std::string name, Unit unit, double work, KernelText k) {
  k.dynamic_smem = true;
  k.setup = tmem_allocation() + init_barriers(1, 1) + fill_area(k.threads, kArea) + operand_descriptors(true) + k.setup;
  k.finish = tmem_release() + k.finish;
  const bool fitted = is_fitted(name);
  Microbench b = microbench(std::move(name), "tcgen05", fitted, unit, work, k);
  b.launch.dynamic_smem = kArea;
  return b;
}

struct Kind {
  const char* name;  // of the benchmark
  const char* text;  // .kind::… and what follows
  uint32_t formats;  // of the instruction descriptor: D, A and B
  bool scaled;
};
constexpr uint32_t kF32 = 1u << 4;
const Kind kKinds[] = {
    {"bf16", "kind::f16", kF32 | 1u << 7 | 1u << 10, false},
    {"tf32", "kind::tf32", kF32 | 2u << 7 | 2u << 10, false},
    {"e4m3", "kind::f8f6f4", kF32, false},
    {"i8", "kind::i8", 2u << 4 | 1u << 7 | 1u << 10, false},
    {"mxf8", "kind::mxf8f6f4.block_scale.scale_vec::1X", 1u << 23, true},
    {"mxf4", "kind::mxf4.block_scale.scale_vec::2X", 1u << 7 | 1u << 10 | 1u << 23, true},
    {"nvf4", "kind::mxf4nvf4.block_scale.scale_vec::4X", 1u << 7 | 1u << 10, true},
};

uint32_t shape(const Kind& k, unsigned m, unsigned n) { return n / 8 << 17 | (k.scaled ? m / 128 << 27 : m / 16 << 24); }

Microbench mma(const Kind& k, unsigned n, unsigned steps) {
  KernelText t;
  t.threads = 128;
  const std::string scales = k.scaled ? ", [%r12], [%r12]" : "";
  std::string issue;
  for (unsigned i = 0; i < steps; ++i)
    issue += fmt::format("tcgen05.mma.cta_group::1.{} [%r10], %rd10, %rd11, {:#x}{}, 1;\n", k.text, k.formats | shape(k, 128, n), scales);
  t.loop = issued_by_first_thread(issue);
  return finished(fmt::format("tcgen05.mma.{}.n{}.batch-{}", k.name, n, steps), Unit::cycles, steps, std::move(t));
}

Microbench copy(const char* form, unsigned steps, double bytes) {
  KernelText t;
  t.threads = 128;
  std::string issue;
  for (unsigned i = 0; i < steps; ++i) issue += fmt::format("tcgen05.cp.cta_group::1.{} [%r10], %rd10;\n", form);
  t.loop = issued_by_first_thread(issue);
  return finished(fmt::format("tcgen05.cp.{}.batch-{}", substitute(form, "::", "-"), steps), Unit::bytes_per_cycle, bytes * steps, std::move(t));
}

std::string registers(unsigned n) {
  std::string out = "{";
  for (unsigned i = 0; i < n; ++i) out += fmt::format("{}%f{}", i == 0 ? "" : ", ", 10 + i);
  return out + "}";
}

Microbench load(const char* shape, unsigned repeats, unsigned words, unsigned steps) {
  KernelText t;
  t.threads = 128;
  t.setup = "shl.b32 %r23, %r0, 16;\nand.b32 %r23, %r23, 0x600000;\nadd.u32 %r24, %r10, %r23;\n";
  for (unsigned i = 0; i < steps; ++i) t.loop += fmt::format("tcgen05.ld.sync.aligned.{}.x{}.b32 {}, [%r24];\n", shape, repeats, registers(words));
  t.loop += "tcgen05.wait::ld.sync.aligned;\nxor.b32 %r25, %r25, %f10;\n";
  t.keep = "%r25";
  return finished(fmt::format("tcgen05.ld.{}.x{}.batch-{}", shape, repeats, steps), Unit::bytes_per_cycle, 4.0 * 128 * words * steps, std::move(t));
}

Microbench store(const char* shape, unsigned repeats, unsigned words, unsigned steps) {
  KernelText t;
  t.threads = 128;
  t.setup = "shl.b32 %r23, %r0, 16;\nand.b32 %r23, %r23, 0x600000;\nadd.u32 %r24, %r10, %r23;\n" + repeat(words, "mov.b32 %f{i}, %r4;\n", 10);
  for (unsigned i = 0; i < steps; ++i) t.loop += fmt::format("tcgen05.st.sync.aligned.{}.x{}.b32 [%r24], {};\n", shape, repeats, registers(words));
  t.loop += "tcgen05.wait::st.sync.aligned;\n";
  return finished(fmt::format("tcgen05.st.{}.x{}.batch-{}", shape, repeats, steps), Unit::bytes_per_cycle, 4.0 * 128 * words * steps, std::move(t));
}

// The instruction alone, waited for.
Microbench alone(const char* name, const std::string& instruction) {
  KernelText t;
  t.threads = 128;
  t.loop = issued_by_first_thread(instruction);
  return finished(name, Unit::cycles, 1, std::move(t));
}

Microbench allocation() {
  KernelText t;
  t.threads = 32;
  t.loop = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3+64], 64;\nld.shared.u32 %r10, [%r3+64];\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;\n";
  t.finish = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n";
  return microbench("tcgen05.alloc-dealloc", "tcgen05", true, Unit::cycles, 1, t);
}

}  // namespace

void add_tcgen05(std::vector<Microbench>& out) {
  for (const Kind& k : kKinds) {
    for (const unsigned steps : {1u, 4u, 16u}) out.push_back(mma(k, 256, steps));
  }
  for (const unsigned n : {64u, 128u}) out.push_back(mma(kKinds[0], n, 16));
  for (const unsigned steps : {1u, 8u}) {
    out.push_back(copy("128x256b", steps, 4096));
    out.push_back(copy("128x128b", steps, 2048));
    out.push_back(copy("32x128b.warpx4", steps, 512));
  }
  for (const unsigned steps : {1u, 8u}) {
    out.push_back(load("32x32b", 32, 32, steps));
    out.push_back(load("16x64b", 32, 32, steps));
    out.push_back(load("16x128b", 16, 32, steps));
    out.push_back(load("16x256b", 8, 32, steps));
    out.push_back(store("32x32b", 32, 32, steps));
  }
  out.push_back(alone("tcgen05.commit", ""));
  out.push_back(alone("tcgen05.shift", "tcgen05.shift.cta_group::1.down [%r10];\n"));
  out.push_back(allocation());
}

}  // namespace drywell::kernels::microbench
