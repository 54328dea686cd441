// Sessions: the steps of a launch are those its driver does, and any way forward and back leads to the same
// state.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "kernels/registry.h"
#include "sim/debug/session.h"
#include "support/ptx_run.h"

namespace drywell::test {
namespace {

using sim::DriverKind;
using sim::RunOptions;
using sim::RunResult;
using sim::Session;

/// Gives the launch to a test's body.
class Probe : public sim::LaunchRunner {
 public:
  explicit Probe(std::function<void(Session&)> body) : body_(std::move(body)) {}
  RunResult run(const sim::Launch& launch, const RunOptions& options) override {
    Session s(launch, options);
    body_(s);
    while (s.step()) {
    }
    return s.result();
  }

 private:
  std::function<void(Session&)> body_;
};

struct Subject {
  std::string name;
  std::vector<std::pair<std::string, std::string>> params;
};

kernels::KernelReport run(const Subject& k, RunOptions options) {
  const kernels::Kernel& kernel = kernels::find_kernel(k.name);
  kernels::RunContext c;
  c.params = kernels::Params(kernel.name, kernel.parameters, k.params);
  c.options = std::move(options);
  c.verify = true;
  return kernel.run(c);
}

const std::vector<Subject> kSubjects = {
    {"fused-rht", {{"m", "256"}, {"n", "256"}}},
    {"gemm-bf16", {{"m", "256"}, {"n", "128"}, {"k", "128"}}},
    {"tma-copy", {{"rows", "128"}, {"columns", "128"}}},
};
const std::vector<std::pair<DriverKind, uint64_t>> kPolicies = {{DriverKind::eager, 0}, {DriverKind::lazy, 0}, {DriverKind::shuffled, 1}, {DriverKind::shuffled, 6}, {DriverKind::timed, 0}};

TEST(Session, DoesWhatTheDriverDoes) {
  for (const Subject& k : kSubjects) {
    for (const auto& [driver, seed] : kPolicies) {
      const auto options = [&, d = driver, s = seed] {
        RunOptions o;
        o.driver = d;
        o.seed = s;
        o.threads = 1;
        return o;
      };
      const kernels::KernelReport whole = run(k, options());
      Probe probe([](Session&) {});
      RunOptions stepped = options();
      stepped.runner = &probe;
      const kernels::KernelReport steps = run(k, stepped);
      ASSERT_TRUE(steps.run.ok()) << steps.run.fault->to_string();
      EXPECT_TRUE(steps.verify.passed()) << k.name << steps.verify.first_mismatch;
      EXPECT_EQ(steps.run.warp_instructions, whole.run.warp_instructions) << k.name << " under " << driver_name(driver);
      EXPECT_EQ(steps.run.cycles, whole.run.cycles) << k.name << " under " << driver_name(driver);
    }
  }
}

/// Walks forward and back at random; wherever it was before, everything must be as it was.
void wander(Session& s, uint64_t seed, uint64_t length) {
  std::map<uint64_t, uint64_t> seen{{0, s.digest()}};
  Words random(seed);
  for (int i = 0; i < 24; ++i) {
    const uint64_t to = random.next() % 3 == 0 && seen.size() > 3 ? std::next(seen.begin(), static_cast<ptrdiff_t>(random.next() % seen.size()))->first
                                                                  : random.next() % length;
    s.seek(to);
    const uint64_t digest = s.digest();
    const auto [it, fresh] = seen.emplace(s.position(), digest);
    ASSERT_EQ(it->second, digest) << "at " << s.position() << ", " << (fresh ? "fresh" : "seen before");
  }
  for (const auto& [position, digest] : seen) {
    s.seek(position);
    ASSERT_EQ(s.digest(), digest) << "at " << position;
  }
}

TEST(Session, AnyWayForwardAndBackLeadsToTheSameState) {
  for (const Subject& k : kSubjects) {
    for (const auto& [driver, seed] : kPolicies) {
      SCOPED_TRACE(fmt::format("{} {}:{}", k.name, driver_name(driver), seed));
      Probe probe([seed = seed](Session& s) { wander(s, seed + 7, 30'000); });
      RunOptions options;
      options.driver = driver;
      options.seed = seed;
      options.runner = &probe;
      const kernels::KernelReport r = run(k, options);
      EXPECT_TRUE(r.verify.passed()) << r.verify.first_mismatch;
    }
  }
}

constexpr std::string_view kTogether = R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry together(.param .u64 counter) {
  .reg .b32 %r<4>;
  .reg .b64 %a;
  .reg .pred %p;
  ld.param.u64 %a, [counter];
  atom.global.add.u32 %r0, [%a], 1;
wait:
  ld.volatile.global.u32 %r1, [%a];
  setp.lt.u32 %p, %r1, 128;
  @%p bra wait;
  ret;
}
)";

// The first of two clusters spins until the second comes, and the second until somebody helps the counter along.
TEST(Session, ClustersThatSpinOnEachOther) {
  sim::Device device;
  const GmemAddr counter = device.allocate(4, "counter");
  const sim::LoadedModule m = device.load_ptx(kTogether);
  for (const auto& [driver, seed] : kPolicies) {
    device.fill(counter, 0, 4);
    Probe probe([&](Session& s) {
      s.seek(3000);
      const uint64_t digest = s.digest();
      s.seek(10);
      s.seek(3000);
      EXPECT_EQ(s.digest(), digest);
      device.fill(counter, 0xFF, 1);  // 255: enough came
    });
    RunOptions o;
    o.driver = driver;
    o.seed = seed;
    o.runner = &probe;
    EXPECT_TRUE(device.launch(m, "together", {.grid = {2}, .block = {64}}, sim::Args().add(counter), o).ok());
  }
}

// A cluster that polls gives way after the same instruction in a session as in a run: the counts are the same, and the end is reached.
TEST(Session, GivesWayWhereTheDriverDoes) {
  std::string text(kTogether);
  text.replace(text.find(", 128;"), 6, ", 192;");  // three CTAs of 64 threads
  for (const auto& [driver, seed] : kPolicies) {
    uint64_t counts[2];
    for (const bool stepped : {false, true}) {
      sim::Device device;
      const GmemAddr counter = device.allocate(4, "counter");
      device.fill(counter, 0, 4);
      const sim::LoadedModule m = device.load_ptx(text);
      Probe probe([](Session& s) { s.seek(1'000'000); });
      RunOptions o{.driver = driver, .threads = 1};
      o.seed = seed;
      o.runner = stepped ? &probe : nullptr;
      const sim::RunResult r = device.launch(m, "together", {.grid = {3}, .block = {64}}, sim::Args().add(counter), o);
      EXPECT_TRUE(r.ok());
      counts[stepped ? 1 : 0] = r.warp_instructions;
    }
    EXPECT_EQ(counts[0], counts[1]) << driver_name(driver);
  }
}

constexpr std::string_view kDeadlock = R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry deadlock() {
  .shared .align 8 .b64 bar;
  .reg .b32 %r<4>;
  .reg .pred %p;
  mov.u32 %r0, bar;
  mbarrier.init.shared.b64 [%r0], 5;
wait:
  mbarrier.try_wait.parity.shared.b64 %p, [%r0], 0;
  @!%p bra wait;
  ret;
}
)";

TEST(Session, ADeadlockIsFoundAsInARun) {
  sim::Device device;
  const sim::LoadedModule m = device.load_ptx(kDeadlock);
  for (const auto& [driver, seed] : kPolicies) {
    RunOptions o;
    o.driver = driver;
    o.seed = seed;
    const RunResult whole = device.launch(m, "deadlock", {.grid = {3}, .block = {32}}, {}, o);
    Probe probe([](Session&) {});
    o.runner = &probe;
    const RunResult steps = device.launch(m, "deadlock", {.grid = {3}, .block = {32}}, {}, o);
    ASSERT_TRUE(whole.fault.has_value() && steps.fault.has_value());
    EXPECT_EQ(steps.fault->to_string(), whole.fault->to_string());
    EXPECT_EQ(steps.warp_instructions, whole.warp_instructions);
  }
}

constexpr std::string_view kFaulty = R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry faulty(.param .u64 data) {
  .reg .b32 %r<4>;
  .reg .b64 %a;
  ld.param.u64 %a, [data];
  mov.u32 %r0, 5;
  st.global.u32 [%a], %r0;
  st.global.u32 [%a+4096], %r0;
  ret;
}
)";

TEST(Session, AFaultIsAStepAndCanBeLeftAgain) {
  sim::Device device;
  const GmemAddr data = device.allocate(4, "data");
  const sim::LoadedModule m = device.load_ptx(kFaulty);
  Probe probe([](Session& s) {
    while (s.step()) {
    }
    ASSERT_TRUE(s.fault().has_value());
    EXPECT_EQ(s.fault()->code, Code::F3001);
    const uint64_t end = s.position();
    EXPECT_EQ(end, 4u);
    s.seek(end - 1);
    EXPECT_FALSE(s.fault().has_value());
    EXPECT_FALSE(s.over());
    EXPECT_EQ(s.find({0, 0, 0})->pc, 3u);
    s.seek(end);
    EXPECT_TRUE(s.fault().has_value());
  });
  RunOptions o;
  o.runner = &probe;
  EXPECT_FALSE(device.launch(m, "faulty", {.grid = {1}, .block = {32}}, sim::Args().add(data), o).ok());
}

TEST(Session, StartsAgainUnderAnotherPolicy) {
  Probe probe([](Session& s) {
    s.seek(2000);
    const uint64_t eager = s.digest();
    s.restart(DriverKind::shuffled, 3);
    EXPECT_EQ(s.position(), 0u);
    s.seek(2000);
    EXPECT_NE(s.digest(), eager);
    s.restart(DriverKind::eager, 0);
    s.seek(2000);
    EXPECT_EQ(s.digest(), eager);
    s.restart(DriverKind::lazy, 0);
  });
  RunOptions o;
  o.runner = &probe;
  EXPECT_TRUE(run(kSubjects[0], o).verify.passed());
}

}  // namespace
}  // namespace drywell::test
