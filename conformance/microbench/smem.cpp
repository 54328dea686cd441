// Shared memory: chains of loads through words that hold addresses, and streams of accesses by several warps.
#include <fmt/format.h>

#include "conformance/microbench/microbench.h"
#include "conformance/microbench/text.h"

namespace drywell::kernels::microbench {
namespace {

Microbench bench(std::string name, bool fitted, const KernelText& k, double work) {
  return microbench(std::move(name), "smem", fitted, Unit::cycles, work, k);
}

// Lane i's word is `ways` words after lane i-1's: that many lanes share a bank.
std::string own_address(unsigned bytes) {
  return fmt::format("mul.lo.u32 %r10, %r0, {};\nadd.u32 %r10, %r10, %r2;\nst.shared.u32 [%r10], %r10;\n", bytes);
}

Microbench conflict_latency(unsigned ways, bool fitted) {
  KernelText k;
  k.smem_bytes = 32 * 4 * ways;
  k.setup = own_address(4 * ways);
  k.loop = repeat(32, "ld.shared.u32 %r10, [%r10];\n");
  k.keep = "%r10";
  return bench(fmt::format("lds.latency.conflict-{}", ways), fitted, k, 32);
}

Microbench vector_latency(unsigned words, bool fitted) {
  KernelText k;
  k.smem_bytes = 32 * 4 * words;
  k.setup = own_address(4 * words);
  k.loop = repeat(32, words == 2 ? "ld.shared.v2.u32 {%r10, %va{n}}, [%r10];\nadd.u32 %r12, %r12, %va{n};\n"
                                 : "ld.shared.v4.u32 {%r10, %va{n}, %vb{n}, %vc{n}}, [%r10];\nadd.u32 %r12, %r12, %va{n};\n");
  k.setup += "mov.u32 %r12, 0;\n";
  k.finish = "xor.b32 %r10, %r10, %r12;\n";
  k.keep = "%r10";
  return bench(fmt::format("lds.latency.v{}", words), fitted, k, 32);
}

// Every loaded value is used, because ptxas drops an unused load, volatile or not. `stride`: bytes from lane to lane.
Microbench stream(const char* what, const char* access, unsigned stride, unsigned warps, bool fitted) {
  KernelText k;
  k.threads = warps * 32;
  k.smem_bytes = 32 * stride + 4096;
  k.setup = fmt::format("and.b32 %r10, %r0, 31;\nmul.lo.u32 %r10, %r10, {};\nadd.u32 %r10, %r10, %r2;\n", stride);
  k.loop = repeat(32, fmt::format("{}\n", access), 0, 128);
  if (std::string_view(access).starts_with("ld")) {
    k.setup += "mov.u32 %r20, 0;\n";
    k.loop += repeat(32, "xor.b32 %r20, %r20, %va{n};\n");
    k.keep = "%r20";
  }
  return bench(fmt::format("{}.warps-{}", what, warps), fitted, k, 32.0 * warps);
}

constexpr char kLoad[] = "ld.volatile.shared.u32 %va{n}, [%r10+{i}];";
constexpr char kLoad4[] = "ld.volatile.shared.v4.u32 {%va{n}, %vb{n}, %vc{n}, %vd{n}}, [%r10+{i}];";
constexpr char kStore[] = "st.volatile.shared.u32 [%r10+{i}], %r0;";
constexpr char kStore4[] = "st.volatile.shared.v4.u32 [%r10+{i}], {%r0, %r1, %r2, %r3};";

// `lane`: the number of the address of lane %r10, as an instruction on it. Lanes at one address share what they read.
Microbench shared_rows(const char* what, const char* access, unsigned bytes, const char* lane, unsigned warps) {
  Microbench b = stream(what, access, bytes, warps, false);
  b.text = substitute(b.text, "and.b32 %r10, %r0, 31;\n", fmt::format("and.b32 %r10, %r0, 31;\n{}\n", lane));
  return b;
}

void add_shared_rows(std::vector<Microbench>& out) {
  for (const unsigned warps : {4u, 16u}) {
    out.push_back(shared_rows("lds.v4.same.rate", kLoad4, 16, "mov.u32 %r10, 0;", warps));
    out.push_back(shared_rows("lds.v4.pairs.rate", kLoad4, 16, "shr.u32 %r10, %r10, 1;", warps));
    out.push_back(shared_rows("lds.v4.sixteen.rate", kLoad4, 16, "and.b32 %r10, %r10, 15;", warps));
  }
}

void add_streams(std::vector<Microbench>& out) {
  for (const unsigned warps : {1u, 4u, 8u, 16u, 32u}) {
    const bool fitted = warps == 1 || warps == 16;
    out.push_back(stream("lds.rate", kLoad, 4, warps, fitted));
    out.push_back(stream("sts.rate", kStore, 4, warps, fitted));
  }
  for (const unsigned warps : {4u, 16u}) {
    out.push_back(stream("lds.v4.rate", kLoad4, 16, warps, false));
    out.push_back(stream("sts.v4.rate", kStore4, 16, warps, false));
    out.push_back(stream("lds.2-way.rate", kLoad, 8, warps, false));
    out.push_back(stream("lds.8-way.rate", kLoad, 32, warps, warps == 16));
    out.push_back(stream("sts.2-way.rate", kStore, 8, warps, false));
    out.push_back(stream("sts.8-way.rate", kStore, 32, warps, false));
  }
}

Microbench matrix_latency() {
  KernelText k;
  k.smem_bytes = 1024;
  // Lane i of the first eight receives word i % 4 of row i / 4: the address of row i.
  k.setup = "shl.b32 %r10, %r0, 4;\nadd.u32 %r10, %r10, %r2;\nshl.b32 %r11, %r0, 2;\nadd.u32 %r11, %r11, %r2;\nst.shared.u32 [%r11], %r10;\n";
  k.loop = repeat(32, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r10];\n");
  k.keep = "%r10";
  return bench("ldmatrix.latency", true, k, 32);
}

Microbench matrix_rate(unsigned count, bool store, unsigned warps, bool fitted) {
  KernelText k;
  k.threads = warps * 32;
  k.smem_bytes = 4096;
  k.setup = "and.b32 %r10, %r0, 31;\nshl.b32 %r10, %r10, 4;\nadd.u32 %r10, %r10, %r2;\n" + repeat(4, "mov.u32 %r{i}, 0;\n", 20);
  const std::string regs = store        ? (count == 4 ? "{%r20, %r21, %r22, %r23}" : "{%r20, %r21}")
                           : count == 4 ? "{%va{n}, %vb{n}, %vc{n}, %vd{n}}"
                           : count == 2 ? "{%va{n}, %vb{n}}"
                                        : "{%va{n}}";
  k.loop = repeat(16, store ? fmt::format("stmatrix.sync.aligned.m8n8.x{}.shared.b16 [%r10+{{i}}], {};\n", count, regs) : fmt::format("ldmatrix.sync.aligned.m8n8.x{}.shared.b16 {}, [%r10+{{i}}];\n", count, regs),
                  0, 128);
  if (!store) {
    k.loop += repeat(16, "xor.b32 %r24, %r24, %va{n};\n");
    k.setup += "mov.u32 %r24, 0;\n";
    k.keep = "%r24";
  }
  return bench(fmt::format("{}matrix.x{}.rate.warps-{}", store ? "st" : "ld", count, warps), fitted, k, 16.0 * warps);
}

Microbench atomic_latency(bool fitted) {
  KernelText k;
  k.setup = own_address(4);
  k.loop = repeat(16, "atom.shared.add.u32 %r11, [%r10], %r11;\n");
  k.setup += "mov.u32 %r11, %r4;\n";
  k.keep = "%r11";
  return bench("atom.shared.add.latency", fitted, k, 16);
}

// Lanes count at words `stride` bytes apart, or at one word.
Microbench counting_rate(const char* what, unsigned stride, unsigned warps) {
  KernelText k;
  k.threads = warps * 32;
  k.smem_bytes = 32 * stride + 4;
  k.setup = fmt::format("and.b32 %r10, %r0, 31;\nmul.lo.u32 %r10, %r10, {};\nadd.u32 %r10, %r10, %r2;\n", stride);
  k.loop = repeat(16, "red.shared.add.u32 [%r10], 1;\n");
  return bench(fmt::format("red.shared.count.{}.rate.warps-{}", what, warps), false, k, 16.0 * warps);
}

Microbench atomic_rate(unsigned warps, bool fitted) {
  KernelText k;
  k.threads = warps * 32;
  k.smem_bytes = 32 * warps * 4;
  k.setup = own_address(4);
  k.loop = repeat(16, "red.shared.add.u32 [%r10], %r4;\n");
  return bench(fmt::format("red.shared.add.rate.warps-{}", warps), fitted, k, 16.0 * warps);
}

}  // namespace

void add_smem(std::vector<Microbench>& out) {
  for (const unsigned ways : {1u, 2u, 4u, 8u, 16u, 32u}) out.push_back(conflict_latency(ways, ways == 1 || ways == 4 || ways == 16));
  out.push_back(vector_latency(2, false));
  out.push_back(vector_latency(4, true));
  add_streams(out);
  add_shared_rows(out);
  out.push_back(matrix_latency());
  out.push_back(matrix_rate(4, false, 16, true));
  out.push_back(matrix_rate(2, false, 16, false));
  out.push_back(matrix_rate(1, false, 16, false));
  out.push_back(matrix_rate(4, true, 16, true));
  out.push_back(matrix_rate(2, true, 16, false));
  out.push_back(atomic_latency(true));
  out.push_back(atomic_rate(16, true));
  out.push_back(atomic_rate(4, false));
  out.push_back(counting_rate("same", 0, 16));
  out.push_back(counting_rate("own", 4, 16));
  out.push_back(counting_rate("2-way", 8, 16));
  out.push_back(counting_rate("8-way", 32, 16));
}

}  // namespace drywell::kernels::microbench
