// mma.sync and wgmma: chains and streams.
#include <fmt/format.h>

#include "conformance/microbench/microbench.h"
#include "conformance/microbench/text.h"

namespace drywell::kernels::microbench {
namespace {

Microbench bench(std::string name, bool fitted, const KernelText& k, double work) {
  return microbench(std::move(name), "tensor", fitted, Unit::cycles, work, k);
}

struct Mma {
  const char* name;
  const char* form;
  unsigned a, b;  // registers
  bool integer, fitted;
};
const Mma kMma[] = {
    {"bf16", "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, false, true},
    {"f16", "m16n8k16.row.col.f32.f16.f16.f32", 4, 2, false, false},
    {"tf32", "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, false, false},
    {"s8", "m16n8k32.row.col.s32.s8.s8.s32", 4, 2, true, false},
};

std::string operand(char file, unsigned first, unsigned n) {
  std::string out = "{";
  for (unsigned i = 0; i < n; ++i) out += fmt::format("{}%{}{}", i == 0 ? "" : ", ", file, first + i);
  return out + "}";
}

Microbench mma_sync(const Mma& m, unsigned chains, unsigned warps, std::string name) {
  KernelText k;
  k.threads = warps * 32;
  const char file = m.integer ? 'r' : 'f';
  k.setup = repeat(m.a + m.b, "mov.u32 %r{i}, %r4;\n", 40);
  for (unsigned i = 0; i < 4 * chains; ++i) k.setup += m.integer ? fmt::format("mov.u32 %r{}, %r4;\n", 10 + i) : fmt::format("mov.f32 %f{}, %f0;\n", 10 + i);
  constexpr unsigned kSteps = 16;
  for (unsigned i = 0; i < kSteps; ++i) {
    const std::string d = operand(file, 10 + 4 * (i % chains), 4);
    k.loop += fmt::format("mma.sync.aligned.{} {}, {}, {}, {};\n", m.form, d, operand('r', 40, m.a), operand('r', 40 + m.a, m.b), d);
  }
  k.finish = "mov.b32 %r9, 0;\n";
  for (unsigned i = 0; i < 4 * chains; ++i)
    k.finish += m.integer ? fmt::format("xor.b32 %r9, %r9, %r{};\n", 10 + i) : fmt::format("mov.b32 %r8, %f{};\nxor.b32 %r9, %r9, %r8;\n", 10 + i);
  k.keep = "%r9";
  return bench(std::move(name), m.fitted, k, kSteps * std::max(1.0, warps / 4.0));
}

// Descriptor of a K-major operand in 128-byte swizzled rows: PTX ISA, matrix descriptor of wgmma.
constexpr char kDescriptor[] =
    "and.b32 %r10, %r2, 0x3FFFF;\nshr.u32 %r10, %r10, 4;\ncvt.u64.u32 %rd10, %r10;\nor.b64 %rd10, %rd10, 0x4000004000010000;\n";

Microbench wgmma(const char* type, unsigned k_elements, unsigned n, bool pipelined, bool fitted) {
  KernelText k;
  k.threads = 128;
  k.smem_bytes = 32768;
  k.setup = kDescriptor + repeat(n / 2, "mov.f32 %f{i}, %f0;\n", 10) + "setp.eq.u32 %p0, %r4, 0;\n";
  const std::string d = operand('f', 10, n / 2);
  constexpr unsigned kSteps = 4;
  const bool half = std::string_view(type) == "bf16";
  k.loop = "wgmma.fence.sync.aligned;\n";
  for (unsigned i = 0; i < kSteps; ++i)
    k.loop += fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.f32.{}.{} {}, %rd10, %rd10, %p0, 1, 1{};\n", n, k_elements, type, type, d, half ? ", 0, 0" : "");
  k.loop += fmt::format("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned {};\n", pipelined ? 1 : 0);
  k.finish = "wgmma.wait_group.sync.aligned 0;\nmov.b32 %r9, 0;\n" + repeat(n / 2, "mov.b32 %r8, %f{i};\nxor.b32 %r9, %r9, %r8;\n", 10);
  k.keep = "%r9";
  return bench(fmt::format("wgmma.{}.n{}{}", type, n, pipelined ? "" : ".waited"), fitted, k, kSteps);
}

}  // namespace

void add_tensor(std::vector<Microbench>& out) {
  for (const Mma& m : kMma) {
    out.push_back(mma_sync(m, 1, 1, fmt::format("mma.{}.latency", m.name)));
    out.push_back(mma_sync(m, 4, 8, fmt::format("mma.{}.rate", m.name)));
  }
  for (const unsigned n : {8u, 32u, 64u, 128u, 192u, 256u}) {
    const bool fitted = n == 8 || n == 64 || n == 256;
    out.push_back(wgmma("bf16", 16, n, true, fitted));
    out.push_back(wgmma("bf16", 16, n, false, fitted));
  }
  out.push_back(wgmma("e4m3", 32, 128, true, false));
  out.push_back(wgmma("tf32", 8, 128, true, false));
}

}  // namespace drywell::kernels::microbench
