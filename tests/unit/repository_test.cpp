// Rules of the tree that no compiler checks: who may include whom, and that every diagnostic code is documented and tested.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "drywell/core/code.h"
#include "support/paths.h"

namespace drywell::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> sources(const std::vector<std::string>& folders) {
  std::vector<fs::path> found;
  for (const std::string& folder : folders) {
    for (const auto& e : fs::recursive_directory_iterator(source_path(folder))) {
      const std::string ending = e.path().extension().string();
      if (e.is_regular_file() && (ending == ".cpp" || ending == ".h" || ending == ".inc")) found.push_back(e.path());
    }
  }
  return found;
}

/// Folders from the bottom; those of one row do not know each other. A file includes its own folder and folders of rows above this
/// one's (docs/reading-guide.md). Headers of include/drywell/isa and the like are folders of their own, below those that define
/// what they declare.
const std::vector<std::vector<std::string>> kRows = {
    {"drywell/core"},
    {"core", "drywell/isa/table", "drywell/isa/layout"},
    {"drywell/isa"},
    {"drywell/isa/inspect", "isa/layout", "isa/legality"},
    {"isa"},
    {"isa/inspect"},
    {"sim/arch", "drywell/sim/numeric"},
    {"sim/numeric/format", "sim/numeric/oracle", "sim/numeric/highway", "sim/numeric/amx", "sim/numeric/special"},
    {"sim/numeric/avx512"},
    {"sim/numeric"},
    {"sim/state"},
    {"sim/events"},
    {"sim/exec"},
    {"sim/engine"},
    {"sim/schedule"},
    {"sim/timing"},
    {"sim"},
    {"sim/check", "sim/trace", "sim/inspect"},
    {"sim/debug"},
    {"sim/debug/shell"},
    {"sim/debug/dap"},
    {"launch"},
    {"launch/cuda_driver"},
    {"kernels/reference"},
    {"kernels/support"},
    {"kernels/blockwise", "kernels/nvfp4", "kernels/tma_copy"},
    {"kernels/gemm", "kernels/gemm_sm90", "kernels/fused_rht", "kernels/quantize_fp8"},
    {"kernels/linear_nvfp4", "kernels/gemm_sm120"},
    {"kernels"},
    {"conformance/programs"},
    {"conformance/silicon", "conformance/microbench"},
    {"conformance/survey"},
    {"cudart/table"},
    {"cudart"},
    {"cudart/api"},
    {"python/src", "python/processor"},
    {"tools/common"},
    {"tools/pages", "tools/step"},
    {"tools"},
};

/// Whose a header of include/drywell/sim is: the folder that defines what it declares.
const std::map<std::string, std::string> kOwners = {
    {"access.h", "sim/timing"},
    {"address_windows.h", "sim/state"},
    {"arch_config.h", "sim/arch"},
    {"arch_keys.inc", "sim/arch"},
    {"async_kinds.inc", "sim/state"},
    {"block_reason.h", "sim/state"},
    {"check.h", "sim/check"},
    {"hang_picture.h", "sim/check"},
    {"dap.h", "sim/debug/dap"},
    {"debug.h", "sim/debug"},
    {"dump.h", "sim"},
    {"device.h", "sim"},
    {"driver_words.h", "sim/schedule"},
    {"fault.h", "sim/state"},
    {"observer.h", "sim/events"},
    {"limit_words.h", "sim/schedule"},
    {"report.h", "sim/timing"},
    {"run.h", "sim/schedule"},
    {"space.h", "sim/state"},
    {"span.h", "sim/state"},
    {"stall.h", "sim/events"},
    {"trace.h", "sim/trace"},
    {"trace_export.h", "sim/trace"},
};

const std::vector<std::string> kTops = {"core", "isa", "sim", "launch", "kernels", "conformance", "cudart", "python", "tools"};

std::vector<fs::path> all_sources() {
  std::vector<std::string> folders = kTops;
  folders.emplace_back("include");
  return sources(folders);
}

