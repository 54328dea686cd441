// The command: --check, --strict, --json, --sarif, --explore, step --seed, mutate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "support/paths.h"
#include "support/process.h"

namespace drywell::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class CheckCommand : public testing::Test {
 protected:
  void SetUp() override {
    if (binary_path().empty()) GTEST_SKIP() << "the drywell command is not built";
  }
  static std::vector<std::string> fused(std::vector<std::string> more) {
    std::vector<std::string> all = {"run", "fused-rht", "--m=128", "--n=128", "--fences=false"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(CheckCommand, ACleanKernelIsSilent) {
  const Finished f = drywell({"run", "tma-copy", "--rows=64", "--columns=64", "--check", "--strict"});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_THAT(f.out, HasSubstr("none found"));
}

// The default level says what it did not look at.
TEST_F(CheckCommand, TheDefaultLevelSaysWhatItDoesNotFollow) {
  const Finished f = drywell({"run", "tma-copy", "--rows=64", "--columns=64"});
  EXPECT_THAT(f.out, HasSubstr("no error; bytes of shared and global memory were not followed (--check follows them)"));
  EXPECT_THAT(drywell(fused({})).out, HasSubstr("1 warning; bytes of shared and global memory were not followed (--check follows them, and shows the warnings)"));
  EXPECT_THAT(drywell({"run", "tma-copy", "--rows=64", "--columns=64", "--check=off"}).out, testing::Not(HasSubstr("hazards")));
}

TEST_F(CheckCommand, ExplainHasTheRuleAndBothKernels) {
  const Finished f = drywell({"explain", "H7001", "F3601", "E4305"});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_THAT(f.out, HasSubstr("H7001: shared memory is read before the copy that writes it is known to be complete"));
  EXPECT_THAT(f.out, HasSubstr("\n  +  WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;  // fix\n"));
  EXPECT_THAT(f.out, HasSubstr("\n   > ld.shared.b32 %r4, [smem];  // here\n"));
  EXPECT_THAT(f.out, HasSubstr("\nbarriers:\n@first mbarrier.init.shared::cta.b64 [bar], 1;\n"));
  EXPECT_THAT(f.out, HasSubstr("E4305: "));
  EXPECT_EQ(drywell({"explain", "H1"}).exit_code, 2);
  EXPECT_EQ(drywell({"explain", "h7001"}).out, drywell({"explain", "H7001"}).out);
}

TEST_F(CheckCommand, APoisonedBufferIsNotWritten) {
  const std::string file = testing::TempDir() + "drywell-poisoned-buffer.ptx";
  std::ofstream(file) << ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 to, .param .u64 from)\n{\n.reg .b32 %r1;\n.reg .b64 %rd<3>;\n"
                         "ld.param.u64 %rd1, [to];\nld.param.u64 %rd2, [from];\nld.global.u32 %r1, [%rd2];\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
  const Finished f = drywell({"run", file, "--check", "--arg", "u32[4]:zeros", "--arg", "u32[4]:poison"});
  EXPECT_THAT(f.out, HasSubstr("H7504")) << f.err;
  EXPECT_THAT(drywell({"run", file, "--check", "--arg", "u32[4]:zeros", "--arg", "u32[4]:zeros"}).out, testing::Not(HasSubstr("H7504")));
}

TEST_F(CheckCommand, WarningsCountOnlyIfStrict) {
  EXPECT_EQ(drywell(fused({"--check"})).exit_code, 0);
  const Finished f = drywell(fused({"--check", "--strict"}));
  EXPECT_EQ(f.exit_code, 1);
  EXPECT_THAT(f.out, HasSubstr("warning H7202"));
}

TEST_F(CheckCommand, JsonHasBothParties) {
  const json all = json::parse(drywell(fused({"--check", "--json=-"})).out).at("hazards");
  ASSERT_EQ(all.size(), 1u);
  const json& h = all[0];
  EXPECT_EQ(h.at("code"), "H7202");
  EXPECT_EQ(h.at("level"), "warning");
  for (const char* party : {"here", "other"}) {
    EXPECT_THAT(h.at(party).at("file").get<std::string>(), HasSubstr("kernel.cpp"));
    EXPECT_GT(h.at(party).at("line").get<int>(), 0);
    EXPECT_NE(h.at(party).at("lanes").get<uint32_t>(), 0u);
    EXPECT_EQ(h.at(party).at("cta").size(), 3u);
  }
  for (const char* text : {"rule", "memory", "why", "fix", "ptx_isa"}) EXPECT_FALSE(h.at(text).get<std::string>().empty()) << text;
}

// Requirements of the schema of SARIF 2.1.0 for the objects we write (sarif-schema-2.1.0.json, "required", "enum", "minimum").
void expect_place(const json& location) {
  const json& physical = location.at("physicalLocation");
  const std::string uri = physical.at("artifactLocation").at("uri");
  EXPECT_FALSE(uri.empty());
  EXPECT_EQ(uri.find_first_of("<> "), std::string::npos) << uri << " is no URI reference";
  EXPECT_GE(physical.at("region").at("startLine").get<int>(), 1);
  EXPECT_FALSE(location.at("message").at("text").get<std::string>().empty());
}

TEST_F(CheckCommand, SarifHasWhatTheSchemaRequires) {
  const TemporaryDirectory dir;
  drywell(fused({"--check", "--sarif=" + dir.file("x.sarif")}));
  std::ifstream in(dir.file("x.sarif"));
  const json log = json::parse(in);
  EXPECT_EQ(log.at("version"), "2.1.0");
  ASSERT_EQ(log.at("runs").size(), 1u);
  const json &run = log["runs"][0], &driver = run.at("tool").at("driver");
  EXPECT_EQ(driver.at("name"), "drywell");
  std::vector<std::string> ids;
  for (const json& rule : driver.at("rules")) {
    ids.push_back(rule.at("id"));
    EXPECT_FALSE(rule.at("shortDescription").at("text").get<std::string>().empty());
    EXPECT_THAT(rule.at("helpUri").get<std::string>(), HasSubstr("hazards.md"));
  }
  ASSERT_FALSE(run.at("results").empty());
  for (const json& r : run["results"]) {
    EXPECT_FALSE(r.at("message").at("text").get<std::string>().empty());
    EXPECT_THAT(ids, testing::Contains(r.at("ruleId").get<std::string>()));
    EXPECT_EQ(ids.at(r.at("ruleIndex").get<size_t>()), r["ruleId"].get<std::string>());
    EXPECT_THAT((std::vector<std::string>{"none", "note", "warning", "error"}), testing::Contains(r.at("level").get<std::string>()));
    for (const json& l : r.at("locations")) expect_place(l);
    for (const json& l : r.at("relatedLocations")) expect_place(l);
  }
}

// The change of a hazard in PTX text that one line removes; applying it makes the kernel silent.
TEST_F(CheckCommand, SarifHasFixes) {
  const TemporaryDirectory dir;
  const std::string path = dir.file("k.ptx");
  const std::string text = R"(.version 8.8
.target sm_100a
.address_size 64
.entry k(.param .u64 out) .reqntid 32
{
.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
.shared .align 16 .b8 tile[128];
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, tile;
add.u32 %r3, %r3, %r2;
st.shared.b32 [%r3], %r1;
bar.sync 0;
@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;
@%p1 cp.async.bulk.commit_group;
@%p1 cp.async.bulk.wait_group 0;
ret;
}
)";
  std::ofstream(path) << text;
  const std::vector<std::string> run{"run", path, "--check", "--buffer=out=u8[128]:zeros", "--arg=@out"};
  std::vector<std::string> with_sarif = run;
  with_sarif.push_back("--sarif=" + dir.file("x.sarif"));
  EXPECT_EQ(drywell(with_sarif).exit_code, 1);
  std::ifstream in(dir.file("x.sarif"));
  const json result = json::parse(in).at("runs").at(0).at("results").at(0);
  EXPECT_EQ(result.at("ruleId"), "H7101");
  const json change = result.at("fixes").at(0).at("artifactChanges").at(0).at("replacements").at(0);
  const int line = change.at("deletedRegion").at("startLine");
  EXPECT_EQ(line, 15);
  size_t at = 0;
  for (int i = 1; i < line; ++i) at = text.find('\n', at) + 1;
  std::ofstream(path) << text.substr(0, at) + change.at("insertedContent").at("text").get<std::string>() + text.substr(at);
  EXPECT_EQ(drywell(run).exit_code, 0);
}

TEST_F(CheckCommand, RefusesFlagsThatMakeNoSense) {
  EXPECT_EQ(drywell({"run", "tma-copy", "--check=off", "--strict"}).exit_code, 2);
  EXPECT_EQ(drywell({"run", "tma-copy", "--check=some"}).exit_code, 2);
}

TEST_F(CheckCommand, ExploresSchedules) {
  const Finished f = drywell({"run", "tma-copy", "--rows=64", "--columns=64", "--explore=5"});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_THAT(f.out, HasSubstr("5 schedules, all alike"));
}

// Two warps write one word: in eager runs the result is the lower warp's last value, under another schedule it is not.
constexpr std::string_view kRace = R"(
.version 9.0
.target sm_100a
.address_size 64
.visible .entry race(.param .u64 out) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  .shared .b32 word;
  mov.u32 %r0, %tid.x;
  shr.u32 %r1, %r0, 5;
  st.shared.b32 [word], %r1;
  bar.sync 0;
  ld.shared.b32 %r2, [word];
  ld.param.u64 %rd0, [out];
  st.global.b32 [%rd0], %r2;
  ret;
}
)";

