// mbarrier operations through executed instructions, against the reference model of docs/facts/tma-mbarrier.md
// §1.1 and the measured words of §1.6.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "support/async_run.h"
#include "support/smem_text.h"

namespace drywell::test {
namespace {

// The reference model of docs/facts/tma-mbarrier.md §1.1.
struct Model {
  uint64_t phase = 0;
  int64_t e = 0, p = 0, t = 0;
  explicit Model(int64_t count) : e(count), p(count) {}
  void try_complete() {
    if (p == 0 && t == 0) {
      ++phase;
      p = e;
    }
  }
  void expect(int64_t n) {
    t += n;
    try_complete();
  }
  void complete(int64_t n) {
    t -= n;
    try_complete();
  }
  void arrive(int64_t c) {
    p -= c;
    try_complete();
  }
  void arrive_expect(int64_t n) {
    t += n;
    p -= 1;
    try_complete();
  }
  void drop(int64_t c) {
    e -= c;
    p -= c;
    try_complete();
  }
  void drop_expect(int64_t n) {
    t += n;
    e -= 1;
    p -= 1;
    try_complete();
  }
  // docs/facts/tma-mbarrier.md §1.6, bit table.
  uint64_t word() const {
    const auto field = [](int64_t v, unsigned bits) {
      return static_cast<uint64_t>(v) & ((uint64_t{1} << bits) - 1);
    };
    return field(static_cast<int64_t>(phase & 1), 1) << 63 | field((1 << 20) - p, 20) << 43 |
           field(-t, 21) << 21 | field((1 << 20) - e, 20) << 1;
  }
};

// One thread; `out` is stored to buf0 word by word.
AsyncCase one_thread(std::string body, size_t words) {
  AsyncCase c;
  c.buffers = {to_bytes(std::vector<uint64_t>(words))};
  c.body = "  @!first bra END;\n" + std::move(body) + "END:\n";
  return c;
}
std::string keep(const char* reg, size_t i) {
  return fmt::format("  st.global.b64 [buf0+{}], {};\n", 8 * i, reg);
}
// Ends the object's life and keeps its word.
std::string word_to(size_t i) {
  return R"(
  mbarrier.inval.shared::cta.b64 [bar];
  ld.shared.b64 %rd9, [bar];
)" + keep("%rd9", i);
}

// The words printed in docs/facts/tma-mbarrier.md §1.6, measured on an H200.
TEST(MbarrierWord, MeasuredExamples) {
  const std::vector<std::pair<std::string, uint64_t>> rows = {
      {"mbarrier.init.shared::cta.b64 [bar], 5;", 0x7FFFD800001FFFF6},
      {"mbarrier.init.shared::cta.b64 [bar], 5; mbarrier.arrive.shared::cta.b64 _, [bar], 2;",
       0x7FFFE800001FFFF6},
      {"mbarrier.init.shared::cta.b64 [bar], 5; mbarrier.arrive.shared::cta.b64 _, [bar], 2; "
       "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 100;",
       0x7FFFEBFFF39FFFF6},
      {"mbarrier.init.shared::cta.b64 [bar], 2; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 64; "
       "mbarrier.arrive.shared::cta.b64 _, [bar]; mbarrier.arrive.shared::cta.b64 _, [bar];",
       0x00000000081FFFFC},
      {"mbarrier.init.shared::cta.b64 [bar], 2; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 64; "
       "mbarrier.arrive.shared::cta.b64 _, [bar]; mbarrier.arrive.shared::cta.b64 _, [bar]; "
       "mbarrier.expect_tx.shared::cta.b64 [bar], 64;",
       0xFFFFF000001FFFFC},
      {"mbarrier.init.shared::cta.b64 [bar], 1048575;", 0x0000080000000002}};
  std::string body;
  std::vector<uint64_t> want;
  for (const auto& [text, word] : rows) {
    body += "  " + text + "\n" + word_to(want.size());
    want.push_back(word);
  }
  EXPECT_EQ(from_bytes<uint64_t>(run_everywhere(one_thread(body, want.size())).at(0)), want);
}

// Random legal sequences; `remote`: on the barrier of the other CTA, so that every operation travels.
struct Sequence {
  int count;
  std::string text;
  Model model;
};
Sequence random_sequence(uint32_t seed, bool remote) {
  std::mt19937 rng(seed);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(rng() % static_cast<unsigned>(high - low + 1));
  };
  const int initial = pick(1, 6);
  Model m(initial);
  const std::string to = remote ? ".shared::cluster.b64 " : ".shared::cta.b64 ",
                    at = remote ? "[%r9]" : "[bar]";
  std::string text;
  for (int i = 0; i < 14; ++i) {
    const int bytes = pick(1, 500), kind = pick(0, 5);
    if (kind <= 1) {
      kind == 0 ? m.expect(bytes) : m.complete(bytes);
      text += fmt::format("  mbarrier.{}_tx.relaxed.cluster{}{}, {};\n", kind == 0 ? "expect" : "complete",
                          to, at, bytes);
    } else if (m.p == 0 || (kind >= 4 && m.e <= 1)) {
      continue;  // would fault
    } else if (kind == 2) {
      const auto count = pick(1, static_cast<int>(m.p));
      m.arrive(count);
      text += fmt::format("  mbarrier.arrive.release.cluster{}_, {}, {};\n", to, at, count);
    } else if (kind == 3) {
      m.arrive_expect(bytes);
      text += fmt::format("  mbarrier.arrive.expect_tx.relaxed.cluster{}_, {}, {};\n", to, at, bytes);
    } else if (kind == 4) {
      m.drop(1);
      text += fmt::format("  mbarrier.arrive_drop{}_, {};\n", to, at);
    } else {
      m.drop_expect(bytes);
      text += fmt::format("  mbarrier.arrive_drop.expect_tx{}_, {}, {};\n", to, at, bytes);
    }
  }
  return {initial, text, m};
}

