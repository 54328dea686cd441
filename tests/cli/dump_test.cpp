// dump_launch: a launch of a C++ program, repeated by the command from its files with the same result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "drywell/core/files.h"
#include "drywell/core/npy.h"
#include "drywell/isa/builder.h"
#include "drywell/isa/pipeline.h"
#include "drywell/sim/dump.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell {
namespace {

using namespace isa;

struct Factors {
  uint32_t scale, unused;
  uint64_t bias;  // of one float
};

/// out[i] = scale * x[8 + i / 32][i % 32] + *bias, the row of x by TMA: a tensor map, a pointer, and a
/// pointer inside a structure.
Module build_kernel() {
  KernelBuilder k("scaled_rows");
  k.role("copy and scale", 0, 0);
  k.role("scale", 1, 7);
  const Symbol map = k.param_bytes("map", 128, 64), out = k.param(Mod::u64, "out"),
               factors = k.param_bytes("factors", sizeof(Factors), 8);
  const Symbol box = k.shared("box", 1024, 128), barrier = k.shared("barrier", 8, 8);
  const Reg thread = k.def("mov.u32", SpecialReg::tid_x), full = k.def("mov.u32", barrier),
            first = k.reg(Mod::pred);
  k("setp.eq.u32", first, thread, 0);
  k.if_(first, [&] {
    k("mbarrier.init.shared::cta.b64", mem(full), 1);
    k("fence.mbarrier_init.release.cluster");
    k("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(full), 1024);
    k("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
      mem(k.def("mov.u32", box)), tensor(k.def("cvta.param.u64", map), {0, 8}), mem(full));
  });
  k("bar.sync", 0);
  mbarrier_wait(k, full, 0);
  const Reg value = k.def("ld.shared.f32", mem(k.def("mad.lo.u32", thread, 4, k.def("mov.u32", box))));
  const Reg scale = k.def("cvt.rn.f32.u32", k.def("ld.param.u32", mem(factors))),
            bias = k.def("ld.global.f32", mem(k.def("ld.param.u64", mem(factors, 8))));
  k("st.global.f32", mem(k.def("mad.wide.u32", thread, 4, k.load_param(out, Mod::u64))),
    k.def("fma.rn.f32", value, scale, bias));
  k("ret");
  return k.finish();
}

TEST(DumpLaunch, TheCommandRepeatsIt) {
  sim::Device device;
  std::vector<float> x(64 * 32), result(256);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const float bias = 0.5f;
  const GmemAddr dx = device.allocate(4 * x.size()), out = device.allocate(4 * 300),
                 constants = device.allocate(64);
  device.write(dx, x.data(), 4 * x.size());
  device.fill(out, 0, 4 * 300);
  device.fill(constants, 0, 64);
  device.write(constants + 16, &bias, 4);
  TensorMapFields f;
  f.type = TensorType::f32;
  f.rank = 2;
  f.address = dx.value();
  f.dim = {32, 64};
  f.stride = {128};
  f.box = {32, 8};
  const sim::LoadedModule m = device.load(build_kernel());
  const sim::Args args =
      sim::Args().add(encode(f)).add(out + 64).add(Factors{3, 7, (constants + 16).value()});
  const sim::LaunchConfig config{.grid = {1}, .block = {256}};

  const test::TemporaryDirectory d;
  const std::string file = sim::dump_launch(device, m, "scaled_rows", config, args, d.file("dump"));
  const std::string text = read_text_file(file);
  for (const char* part : {"map:m0", "swizzle=none", "dims=32x64", "strides=128", "box=32x8", "+64\"",
                           "block:16;0=hex:0300000007000000;8=@", "roles = [\"0-0 copy and scale\", \"1-7 scale\"]"})
    EXPECT_THAT(text, testing::HasSubstr(part)) << text;

  ASSERT_TRUE(device.launch(m, "scaled_rows", config, args).ok());
  device.read(result.data(), out + 64, 4 * result.size());
  EXPECT_EQ(result[5], 3 * x[8 * 32 + 5] + bias);

  const test::Finished ran = test::drywell({"run", file, "--check", "--save", "b1=" + d.file("out.npy")});
  ASSERT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  const NpyArray saved = read_npy(d.file("out.npy"));
  ASSERT_EQ(saved.data.size(), 1200u);
  EXPECT_EQ(std::memcmp(saved.data.data() + 64, result.data(), 4 * result.size()), 0);
  EXPECT_EQ(test::drywell({"trace", "record", file, "-o", d.file("a.trace")}).exit_code, 0);
  EXPECT_THAT(read_text_file(d.file("a.trace")), testing::HasSubstr("# role 1-7 scale\n"));
  EXPECT_THAT(test::drywell({"run", file, "--driver=timed"}).out, testing::HasSubstr("  copy and scale "));
}

// Names without a folder in front, and with one that is not absolute, as people write them.
TEST(DumpLaunch, ALaunchFileMayBeNamedFromAnyFolder) {
  const std::string here = std::filesystem::relative(test::source_path("examples/ptx/axpy.toml")).string();
  ASSERT_FALSE(here.starts_with('/'));
  const test::Finished ran = test::drywell({"run", here});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
}

TEST(DumpLaunch, ARoleThatIsNoneIsRefused) {
  const test::TemporaryDirectory d;
  for (const char* word : {"epilogue", "0-", "3-1 x", "0-40 x", "-1 x", "1 ", "a-b x"}) {
    write_file_atomically(d.file("l.toml"), std::string("module = \"k.ptx\"\n[[launch]]\nroles = [\"") + word + "\"]\n");
    const test::Finished ran = test::drywell({"run", d.file("l.toml")});
    EXPECT_EQ(ran.exit_code, 3) << word;
    EXPECT_THAT(ran.err, testing::HasSubstr("is no role")) << word;
  }
}

TEST(DumpLaunch, SaysWhatIsWrong) {
  sim::Device device;
  const sim::LoadedModule m = device.load(build_kernel());
  const test::TemporaryDirectory d;
  EXPECT_THROW(sim::dump_launch(device, m, "other", {}, {}, d.path()), InputError);
  EXPECT_THROW(sim::dump_launch(device, m, "scaled_rows", {}, {}, "/proc/none"), InputError);
}

}  // namespace
}  // namespace drywell
