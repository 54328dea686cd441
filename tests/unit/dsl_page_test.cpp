// docs/dsl.md quotes a program that a test compiles and runs: every block of the page stands in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "drywell/core/files.h"
#include "drywell/isa/builder.h"
#include "drywell/sim/device.h"
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

// The comment at the top of builder.h, compiled and run.
isa::Module of_the_comment() {
  using namespace isa;
  // begin
  KernelBuilder k("ids", Target::sm_100a);
  const Reg out = k.named("out", k.load_param(k.param(Mod::u64, "out"), Mod::u64));
  const Reg thread = k.named("thread", k.def("mov.u32", SpecialReg::tid_x));
  const Reg at = k.def("mad.wide.u32", thread, 4, out);
  k("st.global.u32", mem(at), thread);
  const Module module = k.finish();
  // end
  return module;
}

TEST(DslPage, TheHeadersCommentCompiles) {
  std::istringstream lines(read_text_file(test::source_path("include/drywell/isa/builder.h")));
  std::string comment;
  for (std::string line; std::getline(lines, line) && line.starts_with("//");)
    if (line.starts_with("//   ")) comment += line.substr(5, line.find("  //", 5) - 5) + "\n";
  const std::string here = read_text_file(test::source_path("tests/unit/dsl_page_test.cpp"));
  const size_t begin = here.find("// begin\n") + 9;
  EXPECT_EQ(flat(comment), flat(here.substr(begin, here.find("// end\n", begin) - begin)));

  sim::Device device;
  const GmemAddr out = device.allocate(4 * 64);
  ASSERT_TRUE(device.launch(device.load(of_the_comment()), "ids", {.grid = {1}, .block = {64}}, sim::Args().add(out)).ok());
  uint32_t last = 0;
  device.read(&last, out + 4 * 63, 4);
  EXPECT_EQ(last, 63u);
}

}  // namespace
}  // namespace drywell
