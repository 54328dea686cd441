// `drywell smem show`: elements through swizzle and descriptor, against what the kernel stores by another way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "drywell/core/files.h"
#include "drywell/core/npy.h"
#include "support/page_script.h"

namespace drywell {
namespace {

using Json = nlohmann::json;
using test::evaluate;
using test::PageScript;
using testing::HasSubstr;

/// The page of a run, and what the command printed.
class Shown {
 public:
  explicit Shown(std::vector<std::string> words, int exit_code = 0) {
    words.insert(words.begin(), {"smem", "show"});
    words.insert(words.end(), {"-o", page()});
    const test::Finished f = test::drywell(words);
    EXPECT_EQ(f.exit_code, exit_code) << f.out << f.err;
    out = f.out;
  }
  std::string page() const { return directory_.file("page.html"); }
  std::string out;

 private:
  test::TemporaryDirectory directory_;
};

const Shown& gemm() {
  static const Shown shown({"gemm-bf16", "--m=128", "--n=128", "--k=128"});
  return shown;
}

TEST(SmemPage, NeedsNothingButItself) {
  const std::string text = read_text_file(gemm().page());
  for (const char* outside : {"http:", "https:", "src=", "@import", "<link", "url(", "fetch("}) EXPECT_EQ(text.find(outside), std::string::npos) << outside;
  EXPECT_THAT(gemm().out, HasSubstr("T0: bf16 tensor of 128 x 128"));
}

// y = x, by TMA through every swizzle: the element that the page finds at a place of shared memory has the value that the kernel stores.
void expect_elements(const std::string& swizzle) {
  const std::vector<std::string> words = {"tma-copy", "--rows=64", "--columns=32", "--swizzle=" + swizzle};
  std::vector<std::string> show = words;
  const Shown shown(show);
  const test::TemporaryDirectory d;
  ASSERT_EQ(test::drywell({"run", words[0], words[1], words[2], words[3], "--save", d.path()}).exit_code, 0);
  const NpyArray y = read_npy(d.file("y.npy"));
  const Json cells = evaluate(shown.page(),
                              "[...Array(340).keys()].map(i => i * 6).map(i => { const load = D.steps.find(s => D.role_names[s[0]] === 'TMA load'), t = load[8], c = find('T0', i >> 5, i & 31, t),"
                              " e = c.map(q => describe(q.cta, q.lane, q.column, t)); return [i, c.length, e[0].elements[0].row, e[0].elements[0].index, e[0].elements[0].value]; })");
  ASSERT_EQ(cells.size(), 340u);
  for (const Json& c : cells) {
    const size_t i = c[0];
    EXPECT_EQ(c[1], 1) << "an element lies in one word";
    EXPECT_EQ(c[2].get<size_t>() * 32 + c[3].get<size_t>(), i);
    EXPECT_EQ(c[4].get<float>(), y.values<float>()[i]) << i;
  }
}
TEST_F(PageScript, ElementsOfATileThroughSwizzle128) { expect_elements("128"); }
TEST_F(PageScript, ElementsOfATileWithoutSwizzle) { expect_elements("none"); }

// Two ways to the same bytes: TMA writes them as elements of a tensor, tcgen05.mma reads them by its descriptor. `along_rows`: the rows of
// an operand run along memory, so that they are the tensor's x.
void expect_agreement(const std::string& page, bool along_rows, int k_of_an_instruction) {
  const Json cells = evaluate(page,
                              "(() => { const out = []; for (const s of D.steps.filter(s => ['A', 'B'].includes(D.role_names[s[0]]))) for (let lane = s[3]; lane < s[3] + s[4]; lane += 5) for (let column = 0; column < 32; column += 3) {"
                              " const d = describe(s[2], lane, column, s[7]); if (d.read && d.elements.length && d.flying.some(f => f.startsWith(D.role_names[s[0]] + ' '))) out.push([d.elements.map(e => e.name), d.read.names]); } return out; })()");
  ASSERT_GT(cells.size(), 200u);
  size_t elements = 0;
  for (const Json& c : cells) {
    ASSERT_EQ(c[0].size(), c[1].size()) << c;
    for (size_t i = 0; i < c[0].size(); ++i, ++elements) {
      int tensor = 0, y = 0, x = 0, row = 0, k = 0;
      char operand = 0, axis = 0;
      ASSERT_EQ(std::sscanf(c[0][i].get<std::string>().c_str(), "T%d(y %d, x %d)", &tensor, &y, &x), 3) << c;
      ASSERT_EQ(std::sscanf(c[1][i].get<std::string>().c_str(), "%c(%c %d, k %d)", &operand, &axis, &row, &k), 4) << c;
      EXPECT_EQ(row, along_rows ? x : y) << c;
      EXPECT_EQ(((along_rows ? y : x) - k) % k_of_an_instruction, 0) << c;
      EXPECT_EQ(tensor, operand == 'A' ? 0 : 1) << c;
    }
  }
  EXPECT_GT(elements, 2 * cells.size() - 1) << "two or more in a word";
}

TEST_F(PageScript, DescriptorAndTensorMapAgree) { expect_agreement(gemm().page(), false, 16); }
TEST_F(PageScript, TheyAgreeWhereRowsRunAlongMemory) {
  const Shown shown({"gemm-bf16", "--m=128", "--n=128", "--k=128", "--a-major=mn", "--b-major=mn"});
  expect_agreement(shown.page(), true, 16);
}
TEST_F(PageScript, TheyAgreeForFourBitsInAPairOfCtas) {
  const Shown shown({"gemm-blockscaled", "--m=256", "--n=256", "--k=512", "--format=nvf4", "--cta-group=2"});
  expect_agreement(shown.page(), false, 64);
}

TEST_F(PageScript, BarriersHaveTheirStates) {
  const Json states = evaluate(gemm().page(), "[barriersAt(0, D.to), moments.map(t => barriersAt(0, t).some(b => b.tx > 0)).some(x => x)]");
  ASSERT_GE(states[0].size(), 4u);
  for (const Json& b : states[0]) EXPECT_GT(b["expected"].get<uint32_t>(), 0u) << b;
  EXPECT_TRUE(states[1].get<bool>()) << "some barrier waits for bytes at some time";
}

// CuTe's layouts of the operands, written down by hand: K-major rows of 64 elements in the 128-byte swizzle, rows of M that run along
// memory, and four-bit elements.
TEST(SmemExpectation, CuteLayoutsOfOperandsAgree) {
  const std::vector<std::string> gemm = {"gemm-bf16", "--m=128", "--n=128", "--k=128"};
  const auto agrees = [](std::vector<std::string> words, const std::string& operand, const std::string& layout) {
    words.insert(words.end(), {"--operand=" + operand, "--layout", layout});
    EXPECT_THAT(Shown(words).out, testing::Not(HasSubstr("differ"))) << layout;  // and the exit code is 0
  };
  agrees(gemm, "A", "Sw<3,4,3> o smem_ptr[16b](unset) o (128,16):(64,1)");
  agrees(gemm, "T0", "Sw<3,4,3> o smem_ptr[16b](unset) o (128,64):(64,1)");
  agrees(gemm, "T0", "Sw<3,3,3> o 0 o (128,64):(64,1)");
  agrees(gemm, "A", "Sw<3,4,3> o smem_ptr[16b](unset) o ((128,16),1,4):((64,1),0,16)");
  agrees({"gemm-bf16", "--m=128", "--n=128", "--k=128", "--a-major=mn"}, "A", "Sw<3,4,3> o smem_ptr[16b](unset) o ((64,2),16):((1,4096),64)");
  agrees({"gemm-blockscaled", "--m=256", "--n=256", "--k=512", "--format=nvf4", "--cta-group=2"}, "A", "Sw<3,4,3> o smem_ptr[4b](unset) o (128,64):(256,1)");
}

TEST(SmemExpectation, AnotherSwizzleDiffersAndIsSaid) {
  const Shown shown({"gemm-bf16", "--m=128", "--n=128", "--k=128", "--operand=T0", "--layout", "Sw<2,4,3> o smem_ptr[16b](unset) o (128,64):(64,1)"}, 1);
  // Bits 4 and 5 of the address move with bits 7 and 8 in both; bit 6 with bit 9 in one: the rows 4 to 7 of each 8, which is half of them.
  EXPECT_THAT(shown.out, HasSubstr("T0 at 0x800: 2048 words differ from the expected layout"));
  EXPECT_THAT(shown.out, HasSubstr("T0: at 0 of 2 places"));
}

TEST_F(PageScript, TheWordsThatDifferAreMarked) {
  const Shown shown({"gemm-bf16", "--m=128", "--n=128", "--k=128", "--operand=T0", "--layout", "Sw<2,4,3> o smem_ptr[16b](unset) o (128,64):(64,1)"}, 1);
  const Json rows = evaluate(shown.page(), "[...Array(8).keys()].map(r => differing(0, D.to).some(q => 16 + r >= q[0] && 16 + r < q[0] + q[1]))");
  EXPECT_EQ(rows, Json::parse("[false, false, false, false, true, true, true, true]"));
}

TEST(SmemExpectation, AnOperandThatIsNotThereIsSaid) {
  const test::TemporaryDirectory d;
  const test::Finished f = test::drywell({"smem", "show", "tma-copy", "--rows=64", "--columns=32", "--layout", "(32,64):(64,1)", "-o", d.file("page.html")});
  EXPECT_EQ(f.exit_code, 2);
  EXPECT_THAT(f.err, HasSubstr("no operand 'A' in this run; it has T0"));
}

TEST(SmemShow, ACtaThatIsNotThereIsSaid) {
  const test::TemporaryDirectory d;
  const test::Finished f = test::drywell({"smem", "show", "tma-copy", "--rows=64", "--columns=32", "--cta=9,0,0", "-o", d.file("page.html")});
  EXPECT_EQ(f.exit_code, 2);
  EXPECT_THAT(f.err, HasSubstr("no CTA 9,0,0"));
}

}  // namespace
}  // namespace drywell
