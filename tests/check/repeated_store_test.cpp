// One bulk store that all lanes of a warp issue, as CUTLASS's epilogues do: the same bytes many times are no race; different bytes
// are.
#include <gtest/gtest.h>

#include <string>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

/// `source`: an instruction that makes %r3, the address each lane stores from.
std::vector<Finding> findings_of(const std::string& source, uint32_t threads = 32) {
  const std::string text =
      ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
      ".shared .align 128 .b8 s[16384];\n.reg .pred %p;\n.reg .b32 %r<4>;\n.reg .b64 %rd1;\n"
      "ld.param.u64 %rd1, [p];\nmov.u32 %r1, s;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r2, 128, %r1;\nst.shared.v4.b32 [%r3], {%r2, %r2, %r2, %r2};\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\n" +
      source +
      "\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 16;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nOUT:\nret;\n}\n";
  Device d;
  const LoadedModule m = d.load_ptx(text);
  HazardChecker checker;
  RunOptions o;
  o.listeners.push_back(checker.listener());
  EXPECT_TRUE(d.launch(m, "k", {.grid = {1}, .block = {threads}}, Args().add(d.allocate(4096)), o).ok());
  return checker.findings();
}

TEST(RepeatedStore, OfTheSameBytesIsNoRace) {
  for (const Finding& f : findings_of("mov.u32 %r3, %r1;")) ADD_FAILURE() << f.to_string();
}

// NVIDIA's tma_load_store (CuTe DSL): every warp elects a thread, each thread copies the whole tile out.
TEST(RepeatedStore, OfTheSameBytesByEachWarpIsNoRace) {
  for (const Finding& f : findings_of("mov.u32 %r3, %r1;\nelect.sync _|%p, -1;\n@!%p bra OUT;", 128)) ADD_FAILURE() << f.to_string();
}

// Both warps' sources are complete and in order; their bytes differ in the last word.
TEST(RepeatedStore, OfDifferentBytesByEachWarpIsOne) {
  const auto findings = findings_of("and.b32 %r3, %r2, 96;\nmad.lo.u32 %r3, %r3, 128, %r1;\nelect.sync _|%p, -1;\n@!%p bra OUT;", 128);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].to_string().find("H7402"), std::string::npos) << findings[0].to_string();
}

// NVIDIA's split-K tutorial (CuTe DSL, task scheduling) sends a tile to its peers so: each warp's copy brings the same bytes, and the mbarrier counts them all.
// CTA 0 sends, CTA 1 waits for 64 bytes. `source` makes %r3, the address that each lane copies from; 128 bytes of each thread begin at s.
std::vector<Finding> findings_of_copies(const std::string& source) {
  const std::string meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  const std::string text =
      ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k() .explicitcluster .reqnctapercluster 2, 1, 1\n{\n"
      ".shared .align 128 .b8 s[16512];\n.shared .align 8 .b8 b[8];\n.reg .pred %p, %f, %d, %w, %g;\n.reg .b32 %r<9>;\n"
      "mov.u32 %r1, s;\nmov.u32 %r2, %tid.x;\nmov.u32 %r4, %cluster_ctarank;\nmov.u32 %r7, b;\nsetp.eq.u32 %f, %r2, 0;\nsetp.eq.u32 %w, %r4, 1;\n"
      "mad.lo.u32 %r3, %r2, 128, %r1;\nst.shared.v4.b32 [%r3], {%r2, %r2, %r2, %r2};\nfence.proxy.async.shared::cta;\n"
      "@%f mbarrier.init.shared.b64 [b], 1;\nfence.mbarrier_init.release.cluster;\nand.pred %g, %f, %w;\n@%g mbarrier.arrive.expect_tx.shared.b64 _, [b], 64;\n" +
      meet + source +
      "\nmapa.shared::cluster.u32 %r5, %r1, 1;\nmapa.shared::cluster.u32 %r6, %r7, 1;\n@%w bra.uni WAIT;\nelect.sync _|%p, -1;\n"
      "@%p cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5+16384], [%r3], 16, [%r6];\nbra.uni OUT;\n"
      "WAIT: mbarrier.try_wait.parity.shared.b64 %d, [b], 0;\n@!%d bra WAIT;\nOUT:\n" +
      meet + "ret;\n}\n";
  Device d;
  const LoadedModule m = d.load_ptx(text);
  HazardChecker checker;
  RunOptions o;
  o.listeners.push_back(checker.listener());
  EXPECT_TRUE(d.launch(m, "k", {.grid = {2}, .block = {128}, .cluster = {2}}, Args(), o).ok());
  return checker.findings();
}
TEST(RepeatedCopy, OfTheSameBytesByEachWarpIsNoRace) {
  for (const Finding& f : findings_of_copies("mov.u32 %r3, %r1;")) ADD_FAILURE() << f.to_string();
}
TEST(RepeatedCopy, OfDifferentBytesByEachWarpIsOne) {
  const auto findings = findings_of_copies("and.b32 %r3, %r2, 96;\nmad.lo.u32 %r3, %r3, 128, %r1;");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].to_string().find("H7004"), std::string::npos) << findings[0].to_string();
}

TEST(RepeatedStore, OfDifferentBytesIsOne) {
  const auto findings = findings_of("add.u32 %r3, %r3, 0;");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].to_string().find("H7402"), std::string::npos) << findings[0].to_string();
}

}  // namespace
}  // namespace drywell::sim
