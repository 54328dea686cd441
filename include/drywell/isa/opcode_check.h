// Opcodes checked by the compiler: k("tcgen05.mmaa…") does not compile. The rules are those of resolve_opcode and choose_form; a test
// compares them. A message of the compiler names the function below that says what is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace drywell::isa::opcode_check {

#include "drywell/isa/table/opcode_grammar.inc"

/// What is wrong with an opcode's text, or its number of operands.
enum class Verdict : uint8_t {
  fits,
  unknown_instruction,
  unknown_modifier,
  modifier_does_not_fit,
  modifier_missing,
  operand_count
};

/// A number that no modifier has.
inline constexpr int kNone = -1;
/// Operands are not counted.
inline constexpr int kAnyCount = -1;

/// Returns the number of `word` in a table of texts in order, or kNone.
constexpr int number_of(std::string_view word, const char* text, const uint16_t* at, int count) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    const std::string_view here(text + at[middle], static_cast<size_t>(at[middle + 1] - at[middle]));
    const int order = word.compare(here);
    if (order == 0) return middle;
    (order < 0 ? high : low) = order < 0 ? middle : middle + 1;
  }
  return kNone;
}
/// Number of a mnemonic in the table, or kNone.
constexpr int mnemonic_number(std::string_view word) { return number_of(word, kMnemonicText, kMnemonicAt, static_cast<int>(std::size(kMnemonicAt)) - 1); }
/// Number of a modifier in the table, or kNone.
constexpr int token_number(std::string_view word) { return number_of(word, kTokenText, kTokenAt, static_cast<int>(std::size(kTokenAt)) - 1); }

/// True if `n` is one of the numbers [from, to).
constexpr bool contains(const uint16_t* from, const uint16_t* to, int n) {
  while (from != to && *from != n) ++from;
  return from != to;
}
/// True for modifiers that are types: they keep their order.
constexpr bool is_type(int token) { return contains(kTypeToken, kTypeToken + std::size(kTypeToken), token); }

/// The modifiers of an opcode's text, as numbers.
struct Tokens {
  int number[16] = {};  // of each, in the table
  bool type[16] = {};   // it is a type
  int count = 0;        // of modifiers
  bool known = true;    // all of them
};

/// The modifiers of the text behind a mnemonic.
constexpr Tokens tokens_of(std::string_view rest) {
  Tokens out;
  while (!rest.empty() && out.known) {
    size_t end = 0;
    while (end < rest.size() && rest[end] != '.') ++end;
    const int n = token_number(rest.substr(0, end));
    out.known = n != kNone && out.count < 16;
    if (!out.known) break;
    out.type[out.count] = is_type(n);
    out.number[out.count++] = n;
    rest.remove_prefix(end == rest.size() ? end : end + 1);
  }
  return out;
}

/// One row of the table: counts, then slots, then modifiers that bring an operand of their own.
struct Row {
  const uint16_t* at;  // its first word
  /// Number of slots for modifiers.
  constexpr int slots() const { return at[0]; }
  /// Number of modifiers that bring operands.
  constexpr int brought() const { return at[1]; }
  /// The slot may not be empty.
  constexpr bool required(int slot) const { return (at[4 + slot] & 1) != 0; }
  /// The slot takes the modifier.
  constexpr bool admits(int slot, int token) const {
    const int set = at[4 + slot] / 2;
    return contains(kSet + kSetAt[set], kSet + kSetAt[set + 1], token);
  }
  /// The row behind this one.
  constexpr Row next() const { return {at + 4 + slots() + 2 * brought()}; }
};