TEST(MbarrierWord, RandomSequencesFollowTheModel) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Sequence q = random_sequence(seed, false);
    const AsyncCase c = one_thread(
        fmt::format("  mbarrier.init.shared::cta.b64 [bar], {};\n", q.count) + q.text + word_to(0), 1);
    EXPECT_EQ(from_bytes<uint64_t>(run_everywhere(c).at(0))[0], q.model.word()) << seed << "\n"
                                                                                << q.text;
  }
}

// In issue order (the eager and lazy drivers keep it) the remote operations leave the same word.
TEST(MbarrierWord, RemoteSequencesFollowTheModel) {
  for (uint32_t seed = 100; seed < 120; ++seed) {
    const Sequence q = random_sequence(seed, true);
    AsyncCase c;
    c.cluster = c.ctas = 2;
    c.buffers = {to_bytes(std::vector<uint64_t>(1))};
    c.body = init_bar(static_cast<uint32_t>(q.count)) + "  mapa.shared::cluster.u32 %r9, bar, 1;\n" +
             cluster_sync() + "  @!leader bra SENT;\n" + q.text + "SENT:\n" + cluster_sync() +
             R"(
  mov.u32 %r1, 0;
  SPIN: add.u32 %r1, %r1, 1;
  nanosleep.u32 1000;
  setp.lt.u32 %p1, %r1, 200;
  @%p1 bra SPIN;
  setp.eq.u32 %p2, rank, 1;
  and.pred %p2, %p2, first;
  @!%p2 bra END;
)" + word_to(0) +
             "END:\n" + cluster_sync();
    for (const auto driver : {sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::timed}) {
      const AsyncRun run = run_async(c, driver);
      ASSERT_TRUE(run.result.ok()) << run.result.fault->to_string();
      EXPECT_EQ(from_bytes<uint64_t>(run.buffers[0])[0], q.model.word())
          << seed << " " << sim::driver_name(driver) << "\n"
          << q.text;
    }
  }
}

// ---- states, parities, waits

TEST(MbarrierState, HighWordIsTheObjectsBeforeTheOperation) {
  Model m(4);
  std::string body = "  mbarrier.init.shared::cta.b64 [bar], 4;\n";
  std::vector<uint64_t> high;
  const auto step = [&](const std::string& text, const std::function<void()>& apply) {
    high.push_back(m.word() >> 32);
    body += "  " + text + R"(
  shr.u64 %rd1, %rd1, 32;
)" + keep("%rd1", high.size() - 1);
    apply();
  };
  step("mbarrier.arrive.shared::cta.b64 %rd1, [bar];", [&] { m.arrive(1); });
  step("mbarrier.arrive.noComplete.shared::cta.b64 %rd1, [bar], 2;", [&] { m.arrive(2); });
  step("mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [bar], 48;", [&] { m.arrive_expect(48); });
  body += "  mbarrier.complete_tx.shared::cta.b64 [bar], 48;\n";
  m.complete(48);
  step("mbarrier.arrive_drop.shared::cta.b64 %rd1, [bar];", [&] { m.drop(1); });
  step("mbarrier.arrive_drop.noComplete.release.cta.shared::cta.b64 %rd1, [bar], 1;", [&] { m.drop(1); });
  step("mbarrier.arrive_drop.expect_tx.shared::cta.b64 %rd1, [bar], 16;", [&] { m.drop_expect(16); });
  EXPECT_EQ(from_bytes<uint64_t>(run_everywhere(one_thread(body, high.size())).at(0)), high);
}

