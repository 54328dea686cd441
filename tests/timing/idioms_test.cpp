// What ptxas folds into others: the counts are those of LOP3 in the machine code that ptxas 13.0 makes for sm_100a.
#include "sim/timing/idioms.h"

#include <gtest/gtest.h>

#include "drywell/isa/parse.h"

namespace drywell::sim {
namespace {

struct LogicCase {
  const char* name;
  const char* body;  // %r1 to %r4 are loaded before
  const char* results;
  int64_t lop3;
};
void PrintTo(const LogicCase& c, std::ostream* os) { *os << c.name; }

const LogicCase kLogic[] = {
    {"Blend", "and.b32 %r5, %r1, %r2; not.b32 %r6, %r1; and.b32 %r7, %r6, %r3; or.b32 %r8, %r5, %r7;", "%r8", 1},
    {"Masked", "xor.b32 %r5, %r1, %r2; and.b32 %r8, %r5, -16843010;", "%r8", 1},
    {"ComplementOfTwoUses", "not.b32 %r5, %r1; or.b32 %r6, %r5, %r2; xor.b32 %r7, %r5, %r3;", "%r6, %r7", 2},
    {"FourInputs", "and.b32 %r5, %r1, %r2; xor.b32 %r6, %r3, %r4; or.b32 %r8, %r5, %r6;", "%r8", 2},
    {"ChainOfFour", "and.b32 %r5, %r1, %r2; or.b32 %r6, %r5, %r3; xor.b32 %r7, %r6, %r4;", "%r7", 2},
    {"ResultOfTwoUses", "xor.b32 %r5, %r1, %r2; and.b32 %r6, %r5, %r3; or.b32 %r7, %r5, %r4;", "%r6, %r7", 3},
    {"TwoConstants", "xor.b32 %r5, %r1, 5; and.b32 %r8, %r5, 12345;", "%r8", 2},
    {"AConstantMore", "xor.b32 %r5, %r1, %r2; and.b32 %r6, %r5, 12345; or.b32 %r7, %r6, 54321;", "%r7", 2},
    {"StoredComplement", "not.b32 %r5, %r1; or.b32 %r6, %r5, %r2;", "%r5, %r6", 2},
    {"LongChainOfThree", "and.b32 %r5, %r1, %r2; or.b32 %r6, %r5, %r1; xor.b32 %r7, %r6, %r2; and.b32 %r8, %r7, %r3; or.b32 %r9, %r8, %r1;", "%r9", 1},
};

std::string stores(const std::string& results) {
  std::string out;
  for (size_t at = 0; at < results.size(); at += 5) out += "st.volatile.global.u32 [%rd1], " + results.substr(at, 3) + ";\n";
  return out;
}

isa::Module module_of(const LogicCase& c) {
  std::string text = ".version 8.6\n.target sm_100a\n.address_size 64\n.entry k()\n{\n.reg .b32 %r<16>;\n.reg .b64 %rd<2>;\nmov.b64 %rd1, 0;\n";
  for (const char* r : {"%r1", "%r2", "%r3", "%r4"}) text += std::string("ld.volatile.global.u32 ") + r + ", [%rd1];\n";
  return isa::parse_ptx_or_throw(text + c.body + "\n" + stores(c.results) + "ret;\n}\n", "logic.ptx");
}

class FoldedLogic : public testing::TestWithParam<LogicCase> {};

TEST_P(FoldedLogic, LeavesTheInstructionsThatPtxasMakes) {
  const isa::Module m = module_of(GetParam());
  const isa::Function& f = m.functions.at(0);
  const std::vector<uint8_t> folded = folded_instructions(f);
  int64_t left = 0;
  for (size_t i = 0; i < f.body.size(); ++i) {
    const isa::Fold fold = isa::spec(f.body[i].op).fold;
    left += (isa::is_logic(fold) || fold == isa::Fold::inversion) && folded[i] == 0 ? 1 : 0;
  }
  EXPECT_EQ(left, GetParam().lop3);
}

INSTANTIATE_TEST_SUITE_P(Ptxas, FoldedLogic, testing::ValuesIn(kLogic), [](const auto& i) { return i.param.name; });

}  // namespace
}  // namespace drywell::sim
