// Lexer: splits characters into words. The caller decides by PTX's grammar whether the next word is an
// opcode, an operand or a directive, because these have different characters. Nothing is copied; words are
// views into the text.
#pragma once

#include <cstdint>
#include <string_view>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// 1-based line and column.
struct TextPos {
  uint32_t line = 1;
  uint32_t column = 1;
};

/// A literal of the text. `ok` is false if there is no number at this place or it does not fit in 64 bits.
struct Literal {
  bool ok = false;
  bool is_unsigned = false;  // U suffix, or too large for a signed 64-bit value
  ImmKind kind = ImmKind::decimal;
  uint64_t bits = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  /// Skips white space and comments. An unterminated block comment runs to the end of the text and sets
  /// unterminated_comment().
  void skip_space();
  bool unterminated_comment() const { return unterminated_comment_; }

  /// The place is between the comments with which LLVM and nvcc enclose inline assembly.
  bool in_inline_assembly() const { return in_inline_assembly_; }

  // The following functions first skip white space, then look at or read the next character.
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  /// The next character, or NUL at the end of the text.
  char peek() {
    skip_space();
    return look(0);
  }
  /// Returns the character at distance `n`, without skipping anything.
  char look(size_t n) const { return n < text_.size() - at_ ? text_[at_ + n] : '\0'; }
  bool take(char c);
  TextPos pos() {
    skip_space();
    return {line_, static_cast<uint32_t>(at_ - line_start_ + 1)};
  }
  /// Offset of the end of the last word.
  size_t offset() const { return at_; }

  /// [A-Za-z_$%][A-Za-z0-9_$]*, or "" if the next word is not an identifier.
  std::string_view identifier();
  /// Modifiers and mnemonic: letters, digits, '_', '.' and '::' ("tcgen05.mma.cta_group::1"); "" if there is
  /// no opcode.
  std::string_view opcode();
  /// A '.' and the word behind it, without the dot ("shared::cta"); "" if there is no directive.
  std::string_view directive();
  /// A number: decimal, 0x, 0, 0b, with an optional U; 0f, 0d; decimal float ("1.5", ".5", "5.", "1e3"). No sign.
  Literal number();
  /// The text inside "…"; `ok` is false if the string does not end on its line.
  std::string_view string(bool& ok);
  /// The next word or character, for messages; at most 60 characters.
  std::string_view offending();

  /// Skips to just behind the next ';' or in front of a '}' that closes the enclosing block; `open` is the
  /// number of braces opened since the statement began.
  void skip_statement(unsigned open);
  /// Skips a declaration at module scope, to just behind its ';' or its block.
  void skip_item(unsigned open);
  /// Skips to just behind the '}' that matches an already read '{'; returns false if the text ends first.
  bool skip_block();
  void skip_line();

 private:
  void newline() {
    ++line_;
    line_start_ = at_;
  }
  bool skip_comment();
  Literal decimal_float(size_t begin);

  std::string_view text_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
  bool unterminated_comment_ = false;
  bool in_inline_assembly_ = false;
};

}  // namespace drywell::isa
