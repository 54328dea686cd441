// Writing, reading and comparing traces.
#include "drywell/sim/trace.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "drywell/core/files.h"
#include "drywell/isa/builder.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

using namespace drywell::isa;

/// One warp waits on an mbarrier the other arrives at; `stores` more instructions follow.
Module two_warps(int stores) {
  KernelBuilder k("two_warps");
  const Symbol out = k.param(Mod::u64, "out"), bar = k.shared("bar", 8, 8);
  const Reg tid = k.def("mov.u32", SpecialReg::tid_x), first = k.reg(Mod::pred), arriver = k.reg(Mod::pred);
  k("setp.eq.u32", first, tid, 0);
  k("setp.eq.u32", arriver, tid, 32);
  k.when(first)("mbarrier.init.shared::cta.b64", mem(bar), 1);
  k("bar.sync", 0);
  k.when(arriver)("mbarrier.arrive.shared::cta.b64", sink(), mem(bar));
  k.do_while([&] {
    const Reg done = k.reg(Mod::pred), again = k.reg(Mod::pred);
    k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), 0);
    k("not.pred", again, done);
    return again;
  });
  const Reg at = k.def("add.s64", k.load_param(out, Mod::u64), k.def("mul.wide.u32", tid, 4));
  for (int i = 0; i < stores; ++i) k("st.global.u32", mem(at), i);
  return k.finish();
}

std::string trace_of(Module m, TraceOptions options = {}, uint64_t bytes = 256) {
  Device d;
  const GmemAddr out = d.allocate(bytes, "out");
  const LoadedModule loaded = d.load(std::move(m));
  TraceText text;
  TraceWriter writer(text, std::move(options));
  RunOptions run;
  run.listeners.push_back(writer.listener());
  writer.finish(d.launch(loaded, "two_warps", {.grid = {1}, .block = {64}}, Args().add(out), run));
  return text.text;
}

TEST(Trace, StartsWithWhatRanAndHowToReadIt) {
  const std::string t = trace_of(two_warps(1), {.run = "two-warps --driver=eager", .arch = "sm_100a"});
  EXPECT_TRUE(t.starts_with("# trace 1\n# profile arch\n"));
  EXPECT_NE(t.find("\n# kernel two_warps grid=1.1.1 block=64.1.1 cluster=1.1.1\n"), std::string::npos);
  const TraceHeader h = parse_trace_header(t, "t");
  EXPECT_EQ(h.run, "two-warps --driver=eager");
  EXPECT_EQ(h.arch, "sm_100a");
}

TEST(Trace, HasAnOwnerOnEveryLine) {
  std::string t = trace_of(two_warps(1));
  size_t records = 0;
  for (size_t at = 0; at < t.size(); at = t.find('\n', at) + 1) {
    if (t[at] == '#') continue;
    EXPECT_EQ(t.compare(at, 10, "cta=0.0.0 "), 0) << t.substr(at, 60);
    ++records;
  }
  EXPECT_GT(records, 20u);
}

TEST(Trace, TellsAnMbarrierItsPhasePendingCountAndTransactions) {
  const std::string t = trace_of(two_warps(1));
  EXPECT_NE(t.find("cta=0.0.0 mbar=0x400 M init 1 phase=0 pending=1 tx=0\n"), std::string::npos) << t;
  EXPECT_NE(t.find("cta=0.0.0 mbar=0x400 M arrive 1 phase=0 pending=0 tx=0\n"), std::string::npos);
  EXPECT_NE(t.find("cta=0.0.0 mbar=0x400 M complete 0 phase=0"), std::string::npos);
  EXPECT_NE(t.find(" M wait mbar=0x400\n"), std::string::npos);
}

TEST(Trace, RecordsTheFault) {
  const std::string t = trace_of(two_warps(1), {}, 64);
  EXPECT_NE(t.find(" F F3001 "), std::string::npos) << t;
}

TEST(Trace, ValuesAreSharedValuesOrDigests) {
  const std::string t = trace_of(two_warps(1), {.values = true});
  // %r0 = tid differs by lane; a parameter is the same for all.
  EXPECT_NE(t.find("w=0 n=0 W %r0=~"), std::string::npos) << t;
  EXPECT_NE(t.find("=0x"), std::string::npos);
}

TEST(Trace, IsTheSameFromRunToRun) {
  EXPECT_EQ(trace_of(two_warps(3), {.values = true}), trace_of(two_warps(3), {.values = true}));
}

TEST(TraceDiff, FindsEqualTracesEqual) {
  const std::string t = trace_of(two_warps(2));
  const TraceDiff d = diff_traces(t, t);
  EXPECT_TRUE(d.equal()) << d.message;
  EXPECT_EQ(d.owners, 3u);  // two warps, one mbarrier
}

