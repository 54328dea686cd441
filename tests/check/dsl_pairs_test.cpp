// Wrong and right kernels in the C++ DSL: the wrong one is reported at its line of this file, the right one is silent under every driver.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "drywell/isa/builder.h"
#include "drywell/sim/check.h"
#include "drywell/sim/device.h"
#include "drywell/sim/driver_words.h"

namespace drywell {
namespace {

using namespace isa;

/// A kernel in the making. `line` is set to the line at which the wrong kernel is reported.
struct Author {
  explicit Author(bool is_right) : right(is_right) {}
  KernelBuilder k{"pair", Target::sm_100a};
  const bool right;
  size_t line = 0;
  const Symbol out = k.param(Mod::u64, "out"), tile = k.shared("tile", 512, 128), bar = k.shared("bar", 8, 8);
  const Reg tid = k.def("mov.u32", SpecialReg::tid_x), smem = k.def("mov.u32", tile), first = k.reg(Mod::pred);
  const Reg memory = k.load_param(out, Mod::u64), own = k.def("add.u32", smem, k.def("shl.b32", tid, 2)), other = k.def("add.u32", smem, k.def("xor.b32", k.def("shl.b32", tid, 2), 128));

  void begin() {
    k("setp.eq.u32", first, tid, 0);
    k.if_(first, [&] {
      k("mbarrier.init.shared::cta.b64", mem(bar), 1);
      k("fence.mbarrier_init.release.cluster");
    });
    k("bar.sync", 0);
  }
  void load() {
    k.if_(first, [&] {
      k("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(bar), 512);
      k("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", mem(smem), mem(memory), 512, mem(bar));
    });
  }
  void wait(int parity) {
    k.do_while([&] {
      const Reg done = k.reg(Mod::pred), again = k.reg(Mod::pred);
      k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), parity);
      k("not.pred", again, done);
      return again;
    });
  }
  void store() {
    k.if_(first, [&] {
      k("cp.async.bulk.global.shared::cta.bulk_group", mem(memory), mem(smem), 512);
      k("cp.async.bulk.commit_group");
    });
  }
};

void reads_before_the_wait(Author& a) {
  a.load();
  if (a.right) a.wait(0);
  a.line = __LINE__ + 1;
  a.k.def("ld.shared.u32", mem(a.own));
  if (!a.right) a.wait(0);
}

void exchanges_without_a_barrier(Author& a) {
  a.k("st.shared.u32", mem(a.own), a.tid);
  if (a.right) a.k("bar.sync", 0);
  a.line = __LINE__ + 1;
  a.k.def("ld.shared.u32", mem(a.other));
}

void writes_the_source_of_a_store(Author& a) {
  a.k("st.shared.u32", mem(a.own), a.tid);
  a.k("fence.proxy.async.shared::cta");
  a.k("bar.sync", 0);
  a.store();
  if (a.right) a.k.if_(a.first, [&] { a.k("cp.async.bulk.wait_group.read", 0); });
  a.k("bar.sync", 0);
  a.line = __LINE__ + 1;
  a.k("st.shared.u32", mem(a.own), 0);
  a.k.if_(a.first, [&] { a.k("cp.async.bulk.wait_group", 0); });
}

void refills_what_is_read(Author& a) {
  a.load();
  a.wait(0);
  a.k.def("ld.shared.u32", mem(a.own));
  if (a.right) a.k("bar.sync", 0);
  a.k.if_(a.first, [&] {
    a.k("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(a.bar), 512);
    a.line = __LINE__ + 1;
    a.k("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", mem(a.smem), mem(a.memory), 512, mem(a.bar));
  });
  a.wait(1);
}

struct Pair {
  const char* code;
  void (*write)(Author&);
};

class DslPairs : public testing::TestWithParam<Pair> {
 protected:
  std::vector<sim::Finding> check(bool right, const std::string& driver) {
    Author a(right);
    a.begin();
    GetParam().write(a);
    line_ = a.line;
    a.k("bar.sync", 0);
    sim::Device device;
    const GmemAddr memory = device.allocate(512, "memory");
    device.fill(memory, 1, 512);
    sim::HazardChecker checker;
    sim::RunOptions o;
    sim::parse_driver(driver, o);
    o.listeners = {checker.listener()};
    const sim::RunResult r = device.launch(device.load(a.k.finish()), "pair", {.grid = {1}, .block = {128}}, sim::Args().add(memory), o);
    EXPECT_TRUE(r.ok()) << r.fault->to_string();
    return checker.findings();
  }
  size_t line_ = 0;
};

TEST_P(DslPairs, TheWrongOneIsReportedAtItsLine) {
  const std::vector<sim::Finding> all = check(false, "eager");
  const auto found = std::find_if(all.begin(), all.end(), [&](const sim::Finding& f) { return f.code == GetParam().code; });
  ASSERT_NE(found, all.end());
  EXPECT_NE(found->to_string().find("dsl_pairs_test.cpp:" + std::to_string(line_)), std::string::npos) << found->to_string();
}

TEST_P(DslPairs, TheRightOneIsSilent) {
  std::vector<std::string> drivers = {"eager", "lazy", "timed"};
  for (int seed = 1; seed <= 30; ++seed) drivers.push_back("shuffled:" + std::to_string(seed));
  for (const std::string& driver : drivers) {
    for (const sim::Finding& f : check(true, driver)) ADD_FAILURE() << driver << ": " << f.to_string();
  }
}

INSTANTIATE_TEST_SUITE_P(Each, DslPairs,
                         testing::Values(Pair{"H7001", reads_before_the_wait}, Pair{"H7401", exchanges_without_a_barrier}, Pair{"H7003", writes_the_source_of_a_store},
                                         Pair{"H7006", refills_what_is_read}));

}  // namespace
}  // namespace drywell