TEST(MbarrierState, PendingCountIsThatBeforeTheOperation) {
  std::string body = "  mbarrier.init.shared::cta.b64 [bar], 9;\n";
  std::vector<uint64_t> want;
  for (const int count : {2, 3, 1}) {
    body += fmt::format(R"(
  mbarrier.arrive.noComplete.shared::cta.b64 %rd1, [bar], {};
  mbarrier.pending_count.b64 %r1, %rd1;
  cvt.u64.u32 %rd2, %r1;
)",
                        count) +
            keep("%rd2", want.size());
    want.push_back(want.empty() ? 9 : want.size() == 1 ? 7
                                                       : 4);
  }
  EXPECT_EQ(from_bytes<uint64_t>(run_everywhere(one_thread(body, 3)).at(0)), want);
}

// docs/facts/tma-mbarrier.md §1.3: result = ((cur & 1) != q); register parities count by their low bit; states by their phase.
TEST(MbarrierWait, ParitiesAndStates) {
  std::string body = "  mbarrier.init.shared::cta.b64 [bar], 1;\n";
  std::vector<uint64_t> want;
  const auto test = [&](const std::string& operands, bool result, const char* form) {
    body += fmt::format(R"(
  mbarrier.{} %p1, [bar], {};
  selp.u64 %rd3, 1, 0, %p1;
)",
                        form, operands) +
            keep("%rd3", want.size());
    want.push_back(result);
  };
  for (uint64_t phase = 0; phase < 3; ++phase) {
    for (const char* form :
         {"test_wait.parity.shared::cta.b64", "test_wait.parity.acquire.cluster.shared::cta.b64",
          "try_wait.parity.relaxed.cta.shared::cta.b64"}) {
      test("0", phase % 2 != 0, form);
      test("1", phase % 2 != 1, form);
    }
    body += R"(
  mov.u32 %r1, 2;
  mov.u32 %r2, 3;
)";
    test("%r1", phase % 2 != 0, "test_wait.parity.shared::cta.b64");
    test("%r2", phase % 2 != 1, "test_wait.parity.shared::cta.b64");
    test("%r2, %r1", phase % 2 != 1, "try_wait.parity.shared::cta.b64");
    body += R"(
  mbarrier.expect_tx.shared::cta.b64 [bar], 8;
  mbarrier.arrive.shared::cta.b64 %rd1, [bar];
)";
    test("%rd1", false, "test_wait.shared::cta.b64");
    test("%rd1, 100", false, "try_wait.acquire.cta.shared::cta.b64");
    body += "  mbarrier.complete_tx.shared::cta.b64 [bar], 8;\n";
    test("%rd1", true, "test_wait.relaxed.cluster.shared::cta.b64");
    test("%rd1", true, "try_wait.shared::cta.b64");
  }
  EXPECT_EQ(from_bytes<uint64_t>(run_everywhere(one_thread(body, want.size())).at(0)), want);
}

// Generic addresses reach the same objects.
TEST(MbarrierAddress, GenericAddressesWork) {
  const AsyncCase c = one_thread(R"(
  mov.u64 %rd1, bar;
  cvta.shared.u64 %rd1, %rd1;
  mbarrier.init.b64 [%rd1], 2;
  mbarrier.arrive.b64 %rd2, [%rd1];
  mbarrier.arrive.shared::cta.b64 _, [bar];
  mbarrier.test_wait.b64 %p1, [%rd1], %rd2;
  selp.u64 %rd3, 1, 0, %p1;
)" + keep("%rd3", 0),
                                 1);
  EXPECT_EQ(from_bytes<uint64_t>(run_everywhere(c).at(0))[0], 1u);
}

