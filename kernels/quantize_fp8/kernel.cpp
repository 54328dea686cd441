// The device side.
#include "drywell/isa/builder.h"
#include "kernels/quantize_fp8/quantize_fp8.h"

namespace drywell::kernels {

using namespace isa;
using namespace quantize_fp8;

namespace {

class QuantizeFp8 {
 public:
  explicit QuantizeFp8(Target target) : k_("quantize_fp8", target) {}

  Module build() {
    prologue();
    std::vector<Pass> passes;
    for (uint32_t i = 0; i < kPasses; ++i) passes.push_back(load(i));
    for (const Pass& p : passes) quantize(p);
    return k_.finish();
  }

 private:
  struct Pass {
    Reg run, present;
    RegArray pairs;  // eight values
  };

  void prologue() {
    const Symbol x = k_.param(Mod::u64, "x"), codes = k_.param(Mod::u64, "codes"), factors = k_.param(Mod::u64, "factors");
    const Symbol runs = k_.param(Mod::u32, "runs");
    k_.directives().maxntid = {kThreads, 1, 1};
    k_.directives().maxnreg = 40;  // its need; six CTAs fit on an SM
    const Reg tid = k_.def("mov.u32", SpecialReg::tid_x);
    x_ = k_.load_param(x, Mod::u64);
    codes_ = k_.load_param(codes, Mod::u64);
    factors_ = k_.load_param(factors, Mod::u64);
    runs_ = k_.load_param(runs, Mod::u32);
    lane_ = k_.def("and.b32", tid, 15);
    const Reg run_of_thread = k_.def("shr.u32", tid, 4), cta = k_.def("mov.u32", SpecialReg::ctaid_x);
    first_run_ = k_.def("mad.lo.u32", cta, kRuns, run_of_thread);
    leader_ = k_.reg(Mod::pred);
    k_("setp.eq.u32", leader_, lane_, 0);
  }

  /// Returns the first element of this thread's eight in the tensor, divided by eight.
  Reg eighth(Reg run) { return k_.def("mad.lo.u32", run, kRun / 8, lane_); }

  Pass load(uint32_t i) {
    Pass p{k_.def("add.u32", first_run_, i * (kThreads / 16)), k_.reg(Mod::pred), k_.regs(Mod::b32, 4, "x")};
    k_("setp.lt.u32", p.present, p.run, runs_);
    for (const Reg pair : p.pairs) k_("mov.b32", pair, 0);
    const Reg at = k_.def("mad.wide.u32", eighth(p.run), 16, x_);
    k_.when(p.present)("ld.global.nc.v4.b32", p.pairs, mem(at));
    return p;
  }

  /// Returns the largest magnitude of the run, in each of its threads. NaN is ignored.
  Reg amax(const RegArray& pairs) {
    Reg largest = k_.def("abs.bf16x2", pairs[0]);
    for (uint32_t i = 1; i < 4; ++i) largest = k_.def("max.bf16x2", largest, k_.def("abs.bf16x2", pairs[i]));
    // Magnitudes have the same order as their bits.
    const Reg high = k_.def("and.b32", largest, 0xFFFF0000), low = k_.def("shl.b32", largest, 16);
    Reg bits = k_.def("max.u32", low, high);
    for (const uint32_t distance : {8u, 4u, 2u, 1u}) bits = k_.def("max.u32", bits, k_.def("shfl.sync.bfly.b32", bits, distance, 31, -1));
    const Reg value = k_.reg(Mod::f32);
    k_("mov.b32", value, bits);
    return value;
  }

  void quantize(const Pass& p) {
    const Reg largest = amax(p.pairs), zero = k_.reg(Mod::pred), up = k_.reg(Mod::f32);
    k_("setp.eq.f32", zero, largest, 0.0f);
    k_("div.rn.f32", up, 448.0f, largest);
    k_("selp.f32", up, 1.0f, up, zero);
    const RegArray words = k_.regs(Mod::b32, 2, "codes");
    for (uint32_t w = 0; w < 2; ++w) {
      const Reg low = two_codes(p.pairs[2 * w], up), high = two_codes(p.pairs[2 * w + 1], up);
      k_("mov.b32", words[w], vec(low, high));
    }
    const Reg at = k_.def("mad.wide.u32", eighth(p.run), 8, codes_), factor_at = k_.def("mad.wide.u32", p.run, 4, factors_);
    const Reg factor = k_.def("div.rn.f32", largest, 448.0f), writes = k_.reg(Mod::pred);
    k_.when(p.present)("st.global.v2.b32", mem(at), words);
    k_("and.pred", writes, leader_, p.present);
    k_.when(writes)("st.global.f32", mem(factor_at), factor);
  }

  /// Scales and rounds two values, the first in the low byte.
  Reg two_codes(Reg pair, Reg up) {
    const Reg low = k_.reg(Mod::f32), high = k_.reg(Mod::f32);
    k_("mov.b32", low, k_.def("shl.b32", pair, 16));
    k_("mov.b32", high, k_.def("and.b32", pair, 0xFFFF0000));
    const Reg scaled_low = k_.def("mul.rn.f32", low, up), scaled_high = k_.def("mul.rn.f32", high, up);
    return k_.def("cvt.rn.satfinite.e4m3x2.f32", scaled_high, scaled_low);
  }

  KernelBuilder k_;
  Reg x_, codes_, factors_, runs_, lane_, first_run_, leader_;
};

}  // namespace

Module build_quantize_fp8(Target target) { return QuantizeFp8(target).build(); }

}  // namespace drywell::kernels
