// Targets of citations in comments, architecture files and documents exist: pages, sections, links, articles, paths of the tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/paths.h"

namespace drywell::test {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFolders = {"cmake", "conformance", "core", "cudart", "docs", "examples", "include", "isa",
                                           "kernels", "launch", "sim", "tests", "tools", "traces"};

bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Joins the lines: a citation may continue in the next line of a comment.
std::string joined(const std::string& raw, bool markdown) {
  std::string out;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\n') {
      out += raw[i];
      continue;
    }
    while (i + 1 < raw.size() && (raw[i + 1] == ' ' || raw[i + 1] == '\t')) ++i;
    while (!markdown && i + 1 < raw.size() && (raw[i + 1] == '/' || raw[i + 1] == '#')) ++i;
    while (i + 1 < raw.size() && (raw[i + 1] == ' ' || raw[i + 1] == '\t')) ++i;
    if (out.empty() || out.back() != ' ') out += ' ';
  }
  return out;
}

/// The text after `mark` (`//` in C++, `#` in CMake) in each line.
std::string comments_of(const std::string& raw, const std::string& mark) {
  std::string out;
  for (size_t at = 0; at < raw.size();) {
    const size_t end = std::min(raw.find('\n', at), raw.size());
    const std::string line = raw.substr(at, end - at);
    size_t from = line.find(mark);
    while (from != std::string::npos && from > 0 && line[from - 1] == ':') from = line.find(mark, from + mark.size());  // a URL
    if (from != std::string::npos) from = line.find_first_not_of(mark[0], from);
    if (from != std::string::npos) out += line.substr(from);
    out += '\n';
    at = end + 1;
  }
  return out;
}

struct Heading {
  size_t level;
  std::string text;
};

std::vector<Heading> headings_of(const std::string& raw) {
  std::vector<Heading> found;
  bool code = false;
  for (size_t at = 0; at < raw.size();) {
    const size_t end = std::min(raw.find('\n', at), raw.size());
    const std::string line = raw.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("```")) code = !code;
    const size_t level = line.find_first_not_of('#');
    if (!code && level != std::string::npos && level > 0 && line[level] == ' ') found.push_back({level, line.substr(level + 1)});
  }
  return found;
}

/// The anchor of a heading, as GitHub makes it.
std::string anchor_of(const std::string& heading) {
  std::string out;
  for (const char c : heading) {
    if (word(c) || c == '-' || static_cast<unsigned char>(c) >= 0x80) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (c == ' ') out += '-';
  }
  return out;
}

struct File {
  std::string path;
  bool markdown;
  std::string raw;
  std::string text;   // one line
  std::string prose;  // one line; C++ and CMake: comments only, compilers check the rest
};

/// Text of a missing citation and its place.
std::string at(const File& f, const std::string& text, size_t where) {
  return f.path + ": …" + text.substr(where, 90) + "…";
}

class Citations : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::set<std::string> endings = {".h", ".cpp", ".inc", ".cu", ".cuh", ".py", ".sh", ".cmake", ".toml", ".md", ".txt"};
    const auto add = [](const fs::path& p) {
      File f{fs::relative(p, source_path("")).generic_string(), p.extension() == ".md", {}, {}, {}};
      // Records of measurements and this test's own examples are not checked.
      if (f.path.starts_with("traces/hw/") || f.path == "tests/unit/citations_test.cpp") return;
      std::ifstream in(p, std::ios::binary);
      f.raw.assign(std::istreambuf_iterator<char>(in), {});
      f.text = joined(f.raw, f.markdown);
      const std::string ending = p.extension().string();
      const bool cpp = ending == ".h" || ending == ".cpp" || ending == ".inc" || ending == ".cu" || ending == ".cuh";
      const bool cmake = ending == ".cmake" || p.filename() == "CMakeLists.txt";
      f.prose = cpp || cmake ? joined(comments_of(f.raw, cpp ? "//" : "#"), true) : f.text;
      files_.push_back(std::move(f));
    };
    for (const std::string& folder : kFolders) {
      for (const auto& e : fs::recursive_directory_iterator(source_path(folder))) {
        if (e.is_regular_file()) tree_.insert(fs::relative(e.path(), source_path("")).generic_string());
        if (e.is_regular_file() && endings.contains(e.path().extension().string())) add(e.path());
      }
    }
    for (const char* name : {"README.md", "CMakeLists.txt", "CHANGELOG.md"}) {
      add(source_path(name));
      tree_.insert(name);
    }
  }
  static void TearDownTestSuite() {
    files_.clear();
    tree_.clear();
  }

  static const File* file(const std::string& path) {
    const auto i = std::find_if(files_.begin(), files_.end(), [&](const File& f) { return f.path == path; });
    return i == files_.end() ? nullptr : &*i;
  }
  static bool exists(const std::string& path) { return fs::exists(source_path(path)); }

  static inline std::vector<File> files_;
  static inline std::set<std::string> tree_;
};

