// alloca, stacksave and stackrestore (PTX ISA 9.7.16).
#include <gtest/gtest.h>

#include "support/ptx_run.h"

namespace drywell::sim {
namespace {

constexpr uint32_t kThreads = 64;

RunResult run(const std::string& text, std::vector<uint32_t>* out = nullptr) {
  Device d;
  const GmemAddr at = d.allocate(4 * kThreads);
  const LoadedModule m = d.load(test::parse_or_throw(".version 9.0\n.target sm_100a\n.address_size 64\n" + text));
  const RunResult r = d.launch(m, "k", {.grid = {1}, .block = {kThreads}}, Args().add(at));
  if (out != nullptr) {
    out->resize(kThreads);
    d.read(out->data(), at, 4 * kThreads);
  }
  return r;
}

constexpr const char* kEntry = R"(
.visible .entry k(.param .u64 o) {
  .reg .b32 t, n, s, i, v; .reg .b64 out, p, q, z, sp; .reg .pred more;
  ld.param.u64 out, [o];
  mov.u32 t, %tid.x;
  mul.wide.u32 z, t, 4;
  add.u64 out, out, z;
)";

// Every call takes n + 1 words, keeps n in the last of them over a deeper call, and reads it back: lanes go to different depths together.
TEST(ThreadStack, LanesTakeDifferentSizesInRecursion) {
  std::vector<uint32_t> out;
  const RunResult r = run(std::string(R"(
.func (.param .b32 result) sum (.param .b32 n) {
  .reg .b32 a, b, c; .reg .b64 bytes, p, q; .reg .pred none;
  ld.param.u32 a, [n];
  mov.u32 c, 0;
  setp.eq.u32 none, a, 0;
  @none bra END;
  add.u32 b, a, 1;
  mul.wide.u32 bytes, b, 4;
  alloca.u64 p, bytes, 16;
  mul.wide.u32 bytes, a, 4;
  add.u64 q, p, bytes;
  st.local.u32 [q], a;
  sub.u32 b, a, 1;
  { .param .b32 x; .param .b32 y; st.param.b32 [x], b; call (y), sum, (x); ld.param.b32 c, [y]; }
  ld.local.u32 b, [q];
  add.u32 c, c, b;
END:
  st.param.b32 [result], c;
  ret;
})") + kEntry + R"(
  and.b32 n, t, 15;
  { .param .b32 x; .param .b32 y; st.param.b32 [x], n; call (y), sum, (x); ld.param.b32 s, [y]; }
  st.global.u32 [out], s;
  ret;
})",
                          &out);
  ASSERT_TRUE(r.ok()) << r.fault->to_string();
  for (uint32_t t = 0; t < kThreads; ++t) EXPECT_EQ(out[t], (t & 15) * ((t & 15) + 1) / 2);
}

TEST(ThreadStack, ReturnFreesWhatTheFunctionTook) {
  const RunResult r = run(std::string(R"(
.func (.param .b64 result) take () { .reg .b64 p; alloca.u64 p, 64; st.local.u64 [p], p; st.param.b64 [result], p; ret; })") +
                          kEntry + R"(
  { .param .b64 y; call (y), take, (); ld.param.b64 p, [y]; }
  ld.local.u64 q, [p];
  ret;
})");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.fault->code, Code::F3001);
}

TEST(ThreadStack, ALoopThatRestoresNeedsNoMore) {
  std::vector<uint32_t> out;
  const RunResult r = run(std::string(kEntry) + R"(
  mov.u32 i, 0;
AGAIN:
  stacksave.u64 sp;
  alloca.u64 p, 65536;
  st.local.u32 [p+65532], i;
  ld.local.u32 v, [p+65532];
  stackrestore.u64 sp;
  add.u32 i, i, 1;
  setp.lt.u32 more, i, 50;
  @more bra AGAIN;
  st.global.u32 [out], v;
  ret;
})",
                          &out);
  ASSERT_TRUE(r.ok()) << r.fault->to_string();
  EXPECT_EQ(out, std::vector<uint32_t>(kThreads, 49));
}

TEST(ThreadStack, MoreThanAThreadHasIsAStackOverflow) {
  const RunResult r = run(std::string(kEntry) + "  alloca.u64 p, 300000;\n  alloca.u64 q, 300000;\n  ret;\n}");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.fault->code, Code::F3005);
}

TEST(ThreadStack, BytesBehindAreOutOfBounds) {
  const RunResult r = run(std::string(kEntry) + "  alloca.u64 p, 24;\n  st.local.u64 [p+24], p;\n  ret;\n}");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.fault->code, Code::F3001);
}

TEST(ThreadStack, RestoreOfAnotherValueIsAFault) {
  const RunResult r = run(std::string(kEntry) + "  stacksave.u64 sp;\n  add.u64 sp, sp, 8;\n  stackrestore.u64 sp;\n  ret;\n}");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.fault->code, Code::F3009);
}

// A generic address: what printf and functions get.
TEST(ThreadStack, GenericAddress) {
  std::vector<uint32_t> out;
  const RunResult r = run(std::string(kEntry) + R"(
  alloca.u64 p, 8, 8;
  cvta.local.u64 q, p;
  st.u32 [q+4], t;
  ld.local.u32 v, [p+4];
  st.global.u32 [out], v;
  ret;
})",
                          &out);
  ASSERT_TRUE(r.ok()) << r.fault->to_string();
  for (uint32_t t = 0; t < kThreads; ++t) EXPECT_EQ(out[t], t);
}

}  // namespace
}  // namespace drywell::sim