/// The folder of a file, a path from the root of the tree: "include/drywell/sim/run.h" is in sim/schedule.
std::string folder_of(const fs::path& file) {
  std::string folder = file.parent_path().generic_string();
  if (folder == "sim/state/payload") return "sim/state";  // one folder, whose many small headers lie apart
  if (folder == "include/drywell/launch") return "launch";
  if (folder == "include/drywell/kernels") return file.filename() == "reference_gemm.h" ? "kernels/reference" : "kernels/support";
  if (folder == "include/drywell/sim") return kOwners.contains(file.filename()) ? kOwners.at(file.filename()) : "nobody's";
  if (folder.starts_with("include/drywell/sim/") && folder != "include/drywell/sim/numeric") return folder.substr(std::string("include/drywell/").size());
  return folder.starts_with("include/") ? folder.substr(std::string("include/").size()) : folder;
}

/// Row of a folder, or -1.
int row_of(const std::string& folder) {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (std::find(kRows[i].begin(), kRows[i].end(), folder) != kRows[i].end()) return static_cast<int>(i);
  }
  return -1;
}

struct Include {
  fs::path from, to;  // from the root of the tree
};

/// The file of this tree that `from` means by `name`, or nothing.
fs::path included(const fs::path& from, const std::string& name) {
  for (const fs::path& p : {"include" / fs::path(name), fs::path(name), from.parent_path() / name}) {
    if (fs::exists(source_path(p.generic_string()))) return p.lexically_normal();
  }
  return {};
}

std::vector<Include> includes() {
  const std::regex line("#include \"([^\"]+)\"");
  std::vector<Include> all;
  for (const fs::path& p : all_sources()) {
    const fs::path from = fs::relative(p, source_path(""));
    const std::string text = text_of(p);
    for (std::sregex_iterator i(text.begin(), text.end(), line), end; i != end; ++i) {
      if (const fs::path to = included(from, (*i)[1]); !to.empty()) all.push_back({from, to});
    }
  }
  return all;
}

TEST(Repository, EveryFileIsInAFolderOfTheOrder) {
  for (const fs::path& p : all_sources()) {
    const fs::path file = fs::relative(p, source_path(""));
    EXPECT_GE(row_of(folder_of(file)), 0) << file << " is in " << folder_of(file);
  }
}

TEST(Repository, EveryFolderIncludesOnlyThoseBelow) {
  size_t checked = 0;
  for (const Include& i : includes()) {
    const std::string from = folder_of(i.from), to = folder_of(i.to);
    ++checked;
    EXPECT_TRUE(from == to || row_of(to) < row_of(from)) << i.from << " (" << from << ") includes " << i.to << " (" << to << ")";
  }
  EXPECT_GT(checked, 1800u);
}

/// The first `depth` parts of a folder; public headers are their folder's. With two parts those of isa are a folder of their own, because isa's
/// parts, and their shared source files above them, are built on them.
std::string cut(std::string folder, size_t depth) {
  if (depth == 2 && folder.starts_with("drywell/isa")) return folder;
  if (folder.starts_with("drywell/")) folder.erase(0, std::string("drywell/").size());
  size_t end = 0;
  for (size_t i = 0; i < depth && end != std::string::npos; ++i) end = folder.find('/', end + 1);
  return folder.substr(0, end);
}

using Graph = std::map<std::string, std::set<std::string>>;

/// Takes away what leads nowhere until nothing changes: what is left are cycles and what leads to them.
Graph cycles(Graph g) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = g.begin(); it != g.end();) {
      std::erase_if(it->second, [&](const std::string& to) { return !g.contains(to); });
      changed = changed || it->second.empty();
      it = it->second.empty() ? g.erase(it) : std::next(it);
    }
  }
  return g;
}

