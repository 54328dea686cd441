// Lines of the pages that reviews found wrong, each held against what it speaks of.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "drywell/core/error.h"
#include "drywell/core/files.h"
#include "support/paths.h"

namespace drywell {
namespace {

std::string page(const std::string& name) { return read_text_file(test::source_path(name)); }

/// "E1101", … of the tables of codes and rules.
std::set<std::string> known_codes() {
  std::set<std::string> out;
  for (const char* file : {"include/drywell/core/codes.inc", "sim/check/rules.inc"}) {
    const std::string text = page(file);
    const std::regex code("\\b[EUFXH][0-9]{4}\\b");
    for (std::sregex_iterator i(text.begin(), text.end(), code), end; i != end; ++i) out.insert(i->str());
  }
  return out;
}

/// "H7xxx", "E43xx": some code of the range exists.
bool has_a_code(const std::set<std::string>& known, const std::string& range) {
  const std::string begin = range.substr(0, range.find('x'));
  const auto first = known.lower_bound(begin);
  return first != known.end() && first->starts_with(begin);
}

TEST(DocLines, RangesOfCodesExist) {
  const std::set<std::string> known = known_codes();
  ASSERT_TRUE(has_a_code(known, "H7xxx"));
  ASSERT_FALSE(has_a_code(known, "H6xxx")) << "hazards begin with H7";
  const std::regex range("\\b[EUFXH][0-9]{1,3}x{1,3}\\b");
  size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_path("docs"))) {
    if (entry.path().extension() != ".md") continue;
    const std::string text = read_text_file(entry.path());
    for (std::sregex_iterator i(text.begin(), text.end(), range), end; i != end; ++i, ++found) EXPECT_TRUE(has_a_code(known, i->str())) << entry.path() << ": " << i->str();
  }
  EXPECT_GT(found, 0u);
}

TEST(DocLines, TheReadmeSaysWhereTheCommandIsBeforeItNamesIt) {
  const std::string text = page("README.md");
  const size_t bare = text.find("$ drywell "), where = text.find("`build/tools/drywell`");
  ASSERT_NE(bare, std::string::npos);
  EXPECT_LT(where, bare) << "before an installation it is build/tools/drywell";
}

TEST(DocLines, EveryFileOfDapMdExists) {
  const std::string text = page("docs/dap.md");
  const std::regex file("`((?:tests|tools|docs|examples)/[A-Za-z0-9_./-]+)`");
  size_t found = 0;
  for (std::sregex_iterator i(text.begin(), text.end(), file), end; i != end; ++i, ++found) EXPECT_TRUE(std::filesystem::exists(test::source_path((*i)[1].str()))) << (*i)[1];
  EXPECT_GE(found, 3u);
}

}  // namespace
}  // namespace drywell
