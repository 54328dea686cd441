// `drywell tmem show` and `tmem layout`: the page's model, run by node as a browser runs it, against the
// values that the kernel wrote to global memory by another way (tcgen05.ld, conversion, TMA store).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "drywell/core/files.h"
#include "drywell/core/npy.h"
#include "support/mistake.h"
#include "support/page_script.h"
#include "support/process.h"

namespace drywell {
namespace {

using Json = nlohmann::json;
using test::evaluate;
using test::Finished;
using test::Mistake;
using test::PageScript;
using testing::HasSubstr;

uint16_t to_bf16(float f) {
  const auto bits = std::bit_cast<uint32_t>(f);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// The page of a run, and the kernel's result.
class Shown {
 public:
  explicit Shown(std::vector<std::string> words) {
    std::vector<std::string> show = {"tmem", "show"}, run = {"run"};
    show.insert(show.end(), words.begin(), words.end());
    run.insert(run.end(), words.begin(), words.end());
    show.insert(show.end(), {"-o", page(), "--svg", svg()});
    run.insert(run.end(), {"--driver=timed", "--save=" + directory_.path()});
    const Finished shown = test::drywell(show), ran = test::drywell(run);
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
  }
  std::string page() const { return directory_.file("page.html"); }
  std::string svg() const { return directory_.file("state.svg"); }
  NpyArray result() const { return read_npy(directory_.file("d.npy")); }

 private:
  test::TemporaryDirectory directory_;
};

const Shown& gemm() {
  static const Shown shown({"gemm-bf16", "--m=128", "--n=128", "--k=128"});
  return shown;
}
const Shown& pair() {
  static const Shown shown({"gemm-bf16", "--m=256", "--n=128", "--k=128", "--cta-group=2"});
  return shown;
}

TEST(TmemPage, NeedsNothingButItself) {
  const std::string text = read_text_file(gemm().page());
  for (const char* outside : {"http:", "https:", "//cdn", "src=", "@import", "<link", "url(", "fetch(",
                              "XMLHttpRequest", "import("})
    EXPECT_EQ(text.find(outside), std::string::npos) << outside;
  EXPECT_TRUE(text.starts_with("<!doctype html>"));
}

void expect_values_of(const Shown& shown, uint32_t rows, uint32_t columns) {
  const NpyArray d = shown.result();
  ASSERT_EQ(d.shape, (std::vector<uint64_t>{rows, columns}));
  const Json cells = evaluate(
      shown.page(), "[...Array(" + std::to_string(rows * columns / 61) +
                        ").keys()].map(i => i * 61).map(i => { const c = find('D', Math.floor(i / " +
                        std::to_string(columns) + "), i % " + std::to_string(columns) +
                        ", D.to), d = describe(c[0].cta, c[0].lane, c[0].column, D.to); return [i, c.length, "
                        "d.elements[0].row, d.elements[0].index, d.elements[0].value]; })");
  ASSERT_GT(cells.size(), 100u);
  for (const Json& c : cells) {
    const size_t i = c[0];
    EXPECT_EQ(c[1], 1) << "an element of D lies in one cell";
    EXPECT_EQ(c[2].get<size_t>() * columns + c[3].get<size_t>(), i);
    uint16_t stored = 0;
    std::memcpy(&stored, d.data.data() + 2 * i, 2);
    EXPECT_EQ(to_bf16(c[4].get<float>()), stored) << i;
  }
}

TEST_F(PageScript, ShowsTheValuesThatTheKernelStores) { expect_values_of(gemm(), 128, 128); }
TEST_F(PageScript, ShowsBothCtasOfAPair) {
  expect_values_of(pair(), 256, 128);
  const Json cells = evaluate(
      pair().page(), "[find('D', 5, 0, D.to)[0].cta, find('D', 133, 0, D.to)[0].cta, D.ctas.length]");
  EXPECT_EQ(cells, Json({0, 1, 2}));
}

TEST_F(PageScript, NamesWriterReadersAndTime) {
  const Json d = evaluate(gemm().page(), "[describe(0, 40, 7, D.to), describe(0, 40, 7, 0), moments]");
  EXPECT_THAT(d[0]["written"]["by"].get<std::string>(), HasSubstr("tcgen05.mma at kernels/gemm/mma.cpp:"));
  EXPECT_THAT(d[0]["written"]["warp"].get<std::string>(), HasSubstr("mma"));
  EXPECT_LE(d[0]["written"]["issued"].get<uint64_t>(), d[0]["written"]["at"].get<uint64_t>());
  // Lane 40 is of the second partition: warps 1, 5 of the CTA's six.
  ASSERT_EQ(d[0]["readers"].size(), 2u);
  EXPECT_THAT(d[0]["readers"][0].get<std::string>(), HasSubstr("(warp 1)"));
  EXPECT_THAT(d[0]["readers"][1].get<std::string>(), HasSubstr("(warp 5)"));
  EXPECT_TRUE(d[1]["written"].is_null());
  EXPECT_FALSE(d[1]["allocated"].get<bool>());
  EXPECT_GT(d[2].size(), 10u);
}

// In the accumulation, the values of early instructions are partial sums: the last differs from the first.
TEST_F(PageScript, TheSliderShowsEarlierValues) {
  const Json values =
      evaluate(gemm().page(), "D.steps.filter(s => s[1]).map(s => describe(0, 3, 5, s[8]).bytes)");
  ASSERT_EQ(values.size(), 8u);  // K = 128 in steps of 16
  EXPECT_NE(values.front(), values.back());
}

TEST_F(PageScript, FactorsAreElementsOfTheirOwn) {
  const Shown shown({"gemm-blockscaled", "--m=128", "--n=128", "--k=256"});
  const Json d =
      evaluate(shown.page(), "find('SFA', 37, 1, D.to).map(c => describe(c.cta, c.lane, c.column, D.to))");
  ASSERT_FALSE(d.empty());
  EXPECT_EQ(d.size() % 4, 0u);  // a copy in each partition
  for (const Json& cell : d) {
    EXPECT_EQ(cell["lane"].get<int>() % 32, 5);  // row 37 = lane 5 of the second column
    EXPECT_EQ(cell["operand"], "SFA");
    EXPECT_THAT(cell["written"]["by"].get<std::string>(), HasSubstr("tcgen05.cp at "));
    EXPECT_GT(cell["elements"][1]["value"].get<double>(), 0);
  }
}

TEST_F(PageScript, KeepsTheLastValuesWithinTheBudget) {
  const test::TemporaryDirectory directory;
  const std::string page = directory.file("p.html");
  ASSERT_EQ(test::drywell({"tmem", "show", "gemm-bf16", "--m=128", "--n=128", "--k=128",
                           "--value-bytes=70000", "-o", page})
                .exit_code,
            0);
  const Json d = evaluate(page, "[D.dropped, D.values.length, describe(0, 1, 1, D.to).bytes !== null]");
  EXPECT_EQ(d, Json({true, 1, true}));
}

TEST(TmemPicture, ShowsTheStateOfACycle) {
  const std::string svg = read_text_file(pair().svg());
  for (const char* part : {"D, written by tcgen05.mma", "even CTA of the pair", "odd CTA of the pair",
                           "allocated", "mma.cpp:", "column of 32 bits"})
    EXPECT_THAT(svg, HasSubstr(part));
}

TEST(TmemLayout, PrintsBlocksAndElements) {
  const Finished f = test::drywell({"tmem", "layout", "--m=64", "--n=64", "--at=33,5"});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_THAT(f.out, HasSubstr("layout F"));
  EXPECT_THAT(f.out, HasSubstr("32-47    0-63     16-31"));
  EXPECT_THAT(f.out, HasSubstr("lane 33 column 5: D(m 17, n 5)"));
  EXPECT_THAT(test::drywell({"tmem", "layout", "--m=64", "--n=64", "--at=20,5"}).out,
              HasSubstr("lane 20 column 5: no element"));
}

TEST(TmemLayout, MarksWhatDiffersFromAnExpectedLayout) {
  const test::TemporaryDirectory d;
  const Finished f = test::drywell(
      {"tmem", "layout", "--m=64", "--n=64", "--expect=((64,64)):((65536,1))", "--svg", d.file("x.svg")});
  EXPECT_EQ(f.exit_code, 1);
  EXPECT_THAT(
      f.out,
      HasSubstr(
          "differs: lanes 16-79, columns 0-63\ndiffers: lanes 96-111, columns 0-63\n5120 cells differ"));
  EXPECT_THAT(read_text_file(d.file("x.svg")), HasSubstr("stroke=\"#b0003a\""));
  EXPECT_EQ(
      test::drywell({"tmem", "layout", "--m=128", "--n=64", "--expect=((128,64)):((65536,1))"}).exit_code, 0);
}

class TmemMistake : public testing::TestWithParam<Mistake> {};
// M = 128 has row m in lane m and column n in column n: the transposed expectation agrees on the diagonal alone.
TEST_F(PageScript, MarksWhatDiffersFromAnExpectedLayout) {
  const test::TemporaryDirectory d;
  const std::vector<std::string> show = {"tmem", "show", "gemm-bf16", "--m=128", "--n=128", "--k=128", "-o", d.file("page.html")};
  const auto with = [&](const std::string& layout) {
    std::vector<std::string> words = show;
    words.push_back("--layout=" + layout);
    return test::drywell(words);
  };
  const Finished agrees = with("((128,128)):((65536,1))");
  EXPECT_EQ(agrees.exit_code, 0) << agrees.err;
  EXPECT_THAT(agrees.out, HasSubstr("D of tcgen05.mma, M = 128, N = 128: agrees with the expected layout"));
  EXPECT_EQ(evaluate(d.file("page.html"), "differing(D.first, D.to).length"), Json(0));
  const Finished differs = with("((128,128)):((1,65536))");
  EXPECT_EQ(differs.exit_code, 1) << differs.err;
  EXPECT_THAT(differs.out, HasSubstr("16256 cells differ from the expected layout"));
  EXPECT_EQ(evaluate(d.file("page.html"), "[describe(D.first, 5, 5, D.to).differs, describe(D.first, 5, 6, D.to).differs, differing(D.first, D.from).length]"), Json::parse("[false,true,0]"));
  EXPECT_EQ(with("nonsense").exit_code, 3);
}

TEST_P(TmemMistake, GetsOneMessageAndItsExitCode) { test::expect_one_message(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Each, TmemMistake,
    testing::Values(
        Mistake{"NoShape", {"tmem", "layout", "--m=96"}, 3, "E1422"},
        Mistake{"NoOperand", {"tmem", "layout", "--operand=e"}, 2, "no operand 'e'"},
        Mistake{"NoFactors", {"tmem", "layout", "--operand=sfa"}, 3, "E1804"},
        Mistake{"NoTheme", {"tmem", "layout", "--theme=blue"}, 2, "no theme 'blue'"},
        Mistake{"OneFileTwice", {"tmem", "layout", "--svg=/tmp/x", "--latex=/tmp/x"}, 2, "/tmp/x"},
        Mistake{"NoCta",
                {"tmem", "show", "tma-copy", "--rows=64", "--columns=32", "--cta=9", "-o", "/tmp/x.html"},
                2,
                "no CTA 9"},
        Mistake{"NotWritable",
                {"tmem", "show", "tma-copy", "-o", "/nonexistent/x.html"},
                3,
                "cannot be written"}),
    [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace drywell
