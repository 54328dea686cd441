// Every program of the conformance suite assembles: what the simulator runs, a device can be given.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "drywell/isa/print.h"
#include "kernels/conformance/program.h"
#include "support/ptxas.h"

namespace drywell::kernels::conformance {
namespace {

/// One module out of many programs: entries get numbers, module variables of the same name are one variable.
class Combined {
 public:
  explicit Combined(isa::Target target) { module_.target = target; }

  /// False if the program's module variables clash with those already there.
  bool add(const isa::Module& m) {
    const size_t shared = std::min(module_.variables.size(), m.variables.size());
    if (!std::equal(m.variables.begin(), m.variables.begin() + static_cast<long>(shared), module_.variables.begin())) return false;
    for (size_t i = shared; i < m.variables.size(); ++i) module_.variables.push_back(m.variables[i]);
    isa::Function f = m.functions.front();
    f.name += std::to_string(module_.functions.size());
    module_.functions.push_back(std::move(f));
    return true;
  }
  bool empty() const { return module_.functions.empty(); }
  std::string text() const { return isa::print_module(module_, {.source_lines = false}); }

 private:
  isa::Module module_;
};

void expect_assembles(const Combined& c, const std::string& what) {
  if (c.empty()) return;
  const auto result = test::run_ptxas(c.text(), "sm_100a");
  EXPECT_TRUE(result->accepted) << what << ": " << result->output.substr(0, 2000);
}

class Assembles : public testing::TestWithParam<std::string> {};
TEST_P(Assembles, ForSm100a) {
  if (test::find_ptxas().empty()) GTEST_SKIP() << "no ptxas on this machine: set CUDA_HOME or PATH to a CUDA toolkit 13.0 or later";
  Combined all(isa::Target::sm_100a);
  for (const ProgramSpec& s : suite()) {
    if (s.family != GetParam()) continue;
    Program p;
    try {
      p = s.make(isa::Target::sm_100a);
    } catch (const InputError& e) {
      EXPECT_EQ(e.code(), "E1210") << s.name << ": " << e.what();  // another target's
      continue;
    }
    if (all.add(p.module)) continue;
    Combined alone(isa::Target::sm_100a);
    alone.add(p.module);
    expect_assembles(alone, s.name);
  }
  expect_assembles(all, GetParam());
}

std::vector<std::string> families() {
  std::set<std::string> names;
  for (const ProgramSpec& s : suite()) names.insert(s.family);
  return {names.begin(), names.end()};
}
INSTANTIATE_TEST_SUITE_P(Suite, Assembles, testing::ValuesIn(families()), [](const auto& i) { return i.param; });

}  // namespace
}  // namespace drywell::kernels::conformance
