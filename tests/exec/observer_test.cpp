// The public observer: listeners as a user writes them, on a kernel whose numbers are known by hand.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <drywell/isa/builder.h>
#include <drywell/sim/device.h>
#include <drywell/sim/observer.h>

namespace drywell::test {
namespace {

using namespace sim;

constexpr uint32_t kCtas = 3, kThreads = 64, kWarps = kThreads / kWarpSize, kBytes = 8 * kThreads;
// Shared memory of the kernel begins at 0x400, variables in the order of their declaration.
constexpr uint32_t kRowAt = 0x400, kBarAt = kRowAt + kBytes;

/// Each CTA copies its row to shared memory, doubles it and stores it.
isa::Module doubled() {
  using namespace isa;
  KernelBuilder k("doubled");
  const Symbol x = k.param(Mod::u64, "x"), y = k.param(Mod::u64, "y");
  const Symbol row = k.shared("row", kBytes, 16), bar = k.shared("bar", 8, 8);
  const Reg tid = k.def("mov.u32", SpecialReg::tid_x), cta = k.def("mov.u32", SpecialReg::ctaid_x), first = k.reg(Mod::pred);
  const Reg skipped = k.def("mul.wide.u32", cta, kBytes), own = k.def("mul.wide.u32", tid, 8);
  const Reg from = k.def("add.u64", k.load_param(x, Mod::u64), skipped), to = k.def("add.u64", k.load_param(y, Mod::u64), skipped);
  k("setp.eq.u32", first, tid, 0);
  k.if_(first, [&] {
    k("mbarrier.init.shared::cta.b64", mem(bar), 1);
    k("fence.mbarrier_init.release.cluster");
  });
  k("bar.sync", 0);
  k.if_(first, [&] {
    k("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(bar), kBytes);
    k("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", mem(row), mem(from), kBytes, mem(bar));
  });
  k.do_while([&] {
    const Reg done = k.reg(Mod::pred), again = k.reg(Mod::pred);
    k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), 0);
    k("not.pred", again, done);
    return again;
  });
  const Reg base = k.def("mov.u32", row), place = k.def("add.u32", base, k.def("shl.b32", tid, 3));
  const Reg value = k.def("ld.shared.u64", mem(place));
  const Reg twice = k.def("add.u64", value, value);
  k("st.global.u64", mem(k.def("add.u64", to, own)), twice);
  return k.finish();
}

struct Watched {
  Device device;
  GmemAddr x, y;
  RunResult result;
};

Watched run_watched(std::vector<Observer*> observers, DriverKind driver) {
  Watched run;
  std::vector<uint64_t> host(kCtas * kThreads);
  std::iota(host.begin(), host.end(), uint64_t{1});
  run.x = run.device.allocate(kCtas * kBytes, "x");
  run.y = run.device.allocate(kCtas * kBytes, "y");
  run.device.write(run.x, host.data(), kCtas * kBytes);
  RunOptions options;
  options.driver = driver;
  options.observers = std::move(observers);
  run.result = run.device.launch(run.device.load(doubled()), "doubled", {.grid = {kCtas}, .block = {kThreads}}, Args().add(run.x).add(run.y), options);
  EXPECT_TRUE(run.result.ok());
  std::vector<uint64_t> got(host.size());
  run.device.read(got.data(), run.y, kCtas * kBytes);
  for (size_t i = 0; i < host.size(); ++i) EXPECT_EQ(got[i], 2 * host[i]);
  return run;
}

class EveryDriver : public testing::TestWithParam<DriverKind> {};
INSTANTIATE_TEST_SUITE_P(Observer, EveryDriver, testing::Values(DriverKind::eager, DriverKind::lazy, DriverKind::shuffled, DriverKind::timed),
                         [](const auto& i) { return std::string(driver_name(i.param)); });

class InstructionCounter : public Observer {
 public:
  ObserverWants wants() const override { return {.memory = false, .waits = false, .spans = false}; }
  void launch_started(const LaunchEvent& e) override {
    started.emplace_back(e.kernel);
    grid = e.grid;
    shared_bytes = e.shared_bytes;
    length = e.code.size();
  }
  void launch_finished() override { ++finished; }
  void cta_started(const CtaEvent& e) override { ctas.insert(e.cta.index.x); }
  void cta_finished(const CtaEvent&) override { ++ctas_finished; }
  void instruction(const InstructionEvent& e) override {
    ++all;
    lanes[e.at.text.substr(0, e.at.text.find(' '))] += static_cast<uint64_t>(std::popcount(e.lanes));
    if (e.at.text.starts_with("st.")) files.insert(e.at.source.file.substr(e.at.source.file.rfind('/') + 1));
  }
  void memory(const MemoryEvent&) override { ADD_FAILURE() << "not wanted"; }

