// The algebra against NVIDIA CuTe itself: tests/data/layout/cute_vectors.txt was printed by CuTe (see
// README.md there).
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "drywell/core/error.h"
#include "drywell/isa/layout/expression.h"
#include "support/paths.h"

namespace drywell::layout {
namespace {

/// Evaluates each `expression => result` line of a file; returns how many there are.
int compare_with(const std::string& path) {
  std::ifstream file(test::source_path("tests/data/layout/") + path);
  EXPECT_TRUE(file) << path;
  int compared = 0;
  for (std::string line; std::getline(file, line);) {
    const size_t arrow = line.find(" => ");
    if (arrow == std::string::npos) continue;
    const std::string expression = line.substr(0, arrow), expected = line.substr(arrow + 4);
    std::string got;
    try {
      const Evaluation e = evaluate(expression, Reading::cute);
      got = to_string(e.value, e.marks);
    } catch (const InputError&) {
      got = "error";  // where CuTe fails a static assertion
    }
    EXPECT_EQ(got, expected) << expression;
    ++compared;
  }
  return compared;
}

TEST(CuteVectors, EveryExpressionPrintsWhatCutePrints) { EXPECT_GT(compare_with("cute_vectors.txt"), 400); }

// UMMA partitions, SMEM atoms, TMEM fragments and scale-factor configurations of CUTLASS.
TEST(CuteVectors, HardwareLayoutsPrintWhatCutlassPrints) {
  EXPECT_GT(compare_with("cutlass_vectors.txt"), 45);
}

}  // namespace
}  // namespace drywell::layout