// ---- Numbered sections: "docs/facts/timing.md §3.1, §3.2", "§4 and §5", "§4-§6"

const std::string kSign = "§";

std::string number_at(const std::string& s, size_t at) {
  const auto digit = [&](size_t i) { return i < s.size() && std::isdigit(static_cast<unsigned char>(s[i])) != 0; };
  size_t end = at;
  while (digit(end) || (digit(end + 1) && s[end] == '.' && end > at)) ++end;
  return s.substr(at, end - at);
}

TEST_F(Citations, NumberedSectionsStandInTheirPages) {
  std::map<std::string, std::set<std::string>> numbers;
  for (const File& f : files_) {
    if (!f.path.starts_with("docs/facts/")) continue;
    for (const Heading& h : headings_of(f.raw)) {
      if (const std::string n = number_at(h.text, 0); !n.empty()) numbers[f.path].insert(n);
    }
  }
  ASSERT_GT(numbers.size(), 3u);
  size_t cited = 0, pages = 0;
  for (const File& f : files_) {
    if (f.path == "CHANGELOG.md") continue;
    std::set<std::string> named;  // pages of this file
    for (size_t i = f.text.find("docs/facts/"); i != std::string::npos; i = f.text.find("docs/facts/", i + 1)) {
      const std::string one = f.text.substr(i, std::min(f.text.find(".md", i), f.text.size()) + 3 - i);
      if (numbers.contains(one)) named.insert(one);
    }
    pages += named.size();
    std::string page;  // that the list of sections at `i` belongs to
    size_t list_end = 0;
    const std::set<std::string> separators = {", ", " and ", ", and ", "-", " to "};
    for (size_t i = f.text.find(kSign); i != std::string::npos; i = f.text.find(kSign, i + 1)) {
      const std::string n = number_at(f.text, i + kSign.size());
      if (n.empty()) continue;
      // A sign follows a page's name, or the sign before it in a list.
      const std::string before = f.text.substr(i < 60 ? 0 : i - 60, i < 60 ? i : 60);
      std::smatch m;
      if (std::regex_search(before, m, std::regex("docs/facts/[a-z0-9-]+\\.md,? $"))) {
        page = m[0].str().substr(0, m[0].str().find(".md") + 3);
      } else if (page.empty() || !separators.contains(f.text.substr(list_end, i - list_end))) {
        if (f.path.starts_with("docs/facts/")) {
          page = f.path;  // a page's own sections
        } else if (named.size() == 1) {
          page = *named.begin();  // the one page the file is written from
        } else {
          ADD_FAILURE() << at(f, f.text, i) << " is the section of no page";
          continue;
        }
      }
      list_end = i + kSign.size() + n.size();
      ++cited;
      if (numbers.contains(page)) {
        EXPECT_TRUE(numbers[page].contains(n)) << at(f, f.text, i) << " is no section of " << page;
      } else if (page != f.path) {
        ADD_FAILURE() << at(f, f.text, i) << ": " << page << " has no numbered sections";
      }
    }
  }
  EXPECT_GT(cited, 600u);
  EXPECT_GT(pages, 150u);
}

// ---- Sections by name: docs/deviations.md, Time; docs/facts/ptx-census.md, "Counts by group"

