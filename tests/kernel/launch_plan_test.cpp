// PTX from outside, launched by a file: buffers, scalars, tensor maps, several launches, expectations.
#include "launch/plan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <span>

#include "drywell/core/files.h"
#include "drywell/core/npy.h"

namespace drywell::kernels {
namespace {

constexpr const char* kScale = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry scale(.param .u64 p, .param .f32 a, .param .u32 n)
{
  .reg .pred %q;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [p];
  ld.param.f32 %f0, [a];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %q, %r4, %r0;
  @%q bra done;
  mul.wide.u32 %rd1, %r4, 4;
  add.s64 %rd2, %rd0, %rd1;
  ld.global.f32 %f1, [%rd2];
  mul.f32 %f2, %f1, %f0;
  st.global.f32 [%rd2], %f2;
done:
  ret;
}
)";

class LaunchPlanFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("drywell-plan-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    write_file_atomically(file("k.ptx"), std::string_view(kScale));
    std::vector<float> want(100);
    for (size_t i = 0; i < want.size(); ++i) want[i] = static_cast<float>(i) * 6.0f;
    write_npy(file("want.npy"), NpyArray::of<float>(want, {100}));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const char* name) const { return (folder_ / name).string(); }
  std::string plan(std::string_view text) {
    write_file_atomically(file("plan.toml"), text);
    return file("plan.toml");
  }
  std::filesystem::path folder_;
};