TEST_F(CheckCommand, ExplorationNamesASeedThatStepReplays) {
  const TemporaryDirectory dir;
  const std::string ptx = dir.file("race.ptx"), script = dir.file("script");
  std::ofstream(ptx) << kRace;
  std::ofstream(script) << "continue\n";
  const std::vector<std::string> launch = {"--block=64", "--buffer=out=u32[1]:zeros", "--arg=@out"};
  std::vector<std::string> run = {"run", ptx, "--explore=50"};
  run.insert(run.end(), launch.begin(), launch.end());
  const Finished f = drywell(run);
  EXPECT_EQ(f.exit_code, 1) << f.out << f.err;
  std::smatch m;
  ASSERT_TRUE(std::regex_search(f.out, m, std::regex("seed ([0-9]+) of 50: 'out' differs from the first run's; `drywell step --seed=([0-9]+)` replays it"))) << f.out;
  std::vector<std::string> step = {"step", ptx, "--seed=" + m[1].str(), "--script=" + script};
  step.insert(step.end(), launch.begin(), launch.end());
  const Finished replayed = drywell(step);
  EXPECT_EQ(replayed.exit_code, 0) << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("shuffled:" + m[1].str()));
}

std::string copies(std::string_view waits) {
  return R"(
.version 9.0
.target sm_100a
.address_size 64
.visible .entry copies(.param .u64 in) {
  .reg .b64 %rd<2>;
  .reg .pred %p<3>;
  .reg .b32 %r<2>;
  .shared .align 8 .b64 bar;
  .shared .align 16 .b8 tile[512];
  mov.u32 %r0, %tid.x;
  setp.eq.u32 %p0, %r0, 0;
  ld.param.u64 %rd0, [in];
  @%p0 mbarrier.init.shared::cta.b64 [bar], 1;
  bar.sync 0;
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
  @%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd0], 512, [bar];
)" + std::string(waits) +
         R"(
  ret;
}
)";
}
const std::vector<std::string> kCopiesLaunch = {"--block=32", "--buffer=in=u8[512]:zeros", "--arg=@in"};

