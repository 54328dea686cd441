// Calls, returns, function pointers, printf and assertions.
#include <gtest/gtest.h>

#include "support/ptx_run.h"

namespace drywell::sim {
namespace {

uint32_t fib(uint32_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

constexpr std::string_view kHeader = ".version 9.0\n.target sm_100a\n.address_size 64\n";

RunResult run(const std::string& text, uint32_t threads = 32) {
  Device d;
  const LoadedModule m = d.load(test::parse_or_throw(std::string(kHeader) + text));
  return d.launch(m, "k", {.grid = {1}, .block = {threads}}, Args());
}

// Lanes take different depths, and half of them come through another call site.
TEST(Calls, DivergentRecursion) {
  const RunResult r = run(R"(
.global .u32 out[32];
.extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 args);
.global .align 1 .b8 text[4] = {37, 117, 32, 0};
.func (.param .b32 result) fib (.param .b32 n) {
  .reg .b32 n0, n1, a, b; .reg .pred small;
  ld.param.u32 n0, [n];
  setp.lt.u32 small, n0, 2;
  @small bra SMALL;
  { .param .b32 x; .param .b32 y; sub.u32 n1, n0, 1; st.param.b32 [x], n1; call (y), fib, (x); ld.param.b32 a, [y]; }
  { .param .b32 x; .param .b32 y; sub.u32 n1, n0, 2; st.param.b32 [x], n1; call (y), fib, (x); ld.param.b32 b, [y]; }
  add.u32 n0, a, b;
SMALL:
  st.param.b32 [result], n0;
  ret;
}
.visible .entry k() {
  .reg .b32 t, n, f; .reg .b64 p, q; .reg .pred odd; .local .align 4 .b32 args[1];
  mov.u32 t, %tid.x;
  and.b32 n, t, 7;
  setp.lt.u32 odd, t, 16;
  @odd bra A;
  { .param .b32 x; .param .b32 y; st.param.b32 [x], n; call (y), fib, (x); ld.param.b32 f, [y]; }
  bra B;
A:
  { .param .b32 x; .param .b32 y; st.param.b32 [x], n; call (y), fib, (x); ld.param.b32 f, [y]; }
B:
  bar.sync 0;
  st.local.u32 [args], f;
  mov.u64 p, args; cvta.local.u64 p, p; mov.u64 q, text;
  { .param .b64 x; .param .b64 z; .param .b32 y; st.param.b64 [x], q; st.param.b64 [z], p; call (y), vprintf, (x, z); ld.param.b32 f, [y]; }
  ret;
})");
  ASSERT_TRUE(r.ok()) << r.fault->to_string();
  std::string expected;
  for (uint32_t t = 0; t < 32; ++t) expected += std::to_string(fib(t & 7)) + " ";
  EXPECT_EQ(r.output, expected);
}

TEST(Calls, EndlessRecursionIsAStackOverflow) {
  const RunResult r = run(R"(
.func f() { .local .b8 frame[64]; call f, (); ret; }
.visible .entry k() { call f, (); ret; })");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.fault->code, Code::F3005);
  EXPECT_EQ(r.fault->where.function, "f");
}

TEST(Calls, AddressOfNoFunctionIsAFault) {
  const RunResult r = run(R"(
.visible .entry k() { .reg .b64 a; mov.u64 a, 4096; P: .callprototype _ (); call a, (), P; ret; })");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.fault->code, Code::F3006);
}

TEST(Calls, UndefinedFunctionsAreUnsupportedByName) {
  const RunResult r = run(R"(
.extern .func (.param .b64 r) cudaMalloc (.param .b64 n);
.visible .entry k() { .reg .b64 a; .param .b64 n; .param .b64 r; st.param.b64 [n], 8; call (r), cudaMalloc, (n); ld.param.b64 a, [r]; ret; })");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.fault->code, Code::U5000);
  EXPECT_NE(r.fault->message.find("'cudaMalloc'"), std::string::npos) << r.fault->message;
}

TEST(BranchIndexed, GoesWhereTheIndexSays) {
  const std::string body = R"(
  T: .branchtargets L0, L1, L2;
  and.b32 w1, w1, 3;
  setp.eq.u32 p0, w1, 3;
  @p0 bra L2;
  brx.idx w1, T;
L0: mov.u32 w0, 100; bra E;
L1: mov.u32 w0, 200; bra E;
L2: mov.u32 w0, 300;
E:)";
  const auto in = test::integer_values(32, 200, 1);
  const auto got = test::run_lanes(body, {"w0"}, {"w1"}, {in}, {"p0"});
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(got[0][i], (in[i] & 3) == 0 ? 100u : (in[i] & 3) == 1 ? 200u
                                                                    : 300u);
}

TEST(BranchIndexed, IndexOutsideTheListIsAFault) {
  const RunResult r = run(R"(
.visible .entry k() { .reg .b32 i; mov.u32 i, 2; T: .branchtargets A, B; brx.idx i, T; A: ret; B: ret; })");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.fault->code, Code::F3703);
}

}  // namespace
}  // namespace drywell::sim
