// tensormap.replace and the way from an edited map to a copy: field by field, in shared and in global memory.
#include <gtest/gtest.h>

#include "support/async_run.h"
#include "support/smem_text.h"

namespace drywell::test {
namespace {

using isa::Swizzle;
using isa::TensorMapFields;
using isa::TensorType;

TensorMapFields base_map() {
  TensorMapFields f;
  f.type = TensorType::u32;
  f.rank = 2;
  f.dim = {16, 8, 1, 1, 1};
  f.stride[0] = 64;
  f.box = {16, 4, 1, 1, 1};
  return f;
}

// Edits the 128 bytes of map 0 in shared or global memory and copies them to buf1.
AsyncCase edit(const std::string& edits, bool shared, const TensorMapFields& f = base_map()) {
  AsyncCase c;
  c.buffers = {Bytes(4096), Bytes(128)};
  c.maps = {{f, 0}};
  // The parameter is copied word by word.
  std::string copy = shared ? "  mov.u32 %r9, smem;\n" : "";
  for (int i = 0; i < 16; ++i)
    copy += fmt::format(R"(
  ld.b64 %rd1, [map0+{0}];
  st.{1}.b64 [{2}+{0}], %rd1;
)",
                        8 * i, shared ? "shared" : "global", shared ? "%r9" : "buf1");
  std::string text = edits;
  for (size_t at = 0; (at = text.find("SPACE", at)) != std::string::npos;)
    text.replace(at, 5, shared ? "shared::cta" : "global");
  for (size_t at = 0; (at = text.find("MAP", at)) != std::string::npos;)
    text.replace(at, 3, shared ? "[smem]" : "[buf1]");
  c.body = "  @!first bra END;\n" + copy + text + "END: bar.warp.sync -1;\n";
  if (shared)
    c.body +=
        "  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [buf1], "
        "[smem], 128;\n";
  return c;
}

TensorMapFields edited(const AsyncCase& c) {
  const Bytes bytes = run_everywhere(c).at(1);
  isa::TensorMap map;
  std::copy(bytes.begin(), bytes.end(), map.bytes.begin());
  Diagnostics problems;
  return isa::decode(map, problems);
}

TEST(TensormapReplace, EveryField) {
  const std::string r = "  tensormap.replace.tile.";
  for (const bool shared : {true, false}) {
    const std::string edits =
        R"(
  mov.u64 %rd2, 0x123456789A0;
  mov.u32 %r1, 77;
  mov.u64 %rd3, 4096;
)" + r + "global_address.SPACE.b1024.b64 MAP, %rd2;\n" +
        r + "rank.SPACE.b1024.b32 MAP, 2;\n" + r + "box_dim.SPACE.b1024.b32 MAP, 0, 32;\n" + r +
        "box_dim.SPACE.b1024.b32 MAP, 2, 3;\n" + r + "global_dim.SPACE.b1024.b32 MAP, 1, %r1;\n" + r +
        "global_dim.SPACE.b1024.b32 MAP, 2, 5;\n" + r + "global_stride.SPACE.b1024.b64 MAP, 0, 128;\n" + r +
        "global_stride.SPACE.b1024.b64 MAP, 1, %rd3;\n" + r + "element_stride.SPACE.b1024.b32 MAP, 2, 2;\n" +
        r + "elemtype.SPACE.b1024.b32 MAP, 6;\n" + r + "interleave_layout.SPACE.b1024.b32 MAP, 0;\n" + r +
        "swizzle_mode.SPACE.b1024.b32 MAP, 3;\n" + r + "swizzle_atomicity.SPACE.b1024.b32 MAP, 1;\n" + r +
        "fill_mode.SPACE.b1024.b32 MAP, 1;\n";
    TensorMapFields want = base_map();
    want.address = 0x123456789A0;
    want.rank = 3;
    want.box = {32, 4, 3, 1, 1};
    want.dim = {16, 77, 5, 1, 1};
    want.stride = {128, 4096, 0, 0};
    want.element_stride = {1, 1, 2, 1, 1};
    want.type = TensorType::f16;
    want.swizzle = Swizzle::b128_atom32;
    want.oob_fill = isa::OobFill::nan;
    EXPECT_EQ(edited(edit(edits, shared)), want) << shared;
  }
}