TEST_F(LaunchPlanFile, RunsSeveralKernelsOnOneMemoryAndCompares) {
  const LaunchPlan p = read_launch_file(plan(R"(
module = "k.ptx"
[buffers]
x = "f32[100]:iota"
[expect]
x = "want.npy"
[save]
x = "out.npy"
[[launch]]
entry = "scale"
grid = 2
block = [64]
args = ["@x", "f32:2", "u32:100"]
[[launch]]
entry = "scale"
grid = [2, 1, 1]
block = 64
args = ["@x", "f32:3", "u32:100"]
)"));
  SimulatedDevice device;
  const PlanResult r = run_plan(p, device, {});
  save_buffers(p, r);
  ASSERT_EQ(r.runs.size(), 2u);
  ASSERT_EQ(r.comparisons.size(), 1u);
  EXPECT_EQ(r.comparisons[0].compared, 100u);
  EXPECT_EQ(r.comparisons[0].mismatches, 0u) << r.comparisons[0].first;
  EXPECT_EQ(read_npy(file("out.npy")).values<float>()[7], 42.0f);
}

// A kernel that reads B where A is meant must not pass.
TEST_F(LaunchPlanFile, RandomBuffersDiffer) {
  const LaunchPlan p = read_launch_file(plan(R"(
module = "k.ptx"
[buffers]
a = "f32[64]:random"
b = "f32[64]:random"
c = "f32[64]:random,seed=1"
d = "f32[64]:random,of=0|1"
e = "f32[64]:random,of=0|1"
[[launch]]
block = 64
args = ["@a", "f32:1", "u32:0"]
)"));
  SimulatedDevice device, other;
  const PlanResult r = run_plan(p, device, {}), again = run_plan(p, other, {});
  ASSERT_EQ(r.buffers.size(), 5u);
  EXPECT_NE(r.buffers[0].bytes, r.buffers[1].bytes);
  EXPECT_EQ(r.buffers[0].bytes, r.buffers[2].bytes);  // the first has seed 1, as ever
  EXPECT_NE(r.buffers[3].bytes, r.buffers[4].bytes);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(r.buffers[i].bytes, again.buffers[i].bytes) << i;
}

TEST_F(LaunchPlanFile, SaysWhichElementDiffersFirst) {
  const LaunchPlan p = read_launch_file(plan("module = 'k.ptx'\nbuffers.x = 'f32[100]:iota'\nexpect.x = 'want.npy,abs=0.5'\n[[launch]]\nblock = 128\nargs = ['@x', 'f32:5', 'u32:100']\n"));
  SimulatedDevice device;
  const PlanResult r = run_plan(p, device, {});
  EXPECT_FALSE(r.ok());
  EXPECT_EQ(r.comparisons[0].mismatches, 99u);
  EXPECT_EQ(r.comparisons[0].first, "[1]: 5, expected 6");
}

TEST_F(LaunchPlanFile, ReportsEveryProblemWithItsLine) {
  try {
    read_launch_file(plan("module = 'k.ptx'\nspeed = 3\n[buffers]\nx = 'f33[10]'\ny = 'f32[10]:ranom'\n[[launch]]\nblck = 3\nargs = ['u32:-', 'u8:300']\n"));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics().error_count(), 6u) << e.what();
    for (const char* said : {"plan.toml:2:9: error E4406: unknown key 'speed'", "plan.toml:4:5: error E4401", "plan.toml:5:5: error E4402", "plan.toml:7:8: error E4406", "plan.toml:8:9: error E4404",
                             "plan.toml:8:18: error E4404"}) {
      EXPECT_NE(std::string(e.what()).find(said), std::string::npos) << said << "\n"
                                                                     << e.what();
    }
  }
}

// A name that is not there comes with those that are.
TEST_F(LaunchPlanFile, ListsTheNamesThatThereAre) {
  const auto refused = [&](const std::string& launch) {
    SimulatedDevice device;
    try {
      run_plan(read_launch_file(plan("module = 'k.ptx'\nbuffers.input = 'f32[100]:iota'\nmaps.tile = 'input,box=4'\n[[launch]]\nblock = 128\n" + launch)), device, {});
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("not refused");
  };
  EXPECT_EQ(refused("args = ['@inptu', 'f32:5', 'u32:100']\n"), "error E4408: there is no buffer 'inptu'\n    hint: did you mean 'input'? buffers: input");
  EXPECT_NE(refused("args = ['map:t', 'f32:5', 'u32:100']\n").find("there is no tensor map 't'\n    hint: tensor maps: tile"), std::string::npos);
  EXPECT_NE(refused("entry = 'nothing'\nargs = ['@input', 'f32:5', 'u32:100']\n").find("no kernel 'nothing' in the module\n    hint: kernels: "), std::string::npos);
}

// Found by fuzzing: toml++ does not survive this one.
TEST_F(LaunchPlanFile, RefusesUnicodeOutsideStrings) {
  EXPECT_THROW(parse_launch_file("\xef\xbb\xb7", "p.toml"), InputError);
  for (const char* header : {"[:buffers]\n", "[[+launch]]\n", "a = 1\n  [ .b]\n", "[{", "[[\rb]]\n", "[\nb]\n"}) EXPECT_THROW(parse_launch_file(header, "p.toml"), InputError) << header;
  try {
    parse_launch_file("module = 'k\xc3\xa4.ptx' # \xc3\xa4\n[[launch]]\n", "p.toml");
  } catch (const InputError& e) {
    ADD_FAILURE() << e.what();
  }
}

// toml++ leaves the tables of a key by recursion: 100,000 parts took the whole stack.
TEST_F(LaunchPlanFile, RefusesKeysOfManyParts) {
  std::string key = "a";
  for (int i = 0; i < 100'000; ++i) key += i % 2 == 0 ? " .'b'" : ". a";
  for (const std::string& text : {key + " = 1\n", "[" + key + "]\n", "[[" + key + "]]\nb = 1\n", "x = { y = [ { " + key + " = 1 } ] }\n", "s = \"\"\"a\"b\\\"\"\"\"; " + key + " = 1 #\"\n"}) {
    try {
      parse_launch_file("module = 'k.ptx'\n" + text, "p.toml");
      ADD_FAILURE() << text.substr(0, 20);
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("p.toml:2: error E4406: a key of more than 32 parts"), std::string::npos) << std::string(e.what()).substr(0, 200);
    }
  }
}

// Dots of numbers, comments and strings are none of a key's.
TEST_F(LaunchPlanFile, TakesManyDotsElsewhere) {
  std::string numbers = "1.5";
  for (int i = 0; i < 100; ++i) numbers += ", 2.5";
  const std::string dots(100, '.');
  try {
    parse_launch_file("module = '" + dots + "' # " + dots + "\n[[launch]]\nargs = [" + numbers + "]\n", "p.toml");
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()).find("parts"), std::string::npos) << e.what();
  }
}

TEST_F(LaunchPlanFile, TakesTheBlockFromTheKernelAndRawFilesAsBuffers) {
  std::string ptx = kScale;
  ptx.replace(ptx.find(".param .u32 n)"), 14, ".param .u32 n)\n.reqntid 100");
  write_file_atomically(file("k.ptx"), ptx);
  const std::vector<float> x(100, 2.0f);
  write_file_atomically(file("x.raw"), std::as_bytes(std::span(x)));
  const LaunchPlan p = read_launch_file(plan("module = 'k.ptx'\nbuffers.x = 'f32[100]:file=x.raw'\n[[launch]]\nargs = ['@x', 'f32:4', 'u32:100']\n"));
  SimulatedDevice device;
  const PlanResult r = run_plan(p, device, {});
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.launches[0].config.block, (Dim3{100, 1, 1}));
  float last = 0;
  std::memcpy(&last, r.buffers[0].bytes.data() + 4 * 99, 4);
  EXPECT_EQ(last, 8.0f);
}

