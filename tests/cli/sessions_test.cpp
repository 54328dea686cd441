// The terminal sessions in docs/ equal the command's present output. After an intended change of the output:
// DRYWELL_REWRITE_SESSIONS=1 build/tests/drywell_cli_test --gtest_filter='*Sessions*', and read the difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "drywell/core/files.h"
#include "support/console.h"
#include "support/paths.h"

namespace drywell {
namespace {

/// The pages with sessions: README.md and those of docs/.
std::vector<std::string> pages() {
  std::vector<std::string> all = {"README.md"};
  for (const auto& e : std::filesystem::directory_iterator(test::source_path("docs"))) {
    if (e.path().extension() == ".md") all.push_back("docs/" + e.path().filename().string());
  }
  std::erase_if(all, [](const std::string& page) { return test::parse_console(read_text_file(test::source_path(page))).empty(); });
  std::sort(all.begin(), all.end());
  return all;
}

class Sessions : public testing::TestWithParam<std::string> {};

TEST_P(Sessions, PrintWhatThePageSays) {
  test::replay_console(test::source_path(GetParam()));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Sessions);
INSTANTIATE_TEST_SUITE_P(Docs, Sessions, testing::ValuesIn(pages()), [](const auto& i) {
  std::string name = std::filesystem::path(i.param).stem();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Console, FindsCommandsInputAndOutput) {
  const auto c = test::parse_console(
      "text\n$ not a command\n```console\n$ cat <<E\n> one\n> E\none\n\n$ drywell step x\n(drywell) go\nwent\n```\n```\n$ no\n```\n");
  ASSERT_EQ(c.size(), 2u);
  EXPECT_EQ(c[0].line, 4u);
  EXPECT_EQ(c[0].shell, "cat <<E\none\nE\n");
  EXPECT_EQ(c[0].expected, (std::vector<std::string>{"one", ""}));
  EXPECT_EQ(c[1].input, "go\n");
  EXPECT_EQ(c[1].expected, (std::vector<std::string>{"(drywell) go", "went"}));
}

TEST(Console, UnderstandsWhatIsLeftOut) {
  EXPECT_TRUE(test::console_matches({"a", "...", "z"}, {"a", "z"}));
  EXPECT_TRUE(test::console_matches({"a", "...", "z"}, {"a", "b", "c", "z"}));
  EXPECT_FALSE(test::console_matches({"a", "...", "z"}, {"a", "b"}));
  EXPECT_TRUE(test::console_matches({"took … s, … MB"}, {"took 1.5 s, 3 MB"}));
  EXPECT_FALSE(test::console_matches({"took … s"}, {"took 1.5 ms"}));
  EXPECT_FALSE(test::console_matches({"a"}, {"a", "b"}));
}

TEST(Console, RunsTheCommandOfThisBuild) {
  if (test::binary_path().empty()) GTEST_SKIP() << "no drywell command in this build";
  const std::string page = testing::TempDir() + "/console-page.md";
  write_file_atomically(page, std::string_view("```console\n$ drywell --version\ndrywell …\n$ false\n[exit 1]\n"
                                               "$ sed 's/^/(drywell) /'\n(drywell) cat\n$ ls -d kernels\nkernels\n```\n"));
  test::replay_console(page);
}

}  // namespace
}  // namespace drywell
