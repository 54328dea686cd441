// Loads of neighbouring words of shared memory that ptxas makes into one.
#include "sim/timing/merged_loads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/isa/parse.h"

namespace drywell::sim {
namespace {

using testing::ElementsAre;

/// Bytes of the load that each instruction of a kernel with that body is a part of; 0: it stays as it is.
std::vector<uint32_t> bytes(const std::string& body) {
  const isa::Module m = isa::parse_ptx_or_throw(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<99>;\n.reg .f32 %f<99>;\n"
      ".shared .b32 tile[64];\n" +
          body + "}\n",
      "k.ptx");
  std::vector<uint32_t> out;
  for (const MergedLoad& l : merged_shared_loads(m.functions.at(0))) out.push_back(l.bytes);
  return out;
}

const std::string kRow = "mov.u32 %r1, tile;\nshl.b32 %r2, %r9, 7;\nadd.s32 %r3, %r1, %r2;\n";

TEST(MergedLoads, FourNeighboursOfAnAlignedRowAreOneLoad) {
  const std::string loads = "ld.shared.f32 %f1, [%r3];\nld.shared.f32 %f2, [%r3+4];\nld.shared.f32 %f3, [%r3+8];\nld.shared.f32 %f4, [%r3+12];\n";
  EXPECT_THAT(bytes(kRow + loads + "ret;\n"), ElementsAre(0, 0, 0, 16, 16, 16, 16, 0));
}

TEST(MergedLoads, TwoNeighboursAreAPairWhereTheirAddressIsAMultipleOfEight) {
  EXPECT_THAT(bytes(kRow + "ld.shared.f32 %f1, [%r3+8];\nld.shared.f32 %f2, [%r3+12];\nret;\n"), ElementsAre(0, 0, 0, 8, 8, 0));
  EXPECT_THAT(bytes(kRow + "ld.shared.f32 %f1, [%r3+4];\nld.shared.f32 %f2, [%r3+8];\nret;\n"), ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(MergedLoads, AnAddressOfUnknownAlignmentStaysAlone) {
  const std::string column = "mov.u32 %r1, tile;\nshl.b32 %r2, %r9, 2;\nadd.s32 %r3, %r1, %r2;\n";
  EXPECT_THAT(bytes(column + "ld.shared.f32 %f1, [%r3];\nld.shared.f32 %f2, [%r3+4];\nret;\n"), ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(MergedLoads, ACounterOfMultiplesKeepsItsAlignment) {
  EXPECT_THAT(bytes("mov.u32 %r3, tile;\nL:\nld.shared.f32 %f1, [%r3];\nld.shared.f32 %f2, [%r3+4];\nadd.s32 %r3, %r3, 16;\nadd.f32 %f5, %f1, %f2;\n"
                    "setp.lt.f32 %p1, %f5, 0f3F800000;\n@%p1 bra L;\nret;\n"),
              ElementsAre(0, 8, 8, 0, 0, 0, 0, 0));
}

TEST(MergedLoads, AProductPlusAnAddressIsAsAlignedAsBoth) {
  const std::string pair = "ld.shared.f32 %f1, [%r3];\nld.shared.f32 %f2, [%r3+4];\nret;\n";
  EXPECT_THAT(bytes("mov.u32 %r1, tile;\nshl.b32 %r2, %r9, 2;\nmad.lo.s32 %r3, %r2, 68, %r1;\n" + pair), ElementsAre(0, 0, 0, 8, 8, 0));
  EXPECT_THAT(bytes("mov.u32 %r1, tile;\nshl.b32 %r2, %r9, 0;\nmad.lo.s32 %r3, %r2, 68, %r1;\n" + pair), ElementsAre(0, 0, 0, 0, 0, 0));
}

// nvcc composes addresses by `or` where bits cannot meet, and by `and` with a mask.
TEST(MergedLoads, BitsThatAMaskClearsAndThatNoOperandHasAreKnown) {
  const std::string pair = "ld.shared.f32 %f1, [%r3];\nld.shared.f32 %f2, [%r3+4];\nret;\n";
  const auto at = [&](const std::string& mask, const std::string& shift, const std::string& op) {
    return bytes("mov.u32 %r1, tile;\nand.b32 %r2, %r9, " + mask + ";\nshl.b32 %r4, %r8, " + shift + ";\n" + op + ".b32 %r5, %r2, %r4;\nadd.s32 %r3, %r1, %r5;\n" + pair);
  };
  EXPECT_THAT(at("120", "7", "or"), ElementsAre(0, 0, 0, 0, 0, 8, 8, 0));
  EXPECT_THAT(at("120", "7", "xor"), ElementsAre(0, 0, 0, 0, 0, 8, 8, 0));
  EXPECT_THAT(at("124", "7", "or"), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0)) << "the mask leaves multiples of 4";
  EXPECT_THAT(at("120", "2", "or"), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0)) << "the other operand is a multiple of 4";
  EXPECT_THAT(at("124", "3", "and"), ElementsAre(0, 0, 0, 0, 0, 8, 8, 0)) << "one operand clears what the other leaves";
}

// ptxas 13.0 makes 34 loads of the 512 of gemm_dp4a (tests/corpus/timing/fields).
TEST(MergedLoads, WhatTheBlockHasLoadedIsNotLoadedAgain) {
  const std::string again = "ld.shared.f32 %f1, [%r8];\nld.shared.f32 %f2, [%r8];\n";
  EXPECT_THAT(bytes(again + "ret;\n"), ElementsAre(0, 4, 0)) << "of any alignment";
  EXPECT_THAT(bytes("ld.shared.f32 %f1, [%r8];\nst.shared.f32 [%r7], %f9;\nld.shared.f32 %f2, [%r8];\nret;\n"), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(bytes("ld.shared.f32 %f1, [%r8];\nadd.s32 %r8, %r8, 4;\nld.shared.f32 %f2, [%r8];\nret;\n"), ElementsAre(0, 0, 0, 0));
}

TEST(MergedLoads, AStoreABarrierOrAGuardBetweenKeepsThemApart) {
  for (const std::string between : {"st.shared.f32 [%r8], %f9;\n", "bar.sync 0;\n"})
    EXPECT_THAT(bytes(kRow + "ld.shared.f32 %f1, [%r3];\n" + between + "ld.shared.f32 %f2, [%r3+4];\nret;\n"), ElementsAre(0, 0, 0, 0, 0, 0, 0)) << between;
  EXPECT_THAT(bytes(kRow + "ld.shared.f32 %f1, [%r3];\n@%p1 ld.shared.f32 %f2, [%r3+4];\nret;\n"), ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(MergedLoads, AStoreToAnotherPlaceDoesNotKeepThemApart) {
  EXPECT_THAT(bytes(kRow + "ld.shared.f32 %f1, [%r3];\nst.shared.f32 [%r3+64], %f9;\nld.shared.f32 %f2, [%r3+4];\nret;\n"), ElementsAre(0, 0, 0, 8, 0, 8, 0));
}

}  // namespace
}  // namespace drywell::sim
