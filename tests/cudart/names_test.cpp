// Names of kernels: plain names for people, and names for lookup.
#include <gtest/gtest.h>

#include "cudart/modules.h"

namespace drywell::cudart {
namespace {

TEST(KernelNames, HaveNeitherResultNorParameters) {
  EXPECT_EQ(plain_name("_Z4axpyPfS_j"), "axpy");
  EXPECT_EQ(plain_name("_Z4fillIfLi3EEvPT_"), "fill<float, 3>");
  EXPECT_EQ(plain_name("_ZN12_GLOBAL__N_14copyEPf"), "(anonymous namespace)::copy");
  EXPECT_EQ(plain_name("saxpy"), "saxpy");  // extern "C"
}

TEST(KernelNames, AreCutForPeopleAlone) {
  const std::string most(96, 'k'), longer(97, 'k');
  EXPECT_EQ(shortened(most), most);
  EXPECT_EQ(shortened(longer), std::string(93, 'k') + "...");
  EXPECT_EQ(plain_name("_Z97" + longer + "v"), longer);
}

}  // namespace
}  // namespace drywell::cudart
