// st.async and red.async: data and signal in another CTA.
#include <gtest/gtest.h>

#include <functional>

#include "support/async_run.h"
#include "support/smem_text.h"

namespace drywell::test {
namespace {

// Every CTA's first thread sends to the next one, which waits for `bytes`.
AsyncCase ring(const std::string& send, uint32_t bytes) {
  AsyncCase c;
  c.cluster = c.ctas = 4;
  c.buffers = {Bytes(4 * 1024)};
  c.body = fill_smem(1024) + init_bar() +
           fmt::format("  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {};\n", bytes) +
           cluster_sync() +
           R"(
  add.u32 %r1, rank, 1;
  and.b32 %r1, %r1, 3;
  mapa.shared::cluster.u32 %r2, smem, %r1;
  mapa.shared::cluster.u32 %r3, bar, %r1;
  add.u32 %r4, rank, 10;
  add.u32 %r5, rank, 20;
  add.u32 %r6, rank, 30;
  add.u32 %r7, rank, 40;
  cvt.u64.u32 %rd1, %r4;
  shl.b64 %rd1, %rd1, 40;
  cvt.u64.u32 %rd2, %r5;
)" + send + wait_for("[bar]", 0) +
           cluster_sync() + dump_smem("buf0", 1024);
  return c;
}
Bytes image(const std::function<void(uint32_t left, uint8_t* smem)>& received) {
  Bytes want(4 * 1024, kSmemFill);
  for (uint32_t r = 0; r < 4; ++r) received((r + 3) % 4, want.data() + 1024 * r);
  return want;
}
template <class T>
void put(uint8_t* at, T v) {
  std::memcpy(at, &v, sizeof v);
}

TEST(StAsync, EveryWidthAndVector) {
  const std::string op = "  @first st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.";
  const AsyncCase c =
      ring(op + "b32 [%r2], %r4, [%r3];\n" + op + "v2.u32 [%r2+8], {%r4, %r5}, [%r3];\n" + op +
               "v4.s32 [%r2+16], {%r4, %r5, %r6, %r7}, [%r3];\n" + op + "b64 [%r2+32], %rd1, [%r3];\n" + op +
               "v2.u64 [%r2+48], {%rd1, %rd2}, [%r3];\n" +
               "  @first st.async.mbarrier::complete_tx::bytes.u32 [%r2+64], 77, [%r3];\n",
           4 + 8 + 16 + 8 + 16 + 4);
  const Bytes want = image([](uint32_t left, uint8_t* s) {
    put<uint32_t>(s, left + 10);
    for (uint32_t k = 0; k < 2; ++k) put<uint32_t>(s + 8 + 4 * k, left + 10 * (k + 1));
    for (uint32_t k = 0; k < 4; ++k) put<uint32_t>(s + 16 + 4 * k, left + 10 * (k + 1));
    put<uint64_t>(s + 32, uint64_t{left + 10} << 40);
    put<uint64_t>(s + 48, uint64_t{left + 10} << 40);
    put<uint64_t>(s + 56, left + 20);
    put<uint32_t>(s + 64, 77);
  });
  EXPECT_EQ(run_everywhere(c).at(0), want);
}

TEST(RedAsync, EveryOperation) {
  constexpr uint32_t kOld = 0xEEEEEEEE;
  constexpr uint64_t kOld64 = 0xEEEEEEEEEEEEEEEE;
  struct Row {
    const char* op;
    std::function<uint32_t(uint32_t)> want;
  };
  const std::vector<Row> rows = {
      {"add.u32", [](uint32_t v) { return kOld + v; }}, {"add.s32", [](uint32_t v) { return kOld + v; }}, {"min.u32", [](uint32_t v) { return v; }}, {"max.u32", [](uint32_t) { return kOld; }}, {"min.s32", [](uint32_t) { return kOld; }}, {"max.s32", [](uint32_t v) { return v; }}, {"inc.u32", [](uint32_t) { return 0u; }}, {"dec.u32", [](uint32_t v) { return v; }}, {"and.b32", [](uint32_t v) { return kOld & v; }}, {"or.b32", [](uint32_t v) { return kOld | v; }}, {"xor.b32", [](uint32_t v) { return kOld ^ v; }}};
  std::string send;
  const std::string op = "  @first red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.";
  for (size_t i = 0; i < rows.size(); ++i)
    send += op + fmt::format("{} [%r2+{}], %r4, [%r3];\n", rows[i].op, 4 * i);
  send += op + "add.u64 [%r2+64], %rd1, [%r3];\n" + op + "add.s64 [%r2+72], %rd1, [%r3];\n";
  const Bytes want = image([&](uint32_t left, uint8_t* s) {
    for (size_t i = 0; i < rows.size(); ++i) put<uint32_t>(s + 4 * i, rows[i].want(left + 10));
    for (int k = 0; k < 2; ++k) put<uint64_t>(s + 64 + 8 * k, kOld64 + (uint64_t{left + 10} << 40));
  });
  EXPECT_EQ(run_everywhere(ring(send, static_cast<uint32_t>(4 * rows.size() + 16))).at(0), want);
}

TEST(AsyncGlobal, StoresAndReductionsArriveBeforeTheGridEnds) {
  AsyncCase c;
  c.ctas = 8;
  c.buffers = {Bytes(64)};
  c.body = R"(
  @!first bra END;
  mul.wide.u32 %rd1, cta, 4;
  add.u64 %rd1, %rd1, buf0;
  add.u32 %r1, cta, 5;
  st.async.release.gpu.global.b32 [%rd1], %r1;
  red.async.release.gpu.global.add.u32 [buf0+32], %r1;
  red.async.mmio.release.sys.global.max.s32 [buf0+36], %r1;
  red.async.release.gpu.global.or.b32 [buf0+40], %r1;
END:
)";
  std::vector<uint32_t> want(16);
  for (uint32_t i = 0; i < 8; ++i) {
    want[i] = i + 5;
    want[8] += i + 5;
    want[9] = std::max(want[9], i + 5);
    want[10] |= i + 5;
  }
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), want);
}