// The folders at the root, and those in them: what is coarser than the order above follows from it only if parts of a folder
// stand together there.
TEST(Repository, FoldersHaveNoCycles) {
  for (const size_t depth : {1, 2}) {
    Graph g;
    for (const Include& i : includes()) {
      const std::string from = cut(folder_of(i.from), depth), to = cut(folder_of(i.to), depth);
      if (from != to) g[from].insert(to);
    }
    for (const auto& [from, to] : cycles(g)) ADD_FAILURE() << "a cycle of folders goes through " << from;
  }
}

// Folders of kernels, tools and the CUDA stand-in are rows of their parents there.
TEST(Repository, TheReadingGuideHasEveryFolder) {
  const std::string page = text_of(source_path("docs/reading-guide.md"));
  size_t found = 0;
  for (const auto& row : kRows) {
    for (const std::string& folder : row) {
      const bool part = folder.starts_with("drywell/") || (folder.find('/') != std::string::npos && !folder.starts_with("sim/") && !folder.starts_with("isa/"));
      if (part) continue;
      EXPECT_NE(page.find("`" + folder + "`"), std::string::npos) << "docs/reading-guide.md does not have " << folder;
      ++found;
    }
  }
  EXPECT_GT(found, 25u);
}

TEST(Repository, OutsideTheSimulatorOnlyPublicHeadersAreIncluded) {
  const std::set<std::string> inside = {"core", "isa", "sim"};
  for (const Include& i : includes()) {
    const std::string from = i.from.begin()->string(), to = i.to.begin()->string();
    EXPECT_TRUE(inside.contains(from) || from == "include" || !inside.contains(to)) << i.from << " includes " << i.to;
    EXPECT_TRUE(from != "include" || to == "include") << i.from << ", which is public, includes " << i.to;
  }
}

/// Libraries from the bottom, as the folders.
const std::vector<std::string> kLibraries = {"core", "isa", "layouts", "sim_issue", "sim_watch", "sim", "views", "debug_shell", "debug_dap", "launch", "gpu", "kernels",
                                             "conformance", "python", "cudart_core", "cudart", "command", "lab", "inspect", "debug", "cuda", ""};
/// Of everyone: compiler options, a header.
const std::set<std::string> kNoLayers = {"flags", "tomlplusplus"};

/// Place of a library, named without "drywell_"; the command `drywell` is the last.
int place_of_library(const std::string& name) {
  const auto it = std::find(kLibraries.begin(), kLibraries.end(), name);
  return it == kLibraries.end() ? -1 : static_cast<int>(it - kLibraries.begin());
}

/// Each library must stand above those it links.
void check_links(const std::string& own, const std::string& linked, const std::regex& name) {
  for (std::sregex_iterator i(linked.begin(), linked.end(), name), end; i != end; ++i) {
    const std::string other = (*i)[1];
    if (kNoLayers.contains(other)) continue;
    EXPECT_GE(place_of_library(other), 0) << other << " is no layer";
    EXPECT_LT(place_of_library(other), place_of_library(own)) << own << " links " << other;
  }
}

TEST(Repository, LibrariesLinkOnlyThoseBelow) {
  const std::regex layer("drywell_layer\\((\\w+) \"([^\"]*)\""), link("target_link_libraries\\(drywell_?(\\w*)([^)]*)\\)");
  const std::regex bare("(\\w+)"), prefixed("\\bdrywell_(\\w+)");
  size_t found = 0;
  for (const char* file : {"CMakeLists.txt", "sim/debug/shell/CMakeLists.txt", "sim/debug/dap/CMakeLists.txt", "cudart/CMakeLists.txt", "python/CMakeLists.txt", "tools/CMakeLists.txt"}) {
    const std::string text = text_of(source_path(file));
    for (std::sregex_iterator i(text.begin(), text.end(), layer), end; i != end; ++i, ++found) check_links((*i)[1], (*i)[2], bare);
    for (std::sregex_iterator i(text.begin(), text.end(), link), end; i != end; ++i, ++found) check_links((*i)[1], (*i)[2], prefixed);
  }
  EXPECT_GE(found, 12u);
}