// A ring between two warps: values arrive complete and in order, under every driver.
TEST(MbarrierPipeline, ProducerAndConsumerTakeTurns) {
  AsyncCase c;
  c.threads = 64;
  c.buffers = {to_bytes(std::vector<uint32_t>(64))};
  const auto wait = [](const char* at, const char* parity) {
    return fmt::format(R"(
  {{ .reg .pred done;
  AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, {}, {};
  @!done bra AGAIN; }}
)",
                       at, parity);
  };
  c.body =
      R"(
  @first mbarrier.init.shared::cta.b64 [bar], 32;
  @first mbarrier.init.shared::cta.b64 [bar+8], 32;
  bar.sync 0;
  and.b32 %r1, tid, 31;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, smem;
  add.u32 %r3, %r3, %r2;
  mov.u32 %r4, 0;
  setp.ge.u32 %p1, tid, 32;
  @%p1 bra CONSUME;
PRODUCE: and.b32 %r5, %r4, 1;
  xor.b32 %r6, %r5, 1;
)" + wait("[bar+8]", "%r6") +
      R"(
  mad.lo.u32 %r7, %r4, 1000, %r1;
  st.shared.b32 [%r3], %r7;
  mbarrier.arrive.shared::cta.b64 _, [bar];
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, 20;
  @%p2 bra PRODUCE;
  bra END;
CONSUME: mov.u32 %r8, 0;
  xor.b32 %r9, %r2, 4;
  mov.u32 %r10, smem;
  add.u32 %r9, %r9, %r10;
LOOP: and.b32 %r5, %r4, 1;
)" + wait("[bar]", "%r5") +
      R"(
  ld.shared.b32 %r7, [%r9];
  mad.lo.u32 %r8, %r8, 31, %r7;
  mbarrier.arrive.shared::cta.b64 _, [bar+8];
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, 20;
  @%p2 bra LOOP;
  cvt.u64.u32 %rd1, %r2;
  add.u64 %rd1, %rd1, buf0;
  st.global.b32 [%rd1], %r8;
END:
)";
  std::vector<uint32_t> want(64);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t i = 0; i < 20; ++i) want[lane] = want[lane] * 31 + i * 1000 + (lane ^ 1);
  }
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), want);
}

// libcu++'s cuda::pipeline ends the mbarriers that its shared state's destructor ends again (docs/found.md).
TEST(MbarrierWord, AnEndThatFindsNoMbarrierChangesNothing) {
  AsyncCase c = one_thread("  mbarrier.init.shared::cta.b64 [bar], 5;\n" + word_to(0) + "  st.shared.b64 [bar], 17;\n" + word_to(1), 2);
  EXPECT_EQ(from_bytes<uint64_t>(run_everywhere(c).at(0)), (std::vector<uint64_t>{0x7FFFD800001FFFF6, 17}));
}

// ---- reports

// The producer's second round comes before the first one's bytes.
TEST(MbarrierFaults, AnArrivalThatComesTooEarlyNamesTheWaitAheadOfIt) {
  const AsyncRun r = run_async(one_thread("  mbarrier.init.shared::cta.b64 [bar], 1;\n  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n", 1), sim::DriverKind::eager);
  ASSERT_FALSE(r.result.ok());
  EXPECT_NE(r.result.fault->message.find("all of them have come, and the phase waits for bytes (0 delivered, 64 expected): mbarrier.init counts too few arrivals, or a wait ahead of this arrival is true too early"), std::string::npos)
      << r.result.fault->message;
}