TEST(AsyncStoreFaults, AreReportedUnderEveryDriver) {
  const std::string op = "  @first st.async.shared::cluster.mbarrier::complete_tx::bytes.";
  expect_fault(ring("  mov.u32 %r8, bar;\n" + op + "b32 [%r2], %r4, [%r8];\n", 4), Code::F3507);
  expect_fault(ring(op + "v2.b32 [%r2+4], {%r4, %r5}, [%r3];\n", 8), Code::F3002);
  expect_fault(ring(R"(
  mov.u32 %r8, bar;
  mov.u32 %r9, smem;
  @first red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r9], %r4, [%r8];
)",
                    4),
               Code::F3508);
  expect_fault(ring("  add.u32 %r2, %r2, 65536;\n" + op + "b32 [%r2], %r4, [%r3];\n", 4), Code::F3307);
  expect_fault(ring(op + "b32 [%r2], %r4, [%r3+8];\n", 4), Code::F3102);
  AsyncCase c;
  c.buffers = {Bytes(64)};
  c.body = "  @first st.async.release.gpu.global.b32 [buf0+64], %r1;\n";
  expect_fault(c, Code::F3306);
}

TEST(AsyncStoreLegality, AgreesWithPtxas) {
  const std::string shared = ".shared::cluster.mbarrier::complete_tx::bytes.",
                    red = "red.async.relaxed.cluster" + shared;
  expect_illegal("st.async.weak" + shared + "v4.b64 [%r1], {%rd1, %rd2, %rd3, %rd4}, [%r3]", Code::E1331);
  expect_illegal("st.async.weak" + shared + "v2.b32 [%r1], {%r2, %r4, %r5}, [%r3]", Code::E1330);
  expect_illegal("st.async.weak" + shared + "b16 [%r1], %h1, [%r3]", Code::E1101);
  expect_illegal("st.async.weak.shared::cluster.b32 [%r1], %r2, [%r3]", Code::E1101);
  expect_illegal("st.async.release.global.b32 [%rd1], %r1", Code::E1332);
  expect_illegal("st.async.release.cta.global.b32 [%rd1], %r1", Code::E1101);
  expect_illegal("st.async.release.gpu.global.b32 [%rd1], %r1", Code::E1210, "sm_90a");
  expect_illegal(red + "max.u64 [%r1], %rd2, [%r3]", Code::E1366);
  expect_illegal(red + "and.b64 [%r1], %rd2, [%r3]", Code::E1101);
  expect_illegal(red + "inc.s32 [%r1], %r2, [%r3]", Code::E1366);
  expect_illegal("red.async.relaxed.gpu" + shared + "inc.u32 [%r1], %r2, [%r3]", Code::E1101);
  expect_illegal("red.async.release.gpu.global.or.b64 [%rd1], %rd2", Code::E1366);
  expect_illegal("red.async.release.gpu.global.max.u64 [%rd1], %rd2", Code::E1366);
  expect_illegal("st.async.mmio.weak.global.b32 [%rd1], %r2", Code::E1332);
  expect_illegal("red.async.release.cta.global.add.u32 [%rd1], %r2", Code::E1101);
  expect_legal("st.async.weak" + shared + "v4.f32 [%r1], {%f1, %f2, %f3, %f4}, [%r3]", "sm_90a");
  expect_legal("red.async.mmio.release.sys.global.add.u64 [%rd1], %rd2");
  expect_legal("st.async.mmio.release.gpu.global.b32 [%rd1], %r2");
}

}  // namespace
}  // namespace drywell::test