/// Puts each modifier into the first free slot that admits it; types keep their order.
constexpr Verdict fill(Row row, const Tokens& tokens) {
  bool taken[16] = {};
  int next_type = 0;
  for (int t = 0; t < tokens.count; ++t) {
    int slot = tokens.type[t] ? next_type : 0;
    while (slot < row.slots() && (taken[slot] || !row.admits(slot, tokens.number[t]))) ++slot;
    if (slot == row.slots()) return Verdict::modifier_does_not_fit;
    taken[slot] = true;
    if (tokens.type[t]) next_type = slot + 1;
  }
  for (int slot = 0; slot < row.slots(); ++slot)
    if (row.required(slot) && !taken[slot]) return Verdict::modifier_missing;
  return Verdict::fits;
}

/// True if the row takes that many operands with these modifiers.
constexpr bool counts(Row row, const Tokens& tokens, int operands) {
  if (operands == kAnyCount) return true;
  int least = row.at[2], most = row.at[3];
  const uint16_t* brought = row.at + 4 + row.slots();
  for (int i = 0; i < row.brought(); ++i, brought += 2) {
    bool there = false;
    for (int t = 0; t < tokens.count; ++t) there = there || tokens.number[t] == brought[0];
    most += there ? 1 : 0;
    least += there ? brought[1] : 0;
  }
  return least <= operands && operands <= most;
}

/// The rows of one mnemonic. A verdict nearer to success replaces another.
constexpr Verdict check_rows(int mnemonic, const Tokens& tokens, int operands) {
  if (!tokens.known) return Verdict::unknown_modifier;
  Verdict best = Verdict::modifier_does_not_fit;
  for (Row row{kRow + kRowAt[mnemonic]}; row.at != kRow + kRowAt[mnemonic + 1]; row = row.next()) {
    Verdict v = fill(row, tokens);
    if (v == Verdict::fits && counts(row, tokens, operands)) return v;
    if (v == Verdict::fits) v = Verdict::operand_count;
    if (v > best) best = v;
  }
  return best;
}

/// Length of the first `words` words between dots; 0 if there are fewer.
constexpr size_t length_of(std::string_view text, int words) {
  size_t end = 0;
  for (; end < text.size(); ++end)
    if (text[end] == '.' && --words == 0) return end;
  return words == 1 ? end : 0;
}

/// Checks an opcode with the longest mnemonic that it begins with, then with shorter ones.
constexpr Verdict check(std::string_view text, int operands = kAnyCount) {
  Verdict first = Verdict::unknown_instruction;
  for (int words = kMostWords; words > 0; --words) {
    const size_t length = length_of(text, words);
    const int mnemonic = length == 0 ? kNone : mnemonic_number(text.substr(0, length));
    if (mnemonic == kNone) continue;
    const Verdict v = check_rows(mnemonic, tokens_of(text.substr(length == text.size() ? length : length + 1)), operands);
    if (v == Verdict::fits || v == Verdict::operand_count) return v;
    if (first == Verdict::unknown_instruction) first = v;
  }
  return first;
}

// No function of these is defined: a compiler that reaches one stops, and prints its name.
/// The message for an unknown mnemonic.
void PTX_has_no_instruction_of_this_name();
/// The message for an unknown modifier.
void PTX_has_no_modifier_of_this_name();
/// The message for a modifier of another instruction, one that stands twice, or a type in another place.
void this_instruction_does_not_take_this_modifier_or_not_in_this_place();
/// The message for a modifier that is missing.
void this_instruction_needs_one_more_modifier();
/// The message for too few or too many operands.
void this_instruction_takes_another_number_of_operands();

/// Stops the compiler with a message if the opcode is wrong.
consteval void expect(std::string_view text, int operands) {
  switch (check(text, operands)) {
    case Verdict::fits: return;
    case Verdict::unknown_instruction: return PTX_has_no_instruction_of_this_name();
    case Verdict::unknown_modifier: return PTX_has_no_modifier_of_this_name();
    case Verdict::modifier_does_not_fit: return this_instruction_does_not_take_this_modifier_or_not_in_this_place();
    case Verdict::modifier_missing: return this_instruction_needs_one_more_modifier();
    case Verdict::operand_count: return this_instruction_takes_another_number_of_operands();
  }
}

}  // namespace drywell::isa::opcode_check
