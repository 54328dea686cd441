// The PTX parser: recursive descent over the lexer, building the IR as it goes. Its parts: parser.cpp (module
// and diagnostics), parser_decl.cpp (variables), parser_initialiser.cpp, parser_function.cpp (headers, parameters,
// prototypes), parser_body.cpp (scopes, registers, labels), parser_instruction.cpp (opcodes, operands),
// parser_fragments.cpp (vectors of matrix products), parser_const.cpp (constant expressions).
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/isa/parse.h"
#include "drywell/isa/resolve.h"
#include "isa/call_sites.h"
#include "isa/constant.h"
#include "isa/lexer.h"
#include "isa/names.h"

namespace drywell::isa {

/// Excerpt of the user's text for a message: limited in length, without control characters.
std::string excerpt(std::string_view text);

class Parser {
 public:
  Parser(std::string_view text, std::string_view file_name);
  ParseResult run();

 private:
  /// Thrown after a report when the current statement cannot be parsed further; caught by the loop that reads
  /// statements.
  struct Recover {};
  /// Thrown when there are too many errors to continue.
  struct TooMany {};

  // ---- diagnostics and small expectations (parser.cpp)
  void report(Code code, TextPos at, std::string message, std::string hint = {});
  [[noreturn]] void fail(Code code, TextPos at, std::string message, std::string hint = {});
  /// "expected X, found Y".
  [[noreturn]] void fail_expected(std::string_view what, std::string hint = {});
  void expect(char c, std::string_view what);
  void expect_semicolon();
  std::string_view expect_identifier(std::string_view what);
  /// Runs `f`; after a Recover, skips to the next statement, or at module scope to the next item.
  template <class F>
  void recovering(F&& f);

  // ---- module level (parser.cpp)
  void module_item();
  void module_directive(std::string_view word, TextPos at);
  void header_version();
  void check_version(TextPos at);
  void header_target();
  void header_address_size();
  void file_directive();
  void section_directive();
  void alias_directive();
  std::string pragma_text();
  void finish_module();
  void finish_files();
  void finish_unknown_opcodes();

  // ---- declarations (parser_decl.cpp)
  struct Dimensions {
    std::vector<uint64_t> sizes;
    bool unsized_first = false;
  };
  /// The rest of a variable statement: "{.align N} {.vN} .type name{[n]…} {= init} {, …};".
  void variable_statement(Mod space, Linkage linkage);
  Variable declarator(Variable v, Dimensions& dimensions, std::string_view& name);
  void declare_variable(Variable v, std::string_view name, TextPos at);
  uint32_t alignment();
  Mod type_word(std::string_view word, TextPos at);
  Mod variable_type(std::string_view word, unsigned vec, TextPos at);
  void variable_range(const Variable& v);
  void count_constants(const Variable& v, TextPos at);
  void check_redeclaration(const Variable& known, const Variable& v, TextPos at);

  // ---- initialisers (parser_initialiser.cpp)
  void initialiser(Variable& v, Dimensions& dimensions);
  void initialiser_list(Variable& v, const Dimensions& d, size_t level, uint64_t& at);
  void initialiser_value(Variable& v, uint64_t& at);
  void initialiser_masked(Variable& v, uint64_t mask, uint64_t at);
  void initialiser_put(Variable& v, uint64_t at, uint64_t bits);
  void check_masked_address(TextPos at, bool continues = false);
  Variable::Reloc address_constant(uint64_t offset);
  void skip_attribute(Variable* v);

  // ---- functions (parser_function.cpp)
  void function_item(bool is_entry, Linkage linkage);
  std::vector<Variable> parameter_list(std::string_view what, std::vector<std::string_view>& names);
  Variable parameter(std::string_view what, std::string_view& name);
  void check_register_parameter(const Variable& v, TextPos at);
  void function_directives();
  std::array<uint32_t, 3> triple();
  void function_body();
  void declare_parameters(TextPos at);
  struct RegisterParameter {
    bool is_return;
    uint32_t index;  // among the parameters, or among what is returned
    Mod type;
    RegId reg = kNoReg;
  };
  Operand place_of(const RegisterParameter& p);
  void load_parameters(TextPos at);
  void store_results(const Instruction& like, TextPos at);
  void finish_function();
  CallPrototype call_prototype(std::string_view name);

  // ---- bodies (parser_body.cpp)
  void statement();
  void body_directive(TextPos at);
  void open_scope();
  void close_scope();
  void reg_statement();
  void reg_declarator(Mod type, unsigned vec);
  RegId add_registers(std::string_view prefix, bool numbered, uint32_t count, Mod type, TextPos at);
  void loc_directive();
  void labelled(std::string_view name, TextPos at);
  void define_label(std::string_view name, TextPos at);
  void branch_target_list(std::string_view name, TextPos at);
  void call_target_list(std::string_view name, TextPos at);

