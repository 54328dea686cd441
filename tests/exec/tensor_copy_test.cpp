// Tensor copies through executed instructions. The expected bytes are computed by the rules of
// docs/facts/tma-mbarrier.md §2, one element at a time, without code of the simulator.
#include <gtest/gtest.h>

#include "exec/tensor_copy_reference.h"

namespace drywell::test {
namespace {

class TileLoad : public testing::TestWithParam<int> {};

TEST_P(TileLoad, EqualsTheElementRule) {
  const auto n = static_cast<unsigned>(GetParam());
  RandomMap random(n);
  const unsigned rank = n % 5 + 1;
  TensorMapFields f = random.make(rank, kPlainTypes[n % 13], static_cast<Swizzle>(n / 2 % 7));
  if (isa::is_floating(f.type) && n % 2 == 0) f.oob_fill = isa::OobFill::nan;
  const Coordinates start = random.start(f, false);
  AsyncCase c;
  c.buffers = {random_bytes(random.bytes(), n), Bytes(kSmemBytes)};
  c.maps = {{f, 0}};
  c.body = tile_load_text(rank, list(start, rank), box_bytes(f));
  Bytes want(kSmemBytes, kSmemFill);
  for_tile(f, start, false, false, [&](uint32_t at, int64_t from, bool inside) {
    load_element(f, c.buffers[0], want.data() + at, from, inside);
  });
  EXPECT_EQ(run_everywhere(c).at(1), want);
}
INSTANTIATE_TEST_SUITE_P(Random, TileLoad, testing::Range(0, 65));

class TileStore : public testing::TestWithParam<int> {};

TEST_P(TileStore, EqualsTheElementRule) {
  const auto n = static_cast<unsigned>(GetParam());
  RandomMap random(1000 + n);
  const unsigned rank = n % 5 + 1;
  const Swizzle swizzles[] = {Swizzle::none, Swizzle::b32, Swizzle::b64,
                              Swizzle::b128, Swizzle::b128_atom32, Swizzle::b128_atom64};
  const TensorMapFields f = random.make(rank, kPlainTypes[n % 13], swizzles[n % 6]);
  const Coordinates start = random.start(f, true);
  AsyncCase c;
  c.buffers = {random_bytes(random.bytes(), n), random_bytes(kSmemBytes, n + 7)};
  c.maps = {{f, 0}};
  c.body = store_text(rank, list(start, rank), "cp.async.bulk.tensor");
  Bytes want = c.buffers[0];
  for_tile(f, start, true, false, [&](uint32_t at, int64_t to, bool inside) {
    for (uint32_t b = 0; inside && b < element_bytes(f.type); ++b)
      want.at(static_cast<size_t>(to + b)) = c.buffers[1][at + b];
  });
  EXPECT_EQ(run_everywhere(c).at(0), want);
}
INSTANTIATE_TEST_SUITE_P(Random, TileStore, testing::Range(0, 40));

TEST(Gather4, LoadsFourRowsEachCheckedAlone) {
  for (const bool cluster : {false, true}) {
    RandomMap random(5);
    TensorMapFields f = random.make(2, TensorType::bf16, Swizzle::b128);
    f.dim = {90, 7, 1, 1, 1};
    f.stride[0] = 192;
    f.box = {64, 1, 1, 1, 1};
    f.element_stride = {1, 1, 1, 1, 1};
    const Coordinates start{32, 6, -1, 0, 7};
    AsyncCase c;
    c.buffers = {random_bytes(7 * 192, 3), Bytes(kSmemBytes)};
    c.maps = {{f, 0}};
    c.body = tile_load_text(2, list(start, 5), box_bytes(f, true), ".tile::gather4");
    if (cluster) c.body.replace(c.body.find(".shared::cta.global"), 19, ".shared::cluster.global");
    Bytes want(kSmemBytes, kSmemFill);
    for_tile(f, start, false, true, [&](uint32_t at, int64_t from, bool inside) {
      load_element(f, c.buffers[0], want.data() + at, from, inside);
    });
    EXPECT_EQ(run_everywhere(c).at(1), want);
  }
}

TEST(Scatter4, StoresFourRowsEachCheckedAlone) {
  TensorMapFields f;
  f.type = TensorType::f32;
  f.rank = 2;
  f.dim = {30, 7, 1, 1, 1};
  f.stride[0] = 128;
  f.box = {16, 1, 1, 1, 1};
  f.swizzle = Swizzle::b64;
  const Coordinates start{20, 6, 9, 0, 3};
  AsyncCase c;
  c.buffers = {random_bytes(7 * 128, 3), random_bytes(kSmemBytes, 4)};
  c.maps = {{f, 0}};
  c.body = store_text(2, list(start, 5), "cp.async.bulk.tensor", ".tile::scatter4");
  Bytes want = c.buffers[0];
  for_tile(f, start, true, true, [&](uint32_t at, int64_t to, bool inside) {
    for (uint32_t b = 0; inside && b < 4; ++b) want.at(static_cast<size_t>(to + b)) = c.buffers[1][at + b];
  });
  EXPECT_EQ(run_everywhere(c).at(0), want);
}

TEST(Scatter4, AddsFourRows) {
  TensorMapFields f;
  f.type = TensorType::u32;
  f.rank = 2;
  f.dim = {30, 7, 1, 1, 1};
  f.stride[0] = 128;
  f.box = {16, 1, 1, 1, 1};
  const Coordinates start{20, 6, 9, 0, 3};
  AsyncCase c;
  c.buffers = {random_bytes(7 * 128, 3), random_bytes(kSmemBytes, 4)};
  c.maps = {{f, 0}};
  c.body = store_text(2, list(start, 5), "cp.reduce.async.bulk.tensor .add", ".tile::scatter4");
  std::vector<uint32_t> want = from_bytes<uint32_t>(c.buffers[0]);
  const auto source = from_bytes<uint32_t>(c.buffers[1]);
  for_tile(f, start, true, true, [&](uint32_t at, int64_t to, bool inside) {
    if (inside) want.at(static_cast<size_t>(to / 4)) += source[at / 4];
  });
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), want);
}