TEST_F(CheckCommand, ADefaultRunReportsErrors) {
  const TemporaryDirectory dir;
  std::ofstream(dir.file("k.ptx")) << copies("");  // no wait
  std::vector<std::string> run = {"run", dir.file("k.ptx")};
  run.insert(run.end(), kCopiesLaunch.begin(), kCopiesLaunch.end());
  const Finished f = drywell(run);
  EXPECT_EQ(f.exit_code, 1) << f.out << f.err;
  EXPECT_THAT(f.out, HasSubstr("error H7008"));
  EXPECT_THAT(f.out, HasSubstr("bytes of shared and global memory were not followed (--check follows them)\n"));
  std::vector<std::string> off = run, full = run;
  off.emplace_back("--check=off");
  EXPECT_EQ(drywell(off).exit_code, 0);
  full.emplace_back("--check");
  EXPECT_THAT(drywell(full).out, testing::Not(HasSubstr("not followed")));
}

// Files for machines say it, too.
TEST_F(CheckCommand, FilesOfTheDefaultLevelSayWhatItDoesNotFollow) {
  const TemporaryDirectory dir;
  const std::string sarif = dir.file("x.sarif");
  const auto run = [&](const char* check) {
    const Finished f = drywell({"run", "tma-copy", "--rows=64", "--columns=64", check, "--json=-", "--sarif=" + sarif});
    std::ifstream in(sarif);
    return std::pair{json::parse(f.out), json::parse(in).at("runs").at(0)};
  };
  const auto [basic, basic_sarif] = run("--check=basic");
  EXPECT_EQ(basic.at("not_followed"), "bytes of shared and global memory");
  const json& notes = basic_sarif.at("invocations").at(0).at("toolExecutionNotifications");
  EXPECT_EQ(notes.at(0).at("message").at("text"), "bytes of shared and global memory were not followed: --check follows them");
  const auto [full, full_sarif] = run("--check=full");
  EXPECT_FALSE(full.contains("not_followed"));
  EXPECT_FALSE(full_sarif.contains("invocations"));
}

