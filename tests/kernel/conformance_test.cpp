// The conformance suite on the simulator, under every functional driver, and its PTX through ptxas.
#include <gtest/gtest.h>

#include <set>

#include "kernels/conformance/program.h"

namespace drywell::kernels::conformance {
namespace {

const std::vector<ProgramSpec>& all_programs() {
  static const std::vector<ProgramSpec> all = suite();
  return all;
}

TEST(Conformance, NamesAreUnique) {
  std::set<std::string> names;
  for (const ProgramSpec& s : all_programs()) EXPECT_TRUE(names.insert(s.name).second) << s.name;
}

class Families : public testing::TestWithParam<std::string> {};

// One test a family: a device and a few hundred launches.
TEST_P(Families, PassesUnderEveryDriver) {
  using sim::DriverKind;
  SimulatedDevice blackwell, hopper({.arch = "sm_90a"});
  for (const ProgramSpec& s : all_programs()) {
    if (s.family != GetParam()) continue;
    Program p;
    bool on_hopper = false;
    try {
      p = s.make(isa::Target::sm_100a);
    } catch (const InputError& e) {
      EXPECT_EQ(e.code(), "E1210") << s.name << ": " << e.what();
      p = s.make(isa::Target::sm_90a);  // Hopper's own instructions
      on_hopper = true;
    }
    SimulatedDevice& device = on_hopper ? hopper : blackwell;
    for (const sim::RunOptions& o : {sim::RunOptions{.driver = DriverKind::eager}, sim::RunOptions{.driver = DriverKind::lazy},
                                     sim::RunOptions{.driver = DriverKind::shuffled, .seed = 11}}) {
      const Outcome r = run(p, device, o);
      EXPECT_TRUE(r.passed()) << s.name << " under " << sim::driver_name(o.driver) << ": " << r.mismatches << " of " << r.compared << "; " << r.detail;
      EXPECT_GT(r.compared, 0u) << s.name << " checks nothing";
    }
  }
}

std::vector<std::string> families() {
  std::set<std::string> names;
  for (const ProgramSpec& s : all_programs()) names.insert(s.family);
  return {names.begin(), names.end()};
}
INSTANTIATE_TEST_SUITE_P(Suite, Families, testing::ValuesIn(families()), [](const auto& i) {
  std::string n = i.param;
  for (char& c : n) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return n;
});

}  // namespace
}  // namespace drywell::kernels::conformance
