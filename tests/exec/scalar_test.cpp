// Small kernels through builder, decoder, executor and memory.
#include <gtest/gtest.h>

#include "drywell/isa/builder.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

using namespace drywell::isa;

TEST(Device, RunsAxpyOverSeveralCtas) {
  KernelBuilder k("axpy");
  const Symbol x = k.param(Mod::u64, "x"), y = k.param(Mod::u64, "y"), a = k.param(Mod::f32, "a"), n = k.param(Mod::u32, "n");
  const Reg i = k.def("mov.u32", SpecialReg::ctaid_x);
  const Reg block = k.def("mov.u32", SpecialReg::ntid_x), tid = k.def("mov.u32", SpecialReg::tid_x);
  const Reg index = k.def("mad.lo.s32", i, block, tid);
  const Reg inside = k.reg(Mod::pred);
  k("setp.lt.u32", inside, index, k.load_param(n, Mod::u32));
  k.if_(inside, [&] {
    const Reg offset = k.def("mul.wide.u32", index, 4);
    const Reg px = k.def("add.s64", k.load_param(x, Mod::u64), offset), py = k.def("add.s64", k.load_param(y, Mod::u64), offset);
    const Reg vx = k.def("ld.global.f32", mem(px)), vy = k.def("ld.global.f32", mem(py));
    k("st.global.f32", mem(py), k.def("fma.rn.f32", k.load_param(a, Mod::f32), vx, vy));
  });
  Device d;
  const uint32_t count = 1000;
  std::vector<float> hx(count), hy(count);
  for (uint32_t j = 0; j < count; ++j) {
    hx[j] = static_cast<float>(j);
    hy[j] = 1.0f;
  }
  const GmemAddr gx = d.allocate(4 * count, "x"), gy = d.allocate(4 * count, "y");
  d.write(gx, hx.data(), 4 * count);
  d.write(gy, hy.data(), 4 * count);
  const LoadedModule m = d.load(k.finish());
  const RunResult r = d.launch(m, "axpy", {.grid = {8}, .block = {128}}, Args().add(gx).add(gy).add(2.0f).add(count));
  ASSERT_TRUE(r.ok()) << r.fault->to_string();
  std::vector<float> out(count);
  d.read(out.data(), gy, 4 * count);
  for (uint32_t j = 0; j < count; ++j) EXPECT_EQ(out[j], 2.0f * static_cast<float>(j) + 1.0f);
}

// Collatz step counts: every lane loops a different number of times, so the warp diverges and meets again.
TEST(Divergence, LanesLoopDifferentlyAndMeetAgain) {
  KernelBuilder k("collatz");
  const Symbol out = k.param(Mod::u64, "out");
  const Reg tid = k.def("mov.u32", SpecialReg::tid_x);
  const Reg v = k.def("add.u32", tid, 1), steps = k.def("mov.u32", 0);
  k.while_(
      [&] {
        const Reg more = k.reg(Mod::pred);
        k("setp.ne.u32", more, v, 1);
        return more;
      },
      [&] {
        const Reg odd = k.reg(Mod::pred);
        k("setp.ne.u32", odd, k.def("and.b32", v, 1), 0);
        k.if_else(
            odd, [&] { k("mad.lo.u32", v, v, 3, 1); }, [&] { k("shr.u32", v, v, 1); });
        k("add.u32", steps, steps, 1);
      });
  // All lanes are back together: a full-mask vote must not wait.
  const Reg all = k.reg(Mod::b32), yes = k.reg(Mod::pred);
  k("setp.eq.u32", yes, v, 1);
  k("vote.sync.ballot.b32", all, yes, -1);
  const Reg at = k.def("add.s64", k.load_param(out, Mod::u64), k.def("mul.wide.u32", tid, 8));
  k("st.global.v2.u32", mem(at), vec(steps, all));
  Device d;
  const GmemAddr g = d.allocate(32 * 8);
  const LoadedModule m = d.load(k.finish());
  const RunResult r = d.launch(m, "collatz", {.grid = {1}, .block = {32}}, Args().add(g));
  ASSERT_TRUE(r.ok()) << r.fault->to_string();
  uint32_t got[64];
  d.read(got, g, sizeof(got));
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t n = lane + 1, expected = 0;
    for (; n != 1; ++expected) n = n % 2 != 0 ? 3 * n + 1 : n / 2;
    EXPECT_EQ(got[2 * lane], expected) << lane;
    EXPECT_EQ(got[2 * lane + 1], kFullMask);
  }
}

TEST(Faults, NameTheAccessAndTheLine) {
  for (const auto& [bytes, end] : {std::pair{64, "there"}, {60, "4 bytes before"}, {68, "4 bytes after"}}) {
    KernelBuilder k("oob");
    const Symbol p = k.param(Mod::u64, "p");
    const Reg base = k.load_param(p, Mod::u64);
    const uint32_t line = __LINE__ + 1;
    k("st.global.u64", mem(base, 64), 1);
    Device d;
    const GmemAddr g = d.allocate(static_cast<uint64_t>(bytes), "small");
    const LoadedModule m = d.load(k.finish());
    const RunResult r = d.launch(m, "oob", {.grid = {1}, .block = {32}}, Args().add(g));
    ASSERT_FALSE(r.ok());
    EXPECT_EQ(r.fault->code, Code::F3001);
    EXPECT_EQ(r.fault->where.source.line, line);
    EXPECT_NE(r.fault->message.find(std::string("'small' at 0x7f0000000000 with ") + std::to_string(bytes) + " bytes, which ends " + end), std::string::npos) << r.fault->message;
  }
}

TEST(Faults, ParametersHaveTwoEnds) {
  for (const int offset : {-8, -1, 8}) {
    KernelBuilder k("beside");
    const Symbol p = k.param(Mod::u64, "p");
    k.def("ld.param.u8", mem(p, offset));
    Device d;
    const LoadedModule m = d.load(k.finish());
    const RunResult r = d.launch(m, "beside", {.grid = {1}, .block = {32}}, Args().add(uint64_t{0}));
    ASSERT_FALSE(r.ok()) << offset;
    EXPECT_EQ(r.fault->code, Code::F3001);
  }
}

TEST(Deadlock, NamesWarpBarrierAndPhase) {
  KernelBuilder k("hang");
  const Symbol bar = k.shared("bar", 8, 8);
  const Reg tid = k.def("mov.u32", SpecialReg::tid_x), first = k.reg(Mod::pred);
  k("setp.eq.u32", first, tid, 0);
  k.when(first)("mbarrier.init.shared::cta.b64", mem(bar), 2);
  k("bar.sync", 0);
  k.when(first)("mbarrier.arrive.shared::cta.b64", sink(), mem(bar));
  k.do_while([&] {
    const Reg done = k.reg(Mod::pred), again = k.reg(Mod::pred);
    k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), 0);
    k("not.pred", again, done);
    return again;
  });
  Device d;
  const LoadedModule m = d.load(k.finish());
  const RunResult r = d.launch(m, "hang", {.grid = {1}, .block = {64}}, Args());
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.fault->code, Code::F3601);
  EXPECT_NE(r.fault->message.find("warp 1 waits at 'mbarrier.try_wait"), std::string::npos) << r.fault->message;
  EXPECT_NE(r.fault->message.find("phase 0 is incomplete: 1 of 2 arrivals missing"), std::string::npos) << r.fault->message;
}

}  // namespace
}  // namespace drywell::sim
