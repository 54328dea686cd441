// Instructions as functions (drywell/isa/typed.h): they print the PTX of the text form, and carry the caller's line.
#include "drywell/isa/typed.h"

#include <gtest/gtest.h>

#include "drywell/isa/print.h"

namespace drywell::isa {
namespace {

/// The same kernel twice: what `typed` emits beside the text.
struct Kernel {
  KernelBuilder k{"k", Target::sm_100a};
  Symbol bar = k.shared("bar", 8, 8);
  Reg a = k.reg(Mod::u32, "a"), b = k.reg(Mod::u32, "b"), p = k.reg(Mod::pred, "p"), wide = k.reg(Mod::u64, "wide");
  RegArray four = k.regs(Mod::b32, 4, "four");
  std::string text() {
    k("ret");
    return print_module(k.finish(), {.source_lines = false});
  }
};

TEST(Typed, PrintsTheTextForm) {
  Kernel x, y;
  {
    KernelBuilder& k = x.k;
    const Reg sum = k.def("add.sat.s32", x.a, 5);
    k("add.u32", x.a, sum, x.b);
    k("mbarrier.init.shared::cta.b64", mem(x.bar), 1);
    k("ld.global.v4.b32", x.four, mem(x.wide, 16));
    k("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", mem(x.bar), 128);
    k("tcgen05.mma.cta_group::1.kind::f16", mem(x.a), x.wide, x.wide, x.b, x.p);
    k("tcgen05.ld.sync.aligned.32x32b.x4.b32", x.four, mem(x.a));
    k("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64", mem(x.a));
    k.when(x.p)("add.u32", x.a, x.a, 1);
  }
  {
    Typed t(y.k);
    const Reg sum = t.add_int({.sat = true, .type = Mod::s32}, y.a, 5);
    t.add_int_to({.type = Mod::u32}, y.a, sum, y.b);
    t.mbarrier_init({.space = Mod::shared_cta}, mem(y.bar), 1);
    t.ld_to({.space = Mod::global, .vec = Mod::v4, .type = Mod::b32}, y.four, mem(y.wide, 16));
    t.tcgen05_alloc({.cta_group = Mod::cta_group_1, .space = Mod::shared_cta}, mem(y.bar), 128);
    t.tcgen05_mma({.cta_group = Mod::cta_group_1, .kind = Mod::kind_f16}, mem(y.a), y.wide, y.wide, y.b, {}, y.p);
    t.tcgen05_ld({.shape = Mod::_32x32b, .num = Mod::x4}, y.four, mem(y.a));
    t.tcgen05_commit({.cta_group = Mod::cta_group_1, .shared_cluster = true}, mem(y.a));
    Typed(y.k.when(y.p)).add_int_to({.type = Mod::u32}, y.a, y.a, 1);
  }
  EXPECT_EQ(x.text(), y.text());
}

TEST(Typed, AMistakeHasTheCallersLine) {
  Kernel x;
  Typed t(x.k);
  const unsigned line = __LINE__ + 2;
  try {
    t.add_int_to({.type = Mod::u64}, x.a, x.a, x.b);  // 32-bit registers
    FAIL() << "registers of 32 bits are none of 64";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("typed_test.cpp:" + std::to_string(line)), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace drywell::isa