  // ---- instructions (parser_instruction.cpp)
  struct OpcodeEntry {
    std::string_view text;
    std::vector<OpcodeForm> forms;
    bool label_first = false;      // the first operand names a label
    bool takes_arguments = false;  // ( … ) is an argument list
    std::string why, hint;         // forms empty
    TextPos first_seen;
    uint32_t uses = 0;
  };
  /// PTX ISA 9.7.10 and 9.7.11: texture and surface instructions, for which the table has no rows.
  static bool is_texture_opcode(std::string_view text);
  /// Parses the rest of an instruction; `word` is its opcode's first word, or empty in front of a guard.
  void instruction(std::string_view word, TextPos at);
  OpcodeEntry& opcode_entry(std::string_view first_word, TextPos at);
  RegId guard(bool& negated);
  void operand_list(const OpcodeEntry& entry);
  Operand operand(bool takes_arguments);
  Operand name_operand();
  Operand special_operand(std::string_view name, TextPos at);
  void label_operand();
  Operand register_of(Binding& b, std::string_view name, TextPos at);
  /// Returns the register called `name`, or kNoReg; if the name denotes something else, `other` is its
  /// binding.
  RegId find_register(std::string_view name, Binding*& other);
  Operand address_operand();
  Operand constant_operand(bool negated);
  Operand minus_operand();
  Subword selector();
  Operand list_operand(Operand::Kind kind, char close);
  Operand composite(Operand::Kind kind, size_t first_element);
  Operand symbol_operand(Binding& b);
  void append(std::string_view opcode, std::span<const Operand> operands, const Instruction& like, TextPos at);
  Operand in_register(std::string_view name, Mod type, const Operand& value, const Instruction& of, TextPos at);
  bool put_in_register(const OpcodeEntry& entry, size_t which, const Instruction& of, TextPos at);
  void put_fragments_in_registers(const OpcodeForm& form, const Instruction& of, TextPos at);
  void drop_into_registers(const Operand& vector, TextPos at);
  void read_constants_first(const OpcodeForm& form, std::string_view name, const Operand& vector, const Instruction& of, TextPos at);
  void read_specials_first(const Instruction& of, TextPos at);
  Operand special_in_register(const Operand& special, const Instruction& of, TextPos at);
  void convert_float_literals(const OpcodeForm& form);
  [[noreturn]] void fail_unknown_name(std::string_view name, TextPos at);

  // ---- constant expressions (parser_const.cpp)
  Constant constant(unsigned nesting = 0);
  /// True if the next word is a number without a sign: a digit, or ".5".
  bool at_number();
  /// True if the next word is a number, a sign, a parenthesis or WARP_SZ, and not the name of a variable.
  bool at_constant();
  template <class F>
  Constant evaluated(TextPos at, F&& f);
  Constant constant_expression(int min_precedence, unsigned nesting);
  Constant constant_primary(unsigned nesting);
  Constant parenthesised(TextPos at, unsigned nesting);
  /// A literal that fits in 32 bits; expressions are not allowed at this place.
  uint32_t plain_number(std::string_view what);
  uint64_t unsigned_constant(std::string_view what, uint64_t max);
  int64_t address_offset();

  static constexpr size_t kMaxErrors = 100;
  static constexpr size_t kMaxUnknownOpcodes = 1000;
  static constexpr uint32_t kMaxScopes = 256;
  static constexpr unsigned kMaxNesting = 64;
  static constexpr uint64_t kWarpLanes = 32;  // WARP_SZ
  static constexpr uint32_t kMaxRegistersPerFunction = 1u << 20;
  static constexpr uint32_t kMaxVariablesOfRanges = 1u << 16;
  static constexpr uint32_t kMaxRegistersPerModule = 1u << 23;
  static constexpr size_t kMaxOperandsGiven = 64;
  static constexpr size_t kMaxElements = 4096;
  static constexpr uint64_t kMaxFileNumber = 65535;
  static constexpr uint64_t kMaxElementsOfVariable = uint64_t{1} << 40;

  struct PendingLabel {
    std::string_view name;
    TextPos at;
    uint32_t list = NameMap::kAbsent;  // branch target list, or kAbsent: an operand
    uint32_t index = 0;                // pool index, or position in that list
  };
  std::string_view text_;
  std::string file_name_;
  Lexer lex_;
  Module module_;
  Names names_;
  std::vector<Diagnostic> findings_;
  bool has_version_ = false, has_target_ = false;
  uint32_t registers_total_ = 0;
  uint64_t initialised_total_ = 0, constant_bytes_ = 0;         // bytes
  std::deque<std::string> range_names_;                         // of name<N> declarations
  std::vector<std::pair<uint32_t, std::string>> file_numbers_;  // number of .file → path

  NameMap opcode_index_;
  std::deque<OpcodeEntry> opcodes_;
  std::deque<std::string> joined_opcodes_;
  size_t unknown_opcodes_ = 0;

  Function fn_;  // the function being read
  bool in_function_ = false;
  std::vector<std::string_view> param_names_, return_names_;               // of fn_, as in the text
  std::vector<RegisterParameter> register_parameters_;                     // of fn_
  std::vector<std::string_view> branch_target_names_, call_target_names_;  // of fn_, as printed
  uint32_t function_number_ = 0;                                           // changes with every function; validates Binding::symbol
  unsigned open_braces_ = 0;                                               // of the statement being read
  bool ends_with_line_ = false;                                            // the statement being read has no semicolon
  SourceRef source_{};
  CallSites call_sites_;
  std::vector<PendingLabel> pending_;
  std::vector<uint32_t> pending_starts_;
  std::vector<TextPos> scope_positions_;
  std::vector<Operand> elements_;           // stack of composite elements being read
  std::vector<Operand> given_;              // top-level operands of the instruction being read
  std::vector<TextPos> given_at_;           // where they begin
  std::vector<PendingLabel> given_labels_;  // labels among given_; index = position there
  bool saw_decimal_float_ = false;
  unsigned masked_bytes_left_ = 0;  // of a pointer written byte by byte in an initialiser
};

template <class F>
void Parser::recovering(F&& f) {
  open_braces_ = 0;
  ends_with_line_ = false;
  try {
    f();
  } catch (const Recover&) {
    if (ends_with_line_) {
      lex_.skip_line();
    } else if (in_function_) {
      lex_.skip_statement(open_braces_);
    } else {
      lex_.skip_item(open_braces_);
    }
  }
}

}  // namespace drywell::isa