TEST(TraceDiff, NamesTheFirstDivergenceWithSourceAndWhatCameBefore) {
  const std::string a = trace_of(two_warps(2)), b = trace_of(two_warps(3));
  const TraceDiff d = diff_traces(a, b, {"old", "new", 0});
  EXPECT_EQ(d.differing_owners, 2u);
  EXPECT_NE(d.message.find("first: cta=0.0.0 w="), std::string::npos) << d.message;
  EXPECT_NE(d.message.find("new:"), std::string::npos);
  EXPECT_NE(d.message.find("st.global.u32"), std::string::npos);
  EXPECT_NE(d.message.find("trace_test.cpp:"), std::string::npos);
  EXPECT_NE(d.message.find("before it, both: I st"), std::string::npos);
}

TEST(TraceDiff, DoesNotCareHowOwnersInterleave) {
  const std::string head = "# trace 1\n# profile arch\n# kernel k grid=1.1.1 block=64.1.1 cluster=1.1.1\n";
  const std::string a = head + "cta=0.0.0 w=0 n=0 I mov pc=0\ncta=0.0.0 w=1 n=0 I mov pc=0\n";
  const std::string b = head + "cta=0.0.0 w=1 n=0 I mov pc=7\ncta=0.0.0 w=0 n=0 I mov pc=7\n";
  EXPECT_TRUE(diff_traces(a, b).equal());
}

TEST(TraceDiff, TakesTheEventsOfOnePhaseInAnyOrderButNotAcrossPhases) {
  const std::string head = "# trace 1\n# profile arch\n# kernel k grid=1.1.1 block=64.1.1 cluster=1.1.1\n";
  const std::string m = "cta=0.0.0 mbar=0x400 M ";
  const std::string expect = m + "expect_tx 64 phase=0 pending=1 tx=64\n",
                    deliver = m + "complete_tx 64 phase=0 pending=1 tx=-64\n";
  EXPECT_TRUE(diff_traces(head + expect + deliver, head + deliver + expect).equal());
  const std::string later = m + "expect_tx 64 phase=1 pending=1 tx=64\n";
  EXPECT_FALSE(diff_traces(head + expect + deliver, head + later + deliver).equal());
}

TEST(TraceDiff, AllowsCyclesWithinTheTolerance) {
  const std::string head = "# trace 1\n# profile cycle\n# kernel k grid=1.1.1 block=64.1.1 cluster=1.1.1\n";
  const std::string a = head + "cta=0.0.0 w=0 n=0 c=100 I mov pc=0\n",
                    b = head + "cta=0.0.0 w=0 n=0 c=103 I mov pc=0\n";
  EXPECT_FALSE(diff_traces(a, b).equal());
  EXPECT_FALSE(diff_traces(a, b, {"a", "b", 2}).equal());
  EXPECT_TRUE(diff_traces(a, b, {"a", "b", 3}).equal());
}

TEST(TraceDiff, RefusesTracesOfDifferentProfiles) {
  try {
    diff_traces("# trace 1\n# profile arch\n", "# trace 1\n# profile cycle\n");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::E4202);
  }
}

class TraceFiles : public testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        std::filesystem::temp_directory_path() / ("drywell_trace_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::filesystem::path directory_;
};

TEST_F(TraceFiles, PlainAndCompressedReadTheSame) {
  const std::string t = trace_of(two_warps(2));
  for (const char* name : {"a.trace", "a.trace.zst"}) {
    TraceFile f(path(name));
    f.write(t.substr(0, 100));
    f.write(t.substr(100));
    EXPECT_FALSE(std::filesystem::exists(path(name))) << "visible before commit";
    f.commit();
    EXPECT_EQ(read_trace(path(name)), t);
  }
  EXPECT_LT(std::filesystem::file_size(path("a.trace.zst")), std::filesystem::file_size(path("a.trace")));
}

TEST_F(TraceFiles, LeaveTheOldFileWhenNotCommitted) {
  write_file_atomically(path("a.trace"), std::string_view("old"));
  { TraceFile(path("a.trace")).write("new"); }
  EXPECT_EQ(read_text_file(path("a.trace")), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_F(TraceFiles, RefuseDamagedFiles) {
  const auto code_of = [&](const std::string& name) -> std::optional<Code> {
    try {
      read_trace(path(name));
    } catch (const InputError& e) {
      return e.code();
    }
    return std::nullopt;
  };
  TraceFile f(path("whole.zst"));
  f.write(trace_of(two_warps(2)));
  f.commit();
  const auto bytes = read_file(path("whole.zst"));
  write_file_atomically(path("cut.zst"), std::span(bytes).first(bytes.size() / 2));
  const std::string plain = trace_of(two_warps(2));
  write_file_atomically(path("whole.trace"), plain);
  write_file_atomically(path("cut.trace"), std::string_view(plain).substr(0, plain.size() - 3));
  write_file_atomically(path("text.zst"), std::string_view("# trace 1\n"));
  write_file_atomically(path("other.trace"), std::string_view("hello\n"));
  EXPECT_EQ(code_of("cut.zst"), Code::E4201);
  EXPECT_EQ(code_of("cut.trace"), Code::E4201);
  EXPECT_EQ(code_of("whole.trace"), std::nullopt);
  EXPECT_EQ(code_of("text.zst"), Code::E4201);
  EXPECT_EQ(code_of("other.trace"), Code::E4202);
  EXPECT_EQ(code_of("missing.trace"), Code::E4001);
}

}  // namespace
}  // namespace drywell::sim
