// Characters to words. PTX's grammar is read directly: the caller knows whether an opcode, an operand or a
// directive stands next, and these have different characters. Nothing is copied; words are views into the
// text.
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

/// A literal as written. `ok` is false if there is no number here or it does not fit in 64 bits.
struct Literal {
  bool ok = false;
  bool is_unsigned = false;  // U suffix, or too large for a signed 64-bit value
  ImmKind kind = ImmKind::decimal;
  uint64_t bits = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  /// Skips white space and comments. An unterminated block comment runs to the end of the text and is
  /// remembered.
  void skip_space();
  bool unterminated_comment() const { return unterminated_comment_; }

  // The following look at or after the next character that is not white space.
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  /// The next character, or NUL at the end of the text.
  char peek() {
    skip_space();
    return look(0);
  }
  /// The character `n` places on, without skipping anything.
  char look(size_t n) const { return n < text_.size() - at_ ? text_[at_ + n] : '\0'; }
  bool take(char c);
  TextPos pos() {
    skip_space();
    return {line_, static_cast<uint32_t>(at_ - line_start_ + 1)};
  }
  /// Where the last word ended.
  size_t offset() const { return at_; }

  /// [A-Za-z_$%][A-Za-z0-9_$]*, or "" if none stands here.
  std::string_view identifier();
  /// Modifiers and mnemonic: letters, digits, '_', '.' and '::' ("tcgen05.mma.cta_group::1"); "" if none.
  std::string_view opcode();
  /// A '.' and the word behind it, without the dot ("shared::cta"); "" if none.
  std::string_view directive();
  /// A number: decimal, 0x, 0, 0b, with an optional U; 0f, 0d; decimal float ("1.5", ".5", "5.", "1e3"). No sign.
  Literal number();
  /// The inside of a "string"; `ok` false if it is not closed on its line.
  std::string_view string(bool& ok);
  /// The next word or character, for messages; at most 60 characters.
  std::string_view offending();

  /// Skips to just behind the next ';' or in front of a '}' that closes the enclosing block; `open` braces
  /// were opened since the statement began.
  void skip_statement(unsigned open);
  /// Skips a declaration at module scope: to behind its ';' or its block.
  void skip_item(unsigned open);
  /// Behind the '}' that matches an already taken '{'; false if the text ends first.
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
};

}  // namespace drywell::isa
