// Illegal twins of the tcgen05 family: one per rule. The validator refuses errors of the text (and so does ptxas, if it checks
// them); errors in descriptors and addresses are faults at run time (docs/facts/tcgen05.md §9).
#include <gtest/gtest.h>

#include <algorithm>

#include "support/tensor_run.h"
#include "support/twins.h"

namespace drywell::test {
namespace {

TEST(Tcgen05Twins, BlockScaleBelongsToItsKinds) {
  check_twins({
      {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32 [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1", std::nullopt},
      {"tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r1], [%r5], %rd2, %r2, [%r3+4], [%r4], !%p1", std::nullopt},
      {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block16 [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1", Code::E1390},
      {"tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::4X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1", Code::E1390},
      {"tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1", Code::E1390},
      {"tcgen05.mma.cta_group::1.kind::mxf8f6f4 [%r1], %rd1, %rd2, %r2, %p1", Code::E1101},
      {"tcgen05.mma.cta_group::1.kind::f16.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1", Code::E1101},
      {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r1], %rd1, %rd2, %r2, %r3, %r4, %p1", Code::E1102},
      {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], {%r1, %r1, %r1, %r1}, %p1", Code::E1102},
      {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1, 1", Code::E1102},
      {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1", Code::E1210, "sm_100f"},
      {"tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale [%r1], %rd1, %rd2, [%r5], %r2, [%r3], [%r4], %p1", Code::E1210, "sm_100f"},
      {"tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale [%r1], %rd1, %rd2, [%r5], %r2, [%r3], [%r4], %p1", std::nullopt, "sm_100f"},
  });
}

TEST(Tcgen05Twins, SmallOperandsOfMma) {
  check_twins({
      {"tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r1, %r1, 0, 1}, %p1, 15", std::nullopt},
      {"tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, 16", Code::E1374},
      {"tcgen05.mma.cta_group::1.kind::f8f6f4 [%r1], %rd1, %rd2, %r2, %p1, 3", Code::E1374},
      {"tcgen05.mma.cta_group::1.kind::i8 [%r1], %rd1, %rd2, %r2, %p1, 3", Code::E1374, "sm_100a", false},  // PTX: f16 and tf32 only
      {"tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, 3", Code::E1210, "sm_110a"},
      {"tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r1, %r1}, %p1", Code::E1373},
      {"tcgen05.mma.cta_group::2.kind::f16 [%r1], %rd1, %rd2, %r2, {%r1, %r1, %r1, %r1}, %p1", Code::E1373},
      {"tcgen05.mma.cta_group::1.kind::f16 [%rd1], %rd1, %rd2, %r2, %p1", Code::E1392},
      {"tcgen05.mma.cta_group::1.kind::i8 [%r1], %rd1, %rd2, %r2, %p1", Code::E1210, "sm_103a"},
      {"tcgen05.mma.cta_group::1.kind::f16.collector::b0::fill [%r1], %rd1, %rd2, %r2, %p1", Code::E1101},
      {"tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::lastuse [%r1], [%r3], %rd2, %r2, %p1", std::nullopt},
      {"tcgen05.mma.cta_group::1.kind::f16.ashift [%r1], %rd1, %rd2, %r2, %p1", Code::E1371},
      {"tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::use [%r1], [%r3], %rd2, %r2, %p1", Code::E1372},
      {"tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::fill [%r1], [%r3], %rd2, %r2, %p1", Code::E1372},
  });
}

TEST(Tcgen05Twins, WeightStationaryAndSparse) {
  check_twins({
      {"tcgen05.mma.ws.cta_group::1.kind::f16.collector::b3::lastuse [%r1], %rd1, %rd2, %r2, %p1, 0", std::nullopt},
      {"tcgen05.mma.ws.cta_group::2.kind::f16 [%r1], %rd1, %rd2, %r2, %p1", Code::E1101},
      {"tcgen05.mma.ws.cta_group::1.kind::f16.collector::a::fill [%r1], %rd1, %rd2, %r2, %p1", Code::E1101},
      {"tcgen05.mma.ws.cta_group::1.kind::f16.ashift [%r1], [%r3], %rd2, %r2, %p1", Code::E1101},
      {"tcgen05.mma.ws.cta_group::1.kind::mxf4.block_scale [%r1], %rd1, %rd2, %r2, %p1", Code::E1101},
      {"tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r1, %r1, %r1, %r1}, %p1", Code::E1102},
      {"tcgen05.mma.sp.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, [%r3], %r2, %p1", Code::E1101},
      {"tcgen05.mma.ws.sp.cta_group::1.kind::i8.collector::b1::fill [%r1], [%r5], %rd2, [%r3], %r2, %p1, %rd3", std::nullopt},
      {"tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r3, %r2, %p1", Code::E1102},
      {"tcgen05.mma.sp.cta_group::1.kind::f16.ashift [%r1], [%r5], %rd2, [%r3], %r2, {%r1, %r1, %r1, %r1}, %p1, 3", std::nullopt},
  });
}

TEST(Tcgen05Twins, CopyAndShift) {
  check_twins({
      {"tcgen05.cp.cta_group::1.32x128b [%r1], %rd1", Code::E1378},
      {"tcgen05.cp.cta_group::1.64x128b [%r1], %rd1", Code::E1378},
      {"tcgen05.cp.cta_group::1.64x128b.warpx4 [%r1], %rd1", Code::E1378},
      {"tcgen05.cp.cta_group::1.32x128b.warpx2::01_23 [%r1], %rd1", Code::E1378},
      {"tcgen05.cp.cta_group::1.128x128b.warpx4 [%r1], %rd1", Code::E1378},
      {"tcgen05.cp.cta_group::1.128x256b.b8x16 [%r1], %rd1", Code::E1379},
      {"tcgen05.cp.cta_group::1.128x256b.b6x16_p32 [%r1], %rd1", Code::E1379},
      {"tcgen05.cp.cta_group::1.b8x16.b4x16_p64.32x128b.warpx4 [%r1], %rd1", std::nullopt},
      {"tcgen05.cp.cta_group::1.32x128b.warpx4 [%rd1], %rd1", Code::E1392},
      {"tcgen05.shift.down.cta_group::1 [%r1]", std::nullopt},
      {"tcgen05.shift.cta_group::1 [%r1]", Code::E1101},
      {"tcgen05.shift.cta_group::1.down [%rd1]", Code::E1392},
      {"tcgen05.shift.cta_group::1.down [%r1]", Code::E1210, "sm_100f"},
  });
}

TEST(Tcgen05Twins, LoadsStoresAllocationCommit) {
  check_twins({
      {"tcgen05.ld.sync.aligned.16x256b.x64.b32 {%r1}, [%r4]", Code::E1375},
      {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1}, [%r4]", Code::E1376},
      {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %rd1}, [%r4]", Code::E1391},
      {"tcgen05.st.sync.aligned.32x32b.x2.b32 [%r4], {%r1, 5}", std::nullopt},
      {"tcgen05.st.sync.aligned.32x32b.x1.pack::16b.b32 [%r4], {%r1}", Code::E1101},
      {"tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r1}, [%r4]", Code::E1377},
      {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r4], 3", Code::E1377},
      {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%rd4]", Code::E1392},
      {"tcgen05.ld.red.sync.aligned.32x32b.x2.min.f32 {%r1, %r2}, %r3, [%r4]", Code::E1210},
      {"tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.NaN.f32 {%r1, %r2}, %r3, [%r4]", std::nullopt, "sm_103a"},
      {"tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%r1, %r2}, {%r3}, [%r4]", std::nullopt, "sm_103a"},
      {"tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%r1, %r2}, {%r3, %r5}, [%r4]", Code::E1330, "sm_103a"},
      {"tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.u32 {%r1, %r2}, %r3, [%r4]", Code::E1389, "sm_103a"},
      {"tcgen05.ld.red.sync.aligned.32x32b.x2.max.NaN.s32 {%r1, %r2}, %r3, [%r4]", Code::E1389, "sm_103a"},
      {"tcgen05.ld.red.sync.aligned.32x32b.x1.max.s32 {%r1}, %r3, [%r4]", Code::E1101, "sm_103a"},
      {"tcgen05.ld.red.sync.aligned.16x64b.x2.max.s32 {%r1, %r2}, %r3, [%r4]", Code::E1101, "sm_103a"},
      {"tcgen05.ld.red.sync.aligned.16x32bx2.x2.max.s32 {%r1, %r2}, %r3, [%r4]", Code::E1377, "sm_103a"},
      {"tcgen05.alloc.cta_group::1.sync.aligned.b32 [%rd1], 33", Code::E1370},
      {"tcgen05.alloc.cta_group::1.sync.aligned.b32 [%rd1], 16", Code::E1370},
      {"tcgen05.alloc.cta_group::1.sync.aligned.b32 [%rd1], 1024", Code::E1370},
      {"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 48", Code::E1370},
      {"tcgen05.alloc.sync.aligned.b32 [%rd1], 32", Code::E1101},
      {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cta.b64 [%r1]", Code::E1101},
      {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster.shared::cluster.b64 [%r1], %rs1", std::nullopt},
      {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r1], 3", Code::E1102},
      {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1], %rs1", Code::E1102},
  });
}

MmaCase small(const std::string& kind) {
  MmaCase c;
  c.kind = kind;
  c.n = 32;
  if (kind == "tf32") c.a_type = c.b_type = "tf32";
  if (kind == "f8f6f4" || kind == "mxf8f6f4") c.a_type = c.b_type = "e4m3";
  if (kind == "i8") c.a_type = c.b_type = "s8", c.d_type = "s32";
  if (kind == "mxf4" || kind == "mxf4nvf4") c.a_type = c.b_type = "e2m1", c.factors = 2, c.scale_type = "ue8m0";
  if (kind == "mxf8f6f4") c.factors = 1, c.scale_type = "ue8m0";
  return c;
}

void expect_fault(const MmaCase& c, Code code, const std::function<void(MmaSetup&)>& change = {}) {
  SCOPED_TRACE(c.name());
  MmaSetup s = place(c, random_matrices(c));
  if (change) change(s);
  expect_tensor_fault(program_of(c, s), s.images, code);
}

MmaCase with(MmaCase c, const std::function<void(MmaCase&)>& change) {
  change(c);
  return c;
}

// sm_103 has K = 96 and absolute addresses of the leading dimension for its rows of 48 bytes.
TEST(Tcgen05Faults, K96AndAbsoluteAddressesBeyondTheirRules) {
  const auto expect_on = [](isa::Target target, const MmaCase& c, const std::function<void(MmaSetup&)>& change = {}) {
    SCOPED_TRACE(c.name());
    MmaSetup s = place(c, random_matrices(c));
    if (change) change(s);
    TensorProgram p = program_of(c, s);
    p.target = target;
    expect_tensor_fault(p, s.images, Code::F3212);
  };
  const auto absolute = [](MmaSetup& s) { s.b_desc |= uint64_t{1} << 52; };
  const auto k96 = [](unsigned factors, unsigned id) {
    return with(small("mxf4nvf4"), [=](MmaCase& c) { c.k96 = true, c.factors = factors, c.sfa_id = id, c.scale_type = "ue8m0"; });
  };
  expect_on(isa::Target::sm_100a, k96(3, 0));
  expect_on(isa::Target::sm_103a, small("f16"), absolute);  // rows of 32 bytes
  expect_on(isa::Target::sm_103a, k96(3, 0), absolute);     // no swizzle
  expect_on(isa::Target::sm_103a, k96(6, 1));               // six factors begin at an even byte
  expect_on(isa::Target::sm_103a, with(small("mxf4"), [](MmaCase& c) { c.sparse = true, c.wrong_bits = 1u << 31; }));
  expect_on(isa::Target::sm_103a, with(k96(3, 0), [](MmaCase& c) { c.a = c.b = {false, Swizzling::s128, 3, true}; }), [](MmaSetup& s) { s.a_desc |= uint64_t{1} << 49; });
}

TEST(Tcgen05Faults, InstructionDescriptor) {
  using C = MmaCase;
  const auto bits = [](const char* kind, uint32_t wrong) { return with(small(kind), [=](C& c) { c.wrong_bits = wrong; }); };
  expect_fault(bits("f16", 1u << 6), Code::F3212);  // I1: reserved
  expect_fault(bits("mxf8f6f4", 1u << 3), Code::F3212);
  expect_fault(bits("f16", (4u ^ 0u) << 17), Code::F3212);   // I2: N = 0
  expect_fault(bits("f16", (8u ^ 16u) << 24), Code::F3212);  // M = 256 in cta_group::1
  expect_fault(bits("mxf4", (1u ^ 2u) << 27), Code::F3212);
  expect_fault(bits("f16", 7u << 7), Code::F3212);  // I3: type codes
  expect_fault(bits("f8f6f4", 2u << 10), Code::F3212);
  expect_fault(bits("tf32", 1u << 4), Code::F3212);       // f16 D of tf32
  expect_fault(bits("f16", 1u << 2), Code::F3212);        // I4: sparse bit
  expect_fault(bits("f16", 1u << 3), Code::F3212);        // I5: saturate
  expect_fault(bits("i8", 1u << 13), Code::F3212);        // I6: negate
  expect_fault(bits("f16", 1u), Code::F3212);             // I7: selector
  expect_fault(bits("mxf4", 1u << 4), Code::F3212);       // I8: id 1 with 2X
  expect_fault(bits("mxf8f6f4", 1u << 23), Code::F3212);  // I9: ue4m3
  expect_fault(bits("mxf4", 1u << 31), Code::F3212);      // I14: K = 96
  expect_fault(with(small("f8f6f4"), [](C& c) { c.a_type = "e2m1", c.wrong_bits = 1u << 15; }), Code::F3212);
  expect_fault(with(small("f16"), [](C& c) { c.a_in_tmem = true, c.wrong_bits = 1u << 15; }), Code::F3212);
  expect_fault(with(small("mxf4nvf4"), [](C& c) { c.factors = 4, c.wrong_bits = 2u << 29; }), Code::F3212);
  expect_fault(with(small("f16"), [](C& c) { c.sparse = true, c.wrong_bits = 1u << 2; }), Code::F3212);
  expect_fault(with(small("i8"), [](C& c) { c.sparse = true, c.wrong_bits = 1; }), Code::F3212);
}

TEST(Tcgen05Faults, WeightStationaryShiftsAndAshift) {
  using C = MmaCase;
  const MmaCase ws = with(small("f16"), [](C& c) { c.ws = true, c.n = 64; });
  expect_fault(with(ws, [](C& c) { c.m = 32, c.max_shift = 3; }), Code::F3212);  // I11
  expect_fault(with(ws, [](C& c) { c.has_zero_mask = true, c.zero_mask = uint64_t{9} << 56, c.max_shift = 1; }), Code::F3212);
  expect_fault(with(ws, [](C& c) { c.has_zero_mask = true, c.zero_mask = uint64_t{1} << 62; }), Code::F3212);
  expect_fault(with(ws, [](C& c) { c.n = 32; }), Code::F3212);
  expect_fault(with(small("f16"), [](C& c) { c.m = 64, c.a_in_tmem = c.ashift = true; }), Code::F3212);  // I12
}

TEST(Tcgen05Faults, CollectorUseWithoutFill) {
  using C = MmaCase;
  expect_fault(with(small("f16"), [](C& c) { c.qualifiers = ".collector::a::use"; }), Code::F3219);
  expect_fault(with(small("f16"), [](C& c) { c.ws = true, c.n = 64, c.qualifiers = ".collector::b1::lastuse"; }), Code::F3219);
}

TEST(Tcgen05Faults, SharedMemoryDescriptors) {
  const MmaCase c = small("f16");
  const auto a = [&](uint64_t wrong, Code code) { expect_fault(c, code, [=](MmaSetup& s) { s.a_desc ^= wrong; }); };
  a(uint64_t{3} << 61, Code::F3212);  // D1: undefined swizzle
  a(uint64_t{1} << 14, Code::F3212);  // reserved
  a(uint64_t{1} << 55, Code::F3212);
  a(uint64_t{1} << 52, Code::F3212);       // D3
  a(uint64_t{1} << 61, Code::U5402);       // K-major with 32-byte atoms
  a(uint64_t{0x2000} << 32, Code::F3211);  // D4: far past the CTA's memory
  expect_fault(c, Code::F3211, [](MmaSetup& s) { s.b_desc ^= uint64_t{0x2000} << 32; });
  MmaCase words = small("tf32");  // MN-major tf32 takes the 32-byte atoms only
  words.b = {true, Swizzling::s128, 0};
  expect_fault(words, Code::F3212);
  MmaCase bytes = small("i8");  // and 8 bits for all others
  bytes.a = {true, Swizzling::s128_atom32, 0};
  expect_fault(bytes, Code::F3212);
}

TEST(Tcgen05Faults, TensorMemoryPlaces) {
  const auto d = [](uint32_t address) { return [=](MmaSetup& s) { s.d = address; }; };
  expect_fault(small("f16"), Code::F3213, d(500));       // M2
  expect_fault(small("f16"), Code::F3215, d(16 << 16));  // M4: layout D at lane 16
  MmaCase half = small("f16");
  half.m = 64;
  expect_fault(half, Code::F3215, d(8 << 16));
  half.a_in_tmem = true;
  expect_fault(half, Code::F3215, d(16 << 16));  // A stays at lane 0
  expect_fault(half, Code::F3213, [](MmaSetup& s) { s.a_tmem = 505; });
  expect_fault(small("mxf8f6f4"), Code::F3215, [](MmaSetup& s) { s.sfa |= 32 << 16; });
  expect_fault(small("mxf8f6f4"), Code::F3213, [](MmaSetup& s) { s.sfb = 512; });
  // Bits 31..30 of scale addresses are CUTLASS's and ignored.
  const MmaCase c = small("mxf8f6f4");
  const MmaData data = random_matrices(c);
  MmaSetup s = place(c, data);
  s.sfa |= 0x80000000u;
  s.sfb |= 0x40000000u;
  expect_tensor(program_of(c, s), s.images, expected_images(c, data, s));
}

TEST(Tcgen05Faults, WhatTensorMemoryHolds) {
  expect_fault(small("mxf4"), Code::F3217, [](MmaSetup& s) { s.images[0].cell(64, s.sfa) ^= 1; });  // S2: a copy differs
  expect_fault(small("mxf4"), Code::F3217, [](MmaSetup& s) { s.images[0].cell(127, s.sfb) ^= 0x100; });
  MmaCase sp = small("f8f6f4");
  sp.sparse = true;
  expect_fault(sp, Code::F3218, [](MmaSetup& s) { s.images[0].cell(3, s.meta & 0xFFFF) &= ~0xFu; });  // S1: nibble 0
  // A group of zeros needs no pair: compressors leave nibble 0 there (CUTLASS 83).
  MmaData zeros = random_matrices(sp);
  for (auto& row : zeros.a) std::fill(row.begin(), row.end(), 0);
  MmaSetup s = place(sp, zeros);
  s.images[0].cell(3, s.meta & 0xFFFF) &= ~0xFu;
  expect_tensor(program_of(sp, s), s.images, expected_images(sp, zeros, s));
}

TEST(Tcgen05Faults, GroupsOfCtas) {
  MmaCase c = small("f16");
  MmaSetup s = place(c, random_matrices(c));
  TensorProgram p = program_of(c, s);
  p.steps.emplace_back([](const TensorOperands& o) { o.k("tcgen05.cp.cta_group::2.4x256b", isa::mem(o.word(0)), o.descriptor(uint64_t{1} << 46)); });
  expect_tensor_fault(p, s.images, Code::F3203);  // A9
  p.cta_group = 2;                                // A8: alloc without a peer
  std::vector<TensorImage> one(1);
  one[0].smem.resize(1024);
  expect_tensor_fault(p, one, Code::F3204);
}

TEST(TmemCopy, RefusesWhatLeavesTheTensorMemory) {
  const auto copy = [](const char* shape, uint32_t address, uint64_t desc) {
    TensorProgram p;
    p.steps = {[=](const TensorOperands& o) { o.k(isa::OpText(std::string("tcgen05.cp.cta_group::1.") + shape), isa::mem(o.word(address)), o.descriptor(desc)); }};
    return p;
  };
  std::vector<TensorImage> images(1);
  images[0].smem.resize(8192);
  const uint64_t good = uint64_t{8} << 32 | uint64_t{1} << 46;
  expect_tensor_fault(copy("32x128b.warpx4", 509, good), images, Code::F3216);
  expect_tensor_fault(copy("32x128b.warpx4", 16 << 16, good), images, Code::F3216);
  expect_tensor_fault(copy("4x256b", 32 << 16, good), images, Code::F3216);
  expect_tensor_fault(copy("32x128b.warpx4", 0, good | uint64_t{3} << 61), images, Code::F3216);       // swizzle code 3
  expect_tensor_fault(copy("32x128b.warpx4", 0, good | uint64_t{1} << 14), images, Code::F3216);       // reserved bit
  expect_tensor_fault(copy("32x128b.warpx4", 0, uint64_t{0x2000} << 32 | good), images, Code::F3216);  // past the CTA's memory
}

TEST(TmemShift, NeedsTheFirstLaneOfAPartition) {
  std::vector<TensorImage> images(1);
  TensorProgram p;
  p.steps = {[](const TensorOperands& o) { o.k("tcgen05.shift.cta_group::1.down", isa::mem(o.word(16 << 16))); }};
  expect_tensor_fault(p, images, Code::F3215);
}

void expect_access_fault(const char* op, uint32_t address, Code code) {
  std::vector<TensorImage> images(1);
  TensorProgram p;
  p.out = 2;
  p.every_thread = [&](const TensorOperands& o, const isa::RegArray&, const isa::RegArray& out) { o.k(isa::OpText(op), out, isa::mem(o.tmem, address)); };
  expect_tensor_fault(p, images, code);
}

TEST(TmemAccess, StaysInTheWarpsLanesAndTheAllocation) {
  expect_access_fault("tcgen05.ld.sync.aligned.32x32b.x2.b32", 511, Code::F3210);
  expect_access_fault("tcgen05.ld.sync.aligned.16x64b.x2.b32", 509, Code::F3210);
  expect_access_fault("tcgen05.ld.sync.aligned.32x32b.x2.b32", 16 << 16, Code::F3209);
  expect_access_fault("tcgen05.ld.sync.aligned.16x64b.x2.b32", 8 << 16, Code::F3209);
  expect_access_fault("tcgen05.ld.sync.aligned.32x32b.x2.b32", 64 << 16, Code::F3209);  // warp 2's lanes
}

// Kernels of pairs give the second CTA's warps lane 128 + 32 * warp: a B200 ignores what is above 128 lanes (docs/facts/tcgen05.md §1.1).
TEST(TmemAccess, IgnoresLaneBitsBeyondTheMemory) {
  std::vector<TensorImage> images(1);
  RandomWords words(7);
  images[0].fill_tmem(words);
  std::vector<TensorImage> expected = images;
  for (unsigned r = 0; r < 2; ++r) {
    for (unsigned thread = 0; thread < 128; ++thread) expected[0].registers_out.push_back(images[0].cell(thread, r));
  }
  TensorProgram p;
  p.out = 2;
  p.every_thread = [](const TensorOperands& o, const isa::RegArray&, const isa::RegArray& out) {
    o.k("tcgen05.ld.sync.aligned.32x32b.x2.b32", out, isa::mem(o.tmem, 128 << 16));
    o.k("tcgen05.wait::ld.sync.aligned");
  };
  expect_tensor(p, images, expected);
}

}  // namespace
}  // namespace drywell::test