TEST(MbarrierFaults, AreReportedUnderEveryDriver) {
  const auto fault = [](const std::string& text, Code code) {
    expect_fault(one_thread(text, 1), code);
  };
  const std::string init = "  mbarrier.init.shared::cta.b64 [bar], 2;\n";
  fault("  mbarrier.arrive.shared::cta.b64 _, [bar];\n", Code::F3102);
  fault(init + R"(
  mbarrier.inval.shared::cta.b64 [bar];
  mbarrier.arrive.shared::cta.b64 _, [bar];
)",
        Code::F3102);
  fault(init + R"(
  mbarrier.inval.shared::cta.b64 [bar];
  mbarrier.inval.shared::cta.b64 [bar];
  mbarrier.arrive.shared::cta.b64 _, [bar];
)",
        Code::F3102);
  fault(init + "  mbarrier.arrive.shared::cta.b64 _, [bar], 3;\n", Code::F3103);
  fault(init + "  mbarrier.arrive_drop.shared::cta.b64 _, [bar], 3;\n", Code::F3103);
  fault(init + R"(
  mbarrier.expect_tx.shared::cta.b64 [bar], 1;
  mbarrier.arrive.shared::cta.b64 _, [bar], 2;
  mbarrier.arrive.shared::cta.b64 _, [bar];
)",
        Code::F3103);
  fault(init + R"(
  mbarrier.arrive_drop.shared::cta.b64 _, [bar], 2;
  mbarrier.arrive.shared::cta.b64 _, [bar];
)",
        Code::F3103);
  fault(init + "  mbarrier.expect_tx.shared::cta.b64 [bar], 1048576;\n", Code::F3104);
  fault(init + R"(
  mbarrier.expect_tx.shared::cta.b64 [bar], 1048575;
  mbarrier.expect_tx.shared::cta.b64 [bar], 1;
)",
        Code::F3104);
  fault(init + R"(
  mbarrier.complete_tx.shared::cta.b64 [bar], 1048575;
  mbarrier.complete_tx.shared::cta.b64 [bar], 1;
)",
        Code::F3104);
  fault(R"(
  mov.u32 %r1, 0;
  mbarrier.init.shared::cta.b64 [bar], %r1;
)",
        Code::F3105);
  fault(R"(
  mov.u32 %r1, 1048576;
  mbarrier.init.shared::cta.b64 [bar], %r1;
)",
        Code::F3105);
  fault("  mbarrier.init.shared::cta.b64 [bar+4], 1;\n", Code::F3101);
  fault(init + R"(
  mov.u32 %r1, bar;
  or.b32 %r1, %r1, 0x5000000;
  mbarrier.arrive.shared::cluster.b64 _, [%r1];
)",
        Code::F3501);
}

TEST(MbarrierLegality, AgreesWithPtxas) {
  expect_illegal("mbarrier.init.shared::cluster.b64 [%r1], 1", Code::E1101);
  expect_illegal("mbarrier.arrive.relaxed.shared::cta.b64 _, [%r2]", Code::E1350);
  expect_illegal("mbarrier.arrive.cluster.shared::cta.b64 _, [%r2]", Code::E1350);
  expect_illegal("mbarrier.expect_tx.cta.shared::cta.b64 [%r1], %r2", Code::E1350);
  expect_illegal("mbarrier.test_wait.cluster.shared::cta.b64 %p1, [%r1], %rd2", Code::E1350);
  expect_illegal("mbarrier.arrive.noComplete.shared::cluster.b64 _, [%r2], 1", Code::E1351);
  expect_illegal("mbarrier.arrive_drop.shared::cluster.b64 %rd1, [%r2], 1", Code::E1352);
  expect_illegal("mbarrier.arrive.expect_tx.shared::cluster.b64 %rd1, [%r2], %r1", Code::E1352);
  expect_illegal("mbarrier.arrive.shared::cta.b64 _, [%r2], 0", Code::E1353);
  expect_illegal("mbarrier.arrive_drop.shared::cta.b64 _, [%r2], 0", Code::E1353);
  expect_illegal("mbarrier.arrive.noComplete.relaxed.cta.shared::cta.b64 %rd1, [%r2], 1", Code::E1354);
  expect_illegal("mbarrier.arrive_drop.noComplete.release.cluster.shared::cta.b64 %rd1, [%r2], 1", Code::E1354);
  expect_illegal("mbarrier.arrive.noComplete.shared::cta.b64 %rd1, [%r2]", Code::E1359);
  expect_illegal("mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 2", Code::E1369);
  expect_illegal("mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], %r2, 100", Code::E1102);
  expect_illegal("mbarrier.try_wait.parity.shared::cluster.b64 %p1, [%r1], %r2", Code::E1101);
  expect_illegal("mbarrier.try_wait.parity.release.cta.shared::cta.b64 %p1, [%r1], %r2", Code::E1101);
  expect_illegal("mbarrier.arrive.shared::cta.b64 [%r2]", Code::E1102);
  expect_illegal("mbarrier.arrive.release.gpu.shared::cta.b64 _, [%r2]", Code::E1101);
  expect_legal("mbarrier.arrive_drop.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r2], %r1", "sm_90a");
  expect_legal("mbarrier.init.shared::cta.b64 [%r1], 0", "sm_90a");
  expect_legal("mbarrier.arrive.cluster.relaxed.shared::cta.b64 _, [%r2]", "sm_90a");
}

}  // namespace
}  // namespace drywell::test
