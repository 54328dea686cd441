// The compiler's check of opcodes (drywell/isa/opcode_check.h) against the resolver that runs: both accept the same texts, and numbers of
// operands.
#include "drywell/isa/opcode_check.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "drywell/isa/opcode.h"
#include "drywell/isa/resolve.h"

namespace drywell::isa {
namespace {

using opcode_check::Verdict;

bool compiles(std::string_view text) { return opcode_check::check(text) == Verdict::fits; }
bool resolves(std::string_view text) { return !resolve_opcode(text, nullptr, nullptr).empty(); }

/// An opcode as words: the mnemonic, then modifiers.
using Words = std::vector<std::string>;
std::string joined(const Words& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : ".") + w;
  return out;
}

/// A legal text of the row: required slots, and of the others each with a chance.
Words random_words(const InstrSpec& row, std::mt19937& random, unsigned chance) {
  Words out = {std::string(row.mnemonic)};
  for (size_t i = 0; i < row.slot_count(); ++i) {
    const auto mods = row.slots[i].values();
    if (row.slots[i].required || random() % 4 < chance) out.emplace_back(mod_text(mods[random() % mods.size()]));
  }
  return out;
}

/// One mistake, or another order.
Words changed(Words w, std::mt19937& random) {
  const size_t at = random() % w.size(), other = random() % w.size();
  switch (random() % 6) {
    case 0: w.erase(w.begin() + static_cast<ptrdiff_t>(at)); break;
    case 1: w.insert(w.begin() + static_cast<ptrdiff_t>(at), w[other]); break;
    case 2: w[at] += "x"; break;
    case 3: std::swap(w[at], w[other]); break;
    case 4: w[at] = mod_text(static_cast<Mod>(random() % static_cast<size_t>(Mod::count_))); break;
    default: w.emplace_back(mod_text(static_cast<Mod>(random() % static_cast<size_t>(Mod::count_)))); break;
  }
  return w;
}

TEST(OpcodeCheck, AcceptsWhatTheResolverAccepts) {
  std::mt19937 random(1);
  size_t legal = 0, illegal = 0;
  for (const InstrSpec& row : all_specs()) {
    for (unsigned i = 0; i < 60; ++i) {
      Words words = random_words(row, random, i % 5);
      ASSERT_TRUE(compiles(joined(words))) << joined(words);
      for (unsigned mistakes = i % 4; mistakes > 0 && !words.empty(); --mistakes) words = changed(words, random);
      const std::string text = joined(words);
      ASSERT_EQ(compiles(text), resolves(text)) << text;
      ++(resolves(text) ? legal : illegal);
    }
  }
  EXPECT_GT(legal, 5'000u);
  EXPECT_GT(illegal, 5'000u);
}

TEST(OpcodeCheck, EveryModifierOfEverySlot) {
  for (const InstrSpec& row : all_specs()) {
    for (size_t i = 0; i < row.slot_count(); ++i) {
      for (const Mod m : row.slots[i].values()) {
        Words words = {std::string(row.mnemonic)};
        for (size_t j = 0; j < row.slot_count(); ++j) {
          if (j == i)
            words.emplace_back(mod_text(m));
          else if (row.slots[j].required)
            words.emplace_back(mod_text(row.slots[j].values()[0]));
        }
        EXPECT_EQ(compiles(joined(words)), resolves(joined(words))) << joined(words);
      }
    }
  }
}

// Each row's example, as the table's author wrote it.
TEST(OpcodeCheck, CountsTheOperandsOfExamples) {
  size_t examples = 0;
  for (const InstrSpec& row : all_specs()) {
    std::string opcode(row.example.substr(0, row.example.find(' ')));
    if (opcode.starts_with("@")) continue;
    int count = 0, depth = 0;
    const size_t operands = row.example.find(' ');
    if (operands != std::string_view::npos) {
      count = 1;
      for (const char c : row.example.substr(operands)) {
        depth += (c == '{' || c == '[' || c == '(') - (c == '}' || c == ']' || c == ')');
        count += depth == 0 && c == ',';
      }
    }
    EXPECT_EQ(opcode_check::check(opcode, count), Verdict::fits) << row.example;
    EXPECT_EQ(opcode_check::check(opcode, static_cast<int>(kMaxOperands) + 1), Verdict::operand_count) << row.example;
    ++examples;
  }
  EXPECT_GT(examples, 300u);
}

/// Numbers of operands that some choice of the row's optional operands has, with these modifiers.
std::vector<bool> possible_counts(const OpcodeForm& form) {
  const InstrSpec& row = spec(form.op);
  std::vector<bool> counts = {true};
  const auto has = [&](Mod m) {
    for (size_t i = 0; i < row.slot_count(); ++i)
      if (form.mods[i] != 0 && row.slots[i].mods[form.mods[i] - 1] == m) return true;
    return false;
  };
  for (size_t k = 0; k < row.operand_count(); ++k) {
    const OperandSpec& o = row.operands[k];
    if (o.when != Mod::none && !has(o.when)) continue;
    std::vector<bool> next(counts.size() + 1);
    for (size_t n = 0; n < counts.size(); ++n) {
      if (!counts[n]) continue;
      next[n + 1] = true;
      if (o.optional) next[n] = true;
    }
    counts = next;
  }
  counts.resize(kMaxOperands + 2);
  return counts;
}

TEST(OpcodeCheck, CountsAreThoseOfSomeForm) {
  std::mt19937 random(2);
  for (const InstrSpec& row : all_specs()) {
    for (unsigned i = 0; i < 20; ++i) {
      const std::string text = joined(random_words(row, random, i % 5));
      std::vector<bool> any(kMaxOperands + 2);
      for (const OpcodeForm& form : resolve_opcode(text, nullptr, nullptr)) {
        const std::vector<bool> counts = possible_counts(form);
        for (size_t n = 0; n < any.size(); ++n) any[n] = any[n] || counts[n];
      }
      for (size_t n = 0; n < any.size(); ++n)
        EXPECT_EQ(opcode_check::check(text, static_cast<int>(n)) == Verdict::fits, any[n]) << text << " with " << n << " operands";
    }
  }
}

TEST(OpcodeCheck, SaysWhatIsWrong) {
  EXPECT_EQ(opcode_check::check("tcgen05.mmaa.cta_group::1.kind::f16"), Verdict::unknown_instruction);
  EXPECT_EQ(opcode_check::check("tcgen05.mma.cta_group::1.kind::f17"), Verdict::unknown_modifier);
  EXPECT_EQ(opcode_check::check("add.ftz.u32"), Verdict::modifier_does_not_fit);
  EXPECT_EQ(opcode_check::check("tcgen05.ld.sync.aligned.x32.b32"), Verdict::modifier_missing);
  EXPECT_EQ(opcode_check::check("add.u32", 2), Verdict::operand_count);
  EXPECT_EQ(opcode_check::check("cvt.rn.bf16x2.f32"), Verdict::fits);
  EXPECT_EQ(opcode_check::check("cvt.rn.f32.bf16x2"), Verdict::modifier_does_not_fit);  // the types have changed places
}

}  // namespace
}  // namespace drywell::isa
