// docs/dsl.md quotes a program that a test compiles and runs: every block of the page stands in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "drywell/core/files.h"
#include "support/paths.h"

namespace drywell {
namespace {

/// The text without white space: the page's lines may be broken elsewhere.
std::string flat(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

/// The sources of the example, one after another.
std::string all_of(const std::vector<std::string>& files) {
  std::string out;
  for (const std::string& file : files) out += read_text_file(test::source_path("examples/dsl/" + file));
  return out;
}

std::vector<std::string> blocks(const std::string& page, const std::string& language) {
  std::vector<std::string> out;
  const std::string fence = "```" + language + "\n";
  for (size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    const size_t from = at + fence.size();
    at = page.find("```", from);
    out.push_back(page.substr(from, at - from));
  }
  return out;
}

TEST(DslPage, BlocksStandInTheExample) {
  const std::string page = read_text_file(test::source_path("docs/dsl.md")), program = flat(all_of({"gemm_kernel.h", "gemm.cpp", "gemm_library.cpp"}));
  const std::vector<std::string> cpp = blocks(page, "cpp");
  EXPECT_GE(cpp.size(), 6u);
  for (const std::string& block : cpp) EXPECT_THAT(program, testing::HasSubstr(flat(block)));
  const std::string project = flat(read_text_file(test::source_path("examples/dsl/CMakeLists.txt")));
  const std::vector<std::string> cmake = blocks(page, "cmake");
  EXPECT_EQ(cmake.size(), 3u);
  for (const std::string& block : cmake) EXPECT_THAT(project, testing::HasSubstr(flat(block)));
}

}  // namespace
}  // namespace drywell