// ---- 4- and 6-bit formats (docs/facts/tma-mbarrier.md §2.6)

TEST(PackedTypes, FourBitsWithoutGapsAreCopiedAsTheyAre) {
  TensorMapFields f;
  f.type = TensorType::b4x16;
  f.rank = 2;
  f.dim = {256, 8, 1, 1, 1};
  f.stride[0] = 128;
  f.box = {128, 4, 1, 1, 1};
  AsyncCase c;
  c.buffers = {random_bytes(1024, 9), Bytes(kSmemBytes)};
  c.maps = {{f, 0}};
  c.body = tile_load_text(2, "128, 2", 4 * 64);
  Bytes want(kSmemBytes, kSmemFill);
  for (int r = 0; r < 4; ++r) std::memcpy(want.data() + 64 * r, c.buffers[0].data() + 128 * (r + 2) + 64, 64);
  EXPECT_EQ(run_everywhere(c).at(1), want);
}

TEST(PackedTypes, PaddedLoadsLeaveDataInEachSixteenBytes) {
  for (const auto& [type, packed] : {std::pair{TensorType::b4x16_p64, 8}, {TensorType::b6x16_p32, 12}}) {
    TensorMapFields f;
    f.type = type;
    f.rank = 2;
    f.dim = {256, 3, 1, 1, 1};
    f.stride[0] = static_cast<uint64_t>(packed) * 16;
    f.box = {128, 4, 1, 1, 1};
    f.swizzle = Swizzle::b128;
    AsyncCase c;
    c.buffers = {random_bytes(static_cast<size_t>(packed) * 16 * 3, 9), Bytes(kSmemBytes)};
    c.maps = {{f, 0}};
    c.body =
        tile_load_text(2, "128, 1", static_cast<uint32_t>(packed) * 8 * 4);  // the packed size is counted
    const Bytes got = run_everywhere(c).at(1);
    for (int r = 0; r < 4; ++r) {
      for (int g = 0; g < 8; ++g) {
        for (int b = 0; b < packed; ++b) {
          const uint8_t want =
              r < 2 ? c.buffers[0][static_cast<size_t>(packed * 16 * (r + 1) + packed * 8 + packed * g + b)]
                    : 0;
          ASSERT_EQ(got[swizzled(f.swizzle, static_cast<uint32_t>(128 * r + 16 * g + b))], want)
              << r << " " << g << " " << b;
        }
      }
    }
  }
}

