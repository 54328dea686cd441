// `drywell mutate` on a launch file: without expected values, the buffers of the first run are what a mutant is compared with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/core/files.h"
#include "support/process.h"

namespace drywell {
namespace {

using testing::HasSubstr;

// Every thread of two warps reads the word of its neighbour in the other warp: the barrier is needed.
constexpr const char* kExchange = R"(.version 8.6
.target sm_100a
.address_size 64
.visible .entry exchange(.param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 words[256];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, words;
  mad.lo.u32 %r3, %r1, 4, %r2;
  st.shared.u32 [%r3], %r1;
  bar.sync 0;
  xor.b32 %r4, %r1, 32;
  mad.lo.u32 %r5, %r4, 4, %r2;
  ld.shared.u32 %r6, [%r5];
  mad.wide.u32 %rd2, %r1, 4, %rd1;
  st.global.u32 [%rd2], %r6;
  ret;
}
)";
constexpr const char* kLaunch = R"(module = "exchange.ptx"
[buffers]
out = "u32[64]:zeros"
[[launch]]
entry = "exchange"
grid = 1
block = 64
args = ["@out"]
)";

TEST(Mutate, TakesALaunchFile) {
  const test::TemporaryDirectory d;
  write_file_atomically(d.file("exchange.ptx"), kExchange);
  write_file_atomically(d.file("launch.toml"), kLaunch);
  const test::Finished r = test::drywell({"mutate", d.file("launch.toml"), "-v"});
  ASSERT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_THAT(r.out, HasSubstr("hazard H7"));
  EXPECT_THAT(r.out, HasSubstr("(100.0 %), 0 only by wrong values, 0 survived"));
}

// A kernel of Hopper runs on Hopper only.
TEST(Mutate, TakesAKernelOfAnotherArchitecture) {
  const std::vector<std::string> small = {"mutate", "gemm-sm90-blockwise", "--m=128", "--n=128", "--k=128", "--ctas=1", "--list"};
  EXPECT_THAT(test::drywell(small).err, HasSubstr("--arch=sm_90a"));
  std::vector<std::string> hopper = small;
  hopper.push_back("--arch=sm_90a");
  const test::Finished r = test::drywell(hopper);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, testing::ContainsRegex("without +wgmma.wait_group.sync.aligned"));
}

// The last wait of the stores waits for nothing that anyone needs; without the one in the loop a tile is overwritten in flight.
TEST(Mutate, KnowsWaitsOfStoresThatNobodyNeeds) {
  const test::Finished r = test::drywell({"mutate", "tma-copy", "--rows=256", "--columns=64", "--sms=1", "-v"});
  EXPECT_THAT(r.out, testing::ContainsRegex("equivalent +without +cp.async.bulk.wait_group 0;"));
  EXPECT_THAT(r.out, testing::ContainsRegex("equivalent +groups . 1 +cp.async.bulk.wait_group 0;"));
  EXPECT_THAT(r.out, testing::ContainsRegex("hazard H7[^ ]* +without +cp.async.bulk.wait_group.read 0;"));
  EXPECT_THAT(r.out, HasSubstr("15 reported"));
}

// Kernels whose host side says nothing of its phases have a text, too.
TEST(Mutate, TakesEveryKernel) {
  for (const std::vector<std::string>& kernel : {std::vector<std::string>{"amax", "--rows=64", "--columns=64"}, {"interleave-shards", "--rows=16"}, {"swizzle-sf", "--rows=128", "--columns=4"}}) {
    std::vector<std::string> words = {"mutate", "--list"};
    words.insert(words.begin() + 1, kernel.begin(), kernel.end());
    const test::Finished r = test::drywell(words);
    EXPECT_EQ(r.exit_code, 0) << kernel[0] << r.err;
  }
}

TEST(Mutate, APtxFileNeedsItsLaunches) {
  const test::Finished r = test::drywell({"mutate", "exchange.ptx"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, HasSubstr("mutate takes a launch file"));
}

// A long list is run in parts.
TEST(Mutate, RunsAPartOfTheList) {
  const auto mutants = [](const std::vector<std::string>& part) {
    std::vector<std::string> words = {"mutate", "tma-copy", "--rows=64", "--columns=64", "--sms=1", "--list"};
    words.insert(words.end(), part.begin(), part.end());
    return test::drywell(words).out;
  };
  const std::string all = mutants({});
  const size_t one = all.find('\n') + 1, two = all.find('\n', one) + 1, three = all.find('\n', two) + 1;
  EXPECT_EQ(mutants({"--first=2", "--last=3"}), all.substr(one, three - one));
  EXPECT_EQ(mutants({"--first=2"}), all.substr(one));
  EXPECT_EQ(mutants({"--last=1"}), all.substr(0, one));
  EXPECT_EQ(test::drywell({"mutate", "tma-copy", "--first=3", "--last=2"}).exit_code, 2);
}

}  // namespace
}  // namespace drywell
