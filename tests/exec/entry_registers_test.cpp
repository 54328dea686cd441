// Registers of a thread at a kernel's start: those that `ptxas -v` of CUDA 13.0 prints ("Used N registers") for the same text, sm_90a.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

std::string kernel(const std::string& directives, const std::string& body) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) " + directives +
         "\n{\n.reg .b32 %r<256>;\n.reg .b64 %d;\n.reg .pred %q;\nld.param.u64 %d, [p];\nmov.u32 %r0, %tid.x;\n" + body + "ret;\n}\n";
}

/// The warps of the first 128 threads release, the others acquire; 0: they do not.
std::string pair(uint32_t dec, uint32_t inc) {
  const auto set = [](const char* how, uint32_t n) { return n == 0 ? std::string() : "setmaxnreg." + std::string(how) + ".sync.aligned.u32 " + std::to_string(n) + ";\n"; };
  return "setp.lt.u32 %q, %r0, 128;\n@%q bra PRODUCER;\n" + set("inc", inc) + "st.global.u32 [%d], %r0;\nbra DONE;\nPRODUCER:\n" + set("dec", dec) +
         "st.global.u32 [%d+4], %r0;\nDONE:\n";
}

uint32_t registers(const std::string& directives, const std::string& body) {
  Device device({.arch = "sm_90a"});
  const LoadedModule m = device.load_ptx(kernel(directives, body));
  return device.registers(m, "k");
}

struct Row {
  const char* directives;
  uint32_t dec, inc, registers;
};

class PtxasTakes : public testing::TestWithParam<Row> {};

TEST_P(PtxasTakes, AsManyRegisters) { EXPECT_EQ(registers(GetParam().directives, pair(GetParam().dec, GetParam().inc)), GetParam().registers) << GetParam().directives; }

INSTANTIATE_TEST_SUITE_P(Setmaxnreg, PtxasTakes,
                         testing::Values(Row{".maxntid 256 .minnctapersm 1", 24, 232, 232}, Row{".maxntid 256 .minnctapersm 1", 40, 248, 248},
                                         Row{".maxntid 256 .minnctapersm 1", 24, 160, 160}, Row{".maxntid 256 .minnctapersm 2", 24, 232, 128},
                                         Row{".maxntid 16,8,2 .minnctapersm 1", 24, 248, 248}, Row{".maxntid 384 .minnctapersm 1", 24, 160, 160},
                                         Row{".maxntid 384 .minnctapersm 1", 24, 240, 168}, Row{".reqntid 384 .minnctapersm 1", 40, 248, 168},
                                         Row{".maxntid 128 .minnctapersm 4", 24, 160, 128}, Row{".maxntid 640 .minnctapersm 1", 24, 248, 96},
                                         Row{".maxntid 1024 .minnctapersm 1", 24, 248, 64}, Row{".maxntid 1024 .minnctapersm 2", 24, 248, 32},
                                         // Warps in whole sub-partitions: 13, 26, 39, 9 and 15 of them.
                                         Row{".maxntid 416 .minnctapersm 1", 24, 248, 128}, Row{".maxntid 416 .minnctapersm 2", 24, 248, 72},
                                         Row{".maxntid 416 .minnctapersm 3", 24, 248, 48}, Row{".maxntid 96 .minnctapersm 3", 24, 248, 168},
                                         Row{".maxntid 96 .minnctapersm 5", 24, 248, 128}, Row{".maxntid 100 .minnctapersm 5", 24, 248, 96},
                                         // .maxnreg, alone and beside the others.
                                         Row{".maxnreg 128", 24, 232, 128}, Row{".maxnreg 100", 24, 248, 100}, Row{".maxnreg 255", 24, 248, 248},
                                         Row{".maxnreg 96", 24, 64, 64}, Row{".maxnreg 20", 24, 248, 24}, Row{".maxnreg 200 .maxntid 512", 24, 248, 200},
                                         Row{".maxnreg 200 .maxntid 512 .minnctapersm 1", 24, 248, 128}, Row{".maxnreg 128 .maxntid 384", 24, 160, 128},
                                         // One of the two alone.
                                         Row{".maxntid 256 .minnctapersm 1", 24, 0, 255}, Row{".maxntid 384 .minnctapersm 1", 24, 0, 168},
                                         Row{".maxnreg 96", 24, 0, 96}, Row{".maxntid 256 .minnctapersm 1", 0, 240, 240}));

// "'setmaxnreg' ignored; unable to determine register count at entry": ptxas then allocates what the text needs, here 8 of at least 16.
TEST(EntryRegisters, AreAnEstimateWherePtxasIgnoresSetmaxnreg) {
  for (const char* directives : {"", ".maxntid 256", ".reqntid 256", ".maxntid 384", ".maxntid 96", ".minnctapersm 1"}) {
    EXPECT_EQ(registers(directives, pair(40, 248)), 16u) << directives;
  }
}

RunResult run(const std::string& directives, uint32_t threads, const std::string& body) {
  Device device({.arch = "sm_90a"});
  const LoadedModule m = device.load_ptx(kernel(directives, body));
  LaunchConfig config;
  config.grid = {1, 1, 1};
  config.block = {threads, 1, 1};
  Args args;
  args.add(device.allocate(64));
  return device.launch(m, "k", config, args, {});
}

// The producer gives back more than the consumers ask for only if the count at the start is 168; where ptxas ignores setmaxnreg, nothing waits.
TEST(EntryRegisters, SetmaxnregHasNoEffectWherePtxasIgnoresIt) {
  const std::string all_take = "setmaxnreg.inc.sync.aligned.u32 240;\n";
  EXPECT_FALSE(run(".maxntid 384 .minnctapersm 1", 384, all_take).ok());  // 12 warps have 168 each, and none gives any back
  EXPECT_TRUE(run(".maxntid 384", 384, all_take).ok());
  EXPECT_TRUE(run("", 384, all_take).ok());
  EXPECT_TRUE(run(".maxntid 384 .minnctapersm 1", 384, pair(24, 240)).ok());
}

TEST(EntryRegisters, TheEstimateIsAtMostWhatDirectivesAllow) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "add.u32 %r" + std::to_string(i) + ", %r0, " + std::to_string(i) + ";\n";
  for (int i = 1; i < 200; ++i) text += "xor.b32 %r0, %r0, %r" + std::to_string(i) + ";\n";
  text += "st.global.u32 [%d], %r0;\n";
  EXPECT_GT(registers("", text), 128u);
  EXPECT_EQ(registers(".maxnreg 64", text), 64u);
  EXPECT_EQ(registers(".maxntid 1024", text), 64u);  // 65,536 / 1,024
  EXPECT_EQ(registers(".maxntid 256 .minnctapersm 4", text), 64u);
  EXPECT_EQ(registers(".maxntid 1024 .minnctapersm 2", text), 32u);
}

}  // namespace
}  // namespace drywell::sim