TEST(PackedTypes, SixBitStoresRepackTheLowBitsOfEachByte) {
  TensorMapFields f;
  f.type = TensorType::b6x16_p32;
  f.rank = 2;
  f.dim = {128, 4, 1, 1, 1};
  f.stride[0] = 96;
  f.box = {128, 2, 1, 1, 1};
  AsyncCase c;
  c.buffers = {Bytes(4 * 96, 0x55), random_bytes(kSmemBytes, 1)};
  c.maps = {{f, 0}};
  c.body = store_text(2, "0, 1", "cp.async.bulk.tensor");
  Bytes want = c.buffers[0];
  for (uint32_t r = 0; r < 2; ++r) {
    for (uint32_t bit = 0; bit < 768; ++bit) {
      const uint32_t value = c.buffers[1][128 * r + bit / 6];
      uint8_t& to = want[96 * (r + 1) + bit / 8];
      to = static_cast<uint8_t>((to & ~(1u << bit % 8)) | ((value >> bit % 6 & 1) << bit % 8));
    }
  }
  EXPECT_EQ(run_everywhere(c).at(0), want);
}

// ---- multicast and cta_group (docs/facts/tma-mbarrier.md §2.8)

// Four CTAs; each waits for `expected` bytes on its own barrier unless that is 0; after a cluster barrier all store their memory.
AsyncCase cluster_case(const std::string& copy, std::array<uint32_t, 4> expected) {
  TensorMapFields f;
  f.type = TensorType::u32;
  f.rank = 2;
  f.dim = {32, 16, 1, 1, 1};
  f.stride[0] = 128;
  f.box = {32, 2, 1, 1, 1};
  AsyncCase c;
  c.cluster = c.ctas = 4;
  c.buffers = {random_bytes(2048, 12), Bytes(4 * 1024)};
  c.maps = {{f, 0}};
  c.body = fill_smem(1024) + init_bar() + "  mov.u32 %r1, 0;\n";
  for (uint32_t r = 0; r < 4; ++r)
    c.body += fmt::format(R"(
  setp.eq.u32 %p1, rank, {};
  @%p1 mov.u32 %r1, {};
)",
                          r, expected[r]);
  c.body += "  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r1;\n" + cluster_sync() + copy +
            wait_for("[bar]", 0) + cluster_sync() + dump_smem("buf1", 1024);
  return c;
}

Bytes cluster_image(const AsyncCase& c, std::array<int, 4> first_row) {  // -1: untouched
  Bytes want(4 * 1024, kSmemFill);
  for (size_t r = 0; r < 4; ++r) {
    if (first_row[r] >= 0) std::memcpy(want.data() + 1024 * r, c.buffers[0].data() + 128 * first_row[r], 256);
  }
  return want;
}

TEST(Multicast, EverySelectedCtaGetsDataAndSignal) {
  for (const auto& [mask, rank] : {std::pair{0b0111, 0}, {0b1101, 2}, {0b1010, 0}, {0b1111, 3}}) {
    std::array<uint32_t, 4> expected{};
    std::array<int, 4> rows{-1, -1, -1, -1};
    for (size_t r = 0; r < 4; ++r) {
      if ((mask >> r & 1) == 0) continue;
      expected[r] = 256;
      rows[r] = 6;
    }
    const AsyncCase c = cluster_case(fmt::format(R"(
  setp.eq.u32 %p2, rank, {};
  and.pred %p2, %p2, first;
  mov.b16 %h1, {};
  @%p2 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [smem], [map0, {{0, 6}}], [bar], %h1, 0x14F0000000000000;
)",
                                                 rank, mask),
                                     expected);
    EXPECT_EQ(run_everywhere(c).at(1), cluster_image(c, rows)) << mask;
  }
}

// 2-SM loads: each CTA loads its own part, the even CTA's barrier counts both (CUTLASS clears bit 24 of the
// address).
TEST(CtaGroup2, TheLeadersBarrierHearsOfBothCtas) {
  const AsyncCase c = cluster_case(R"(
  mov.u32 %r2, bar;
  and.b32 %r2, %r2, 0xFEFFFFFF;
  mov.u32 %r3, smem;
  shl.b32 %r4, rank, 1;
  @first cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [map0, {0, %r4}], [%r2];
)",
                                   {512, 0, 512, 0});
  EXPECT_EQ(run_everywhere(c).at(1), cluster_image(c, {0, 2, 4, 6}));
}

