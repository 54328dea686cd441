// KernelBuilder::when guards the instruction it is called with, and no instruction that its arguments emit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/isa/builder.h"
#include "drywell/isa/print.h"

namespace drywell::isa {
namespace {

using testing::HasSubstr;

TEST(BuilderGuard, ArgumentsAreNotGuarded) {
  KernelBuilder k("t");
  const Symbol x = k.param(Mod::u64, "x");
  const Reg p = k.reg(Mod::pred, "p"), a = k.load_param(x, Mod::u64);
  k("setp.eq.u32", p, k.def("mov.u32", SpecialReg::tid_x), 0);
  k.when(p)("st.global.u32", mem(a), k.def("mov.u32", 7));
  const Reg sum = k.unless(p).def("add.u32", k.def("mov.u32", 1), 2);
  k("st.global.u32", mem(a, 4), sum);
  k("ret");
  const std::string text = print_module(k.finish());
  EXPECT_THAT(text, HasSubstr("@%p st.global.u32"));
  EXPECT_THAT(text, HasSubstr("@!%p add.u32"));
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("@!?%p mov")));
}

}  // namespace
}  // namespace drywell::isa