TEST_F(Citations, NamedSectionsStandInTheirPages) {
  const std::regex cite("((docs/[A-Za-z0-9_/-]+|README|CHANGELOG)\\.md), (\"([^\"]+)\"|[A-Z][^|]{0,60})");
  size_t cited = 0;
  for (const File& f : files_) {
    if (f.path == "CHANGELOG.md" || f.text.find(".md, ") == std::string::npos) continue;
    for (std::sregex_iterator i(f.text.begin(), f.text.end(), cite), end; i != end; ++i) {
      const std::string page = (*i)[1], name = (*i)[4].matched ? (*i)[4] : (*i)[3];
      const File* target = file(page);
      if (target == nullptr) continue;  // PathsExist reports it
      const std::vector<Heading> headings = headings_of(target->raw);
      const bool found = std::any_of(headings.begin(), headings.end(), [&](const Heading& h) { return name.starts_with(h.text); });
      ++cited;
      EXPECT_TRUE(found) << at(f, f.text, static_cast<size_t>(i->position())) << " is no section of " << page;
    }
  }
  EXPECT_GE(cited, 3u);
}

// ---- Links of Markdown

TEST_F(Citations, LinksLeadSomewhere) {
  const std::regex link("\\]\\(([^)\\s]+)\\)");
  size_t links = 0, anchors = 0;
  for (const File& f : files_) {
    if (!f.markdown) continue;
    for (std::sregex_iterator i(f.raw.begin(), f.raw.end(), link), end; i != end; ++i) {
      const std::string target = (*i)[1];
      // Only targets that look like a file or an anchor: listings also contain `[args](…)`.
      const size_t hash = target.find('#');
      const std::string path = target.substr(0, hash);
      if (target.find("://") != std::string::npos) continue;
      if (hash == std::string::npos && path.find_first_of("./") == std::string::npos && path != "LICENSE") continue;
      if (!path.empty() && std::isalpha(static_cast<unsigned char>(path[0])) == 0 && path[0] != '.') continue;
      ++links;
      const std::string resolved = path.empty() ? f.path : (fs::path(f.path).parent_path() / path).lexically_normal().generic_string();
      EXPECT_TRUE(exists(resolved)) << f.path << " links to " << target;
      if (hash == std::string::npos) continue;
      ++anchors;
      const File* page = file(resolved);
      ASSERT_NE(page, nullptr) << f.path << " links to " << target;
      const std::vector<Heading> headings = headings_of(page->raw);
      const auto named = [&](const Heading& h) { return anchor_of(h.text) == target.substr(hash + 1); };
      EXPECT_TRUE(std::any_of(headings.begin(), headings.end(), named)) << f.path << " links to " << target;
    }
  }
  EXPECT_GT(links, 60u);
  EXPECT_GE(anchors, 1u);
}

// ---- Paths

/// The path at a position, without punctuation of the text around it.
std::string path_at(const std::string& s, size_t at) {
  size_t end = at;
  int braces = 0;
  for (; end < s.size(); ++end) {
    const char c = s[end];
    if (c == '{') ++braces;
    if (c == '}' && --braces < 0) break;
    if (!word(c) && c != '/' && c != '.' && c != '-' && c != '+' && c != '*' && c != '{' && c != '}' && !(c == ',' && braces > 0)) break;
  }
  while (end > at && (s[end - 1] == '.' || s[end - 1] == '-' || s[end - 1] == '+' || s[end - 1] == ',')) --end;
  return s.substr(at, end - at);
}

std::vector<std::string> expanded(const std::string& path) {
  const size_t open = path.find('{'), close = path.find('}');
  if (open == std::string::npos || close == std::string::npos) return {path};
  std::vector<std::string> out;
  for (size_t from = open + 1; from <= close;) {
    const size_t to = std::min(path.find(',', from), close);
    const std::string start = path.substr(0, open) + path.substr(from, to - from);
    for (const std::string& rest : expanded(path.substr(close + 1))) out.push_back(start + rest);
    from = to + 1;
  }
  return out;
}

bool matches(const std::string& pattern, const std::string& path, size_t p = 0, size_t i = 0) {
  for (; p < pattern.size(); ++p, ++i) {
    if (pattern[p] != '*') {
      if (i >= path.size() || pattern[p] != path[i]) return false;
      continue;
    }
    for (size_t skip = i; skip <= path.size(); ++skip) {
      if (matches(pattern, path, p + 1, skip)) return true;
      if (skip < path.size() && path[skip] == '/') return false;
    }
    return false;
  }
  return i == path.size();
}

