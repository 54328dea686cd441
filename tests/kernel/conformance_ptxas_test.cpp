// Every program of the conformance suite assembles, so that a device can run it, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/programs/program.h"
#include "drywell/isa/print.h"
#include "support/ptxas.h"

namespace drywell::kernels::conformance {
namespace {

/// One module out of many programs: entries get numbers, module variables of the same name are one variable.
class Combined {
 public:
  Combined(isa::Target target, isa::PtxVersion version) {
    module_.target = target;
    module_.version = version;
  }

  /// False if the program's functions or module variables do not go with those already there.
  bool add(const isa::Module& m) {
    if (m.functions.size() != 1) return false;  // functions refer to each other by number
    const size_t shared = std::min(module_.variables.size(), m.variables.size());
    if (!std::equal(m.variables.begin(), m.variables.begin() + static_cast<long>(shared), module_.variables.begin())) return false;
    for (size_t i = shared; i < m.variables.size(); ++i) module_.variables.push_back(m.variables[i]);
    isa::Function f = m.functions.front();
    f.name += std::to_string(module_.functions.size());
    module_.functions.push_back(std::move(f));
    return true;
  }
  size_t size() const { return module_.functions.size(); }
  bool empty() const { return module_.functions.empty(); }
  std::string text() const { return isa::print_module(module_, {.source_lines = false}); }

 private:
  isa::Module module_;
};

void expect_assembles(const std::string& text, isa::Target target, const std::string& what) {
  const std::string name(isa::target_name(target));
  const auto result = test::run_ptxas(text, name);
  // ptxas 13.0 takes cvt.e2m1x2.f16x2 with .version 8.8; newer ones from 9.1 on.
  std::string newer = text;
  if (const size_t at = newer.find(".version 9.0"); !result->accepted && at != std::string::npos && test::run_ptxas(newer.replace(at, 12, ".version 9.1"), name)->accepted) return;
  EXPECT_TRUE(result->accepted) << what << ": " << result->output.substr(0, 2000);
}

bool knows(isa::Target target, isa::PtxVersion version) {
  isa::Module empty;
  empty.target = target;
  empty.version = version;
  return test::run_ptxas(isa::print_module(empty, {.source_lines = false}), std::string(isa::target_name(target)))->accepted;
}

class Assembles : public testing::TestWithParam<std::string> {};
TEST_P(Assembles, ForItsTarget) {
  if (test::find_ptxas().empty()) GTEST_SKIP() << "no ptxas on this machine: set CUDA_HOME or PATH to a CUDA toolkit 13.0 or later";
  std::map<std::pair<isa::Target, isa::PtxVersion>, Combined> all;
  size_t newer = 0;
  for (const ProgramSpec& s : suite()) {
    if (s.family != GetParam()) continue;
    const std::optional<Program> p = make_for(s, kSuiteTargets);
    ASSERT_TRUE(p.has_value()) << s.name;
    const auto key = std::pair(p->module.target, p->module.version);
    if (const auto [group, fresh] = all.try_emplace(key, key.first, key.second); group->second.add(p->module)) continue;
    expect_assembles(isa::print_module(p->module, {.source_lines = false}), p->module.target, s.name);
  }
  for (const auto& [key, programs] : all) {
    if (programs.empty()) continue;
    if (key.second > isa::PtxVersion{9, 0} && !knows(key.first, key.second)) newer += programs.size();
    else expect_assembles(programs.text(), key.first, GetParam());
  }
  if (newer != 0) GTEST_SKIP() << newer << " programs need a newer ptxas than this one; the others assemble";
}

std::vector<std::string> families() {
  std::set<std::string> names;
  for (const ProgramSpec& s : suite()) names.insert(s.family);
  return {names.begin(), names.end()};
}
INSTANTIATE_TEST_SUITE_P(Suite, Assembles, testing::ValuesIn(families()), [](const auto& i) { return i.param; });

}  // namespace
}  // namespace drywell::kernels::conformance
