// Scalar instructions: one warp with one dependent chain (latency), 16 warps with eight chains each (rate). The result is
// cycles for each warp instruction of a sub-partition.
#include <fmt/format.h>

#include <bit>
#include <string>

#include "conformance/microbench/microbench.h"
#include "conformance/microbench/text.h"

namespace drywell::kernels::microbench {
namespace {

enum class File : uint8_t {
  r,
  f,
  fd
};  // register file of a chain

/// {d} is the chain's register, {t} the number of a register for a step's intermediate; ptxas must not be able to merge two steps. %r7
/// is 7 and %r8 odd, %f7 and %fd7 are 1, %f8 and %fd8 are 0, but the compiler cannot prove these values.
struct Op {
  const char* name;
  const char* text;
  unsigned instructions;
  File file;
  bool fitted;
};

const Op kOps[] = {
    {"add-xor", "add.u32 {d}, {d}, %r7;\nxor.b32 {d}, {d}, %r8;\n", 2, File::r, false},
    {"shift-xor", "shl.b32 {d}, {d}, %r8;\nxor.b32 {d}, {d}, %r7;\n", 2, File::r, true},
    {"max-xor", "max.s32 {d}, {d}, %r7;\nxor.b32 {d}, {d}, %r8;\n", 2, File::r, false},
    {"prmt", "prmt.b32 {d}, {d}, %r7, 0x5410;\n", 1, File::r, false},
    {"mad.lo", "mad.lo.u32 {d}, {d}, %r7, %r8;\n", 1, File::r, true},
    {"mul.hi", "mul.hi.u32 {d}, {d}, %r8;\n", 1, File::r, false},
    {"fma.f32", "fma.rn.f32 {d}, {d}, %f7, %f8;\n", 1, File::f, true},
    {"add.f32", "add.rn.f32 {d}, {d}, %f7;\n", 1, File::f, false},
    {"mul.f32", "mul.rn.f32 {d}, {d}, %f7;\n", 1, File::f, false},
    {"fma.f32.constant-factor", "fma.rn.f32 {d}, {d}, 0f3F7FFFFE, %f8;\n", 1, File::f, true},
    {"fma.f16x2", "fma.rn.f16x2 {d}, {d}, %r7, %r8;\n", 1, File::r, true},
    {"fma.bf16x2", "fma.rn.bf16x2 {d}, {d}, %r7, %r8;\n", 1, File::r, false},
    {"fma.f64", "fma.rn.f64 {d}, {d}, %fd7, %fd8;\n", 1, File::fd, true},
    {"add.f64", "add.rn.f64 {d}, {d}, %fd7;\n", 1, File::fd, false},
    {"ex2", "ex2.approx.ftz.f32 {d}, {d};\n", 1, File::f, true},
    {"tanh", "tanh.approx.f32 {d}, {d};\n", 1, File::f, false},
    {"lg2", "lg2.approx.ftz.f32 {d}, {d};\n", 1, File::f, false},
    {"rsqrt", "rsqrt.approx.ftz.f32 {d}, {d};\n", 1, File::f, false},
    {"rsqrt.subnormal", "rsqrt.approx.f32 {d}, {d};\n", 1, File::f, true},
    {"lg2.subnormal", "lg2.approx.f32 {d}, {d};\n", 1, File::f, false},
    {"sqrt.subnormal", "sqrt.approx.f32 {d}, {d};\n", 1, File::f, false},
    {"rcp.approx.subnormal", "rcp.approx.f32 {d}, {d};\n", 1, File::f, false},
    {"sin", "sin.approx.ftz.f32 {d}, {d};\n", 1, File::f, false},
    {"div.full.divisor", "div.full.f32 {d}, %f7, {d};\n", 1, File::f, false},
    {"div.approx.divisor", "div.approx.ftz.f32 {d}, %f7, {d};\n", 1, File::f, false},
    {"rcp.rn.f32", "rcp.rn.f32 {d}, {d};\n", 1, File::f, true},
    {"sqrt.rn.f32", "sqrt.rn.f32 {d}, {d};\n", 1, File::f, true},
    {"div.rn.f32", "div.rn.f32 {d}, {d}, %f7;\n", 1, File::f, true},
    {"div.rn.f32.divisor", "div.rn.f32 {d}, %f7, {d};\n", 1, File::f, false},
    {"div.u32", "div.u32 {d}, {d}, %r7;\n", 1, File::r, true},
    {"rem.u32", "rem.u32 {d}, {d}, %r7;\n", 1, File::r, false},
    {"popc", "popc.b32 {d}, {d};\n", 1, File::r, true},
    {"brev", "brev.b32 {d}, {d};\nadd.u32 {d}, {d}, %r7;\n", 2, File::r, false},
    {"bfe", "bfe.u32 {d}, {d}, 3, 17;\nadd.u32 {d}, {d}, %r8;\n", 2, File::r, true},
    {"bfi", "bfi.b32 {d}, {d}, %r7, 5, 9;\n", 1, File::r, false},
    {"cvt.f16x2.f32", "cvt.rn.f16x2.f32 %r{t}, {d}, %f7;\nmov.b32 {d}, %r{t};\n", 1, File::f, true},
    {"cvt.bf16x2.f32", "cvt.rn.bf16x2.f32 %r{t}, {d}, %f7;\nmov.b32 {d}, %r{t};\n", 1, File::f, false},
    {"cvt.e4m3x2", "cvt.rn.satfinite.e4m3x2.f16x2 %h{t}, {d};\ncvt.rn.f16x2.e4m3x2 {d}, %h{t};\n", 2, File::r, true},
    {"cvt.f16.f32", "cvt.rn.f16.f32 %h{t}, {d};\ncvt.f32.f16 {d}, %h{t};\n", 2, File::f, true},
    {"cvt.f32.s32", "cvt.rn.f32.s32 %f{t}, {d};\ncvt.rzi.s32.f32 {d}, %f{t};\n", 2, File::r, true},
    {"setp-selp", "setp.gt.u32 %q{t}, {d}, %r7;\nselp.u32 {d}, %r8, %r7, %q{t};\n", 2, File::r, true},
    {"shfl", "shfl.sync.bfly.b32 {d}, {d}, 1, 31, -1;\n", 1, File::r, true},
    {"ballot", "setp.gt.u32 %q{t}, {d}, %r7;\nvote.sync.ballot.b32 {d}, %q{t}, -1;\n", 2, File::r, true},
    {"redux", "redux.sync.add.u32 {d}, {d}, -1;\n", 1, File::r, true},
    {"dp4a", "dp4a.u32.u32 {d}, %r7, %r8, {d};\n", 1, File::r, false},
};

const char* prefix(File f) { return f == File::r ? "%r" : f == File::f ? "%f"
                                                                       : "%fd"; }

std::string chain_step(const Op& op, unsigned chain) {
  const std::string d = fmt::format("{}{}", prefix(op.file), 10 + chain);
  return substitute(substitute(op.text, "{t}", std::to_string(22 + chain)), "{d}", d);
}

constexpr char kOperands[] =
    "add.u32 %r7, %r4, 7;\nor.b32 %r8, %r0, 1;\nadd.f32 %f7, %f0, 0f3F800000;\nmov.f32 %f8, %f0;\ncvt.f64.f32 %fd7, %f7;\ncvt.f64.f32 %fd8, %f8;\n";

std::string initial(const Op& op, unsigned chains) {
  std::string out = kOperands;
  for (unsigned i = 0; i < chains; ++i) {
    if (op.file == File::r) out += fmt::format("add.u32 %r{}, %r0, {};\n", 10 + i, i + 1000);
    if (op.file == File::f) out += fmt::format("add.f32 %f{}, %f7, 0f3F{:02X}0000;\n", 10 + i, i + 128);
    if (op.file == File::fd) out += fmt::format("add.f64 %fd{}, %fd7, 0d3FF{:01X}000000000000;\n", 10 + i, i);
  }
  return out;
}

// Combines all chains into %r9, so that no chain is dead code.
std::string collect(const Op& op, unsigned chains) {
  std::string out = "mov.u32 %r9, 0;\n";
  for (unsigned i = 0; i < chains; ++i) {
    if (op.file == File::fd) out += fmt::format("cvt.rn.f32.f64 %f{0}, %fd{0};\n", 10 + i);
    if (op.file != File::r) out += fmt::format("mov.b32 %r{0}, %f{0};\n", 10 + i);
    out += fmt::format("xor.b32 %r9, %r9, %r{};\n", 10 + i);
  }
  return out;
}

Microbench make(const Op& op, unsigned chains, unsigned warps, unsigned steps) {
  KernelText k;
  k.setup = initial(op, chains);
  for (unsigned i = 0; i < steps; ++i) k.loop += chain_step(op, i % chains);
  k.finish = collect(op, chains);
  k.keep = "%r9";
  k.threads = warps * 32;
  return microbench({}, "pipes", op.fitted, Unit::cycles, double(steps) * op.instructions * std::max(1.0, warps / 4.0), k);
}

// Chains that PTX has one behind the other, of which nothing is shared: ptxas interleaves them. The result is cycles for each pass.
struct Chains {
  const char* name;
  const char* text;  // a step of a chain: {d} its register, {c}, {e} and {t} numbers of registers for the step's values
  unsigned steps;
  bool fitted;
};
constexpr char kExp[] =
    "fma.rn.sat.f32 %va{c}, {d}, 0f3BBB989D, 0f3F000000;\nfma.rm.f32 %va{e}, %va{c}, 0f437C0000, 0f4B400001;\nadd.f32 %vb{c}, %va{e}, 0fCB40007F;\nneg.f32 %vb{e}, %vb{c};\n"
    "fma.rn.f32 %vc{c}, {d}, 0f3FB8AA3B, %vb{e};\nfma.rn.f32 %vc{e}, {d}, 0f32A57060, %vc{c};\nshl.b32 %vd{c}, %va{e}, 23;\nex2.approx.ftz.f32 %vd{e}, %vc{e};\n"
    "mul.f32 %f{t}, %vd{e}, %vd{c};\nfma.rn.f32 {d}, %f{t}, %f8, {d};\n";
constexpr Chains kChains[] = {{"fma", "fma.rn.f32 {d}, {d}, %f7, %f8;\n", 8, true}, {"exp", kExp, 1, false}};

Microbench in_sequence(const Chains& c, unsigned chains, unsigned warps) {
  const Op op{c.name, c.text, 1, File::f, c.fitted};
  KernelText k;
  k.setup = initial(op, chains);
  for (unsigned i = 0; i < chains; ++i)
    for (unsigned s = 0; s < c.steps; ++s) k.loop += substitute(substitute(chain_step(op, i), "{c}", std::to_string(i)), "{e}", std::to_string(8 + i));
  k.finish = collect(op, chains);
  k.keep = "%r9";
  k.threads = warps * 32;
  return microbench(fmt::format("chains.{}.of-{}.warps-{}", c.name, chains, warps), "pipes", c.fitted && chains == 4, Unit::cycles, 1, k);
}

// A GEMM's promotion: each sum adds its own product. Three sources in different registers compete for the register file's ports.
Microbench promotion(unsigned warps, bool fitted) {
  constexpr unsigned kSums = 32;
  KernelText k;
  k.threads = 32 * warps;
  k.setup = repeat(kSums, "ld.global.f32 %va{n}, [%rd1+{i}];\nmov.b32 %vb{n}, %f0;\n", 0, 4) + "ld.global.f32 %f7, [%rd1+256];\n";
  k.loop = repeat(kSums, "fma.rn.f32 %vb{n}, %va{n}, %f7, %vb{n};\n");
  k.finish = repeat(kSums, "add.f32 %f0, %f0, %vb{n};\n");
  k.keep = "%f0";
  Microbench b;
  b.name = fmt::format("rate.fma.f32.promotion.warps-{}", warps);
  b.family = "pipes";
  b.fitted = fitted;
  b.work = kSums * (warps / 4.0);
  b.text = kernel_text(k);
  b.launch.block.x = k.threads;
  b.few = 16;
  b.many = 64;
  return b;
}

// A loop whose end depends on a chain of `steps` multiply-adds: 100 passes of one warp. The counter of ptxas's own loops is known early;
// this test is known last.
Microbench loop_on_result(unsigned steps, unsigned early) {
  constexpr unsigned kPasses = 100;
  KernelText k;
  k.setup = fmt::format("{}add.f32 %f9, %f8, 0f{:08X};\n", kOperands, std::bit_cast<uint32_t>(1.0F / (kPasses * steps)));
  k.loop = "mov.b32 %f10, %r4;\nmov.b32 %f11, %r4;\nLOOP:\n.pragma \"nounroll\";\n" + repeat(steps, "fma.rn.f32 %f10, %f10, %f7, %f9;\n") +
           "setp.lt.f32 %p1, %f10, %f7;\n" + repeat(early, "fma.rn.f32 %f11, %f11, %f7, %f9;\n") + "@%p1 bra LOOP;\n";
  k.finish = "add.f32 %f10, %f10, %f11;\n";
  k.keep = "%f10";
  return microbench(fmt::format("loop.fma-{}.early-{}", steps, early), "pipes", steps != 2, Unit::cycles, kPasses, k);
}

}  // namespace

void add_pipes(std::vector<Microbench>& out) {
  for (const Op& op : kOps) {
    out.push_back(make(op, 1, 1, 64));
    out.back().name = fmt::format("latency.{}", op.name);
    out.push_back(make(op, 8, 16, 64));
    out.back().name = fmt::format("rate.{}", op.name);
    if (op.name == std::string_view("fma.f32") || op.name == std::string_view("mad.lo")) {
      for (const unsigned warps : {4u, 8u, 32u}) {
        out.push_back(make(op, 8, warps, 64));
        out.back().name = fmt::format("rate.{}.warps-{}", op.name, warps);
        out.back().fitted = false;
      }
    }
  }
  for (const Chains& c : kChains) {
    for (const unsigned chains : {1u, 2u, 4u, 8u}) out.push_back(in_sequence(c, chains, 1));
    out.push_back(in_sequence(c, 4, 32));
  }
  for (const unsigned warps : {4u, 8u, 16u}) out.push_back(promotion(warps, warps == 8));
  for (const unsigned steps : {1u, 2u, 4u}) out.push_back(loop_on_result(steps, 0));
  for (const unsigned early : {4u, 8u, 16u}) out.push_back(loop_on_result(1, early));
}

}  // namespace drywell::kernels::microbench