  std::vector<std::string> started;
  Dim3 grid;
  uint32_t shared_bytes = 0, finished = 0, ctas_finished = 0;
  size_t length = 0;
  std::set<uint32_t> ctas;
  uint64_t all = 0;
  std::map<std::string, uint64_t> lanes;
  std::set<std::string> files;
};

TEST_P(EveryDriver, CountsInstructions) {
  InstructionCounter count;
  const Watched run = run_watched({&count}, GetParam());
  EXPECT_EQ(count.started, std::vector<std::string>{"doubled"});
  EXPECT_EQ(count.grid, (Dim3{kCtas, 1, 1}));
  EXPECT_EQ(count.shared_bytes, 1024 + kBytes + 16u);  // reserved, row, the barrier rounded up to 16
  EXPECT_GT(count.length, 20u);
  EXPECT_EQ(count.finished, 1u);
  EXPECT_EQ(count.ctas, (std::set<uint32_t>{0, 1, 2}));
  EXPECT_EQ(count.ctas_finished, kCtas);
  EXPECT_EQ(count.lanes["st.global.u64"], kCtas * kThreads);
  EXPECT_EQ(count.lanes["ld.shared.u64"], kCtas * kThreads);
  EXPECT_EQ(count.lanes["add.u64"], 4 * kCtas * kThreads);  // from, to, the store's address, the sum
  EXPECT_EQ(count.lanes["mbarrier.init.shared::cta.b64"], kCtas);
  EXPECT_EQ(count.lanes["bar.sync"], kCtas * kThreads);
  EXPECT_EQ(count.files, std::set<std::string>{"observer_test.cpp"});
}

/// Bytes by space, direction and address; those of copies too.
class TrafficMeter : public Observer {
 public:
  ObserverWants wants() const override { return {.instructions = false, .waits = false}; }
  void instruction(const InstructionEvent&) override { ADD_FAILURE() << "not wanted"; }
  void memory(const MemoryEvent& e) override {
    (e.store ? stored : loaded)[e.space] += e.bytes * static_cast<uint64_t>(std::popcount(e.lanes));
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (e.store && (e.lanes >> lane & 1) != 0) stores.insert(e.addresses[lane]);
    }
  }
  void async(const AsyncEvent& e) override {
    EXPECT_EQ(e.kind, AsyncKind::bulk_copy);
    EXPECT_EQ(e.id, 1u);
    EXPECT_EQ(e.issuer.warp, 0u);
    EXPECT_EQ(e.lane, 0u);
    EXPECT_TRUE(e.at.text.starts_with("cp.async.bulk.shared::cta")) << e.at.text;
    ++moments[e.moment];
    for (const Span& s : e.reads) reads.push_back(s);
    for (const Span& s : e.writes) writes.push_back(s);
  }

  std::map<Space, uint64_t> loaded, stored;
  std::set<uint64_t> stores;
  std::map<AsyncMoment, uint32_t> moments;
  std::vector<Span> reads, writes;
};

TEST_P(EveryDriver, MetersMemory) {
  TrafficMeter meter;
  const Watched run = run_watched({&meter}, GetParam());
  EXPECT_EQ(meter.loaded[Space::shared_cta], kCtas * kBytes);
  EXPECT_EQ(meter.stored[Space::global], kCtas * kBytes);
  EXPECT_EQ(meter.loaded.count(Space::global), 0u);
  EXPECT_EQ(meter.stores.size(), kCtas * kThreads);
  EXPECT_EQ(*meter.stores.begin(), run.y.value());
  EXPECT_EQ(*meter.stores.rbegin(), run.y.value() + kCtas * kBytes - 8);
  EXPECT_EQ(meter.moments[AsyncMoment::issue], kCtas);
  EXPECT_EQ(meter.moments[AsyncMoment::signal], kCtas);
  uint64_t read = 0, written = 0;
  for (const Span& s : meter.reads) {
    EXPECT_EQ(s.memory, Memory::global);
    EXPECT_GE(s.begin, run.x.value());
    EXPECT_LE(s.begin + s.bytes, run.x.value() + kCtas * kBytes);
    read += s.bytes;
  }
  for (const Span& s : meter.writes) {
    EXPECT_EQ(s.memory, Memory::shared);
    EXPECT_GE(s.begin, kRowAt);
    EXPECT_LE(s.begin + s.bytes, kRowAt + kBytes);
    written += s.bytes;
  }
  EXPECT_EQ(read, kCtas * kBytes);
  EXPECT_EQ(written, kCtas * kBytes);
}

