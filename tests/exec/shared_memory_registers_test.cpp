// Values of the special registers about shared memory and the driver's environment, as on an H200 (driver 580, a kernel
// with 100 bytes of dynamic shared memory).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

TEST(SharedMemoryRegisters, AreThoseOfAnH200) {
  struct Answer {
    const char* name;
    uint32_t value;
  };
  const Answer answers[] = {{"reserved_smem_offset_begin", 0}, {"reserved_smem_offset_end", 288}, {"reserved_smem_offset_cap", 1024}, {"reserved_smem_offset_0", 0}, {"reserved_smem_offset_1", 0}, {"envreg1", 0}, {"envreg2", 0}, {"total_smem_size", 128}, {"aggr_smem_size", 1124}, {"dynamic_smem_size", 100}};
  std::string text =
      ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r1;\n.reg .b64 %rd1;\n"
      "ld.param.u64 %rd1, [p];\n";
  for (size_t i = 0; i < std::size(answers); ++i) {
    text += std::string("mov.u32 %r1, %") + answers[i].name + ";\nst.global.u32 [%rd1+" + std::to_string(4 * i) + "], %r1;\n";
  }
  text += "ret;\n}\n";
  Device d({.arch = "sm_90a"});
  const GmemAddr out = d.allocate(sizeof(uint32_t) * std::size(answers));
  ASSERT_TRUE(d.launch(d.load_ptx(text), "k", {.grid = {1}, .block = {1}, .dynamic_smem = 100}, Args().add(out)).ok());
  std::vector<uint32_t> got(std::size(answers));
  d.read(got.data(), out, sizeof(uint32_t) * got.size());
  for (size_t i = 0; i < std::size(answers); ++i) EXPECT_EQ(got[i], answers[i].value) << answers[i].name;
}

}  // namespace
}  // namespace drywell::sim
