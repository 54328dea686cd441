// quantize-fp8 against its host reference: sizes with tails, every driver, both targets; input that hurts.
#include "kernels/quantize_fp8/quantize_fp8.h"

#include <gtest/gtest.h>

#include "tests/support/paths.h"

namespace drywell::kernels {
namespace {

KernelReport run(std::vector<std::pair<std::string, std::string>> params, sim::DriverKind driver, const std::string& arch) {
  const Kernel k = quantize_fp8_kernel();
  RunContext c;
  c.params = Params(k.name, k.parameters, params);
  c.arch = arch;
  c.options.driver = driver;
  c.verify = true;
  return k.run(c);
}

TEST(QuantizeFp8, AgreesWithTheReference) {
  for (const char* arch : {"sm_90a", "sm_100a"}) {
    for (const sim::DriverKind driver : {sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::shuffled, sim::DriverKind::timed}) {
      for (const auto& [rows, columns] : {std::pair{"1", "128"}, {"33", "384"}, {"64", "1024"}}) {
        const KernelReport r = run({{"rows", rows}, {"columns", columns}}, driver, arch);
        ASSERT_TRUE(r.run.ok()) << r.run.fault->to_string();
        EXPECT_TRUE(r.verify.passed()) << arch << " " << rows << " x " << columns << ": " << r.verify.first_mismatch;
      }
    }
  }
}

TEST(QuantizeFp8, TakesZerosAndTinyValues) {
  const NpyArray x = NpyArray::of<uint16_t>([] {
    std::vector<uint16_t> v(4 * 128, 0);
    for (size_t i = 128; i < 256; ++i) v[i] = static_cast<uint16_t>(i % 5);                // subnormal bf16
    for (size_t i = 256; i < 384; ++i) v[i] = static_cast<uint16_t>(0x7F00 | (i & 0x7F));  // near the largest
    for (size_t i = 384; i < 512; ++i) v[i] = static_cast<uint16_t>(0x8000 | (i << 5));    // negative
    return v;
  }(),
                                            {4, 128});
  const std::string file = testing::TempDir() + "/drywell_quantize_fp8.npy";
  write_npy(file, x);
  const Kernel k = quantize_fp8_kernel();
  RunContext c;
  c.params = Params(k.name, k.parameters, {});
  c.input = file;
  c.verify = true;
  const KernelReport r = k.run(c);
  ASSERT_TRUE(r.run.ok()) << r.run.fault->to_string();
  EXPECT_TRUE(r.verify.passed()) << r.verify.first_mismatch;
}

TEST(QuantizeFp8, RefusesRowsThatDoNotDivide) { EXPECT_THROW(run({{"columns", "136"}}, sim::DriverKind::eager, "sm_100a"), InputError); }

}  // namespace
}  // namespace drywell::kernels