// A grouped kernel: a template map with no address is filled in, published and used.
TEST(TensormapReplace, AnEditedMapLoadsThroughItsNewAddress) {
  AsyncCase c;
  TensorMapFields f = base_map();
  std::vector<uint32_t> source(1024);
  for (uint32_t i = 0; i < 1024; ++i) source[i] = i * 2654435761u;
  c.buffers = {to_bytes(source), Bytes(256), Bytes(1024)};
  c.maps = {{f, 1}};
  std::string copy;
  for (int i = 0; i < 16; ++i)
    copy += fmt::format(R"(
  ld.b64 %rd1, [map0+{0}];
  @first st.shared.b64 [smem+{1}], %rd1;
)",
                        8 * i, 1024 + 8 * i);
  c.body = fill_smem(1024) + init_bar() + copy +
           R"(
  add.u64 %rd2, buf0, 256;
  @first tensormap.replace.tile.global_address.shared::cta.b1024.b64 [smem+1024], %rd2;
  @first tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [smem+1024], 1, 3;
  @first tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [smem+1024], 2;
  bar.warp.sync -1;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [buf1], [smem+1024], 128;
  fence.proxy.tensormap::generic.acquire.gpu [buf1], 128;
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
  @first cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [smem], [buf1, {0, 1}], [bar];
)" + wait_for("[bar]", 0) +
           dump_smem("buf2", 1024);
  Bytes want(1024, kSmemFill);
  for (uint32_t row = 0; row < 4; ++row) {
    for (uint32_t i = 0; i < 16; ++i) {
      const uint32_t at = row * 64 + i * 4, v = row + 1 < 3 ? source[64 + (row + 1) * 16 + i] : 0;
      std::memcpy(want.data() + (at ^ (at >> 7 & 3) << 4), &v, 4);
    }
  }
  EXPECT_EQ(run_everywhere(c).at(2), want);
}

// On an H200, CUTLASS's grouped GEMMs fence a null map in the warpgroup that stores nothing, and pass.
TEST(TensormapFence, OfAnAddressOutsideMemoryIsNoFault) {
  AsyncCase c;
  c.buffers = {Bytes(256, 7)};
  c.body =
      "  mov.b64 %rd1, 0;\n"
      "  fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;\n"
      "  fence.proxy.tensormap::generic.acquire.gpu [buf0+192], 128;\n"
      "  @first st.global.b32 [buf0], 1;\n";
  Bytes want(256, 7);
  want[0] = 1, want[1] = want[2] = want[3] = 0;
  EXPECT_EQ(run_everywhere(c).at(0), want);
}

TEST(TensormapFaults, AreReportedUnderEveryDriver) {
  AsyncCase c;
  c.buffers = {Bytes(256), Bytes(256)};
  c.maps = {{base_map(), 0}};
  c.body = "  tensormap.replace.tile.rank.global.b1024.b32 [buf0+32], 1;\n";
  expect_fault(c, Code::F3301);
  c.body = "  fence.proxy.tensormap::generic.acquire.gpu [buf0+32], 128;\n";
  expect_fault(c, Code::F3301);
  // A copy through a map that no encode function would have made.
  c = edit("  tensormap.replace.tile.box_dim.SPACE.b1024.b32 MAP, 0, 3;\n", true);
  c.body += init_bar() +
            "  @first cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [smem], "
            "[buf1, {0, 1}], [bar];\n" +
            wait_for("[bar]", 0);
  expect_fault(c, Code::F3302);
  // A map in shared memory can be edited, not used.
  c = edit("", true);
  c.body += init_bar() + R"(
  mov.u64 %rd5, smem;
  cvta.shared.u64 %rd5, %rd5;
  @first cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [smem+1024], [%rd5, {0, 1}], [bar];
)" + wait_for("[bar]", 0);
  expect_fault(c, Code::F3301);
}

