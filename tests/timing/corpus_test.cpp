// Kernels that the model was not made for, against an H200: the smallest launch of each file of
// tests/corpus/timing. The table of all of them is in docs/lab/calibration.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "drywell/core/files.h"
#include "launch/launch_times.h"
#include "tests/support/paths.h"

namespace drywell::kernels {
namespace {

std::vector<std::string> launch_files() {
  std::vector<std::string> out;
  for (const auto& e : std::filesystem::directory_iterator(test::source_path("tests/corpus/timing"))) {
    if (e.path().extension() == ".toml") out.push_back(e.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.at(v.size() / 2);
}

// The record of 23 November has each file from a process of its own, whose first launches are 0.15 us faster (docs/lab/calibration.md).
TEST(TimingCorpus, FirstLaunchesOfTheH200Hold) {
  const std::string path = test::source_path("traces/hw/h200-2026-11-26-corpus.csv");
  const LaunchRecord record = parse_launch_record(read_text_file(path), path);
  std::vector<double> warm, cold;
  for (const std::string& file : launch_files()) {
    LaunchPlan plan = read_launch_file(file);
    plan.launches.resize(1);
    const LaunchTimes measured =
        record.at({std::filesystem::path(file).filename().string(), plan.launches[0].name});
    const LaunchTimes predicted = predict_launches(plan, "sm_90a", {}).at(0);
    warm.push_back(std::abs(predicted.warm / measured.warm - 1));
    cold.push_back(std::abs(predicted.cold / measured.cold - 1));
  }
  ASSERT_EQ(warm.size(), 43u);
  EXPECT_LE(median(warm), 0.09);
  EXPECT_LE(median(cold), 0.10);
}

/// A launch of a folder of tests/corpus/timing, the greatest error of its warm time, and the record that has it.
struct Mechanism {
  const char *file, *launch;
  double error;
  const char* record = "27-arithmetic";
  const char* folder = "mechanisms";
};
void PrintTo(const Mechanism& m, std::ostream* os) { *os << m.launch; }

// What two kinds of arithmetic share, sequences of machine instructions, stores that join others, and fragments in conflict.
const Mechanism kMechanisms[] = {
    {"pairs.toml", "fma_mufu-256", 0.12},
    {"pairs.toml", "logic_fma-256", 0.12},
    {"pairs.toml", "logic_imad-256", 0.10},
    {"pairs.toml", "fma_imad-256", 0.12},
    {"pairs.toml", "convert_convert-256", 0.05},
    {"pairs.toml", "i2f_i2f-256", 0.06},
    {"pairs.toml", "scattered1-16KiB-132x256", 0.16},
    {"mix.toml", "steps0-512", 0.15},
    {"mix.toml", "wide0-512", 0.08},
    {"mix.toml", "div_full_24-1024", 0.12},
    {"mix.toml", "sqrt_rn_24-1024", 0.10},
    {"stores.toml", "all-4-4-128", 0.15},
    {"stores.toml", "all-8-8-32", 0.11},
    {"stores.toml", "strided-8-4x8", 0.12},
    {"stores.toml", "one-16-1-256", 0.12},
    {"stores.toml", "one-32-1-256", 0.10},
    {"frag.toml", "frag_shared-64-128", 0.05},
    {"frag.toml", "frag_shared-72-128", 0.10},
    {"frag.toml", "frag_once-64-132", 0.18},
    // Results that go to another unit, upper halves, doubles, branches after which lanes meet, copies whose rows are not where their sectors are.
    {"cross.toml", "cross_lop_add-32", 0.08, "27-crossings"},
    {"cross.toml", "cross_add_fma-32", 0.08, "27-crossings"},
    {"cross.toml", "cross_lop_fma-512", 0.08, "27-crossings"},
    {"cross.toml", "cross_lop_rot-32", 0.08, "27-crossings"},
    {"cross.toml", "cross_hi_hi-32", 0.08, "27-crossings"},
    {"cross.toml", "cross_ex2_fma-32", 0.08, "27-crossings"},
    {"f64.toml", "f64_f2f-1024", 0.12, "27-crossings"},
    {"f64.toml", "f64_min-1024", 0.15, "27-crossings"},
    {"f64.toml", "f64_select-512", 0.12, "27-crossings"},
    {"jumps.toml", "jump_lane_8-32", 0.10, "27-crossings"},
    {"copies.toml", "tiles_0_3_128_128_16_0-132", 0.15, "27-crossings"},
    {"copies.toml", "tiles_0_3_64_80_0_0-264", 0.15, "27-crossings"},
    {"copies.toml", "tiles_0_3_32_48_0_0-264", 0.15, "27-crossings"},
    {"copies.toml", "tiles_0_3_128_160_0_0-264", 0.15, "27-crossings"},
    {"products.toml", "product_f16_k8-512x256", 0.08, "27-crossings"},
    // Products that ptxas makes of others, blocks that end when their products have, rows whose words join while other warps store.
    {"emulated.toml", "moving_u4_k64-512", 0.08, "28-emulated"},
    {"emulated.toml", "moving_s4_k64-128", 0.12, "28-emulated"},
    {"emulated.toml", "moving_b1_k256-512", 0.08, "28-emulated"},
    {"emulated.toml", "after_e4m3_k32-512", 0.12, "28-emulated"},
    {"emulated.toml", "after_f16_k16-128", 0.12, "28-emulated"},
    {"late.toml", "late_16-132x256x16", 0.12, "28-emulated"},
    {"late.toml", "late_9-132x256x0", 0.10, "28-emulated"},
    // Words and lines of constant memory, and columns that are changed where they are.
    {"const.toml", "words-32-32x1-0-0-256", 0.05, "28-tables"},
    {"const.toml", "words-512-8x1-0-0-256", 0.06, "28-tables"},
    {"const.toml", "words-1024-4x1-0-0-256", 0.08, "28-tables"},
    {"const.toml", "chain-32-1x1-0-16-1024", 0.05, "28-tables"},
    {"const.toml", "words-128-1x1-0-16-1024", 0.05, "28-tables"},
    {"strips.toml", "scan_in_place-132x32-128", 0.08, "28-tables"},
    {"strips.toml", "scan_others-132x32-128", 0.05, "28-tables"},
    // Rows that a thread reads back, groups of match.any, a root of doubles, trees of logic, registers that a block's last readers free.
    {"tridiagonal.toml", "thomas-4224x64", 0.1, "27-fresh", "fresh"},
    {"sparse.toml", "coo_warp-1024k", 0.1, "27-fresh", "fresh"},
    {"particles.toml", "nbody_f64-2112x256", 0.1, "27-fresh", "fresh"},
    {"camera.toml", "median3_bytes-2048x512", 0.1, "27-fresh", "fresh"},
    {"flash.toml", "flash64-704x12", 0.12, "27-fresh", "fresh"},
    // Products of wmma, lanes that share words, loads of a lone warp, addresses by `or` and loads before stores, atomic operations of a warp.
    {"jumps.toml", "jump_lane_2-512", 0.04, "27-crossings"},
    {"tiles.toml", "wmma_f16-512", 0.06, "28-tiles"},
    {"tiles.toml", "wmma_wide-128", 0.05, "28-tiles"},
    {"tiles.toml", "wmma_tf32-512", 0.08, "28-tiles"},
    {"tiles.toml", "wmma_s8-128", 0.05, "28-tiles"},
    {"tiles.toml", "bank_2-256", 0.03, "28-tiles"},
    {"tiles.toml", "lines_2-256", 0.04, "28-tiles"},
    {"tiles.toml", "lines_1-32", 0.10, "28-tiles"},
    {"tiles.toml", "tile_wide-4", 0.04, "28-tiles"},
    {"tiles.toml", "tile_banks-4", 0.06, "28-tiles"},
    {"apart.toml", "one_8-32-1", 0.06, "28-apart"},
    {"apart.toml", "two_16-32-1", 0.06, "28-apart"},
    {"apart.toml", "deep_16-32-28", 0.07, "28-apart"},
    {"apart.toml", "times_16-32-7", 0.04, "28-apart"},
    {"divide.toml", "div_u64-32-small", 0.05, "28-apart"},
    {"divide.toml", "div_u64-32-large", 0.04, "28-apart"},
    {"divide.toml", "rem_s64-1024-large", 0.06, "28-apart"},
    {"divide.toml", "div_s32-1024-small", 0.08, "28-apart"},
    {"partner.toml", "own_8-132x256-4-0", 0.04, "28-apart"},
    {"partner.toml", "records-1056x256-4-1", 0.13, "28-apart"},
    {"partner.toml", "turned-2048-16x16-1", 0.17, "28-apart"},
    {"swaps.toml", "add_used-1056x256-1000003", 0.10, "28-apart"},
    {"swaps.toml", "load_add-1056x256-1000003", 0.25, "28-apart"},
    // SMs that a launch reaches one after another.
    {"short.toml", "st_all-132x64", 0.03, "29-short"},
    {"short.toml", "copy-132x64", 0.03, "29-short"},
    {"short.toml", "copy-264x64", 0.04, "29-short"},
    {"short.toml", "add3-132x64", 0.05, "29-short"},
    {"short.toml", "block_sum-132x64", 0.06, "29-short"},
    {"warp_atomics.toml", "imm_uni-132", 0.04, "28-tiles"},
    {"warp_atomics.toml", "max_uni-1056", 0.03, "28-tiles"},
    {"warp_atomics.toml", "long_uni-132", 0.04, "28-tiles"},
    {"warp_atomics.toml", "cta_uni-1056", 0.06, "28-tiles"},
    {"warp_atomics.toml", "by_lane-132", 0.03, "28-tiles"},
    {"warp_atomics.toml", "real_uni-132", 0.03, "28-tiles"},
};

class TimingMechanism : public testing::TestWithParam<Mechanism> {};

TEST_P(TimingMechanism, HoldsOnAnH200) {
  const Mechanism& m = GetParam();
  const std::string path = test::source_path(std::string("traces/hw/h200-2026-11-") + m.record + ".csv");
  LaunchPlan plan = read_launch_file(test::source_path("tests/corpus/timing/") + m.folder + "/" + m.file);
  std::erase_if(plan.launches, [&](const auto& l) { return l.name != m.launch; });
  ASSERT_EQ(plan.launches.size(), 1u);
  const LaunchTimes measured = parse_launch_record(read_text_file(path), path).at({m.file, m.launch});
  EXPECT_NEAR(predict_launches(plan, "sm_90a", {}).at(0).warm / measured.warm, 1, m.error);
}
INSTANTIATE_TEST_SUITE_P(Launches, TimingMechanism, testing::ValuesIn(kMechanisms), [](const auto& i) {
  std::string name = i.param.launch;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(TimingCorpus, RecordsHaveOneLaunchALine) {
  const LaunchRecord r{{{"a.toml", "one"}, {1500.5, 2000, 1.98}}, {{"b.toml", "two"}, {1, 2, 0}}};
  const LaunchRecord read = parse_launch_record(print_launch_record(r), "r.csv");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read.at({"a.toml", "one"}).warm, 1500.5);
  EXPECT_EQ(read.at({"b.toml", "two"}).cold, 2);
  for (const std::string bad : {"", "file,launch\n", "file,launch,warm_ns,cold_ns,GHz\na.toml,one,1,2\n",
                                "file,launch,warm_ns,cold_ns,GHz\na.toml,one,1,2,3,4\n",
                                "file,launch,warm_ns,cold_ns,GHz\na.toml,one,x,2,3\n",
                                "file,launch,warm_ns,cold_ns,GHz\na.toml,one,1,-2,3\n",
                                "file,launch,warm_ns,cold_ns,GHz\na.toml,one,0,2,3\n",
                                "file,launch,warm_ns,cold_ns,GHz\na.toml,one,nan,2,3\n",
                                "file,launch,warm_ns,cold_ns,GHz\na.toml,one, 1,2,3\n",
                                "file,launch,warm_ns,cold_ns,GHz\na.toml,one,1,2,1e999\n"}) {
    if (bad.empty())
      EXPECT_TRUE(parse_launch_record(bad, "r.csv").empty());
    else
      EXPECT_THROW(parse_launch_record(bad, "r.csv"), InputError) << bad;
  }
}

}  // namespace
}  // namespace drywell::kernels