TEST_F(CheckCommand, DrawsADeadlock) {
  const TemporaryDirectory dir;
  std::ofstream(dir.file("k.ptx")) << copies(R"(
  W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra W;
)");
  for (const char* name : {"hang.svg", "hang.dot"}) {
    std::vector<std::string> run = {"run", dir.file("k.ptx"), "--hang-picture=" + dir.file(name)};
    run.insert(run.end(), kCopiesLaunch.begin(), kCopiesLaunch.end());
    const Finished f = drywell(run);
    EXPECT_EQ(f.exit_code, 5) << f.out << f.err;
    EXPECT_THAT(f.out, HasSubstr("who waits for whom"));
    std::ifstream in(dir.file(name));
    const std::string picture{std::istreambuf_iterator<char>(in), {}};
    for (const char* part : {"warp 0", "mbarrier 0x400 (bar) of CTA rank 0", "512 bytes expected and not delivered", "waits for parity 0"}) EXPECT_THAT(picture, HasSubstr(part)) << name;
  }
}

// Each operator of `mutate` on a kernel that has something for it.
TEST_F(CheckCommand, MutantsOfEveryKind) {
  const TemporaryDirectory dir;
  const Finished f = drywell({"mutate", "gemm-blockscaled", "--m=128", "--n=128", "--k=256", "--cta-group=1", "--ctas=1", "--list"});
  ASSERT_EQ(f.exit_code, 0) << f.err;
  for (const char* what : {"without ", "true at once", "other parity", "count + 1", "bytes - 16", "groups + 1", "no retry", "next stage", "early dealloc", ".read "}) EXPECT_THAT(f.out, HasSubstr(what));
  const Finished pair = drywell({"mutate", "gemm-bf16", "--m=256", "--n=128", "--k=64", "--cta-group=2", "--list"});
  for (const char* what : {"without both", "scope .cta"}) EXPECT_THAT(pair.out, HasSubstr(what)) << pair.err;
  const Finished grouped = drywell({"mutate", "gemm-blockwise", "--groups=128x128x128,128x128x256", "--list"});
  EXPECT_THAT(grouped.out, HasSubstr("map rewritten early cp.async.bulk.tensor.2d")) << grouped.err;
}

// docs/hazards.md lists the mutants that survive, with reasons.
TEST_F(CheckCommand, MutantsAreReported) {
  const Finished f = drywell({"mutate", "tma-copy", "--rows=128", "--columns=64"});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  std::smatch m;
  ASSERT_TRUE(std::regex_search(f.out, m, std::regex("of the ([0-9]+) others ([0-9]+) reported \\(([0-9.]+) %\\)"))) << f.out;
  EXPECT_GT(std::stod(m[3]), 60.0) << f.out;
}

}  // namespace
}  // namespace drywell::test