TEST(TensormapLegality, AgreesWithPtxas) {
  const std::string r = "tensormap.replace.tile.";
  expect_illegal(r + "global_stride.global.b1024.b32 [%rd1], 2, %r2", Code::E1395);
  expect_illegal(r + "global_address.global.b1024.b32 [%rd1], %r2", Code::E1395);
  expect_illegal(r + "rank.global.b1024.b64 [%rd1], %rd2", Code::E1395);
  expect_illegal(r + "box_dim.global.b1024.b32 [%rd1], 5, %r2", Code::E1396);
  expect_illegal(r + "box_dim.global.b1024.b32 [%rd1], %r1, %r2", Code::E1102);
  expect_illegal(r + "elemtype.global.b1024.b32 [%rd1], 16", Code::E1397);
  expect_illegal(r + "interleave_layout.global.b1024.b32 [%rd1], 3", Code::E1397);
  expect_illegal(r + "swizzle_mode.global.b1024.b32 [%rd1], 4", Code::E1210);
  expect_legal(r + "swizzle_mode.global.b1024.b32 [%rd1], 4", "sm_103a");
  expect_illegal(r + "swizzle_mode.global.b1024.b32 [%rd1], 5", Code::E1397, "sm_103a");
  expect_illegal(r + "swizzle_atomicity.global.b1024.b32 [%rd1], 4", Code::E1397);
  expect_illegal(r + "fill_mode.global.b1024.b32 [%rd1], 2", Code::E1397);
  expect_illegal(r + "swizzle_mode.b1024.b32 [%rd1], %r1", Code::E1102);
  expect_illegal(r + "rank.global.b1024.b32 [%rd1], %r2", Code::E1210, "sm_100");
  expect_illegal(r + "elemtype.global.b1024.b32 [%rd1], 13", Code::E1210, "sm_90a");
  expect_illegal(r + "swizzle_atomicity.global.b1024.b32 [%rd1], 1", Code::E1210, "sm_90a");
  expect_illegal(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r2], "
      "64",
      Code::E1398);
  expect_illegal("fence.proxy.tensormap::generic.acquire.gpu [%rd1], 64", Code::E1398);
  expect_legal(r + "elemtype.b1024.b32 [%rd1], 12", "sm_90a");
  expect_legal(r + "global_stride.global.b1024.b64 [%rd1], 3, %rd2", "sm_90a");
}

TEST(FenceLegality, AgreesWithPtxas) {
  expect_illegal("fence.acquire.sync_restrict::shared::cta.cluster", Code::E1344);
  expect_illegal("fence.release.sync_restrict::shared::cluster.cluster", Code::E1344);
  expect_illegal("fence.proxy.async::generic.acquire.sync_restrict::shared::cta.cluster", Code::E1344);
  expect_illegal("fence.acq_rel.sync_restrict::shared::cta.cluster", Code::E1101);
  expect_illegal("fence.proxy.tensormap::generic.acquire.gpu", Code::E1102);
  expect_illegal("fence.proxy.async.shared", Code::E1101);
  expect_illegal("fence.mbarrier_init.release.cta", Code::E1101);
  expect_illegal("membar.proxy.async", Code::E1101);
  for (const char* legal :
       {"fence.sc.cluster", "fence.gpu", "fence.acquire.gpu", "fence.release.cta", "membar.cta", "membar.sys",
        "fence.proxy.alias", "membar.proxy.alias", "fence.proxy.async",
        "fence.proxy.tensormap::generic.release.sys", "fence.acquire.sync_restrict::shared::cluster.cluster",
        "fence.release.sync_restrict::shared::cta.cluster"}) {
    expect_legal(legal, "sm_90a");
  }
}

}  // namespace
}  // namespace drywell::test