TEST(CtaGroup2, MulticastSignalsTheCtaOfEachPairWithTheBarriersParity) {
  const auto text = [](uint32_t parity) {
    return fmt::format(R"(
  mapa.shared::cluster.u32 %r2, bar, {};
  mov.u32 %r3, smem;
  mov.b16 %h1, 0xB;
  @leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2 [%r3], [map0, {{0, 3}}], [%r2], %h1;
)",
                       parity);
  };
  // CTAs 0, 1 and 3 receive: two boxes for the first pair, one for the second.
  const AsyncCase even = cluster_case(text(0), {512, 0, 256, 0}),
                  odd = cluster_case(text(1), {0, 512, 0, 256});
  EXPECT_EQ(run_everywhere(even).at(1), cluster_image(even, {3, 3, -1, 3}));
  EXPECT_EQ(run_everywhere(odd).at(1), cluster_image(odd, {3, 3, -1, 3}));
}

TEST(TensorLoad, LandsInAnotherCtaWithItsBarrier) {
  const AsyncCase c = cluster_case(R"(
  mapa.shared::cluster.u32 %r2, bar, 2;
  mapa.shared::cluster.u32 %r3, smem, 2;
  @leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [map0, {0, 3}], [%r2];
)",
                                   {0, 0, 256, 0});
  EXPECT_EQ(run_everywhere(c).at(1), cluster_image(c, {-1, -1, 3, -1}));
}

// ---- bulk groups

TEST(BulkGroups, ReadWaitsFreeTheSourceAndFullWaitsShowTheData) {
  TensorMapFields f;
  f.type = TensorType::u32;
  f.rank = 1;
  f.dim = {64, 1, 1, 1, 1};
  f.box = {32, 1, 1, 1, 1};
  AsyncCase c;
  c.buffers = {Bytes(256), random_bytes(kSmemBytes, 5), Bytes(128)};
  c.maps = {{f, 0}};
  // The staging buffer is used twice; the second group is read back through global memory.
  c.body = load_smem("buf1", 1024) +
           R"(
  @!first bra END;
  cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [map0, {0}], [smem];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
  mov.u32 %r1, 0xABCD;
  st.shared.b32 [smem], %r1;
  fence.proxy.async.shared::cta;
  cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [map0, {32}], [smem];
  cp.async.bulk.commit_group;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 1;
  ld.global.b32 %r2, [buf0];
  st.global.b32 [buf2], %r2;
  cp.async.bulk.wait_group 0;
  ld.global.b32 %r3, [buf0+128];
  st.global.b32 [buf2+4], %r3;
END:
)";
  const auto memory = run_everywhere(c);
  Bytes want(256);
  std::memcpy(want.data(), c.buffers[1].data(), 128);
  std::memcpy(want.data() + 128, c.buffers[1].data(), 128);
  const uint32_t word = 0xABCD;
  std::memcpy(want.data() + 128, &word, 4);
  EXPECT_EQ(memory[0], want);
  const auto seen = from_bytes<uint32_t>(memory[2]);
  EXPECT_EQ(seen[0], from_bytes<uint32_t>(c.buffers[1])[0]);
  EXPECT_EQ(seen[1], word);
}

// ---- reports

TEST(TensorFaults, AreReportedUnderEveryDriver) {
  TensorMapFields f = plain_map();
  expect_fault(bad_load(f, "0, 0, 0", ".tile", "", 3), Code::F3303);  // rank
  expect_fault(bad_load(f, "1, 0"), Code::F3304);                     // innermost start
  AsyncCase off = bad_load(f, "0, 0");
  off.body.replace(off.body.find("[smem], [map0"), 6, "[smem+64]");
  expect_fault(off, Code::F3305);  // SMEM alignment
  TensorMapFields far = f;
  far.dim[1] = 1000;
  expect_fault(bad_load(far, "0, 500"), Code::F3306);  // outside the allocation
  AsyncCase end = bad_load(f, "0, 0");
  end.dynamic_smem = kSmemBytes;
  end.body.replace(end.body.find("[smem], [map0"), 6, fmt::format("[smem+{}]", kSmemBytes + 128));
  expect_fault(end, Code::F3307);  // outside shared memory
  TensorMapFields box = f;
  box.box[1] = 2;
  expect_fault(bad_load(box, "0, 0, 1, 2, 3", ".tile::gather4", "", 2), Code::F3304);  // gather4 needs {n, 1}
  TensorMapFields negative = f;
  AsyncCase store = bad_load(negative, "0, 0");
  store.body = store_text(2, "0, -1", "cp.async.bulk.tensor");
  expect_fault(store, Code::F3304);  // negative store
  AsyncCase junk = bad_load(f, "0, 0");
  junk.body = "  mov.b64 map0, buf0;\n" + junk.body;
  expect_fault(junk, Code::F3302);  // no map
  AsyncCase nobody = bad_load(f, "0, 0");
  nobody.body.replace(nobody.body.find("mbarrier.init.shared::cta.b64 [bar], 1"), 38,
                      "mbarrier.init.shared::cta.b64 [bar+8], 1");
  expect_fault(nobody, Code::F3102);  // no barrier
}

