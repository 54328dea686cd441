// --contract against an H200: sums, products and quotients that ptxas compiled (traces/hw/h200-2026-11-23-contract).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "drywell/core/files.h"
#include "drywell/isa/parse.h"
#include "drywell/sim/device.h"
#include "support/paths.h"

namespace drywell::test {
namespace {

constexpr const char* kFolder = "traces/hw/h200-2026-11-23-contract/";
constexpr size_t kLanes = 32, kIn = 8, kOut = 3;

class OnAnH200 : public testing::TestWithParam<sim::DriverKind> {
 protected:
  /// Returns the number of entries whose words are the device's.
  size_t equal(bool contract) {
    const std::string text = read_text_file(source_path(std::string(kFolder) + "programs.ptx"));
    const std::vector<std::byte> words = read_file(source_path(std::string(kFolder) + "words.bin"));
    sim::Device device({.arch = "sm_90a", .contract = contract});
    const sim::LoadedModule loaded = device.load_ptx(text, "programs.ptx");
    const isa::Module module = isa::parse_ptx_or_throw(text, "programs.ptx");
    std::span<const std::byte> rest = words;
    size_t same = 0;
    for (const isa::Function& f : module.functions) {
      const size_t bytes = is_wide(f) ? 8 : 4, in = kLanes * kIn * bytes, out = kLanes * kOut * bytes;
      same += run(device, loaded, f.name, rest.first(in), rest.subspan(in, out));
      rest = rest.subspan(in + out);
    }
    EXPECT_TRUE(rest.empty());
    EXPECT_EQ(module.functions.size(), 49u);
    return same;
  }

 private:
  static bool is_wide(const isa::Function& f) {
    return std::any_of(f.regs.begin(), f.regs.end(), [](const isa::RegDecl& r) { return r.type == isa::Mod::f64; });
  }
  bool run(sim::Device& device, const sim::LoadedModule& m, const std::string& entry, std::span<const std::byte> in, std::span<const std::byte> expected) {
    const GmemAddr from = device.allocate(in.size()), to = device.allocate(expected.size());
    device.write(from, in.data(), in.size());
    EXPECT_TRUE(device.launch(m, entry, {.grid = {1}, .block = {kLanes}}, sim::Args().add(from).add(to), {.driver = GetParam(), .threads = 1}).ok());
    std::vector<std::byte> got(expected.size());
    device.read(got.data(), to, got.size());
    const bool same = std::memcmp(got.data(), expected.data(), got.size()) == 0;
    device.free(from);
    device.free(to);
    return same;
  }
};

TEST_P(OnAnH200, ContractHasItsWords) { EXPECT_EQ(equal(true), 49u); }
// Eight of the programs were taken because ptxas fuses nothing that counts.
TEST_P(OnAnH200, PtxsOwnRoundingHasNot) { EXPECT_LT(equal(false), 20u); }

INSTANTIATE_TEST_SUITE_P(Drivers, OnAnH200, testing::Values(sim::DriverKind::eager, sim::DriverKind::timed));

}  // namespace
}  // namespace drywell::test
