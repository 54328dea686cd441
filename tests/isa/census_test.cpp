// Every opcode text that real kernels contain names a row that is modelled (docs/facts/ptx-census.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "drywell/isa/resolve.h"
#include "drywell/isa/spec.h"
#include "support/paths.h"

namespace drywell::isa {
namespace {

std::set<std::string> lines_of(const std::string& file) {
  std::ifstream in(test::source_path("tests/data/" + file));
  std::set<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '#') lines.insert(line);
  }
  return lines;
}

TEST(Census, EveryFormResolves) {
  const std::set<std::string> forms = lines_of("census_forms.txt");
  ASSERT_GT(forms.size(), 600u);
  for (const std::string& text : forms) {
    std::string why;
    const auto rows = resolve_opcode(text, &why, nullptr);
    const bool modelled = std::any_of(rows.begin(), rows.end(), [](const OpcodeForm& f) { return spec(f.op).status == Status::supported; });
    EXPECT_TRUE(modelled) << text << ": " << (rows.empty() ? why : "its rows are unsupported");
  }
}

}  // namespace
}  // namespace drywell::isa
