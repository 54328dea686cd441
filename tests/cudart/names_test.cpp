// Names of kernels: plain names for people, and names for lookup.
#include <gtest/gtest.h>

#include "cudart/modules.h"
#include "cudart/names.h"

namespace drywell::cudart {
namespace {

TEST(KernelNames, HaveNeitherResultNorParameters) {
  EXPECT_EQ(plain_name("_Z4axpyPfS_j"), "axpy");
  EXPECT_EQ(plain_name("_Z4fillIfLi3EEvPT_"), "fill<float, 3>");
  EXPECT_EQ(plain_name("_ZN12_GLOBAL__N_14copyEPf"), "(anonymous namespace)::copy");
  EXPECT_EQ(plain_name("saxpy"), "saxpy");                                                                              // extern "C"
  EXPECT_EQ(plain_name("f"), "f");                                                                                      // the mangled name of a type, but no mangled function
  EXPECT_EQ(plain_name("_ZN8__main__4axpyB2v1B38cw51cXTLSUwv1sDUaKthaKCjYKCpo4DkeVtwuOE5ArrayIfE"), "__main__::axpy");  // Numba's tags
}

TEST(PtxTarget, IsTheNumberOfTheDirective) {
  EXPECT_EQ(target_number(".version 8.0\n.target sm_75\n.address_size 64"), 75);
  EXPECT_EQ(target_number(".version 9.0\n.target\tsm_100a, debug"), 100);
  EXPECT_EQ(target_number("no text of PTX"), 0);
}

TEST(KernelNames, AreCutForPeopleAlone) {
  const std::string most(96, 'k'), longer(97, 'k');
  EXPECT_EQ(shortened(most), most);
  EXPECT_EQ(shortened(longer), std::string(93, 'k') + "...");
  EXPECT_EQ(plain_name("_Z97" + longer + "v"), longer);
}

TEST(KernelNames, KeepWhatTellsThemApart) {
  const std::string same(100, 'k');
  const auto mangled = [&](int tile) { return "_Z4gemmI1" + std::string("A") + "Li" + std::to_string(tile) + "EEvv"; };
  const auto two = told_apart({mangled(64), mangled(128)});
  EXPECT_EQ(two.at(mangled(64)), "gemm<A, 64>");
  // A long argument before the one that differs.
  const auto deep = [&](int tile) { return "_Z4gemmI100" + same + "Li" + std::to_string(tile) + "EEvv"; };
  const auto names = told_apart({deep(64), deep(128)});
  EXPECT_NE(names.at(deep(64)), names.at(deep(128)));
  EXPECT_NE(names.at(deep(64)).find(" 64>"), std::string::npos) << names.at(deep(64));
  EXPECT_LE(names.at(deep(64)).size(), 96u);
  // Overloads differ in their parameters alone.
  const auto overloads = told_apart({"_Z4fillPf", "_Z4fillPi"});
  EXPECT_EQ(overloads.at("_Z4fillPf"), "fill(float*)");
  EXPECT_EQ(told_apart({"_Z4fillPf"}).at("_Z4fillPf"), "fill");
}

TEST(ModuleNames, AreThoseOfTheFirstKernel) {
  EXPECT_EQ(name_of_image(".version 9.0\n.visible .entry _Z4axpyPfS_j(\n", 3), "<library 3: axpy>");
  EXPECT_EQ(name_of_image(".version 9.0\n", 3), "<library 3>");
}

}  // namespace
}  // namespace drywell::cudart
