// cp.async.bulk with .ignore_oob (PTX ISA 9.7.9.25.4.1): faults and refusals; conformance/programs/bulk.cpp has the values.
#include <gtest/gtest.h>

#include "drywell/core/error.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

/// A kernel that copies bytes 16 to 63 of its buffer.
std::string copy_ignoring(const std::string& left, const std::string& right) {
  return ".version 9.2\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
         ".reg .b64 %rd<2>;\n.reg .b32 %r<4>;\n.shared .align 16 .b8 s[48];\n.shared .align 8 .b64 bar;\n"
         "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, s;\nmov.u32 %r3, bar;\nmbarrier.init.shared.b64 [%r3], 1;\n"
         "mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 48;\n"
         "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%r2], [%rd1+16], 48, " +
         left + ", " + right + ", [%r3];\nret;\n}\n";
}

/// The fault's code, if any, with `n` in %r1.
std::optional<Code> fault_of(const std::string& text, uint32_t n, uint64_t bytes) {
  Device d;
  const GmemAddr memory = d.allocate(bytes);
  const RunResult r = d.launch(d.load_ptx(text), "k", {.grid = {1}, .block = {1}}, Args().add(memory).add(n));
  return r.ok() ? std::nullopt : std::optional(r.fault->code);
}

TEST(IgnoredEnds, MayBeOutsideAnAllocation) {
  EXPECT_EQ(fault_of(copy_ignoring("0", "%r1"), 5, 59), std::nullopt);
  EXPECT_EQ(fault_of(copy_ignoring("0", "%r1"), 4, 59), Code::F3306) << "the last of them is read";
}

TEST(IgnoredEnds, AreFifteenBytesAtMost) {
  EXPECT_EQ(fault_of(copy_ignoring("%r1", "0"), 15, 64), std::nullopt);
  EXPECT_EQ(fault_of(copy_ignoring("%r1", "0"), 16, 64), Code::F3310);
  for (const char* wrong : {"16", "-1"}) {
    try {
      Device().load_ptx(copy_ignoring("0", wrong));
      ADD_FAILURE() << wrong;
    } catch (const InputError& e) {
      EXPECT_EQ(e.code(), Code::E1365);
    }
  }
}

}  // namespace
}  // namespace drywell::sim