TEST(ArgumentWords, BlocksHoldArgumentsAtOffsets) {
  LaunchPlan plan;
  Diagnostics out;
  ArgSpec a;
  ASSERT_TRUE(parse_arg("block:160;0=map:m;128=@x+16;136=u32:7;140=hex:0102", plan, a, out)) << out.to_string();
  EXPECT_EQ(a.byte_count(), 160u);
  ASSERT_EQ(a.fields.size(), 4u);
  EXPECT_EQ(a.fields[1].at, 128u);
  EXPECT_EQ(a.fields[1].what.offset, 16u);
  EXPECT_FALSE(parse_arg("block:16;12=@x", plan, a, out)) << "eight bytes do not fit at 12 of 16";
  EXPECT_FALSE(parse_arg("block:16;x", plan, a, out));
  EXPECT_FALSE(parse_arg("block:0", plan, a, out));
  EXPECT_FALSE(parse_arg("s8:-129", plan, a, out));
}

TEST(ArgumentWords, ScalarsKeepTheirBits) {
  LaunchPlan plan;
  Diagnostics out;
  const auto bytes = [&](std::string_view text) {
    ArgSpec a;
    EXPECT_TRUE(parse_arg(text, plan, a, out)) << text;
    return a.bytes;
  };
  EXPECT_EQ(bytes("u32:258"), (std::vector<uint8_t>{2, 1, 0, 0}));
  EXPECT_EQ(bytes("s16:-2"), (std::vector<uint8_t>{0xFE, 0xFF}));
  EXPECT_EQ(bytes("f32:1"), (std::vector<uint8_t>{0, 0, 0x80, 0x3F}));
  EXPECT_EQ(bytes("bf16:1"), (std::vector<uint8_t>{0x80, 0x3F}));
  EXPECT_EQ(bytes("hex:00ff10"), (std::vector<uint8_t>{0, 0xFF, 0x10}));
  ArgSpec a;
  EXPECT_TRUE(parse_arg("@x+256", plan, a, out));
  EXPECT_EQ(a.name, "x");
  EXPECT_EQ(a.offset, 256u);
}

TEST(MapWords, GiveTheFields) {
  MapSpec m;
  Diagnostics out;
  ASSERT_TRUE(parse_map("a", "x,type=bf16,dims=256x64,strides=512,box=64x8,swizzle=128B,fill=nan", m, out)) << out.to_string();
  EXPECT_EQ(m.buffer, "x");
  EXPECT_EQ(m.fields.rank, 2u);
  EXPECT_EQ(m.fields.dim[0], 256u);
  EXPECT_EQ(m.fields.stride[0], 512u);
  EXPECT_EQ(m.fields.box[1], 8u);
  EXPECT_EQ(m.fields.swizzle, isa::Swizzle::b128);
  EXPECT_FALSE(parse_map("a", "x,swizle=128B", m, out));
}

// Size-1 dimensions of real kernels have stride 0.
TEST(MapWords, StridesMayBeZero) {
  MapSpec m;
  Diagnostics out;
  ASSERT_TRUE(parse_map("a", "x,dims=8x1x4x4,strides=0x0x64", m, out)) << out.to_string();
  EXPECT_EQ(m.fields.stride[0], 0u);
  EXPECT_EQ(m.fields.stride[2], 64u);
  ASSERT_TRUE(parse_map("a", "x,strides=0x40", m, out));
  EXPECT_EQ(m.fields.stride[0], 0x40u);
}

TEST(MapWords, Im2colFields) {
  MapSpec m;
  Diagnostics out;
  ASSERT_TRUE(parse_map("a", "x,mode=im2col,lower=-1x-2,upper=0x-1,channels=64,pixels=128,l2=256B,offset=32", m, out)) << out.to_string();
  EXPECT_EQ(m.fields.mode, isa::TensorMapMode::im2col);
  EXPECT_EQ(m.fields.lower_corner[1], -2);
  EXPECT_EQ(m.fields.upper_corner[1], -1);
  EXPECT_EQ(m.fields.channels_per_pixel, 64u);
  EXPECT_EQ(m.fields.pixels_per_column, 128u);
  EXPECT_EQ(m.fields.l2_promotion, isa::L2Promotion::bytes256);
  EXPECT_EQ(m.offset, 32u);
}

}  // namespace
}  // namespace drywell::kernels
