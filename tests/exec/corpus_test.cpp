// CUDA code through nvcc: the kernels' results equal those of the same functions on the host
// (tests/corpus/README.md).
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "support/paths.h"
#include "support/ptx_run.h"

namespace drywell::test {
namespace {

constexpr uint32_t kThreads = 256;

std::string text_of(const std::string& file) {
  std::ifstream in(source_path("tests/corpus/" + file), std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

/// Kernel name → one word per thread.
std::map<std::string, Column> expected_words(const std::string& file) {
  std::istringstream in(text_of(file));
  std::map<std::string, Column> words;
  std::string kernel;
  for (std::string token; in >> token;) {
    if (token.starts_with("k_")) {
      kernel = token;
    } else {
      words[kernel].push_back(std::stoull(token, nullptr, 16));
    }
  }
  return words;
}

/// Runs every kernel of the file's module on one block; returns their printed output.
std::string check_corpus(const std::string& name, sim::DriverKind driver) {
  sim::Device d;
  const sim::LoadedModule module = d.load(parse_or_throw(text_of(name + ".ptx")));
  const auto expected = expected_words(name + "_expected.txt");
  EXPECT_FALSE(expected.empty());
  std::string printed;
  for (const auto& [kernel, words] : expected) {
    const GmemAddr out = d.allocate(8 * kThreads);
    sim::RunOptions options;
    options.driver = driver;
    const sim::RunResult r =
        d.launch(module, kernel, {.grid = {1}, .block = {kThreads}}, sim::Args().add(out), options);
    EXPECT_TRUE(r.ok()) << kernel << ": " << (r.ok() ? "" : r.fault->to_string());
    Column got(kThreads);
    d.read(got.data(), out, 8 * kThreads);
    for (uint32_t i = 0; i < kThreads; ++i) {
      if (got[i] == words.at(i)) continue;
      ADD_FAILURE() << kernel << " thread " << i << std::hex << ": " << got[i] << ", on the host "
                    << words[i];
      break;
    }
    printed += r.output;
  }
  return printed;
}

TEST(Corpus, ScalarCodeGivesTheHostsResults) { check_corpus("scalar", sim::DriverKind::eager); }

TEST(Corpus, LanguageFeaturesGiveTheHostsResults) { check_corpus("language", sim::DriverKind::eager); }

TEST(Corpus, WarpCodeUnderEveryDriver) {
  for (const auto driver :
       {sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::shuffled, sim::DriverKind::timed}) {
    EXPECT_EQ(check_corpus("warp", driver),
              "-5 7 -1234567890123 0xff    3.142 text z 1.234568e+04    42|17  |%\n");
  }
}

}  // namespace
}  // namespace drywell::test
