// The conformance suite on the simulator, under every functional driver, and its PTX through ptxas.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "conformance/programs/program.h"
#include "drywell/isa/opcode.h"

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

// Every modelled form runs in a program, so that it can be compared with a device.
TEST(Conformance, EveryModelledRowHasAProgram) {
  std::set<isa::Opcode> seen;
  for (const ProgramSpec& s : all_programs()) seen.merge(rows_of(s));
  for (size_t i = 0; i < isa::kOpcodeCount; ++i) {
    const auto op = static_cast<isa::Opcode>(i);
    if (isa::spec(op).status == isa::Status::unsupported) continue;
    EXPECT_TRUE(seen.contains(op)) << "no conformance program has " << isa::spec(op).example;
  }
}

class Families : public testing::TestWithParam<std::string> {};

// One test a family: a device and a few hundred launches.
TEST_P(Families, PassesUnderEveryDriver) {
  using sim::DriverKind;
  std::map<isa::Target, std::unique_ptr<SimulatedDevice>> devices;
  for (const ProgramSpec& s : all_programs()) {
    if (s.family != GetParam()) continue;
    const std::optional<Program> made = make_for(s, kSuiteTargets);
    ASSERT_TRUE(made.has_value()) << s.name << " is for none of the suite's targets";
    const Program& p = *made;
    std::unique_ptr<SimulatedDevice>& device = devices[p.module.target];
    if (device == nullptr) device = std::make_unique<SimulatedDevice>(sim::DeviceOptions{.arch = std::string(isa::target_name(p.module.target))});
    for (const sim::RunOptions& o : {sim::RunOptions{.driver = DriverKind::eager}, sim::RunOptions{.driver = DriverKind::lazy},
                                     sim::RunOptions{.driver = DriverKind::shuffled, .seed = 11}}) {
      const Outcome r = run(p, *device, o);
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