/// The comment lines directly before position `at`, and the one at the start of the file.
std::string comments_of_class(const std::string& text, size_t at) {
  std::string all = text.substr(0, text.find("#pragma once"));
  while (at != 0) {
    const size_t begin = text.rfind('\n', at - 2) + 1;
    const std::string line = text.substr(begin, at - begin);
    if (!line.starts_with("//") && !line.starts_with("template")) break;
    all += line;
    at = begin;
  }
  return all;
}

TEST(Repository, EveryPublicClassSaysWhichThreadsMayUseIt) {
  const std::regex definition("\n(class [A-Z]\\w+)[^;\n]*\\{"), threads("\\b[Tt]hreads?\\b|at once|at the same\\s|\\b[Vv]alues?\\b");
  size_t found = 0;
  for (const fs::path& p : sources({"include"})) {
    const std::string text = text_of(p);
    for (std::sregex_iterator i(text.begin(), text.end(), definition), end; i != end; ++i, ++found)
      EXPECT_TRUE(std::regex_search(comments_of_class(text, static_cast<size_t>(i->position(1))), threads)) << (*i)[1] << " in " << p;
  }
  EXPECT_GT(found, 45u);
}

TEST(Repository, ReferencesShareNothingWithTheSimulator) {
  const std::regex include("#include \"((sim|drywell/sim|isa|drywell/isa)/[^\"]+)\"");
  std::vector<fs::path> references = sources({"kernels/reference"});
  references.emplace_back(source_path("include/drywell/kernels/reference_gemm.h"));
  for (const fs::path& p : references) {
    const std::string text = text_of(p);
    std::smatch m;
    EXPECT_FALSE(std::regex_search(text, m, include)) << p << " includes " << m[1];
  }
}

// Codes are enumerators: a text with one would be a code that no table has, or a comparison that no compiler checks.
TEST(Repository, NoSourceWritesACodeAsText) {
  const std::regex code("\"([EFUX][0-9]{4})\""), comment("//[^\n]*");
  for (const fs::path& p : all_sources()) {
    const std::string text = std::regex_replace(text_of(p), comment, "");
    for (std::sregex_iterator i(text.begin(), text.end(), code), end; i != end; ++i) ADD_FAILURE() << (*i)[1] << " in " << p;
  }
}

// Numbers of outside data are read by drywell/core/whole_number.h: std::stod throws, strtol and sscanf wrap and stop early, std::regex takes
// stack for each character. Where they stay, their text is bounded, or std::errc is looked at.
TEST(Repository, NumbersOfOutsideDataAreReadInOnePlace) {
  const std::map<std::string, std::string> allowed = {{"tools/common/command_line.cpp", "strtoull strtoll"}, {"core/pattern.cpp", "regex"}, {"tools/mutation.cpp", "regex"}, {"launch/cuda_driver/series.cpp", "sscanf"}};
  const std::regex reader("\\b(?:std::)?(sto(?:i|l|ul|ll|ull|f|d|ld)|strto(?:l|ul|ll|ull|f|d|ld)|sscanf|ato(?:i|l|f))\\(|std::(regex)\\b"), comment("//[^\n]*");
  for (const fs::path& p : all_sources()) {
    const std::string text = std::regex_replace(text_of(p), comment, ""), path = fs::relative(p, source_path("")).generic_string();
    const auto row = allowed.find(path);
    for (std::sregex_iterator i(text.begin(), text.end(), reader), end; i != end; ++i) {
      const std::string name = (*i)[1].str() + (*i)[2].str();
      EXPECT_TRUE(row != allowed.end() && row->second.find(name) != std::string::npos) << name << " in " << path;
    }
  }
}