/// What happened to each CTA's barrier, in order.
class MbarrierLog : public Observer {
 public:
  struct Entry {
    MbarrierEvent what{};
    int64_t amount = 0;
    uint64_t phase = 0;
    uint32_t pending = 0;
    int32_t tx = 0;
    bool operator==(const Entry&) const = default;
  };
  ObserverWants wants() const override { return {.instructions = false, .memory = false, .waits = false, .spans = false}; }
  void mbarrier(const MbarrierChange& e) override {
    EXPECT_EQ(e.offset, kBarAt);
    EXPECT_EQ(e.expected, 1u);
    of_cta[e.cta.index.x].push_back({e.what, e.amount, e.phase, e.pending, e.tx});
  }
  void async(const AsyncEvent& e) override { EXPECT_TRUE(e.reads.empty() && e.writes.empty()); }

  std::map<uint32_t, std::vector<Entry>> of_cta;
};

TEST_P(EveryDriver, LogsMbarriers) {
  MbarrierLog log;
  run_watched({&log}, GetParam());
  using E = MbarrierEvent;
  // The arrival that expects bytes is two events, after both have taken effect.
  const std::vector<MbarrierLog::Entry> want = {
      {E::init, 1, 0, 1, 0}, {E::expect_tx, kBytes, 0, 0, kBytes}, {E::arrive, 1, 0, 0, kBytes}, {E::complete_tx, kBytes, 1, 1, 0}, {E::phase_complete, 0, 1, 1, 0}};
  ASSERT_EQ(log.of_cta.size(), kCtas);
  for (const auto& [cta, entries] : log.of_cta) EXPECT_EQ(entries, want) << "CTA " << cta;
}

/// The rest: barriers, blocks and stalls.
class Waits : public Observer {
 public:
  void named_barrier(const NamedBarrierEvent& e) override {
    EXPECT_EQ(e.id, 0u);
    ++arrivals;
    completed += e.completed;
  }
  void blocked(const BlockedEvent& e) override { reasons.insert(block_reason_name(e.reason)); }
  void stalled(const StallEvent& e) override { waited[e.who.cta.index.x] += e.to - e.from; }
  void mbarrier(const MbarrierChange& e) override { waits += e.what == MbarrierEvent::wait_true ? 1 : 0; }

  uint32_t arrivals = 0, waits = 0;
  uint64_t completed = 0;
  std::set<std::string> reasons;
  std::map<uint32_t, uint64_t> waited;
};

TEST(Observer, IsToldOfWaits) {
  Waits eager, timed;
  run_watched({&eager}, DriverKind::eager);
  EXPECT_EQ(eager.arrivals, kCtas * kWarps);
  EXPECT_EQ(eager.completed, kCtas);  // the second warp's arrival completes each CTA's
  EXPECT_EQ(eager.waits, kCtas * kWarps);
  EXPECT_TRUE(eager.waited.empty());
  EXPECT_TRUE(eager.reasons.contains("named_barrier"));
  run_watched({&timed}, DriverKind::timed);
  EXPECT_EQ(timed.waited.size(), kCtas);
  EXPECT_TRUE(timed.reasons.contains("mbarrier"));
}

TEST(Observer, ManyWatchOneLaunchEachAsItWants) {
  InstructionCounter count, again;
  TrafficMeter meter;
  run_watched({&count, &meter, &again}, DriverKind::eager);
  EXPECT_EQ(count.all, again.all);
  EXPECT_EQ(meter.loaded[Space::shared_cta], kCtas * kBytes);
}

}  // namespace
}  // namespace drywell::test