TEST_F(Citations, PathsExist) {
  size_t paths = 0, pages = 0;
  for (const File& f : files_) {
    // CHANGELOG.md is history; the fact pages name the files of other projects.
    const bool own = f.path == "docs/facts/README.md" || f.path == "docs/facts/articles.md" || f.path == "docs/facts/corrections.md";
    if (f.path == "CHANGELOG.md" || (f.path.starts_with("docs/facts/") && !own)) continue;
    for (const std::string& folder : kFolders) {
      const std::string start = folder + "/";
      for (size_t i = f.prose.find(start); i != std::string::npos; i = f.prose.find(start, i + 1)) {
        const char before = i == 0 ? ' ' : f.prose[i - 1];
        if (f.markdown && before == '(' && i > 1 && f.prose[i - 2] == ']') continue;  // LinksLeadSomewhere
        if (word(before) || std::string("/.-<>$}").find(before) != std::string::npos) continue;
        const std::string path = path_at(f.prose, i);
        if (path.find("NAME") != std::string::npos || path.size() <= start.size()) continue;
        if (path.starts_with("include/cut")) continue;  // CUTLASS's
        for (const std::string& one : expanded(path)) {
          ++paths;
          pages += one.ends_with(".md") ? 1 : 0;
          const auto fits = [&](const std::string& t) { return matches(one, t); };
          const bool found = one.find('*') == std::string::npos ? exists(one) : std::any_of(tree_.begin(), tree_.end(), fits);
          EXPECT_TRUE(found) << at(f, f.prose, i) << ": there is no " << one;
        }
      }
    }
  }
  EXPECT_GT(paths, 900u);
  EXPECT_GT(pages, 600u);
}

// ---- Names of files without their folder

TEST_F(Citations, FilesNamedWithoutAFolderExist) {
  const std::set<std::string> foreign = {"cuda.h", "driver_types.h", "cuda_occupancy.h", "cuda_runtime.h", "cuda_runtime_api.h", "fatbinary_section.h", "lz4_Block_format.md",
                                         "core_nvfp4.cuh", "hadamard_transform_cast_fusion.cu", "dense_blockscaled_gemm_persistent.py",
                                         "agent_select_if.cuh", "agent_unique_by_key.cuh", "open_addressing_ref_impl.cuh", "ChainedScanDecoupledLookbackDispatcher.cuh", "ReduceThenScan.cuh", "EmulatedDeadlocking.cuh", "OneSweep.cu", "UtilityKernels.cuh", "insert.cuh", "gups.cu", "bb_bin.cuh", "kernels.h", "main.cu", "layer_norm.cu", "head_norm.cu", "cache_q.cuh", "petri_kernel.cu", "map_kernels.cu", "map_warps.cu",
                                         "morphology.cu", "QuicksortKernels.cuh", "kernel_cam.cu", "srad_kernel.cu", "gemm.cu", "kernel.cu", "x.cu", "llama.cpp", "cuda_fp16.h", "gqa_fwd_bshd.py",
                                         "gemm_tcgen5mma_ws_persistent_streamk.py", "gemm_tcgen5mma_ws_clc.py", "hadamard_amax_triton.py", "tile_scheduler.py", "flash_bwd_sm100.py", "fast_topk_clusters_exact.cuh", "mmid.cu", "kernels.cu", "welford.cu",
                                         "setmaxnreg.inc"};  // the last: an instruction
  std::set<std::string> names;
  for (const std::string& path : tree_) names.insert(fs::path(path).filename().string());
  size_t named = 0;
  for (const File& f : files_) {
    const std::string ending = fs::path(f.path).extension().string();
    if (f.path == "CHANGELOG.md" || f.path.starts_with("docs/facts/") || f.path.starts_with("tests/data/")) continue;
    if (ending != ".h" && ending != ".cpp" && ending != ".inc" && ending != ".md") continue;
    for (const std::string end : {".h", ".cpp", ".inc", ".cu", ".cuh", ".py", ".md"}) {
      for (size_t i = f.prose.find(end); i != std::string::npos; i = f.prose.find(end, i + 1)) {
        const size_t after = i + end.size();
        if (after < f.prose.size() && (word(f.prose[after]) || f.prose[after] == '-' || f.prose[after] == '*')) continue;
        if (after + 1 < f.prose.size() && f.prose[after] == '.' && word(f.prose[after + 1])) continue;
        size_t from = i;
        while (from > 0 && (word(f.prose[from - 1]) || f.prose[from - 1] == '-')) --from;
        if (from == i || (from > 0 && std::string("/.*$<>{}").find(f.prose[from - 1]) != std::string::npos)) continue;
        const std::string name = f.prose.substr(from, after - from);
        if (std::isalpha(static_cast<unsigned char>(name[0])) == 0 || foreign.contains(name)) continue;
        ++named;
        EXPECT_TRUE(names.contains(name)) << at(f, f.prose, from) << ": there is no " << name;
      }
    }
  }
  EXPECT_GT(named, 100u);
}

