// Round trips over tests/corpus/*.ptx: a module that was read prints as PTX with the same meaning, which ptxas
// accepts.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/isa/validate.h"
#include "support/ir_equal.h"
#include "support/paths.h"
#include "support/ptxas.h"

namespace drywell::isa {
namespace {

std::vector<std::string> corpus() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_path("tests/corpus"))) {
    if (entry.path().extension() == ".ptx") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class PtxCorpus : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::ifstream in(test::source_path("tests/corpus/") + GetParam() + ".ptx", std::ios::binary);
    text_.assign(std::istreambuf_iterator<char>(in), {});
    result_ = parse_ptx(text_, GetParam() + ".ptx");
  }
  std::string text_;
  ParseResult result_;
};

TEST_P(PtxCorpus, IsReadWithoutComplaint) {
  EXPECT_TRUE(result_.diagnostics.empty()) << result_.diagnostics.to_string();
  const Diagnostics illegal = validate(result_.module);
  EXPECT_TRUE(illegal.empty()) << illegal.to_string();
}

TEST_P(PtxCorpus, PrintsAndReadsBackAsItself) {
  const std::string printed = print_module(result_.module);
  const ParseResult again = parse_ptx(printed, "printed.ptx");
  EXPECT_TRUE(again.diagnostics.empty()) << again.diagnostics.to_string();
  EXPECT_EQ(test::first_difference(result_.module, again.module), "");
  EXPECT_EQ(print_module(again.module), printed);
}

TEST_P(PtxCorpus, PrintedTextAssembles) {
  const auto verdict =
      test::run_ptxas(print_module(result_.module), std::string(target_name(result_.module.target)));
  if (!verdict) {
    GTEST_SKIP() << "no ptxas on this machine: set CUDA_HOME or PATH to a CUDA toolkit 13.0 or later";
  }
  EXPECT_TRUE(verdict->accepted) << verdict->output;
}

// The reader handles every prefix of a text: it returns diagnostics or a module, and does not crash.
TEST_P(PtxCorpus, AnyPrefixIsReadWithoutHarm) {
  for (size_t length = 0; length < text_.size(); length += 1 + text_.size() / 97) {
    const ParseResult r = parse_ptx(std::string_view(text_).substr(0, length), "prefix.ptx");
    if (!r.diagnostics.has_errors()) {
      EXPECT_FALSE(print_module(r.module).empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, PtxCorpus, testing::ValuesIn(corpus()), [](const auto& tested) {
  std::string name = tested.param;
  std::erase(name, '_');
  return name;
});

}  // namespace
}  // namespace drywell::isa