// Knowledge about instructions is in their rows: outside isa an opcode is named by the function that executes it, and by the decoder for
// the return that every body ends in.
TEST(Repository, NoListOfOpcodesOutsideTheTable) {
  const std::regex opcode("(Opcode::[a-z]\\w*|isa::row::\\w+)"), bound("bind(_row)?<[^>]*>"), comment("//[^\n]*");
  for (const fs::path& p : sources({"sim", "launch", "conformance", "cudart", "tools", "kernels", "python"})) {
    if (p == source_path("sim/exec/decode.cpp")) continue;
    const std::string text = std::regex_replace(std::regex_replace(text_of(p), comment, ""), bound, "");
    for (std::sregex_iterator i(text.begin(), text.end(), opcode), end; i != end; ++i) ADD_FAILURE() << (*i)[1] << " in " << p << ": a column of the row says it";
  }
}

/// The text from `begin`, at an opening brace, to its closing one.
std::string block_of(const std::string& text, size_t begin) {
  size_t depth = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return text.substr(begin, i + 1 - begin);
  }
  return text.substr(begin);
}

// A new role must be a compiler error (-Wswitch) wherever roles are told apart.
TEST(Repository, NoSwitchOverARoleHasADefault) {
  const std::regex switches("switch \\([^\n]*(memory|sync|flow|fold|completion|role)(\\(\\w*\\))?\\) (\\{)"), other("\\bdefault:");
  size_t found = 0;
  for (const fs::path& p : sources({"sim", "isa", "launch", "conformance", "cudart", "tools"})) {
    const std::string text = text_of(p);
    for (std::sregex_iterator i(text.begin(), text.end(), switches), end; i != end; ++i, ++found)
      EXPECT_FALSE(std::regex_search(block_of(text, static_cast<size_t>(i->position(3))), other)) << (*i)[0] << " in " << p;
  }
  EXPECT_GE(found, 6u);
}

TEST(Repository, EveryCodeIsGivenSomewhere) {
  const std::set<std::string_view> kept = {"E1420", "E4127"};  // the start of a range; one that cudart gives as a CUDA error
  std::string all;
  for (const fs::path& p : all_sources()) all += text_of(p);
  for (const CodeRow& r : all_codes()) {
    EXPECT_TRUE(kept.contains(r.name) || all.find(fmt::format("Code::{}", r.name)) != std::string::npos) << "no source gives " << r.name;
  }
  EXPECT_GT(all_codes().size(), 300u);
}

TEST(Repository, EveryDiagnosticCodeHasOneMeaning) {
  const std::regex row("\n\\| ([EFUW][0-9]{4})(?= \\|)");
  const std::string page = text_of(source_path("docs/errors.md"));
  std::set<std::string> seen;
  for (std::sregex_iterator i(page.begin(), page.end(), row), end; i != end; ++i)
    EXPECT_TRUE(seen.insert((*i)[1]).second) << (*i)[1] << " stands twice in docs/errors.md";
  EXPECT_GT(seen.size(), 200u);
}

// Every rule a program can break (E1…) and every fault (F3…) has its twin in a test, which names the code.
TEST(Repository, EveryRuleHasATest) {
  const std::regex row("\n\\| ([EF][13][0-9]{3}) \\|");
  const std::set<std::string> not_rules = {"E1000", "E1420",  // no error of their own
                                           "E1432"};          // reaches users as F3212
  std::string tests;
  for (const fs::path& p : sources({"tests", "conformance/programs"})) tests += text_of(p);
  for (const auto& e : fs::directory_iterator(source_path("tests/corpus/error"))) tests += text_of(e.path());
  const std::string page = text_of(source_path("docs/errors.md"));
  size_t rules = 0;
  for (std::sregex_iterator i(page.begin(), page.end(), row), end; i != end; ++i, ++rules) {
    const std::string code = (*i)[1];
    EXPECT_TRUE(not_rules.contains(code) || tests.find(code) != std::string::npos) << "no test names " << code;
  }
  EXPECT_GT(rules, 150u);
}

}  // namespace
}  // namespace drywell::test