// ---- Names of pages and articles that are not in the tree

TEST_F(Citations, NothingIsCitedOutsideTheTree) {
  size_t facts = 0;
  for (const File& f : files_) {
    if (f.path == "CHANGELOG.md") continue;
    for (const std::string& name : {std::string("facts/"), "facts " + kSign, std::string("seeds/")}) {
      for (size_t i = f.text.find(name); i != std::string::npos; i = f.text.find(name, i + 1)) {
        const std::string before = f.text.substr(i < 5 ? 0 : i - 5, i < 5 ? i : 5);
        const bool link = f.markdown && (before.ends_with("(") || before.ends_with("../"));  // PathsExist and LinksLeadSomewhere
        if (before == "docs/" && name == "facts/") ++facts;
        const bool part_of_a_word = i > 0 && word(f.text[i - 1]);
        EXPECT_TRUE((before == "docs/" && name == "facts/") || link || part_of_a_word) << at(f, f.text, i);
      }
    }
  }
  EXPECT_GT(facts, 550u);
}

// ---- Articles: "TITLE", section "SECTION"

TEST_F(Citations, ArticlesHaveTheirTitlesAndSections) {
  const File* page = file("docs/facts/articles.md");
  ASSERT_NE(page, nullptr);
  std::map<std::string, std::set<std::string>> articles;
  std::string current;
  for (const Heading& h : headings_of(page->raw)) {
    if (h.level == 2) current = h.text;
    if (h.level == 2) articles[current];
    if (h.level == 3) articles[current].insert(h.text);
  }
  ASSERT_EQ(articles.size(), 5u);
  const std::regex section("sections? \"[^\"]+\"((,| and|, and) \"[^\"]+\")*"), quoted("\"([^\"]+)\""), article("[Aa]rticle \"([^\"]+)\""),
      numbered("[Aa]rticles? 00[0-9]"), any("[ (\"][Aa]rticles?[ ,.;:)']");
  size_t titles = 0, sections = 0;
  for (const File& f : files_) {
    if (f.path == "CHANGELOG.md" || f.path == page->path) continue;
    std::map<size_t, std::string> named;
    for (const auto& [title, unused] : articles) {
      for (size_t i = f.prose.find('"' + title + '"'); i != std::string::npos; i = f.prose.find('"' + title + '"', i + 1)) named[i] = title;
    }
    titles += named.size();
    for (std::sregex_iterator i(f.prose.begin(), f.prose.end(), article), end; i != end; ++i)
      EXPECT_TRUE(articles.contains((*i)[1])) << at(f, f.prose, static_cast<size_t>(i->position())) << " is no title";
    for (std::sregex_iterator i(f.prose.begin(), f.prose.end(), section), end; i != end; ++i) {
      const auto where = static_cast<size_t>(i->position());
      auto last = named.upper_bound(where);
      const bool after_title = last != named.begin();
      EXPECT_TRUE(after_title) << at(f, f.prose, where) << " is the section of no article";
      if (!after_title) continue;
      --last;
      const std::string list = i->str();
      for (std::sregex_iterator q(list.begin(), list.end(), quoted); q != end; ++q, ++sections)
        EXPECT_TRUE(articles[last->second].contains((*q)[1])) << at(f, f.prose, where) << " is no section of \"" << last->second << '"';
    }
    std::smatch m;
    EXPECT_FALSE(std::regex_search(f.prose, m, numbered)) << f.path << " cites " << m[0];
    // Text that mentions "the article" must name it.
    if (f.path.starts_with("docs/facts/") || f.path.starts_with("tests/data/") || !std::regex_search(f.prose, m, any)) continue;
    EXPECT_TRUE(!named.empty() || f.prose.find("articles.md") != std::string::npos)
        << at(f, f.prose, static_cast<size_t>(m.position())) << ": which article?";
  }
  EXPECT_GT(titles, 50u);
  EXPECT_GT(sections, 60u);
}

}  // namespace
}  // namespace drywell::test
