// The algebra against NVIDIA CuTe itself: tests/data/layout/cute_vectors.txt was printed by CuTe (see
// README.md there).
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "drywell/core/error.h"
#include "drywell/isa/layout/expression.h"

namespace drywell::layout {
namespace {

TEST(CuteVectors, EveryExpressionPrintsWhatCutePrints) {
  std::ifstream file(DRYWELL_SOURCE_DIR "/tests/data/layout/cute_vectors.txt");
  ASSERT_TRUE(file);
  int compared = 0;
  for (std::string line; std::getline(file, line);) {
    const size_t arrow = line.find(" => ");
    ASSERT_NE(arrow, std::string::npos) << line;
    const std::string expression = line.substr(0, arrow), expected = line.substr(arrow + 4);
    std::string got;
    try {
      const Evaluation e = evaluate(expression, Reading::cute);
      got = to_string(e.value, e.marks);
    } catch (const InputError& e) {
      got = "error";  // where CuTe fails a static assertion
    }
    EXPECT_EQ(got, expected) << expression;
    ++compared;
  }
  EXPECT_GT(compared, 400);
}

}  // namespace
}  // namespace drywell::layout