TEST(TensorFaults, TheBarrierMustBeWhereTheDataLands) {
  expect_fault(cluster_case(R"(
  mapa.shared::cluster.u32 %r2, bar, 1;
  mov.u32 %r3, smem;
  @leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [map0, {0, 3}], [%r2];
)",
                            {0, 0, 0, 0}),
               Code::F3309);
  expect_fault(cluster_case(R"(
  mov.b16 %h1, 0x10;
  @leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [smem], [map0, {0, 3}], [bar], %h1;
)",
                            {0, 0, 0, 0}),
               Code::F3503);
}

TEST(TensorPrefetch, ChecksTheMapAndChangesNothing) {
  AsyncCase c;
  c.buffers = {random_bytes(1024, 1)};
  c.maps = {{plain_map(), 0}};
  c.body = R"(
  cp.async.bulk.prefetch.tensor.2d.L2.global.tile [map0, {0, 3}];
  cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [map0, {0, 3, 4, 5, 6}];
)";
  EXPECT_EQ(run_everywhere(c).at(0), c.buffers[0]);
  c.body = "  cp.async.bulk.prefetch.tensor.1d.L2.global [map0, {0}];\n";
  expect_fault(c, Code::F3303);
  c.body = "  cp.async.bulk.prefetch.tensor.2d.L2.global [map0, {2, 0}];\n";
  expect_fault(c, Code::F3304);
}

TEST(TensorLegality, AgreesWithPtxas) {
  const std::string load =
      "cp.async.bulk.tensor.{}.mbarrier::complete_tx::bytes{} [%r1], [%rd1, {{{}}}], [%r7]{}";
  const auto form = [&](const char* a, const char* b, const char* c, const char* d) {
    return fmt::format(fmt::runtime(load), a, b, c, d);
  };
  expect_legal(form("3d.shared::cta.global.im2col::w", "", "%r2, %r3, %r4", ", {%h1, %h2}"), "sm_100");
  expect_legal(form("2d.shared::cta.global.tile::gather4", "", "%r2, %r3, %r4, %r5, %r6", ""), "sm_100");
  expect_legal(form("2d.shared::cluster.global.tile::gather4",
                    ".multicast::cluster.cta_group::2.L2::cache_hint", "%r2, %r3, %r4, %r5, %r6",
                    ", %h1, %rd2"));
  expect_legal(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.tile::scatter4.bulk_group.L2::cache_hint [%rd1, "
      "{%r1, %r2, %r3, %r4, %r5}], [%r6], %rd2");
  expect_illegal(form("2d.shared::cluster.global.tile::gather4", "", "%r2, %r3, %r4, %r5, %r6", ""), Code::E1210,
                 "sm_100");
  expect_illegal(form("3d.shared::cluster.global.im2col::w", "", "%r2, %r3, %r4", ", {%h1, %h2}"), Code::E1210,
                 "sm_100");
  expect_illegal(form("3d.shared::cta.global.im2col::w::128", "", "%r2, %r3, %r4", ", {%h1, %h2}"), Code::E1210,
                 "sm_100");
  expect_illegal(form("2d.shared::cta.global", ".cta_group::2", "%r2, %r3", ""), Code::E1210, "sm_100");
  expect_illegal(form("3d.shared::cluster.global.tile::gather4", "", "%r2, %r3, %r4, %r5, %r6", ""), Code::E1360);
  expect_illegal(form("2d.shared::cluster.global.im2col", "", "%r2, %r3", ", {%h1}"), Code::E1361);
  expect_illegal(form("2d.shared::cluster.global", "", "%r2, %r3, %r4", ""), Code::E1362);
  expect_illegal(form("2d.shared::cta.global", ".multicast::cluster", "%r2, %r3", ", %h1"), Code::E1363);
  expect_illegal(form("4d.shared::cta.global.im2col", "", "%r2, %r3, %r4, %r5", ", {%h1}"), Code::E1364);
  expect_illegal("cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%rd1, {%r1, %r2, %r3, %r4, %r5}]",
                 Code::E1210, "sm_100");
  expect_illegal(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.exch.tile.bulk_group [%rd1, {%r1, %r2}], [%r3]",
      Code::E1101);
}

}  // namespace
}  // namespace drywell::test
