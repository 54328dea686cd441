// Content of a function's braces: scopes, registers, labels, directives.
#include <fmt/format.h>

#include <algorithm>

#include "isa/parser.h"

namespace drywell::isa {
namespace {

constexpr uint32_t kUnresolved = ~uint32_t{0};
constexpr std::string_view kComponents[] = {"x", "y", "z", "w"};

}  // namespace

void Parser::statement() {
  const TextPos at = lex_.pos();
  const char c = lex_.peek();
  if (c == '{') return open_scope();
  if (c == '}') return close_scope();
  if (c == '.') return body_directive(at);
  if (c == '@') return instruction({}, at);
  if (c == '$' || c == '%') {
    const std::string_view name = lex_.identifier();
    if (!lex_.take(':')) fail_expected("':' behind the label");
    return labelled(name, at);
  }
  const std::string_view word = lex_.opcode();
  if (word.empty()) {
    // This character begins no statement: step over it, or recovery would stay at this place.
    const std::string found = excerpt(lex_.offending());
    fail(Code::E1103, at, fmt::format("expected an instruction, a label or a directive, found '{}'", found),
         c == ';' ? "remove the empty statement" : "");
  }
  // "name:" and "name :" are labels, "name::" is part of an opcode; only a label may contain '$'.
  if (lex_.look(0) == '$') {
    const std::string_view rest = lex_.identifier();
    const std::string_view name{word.data(), word.size() + rest.size()};
    if (!lex_.take(':')) fail_expected("':' behind the label");
    return labelled(name, at);
  }
  const bool can_be_label = word.find('.') == std::string_view::npos && !(word[0] >= '0' && word[0] <= '9');
  if (can_be_label && lex_.peek() == ':' && lex_.look(1) != ':') {
    lex_.take(':');
    return labelled(word, at);
  }
  instruction(word, at);
}

// ---- scopes

void Parser::open_scope() {
  const TextPos at = lex_.pos();
  if (pending_starts_.size() >= kMaxScopes) {
    // Reading the block would close the wrong scopes; the whole block is skipped.
    lex_.take('{');
    if (!lex_.skip_block()) report(Code::E1111, at, "this block is not closed", "its matching '}' is missing");
    report(Code::E1110, at, fmt::format("more than {} nested blocks", kMaxScopes));
    return;
  }
  lex_.take('{');
  names_.open();
  pending_starts_.push_back(static_cast<uint32_t>(pending_.size()));
  scope_positions_.push_back(at);
}

// Resolves branches at the end of their scope, because they may name labels that come later in it or in an
// enclosing one.
void Parser::close_scope() {
  lex_.take('}');
  const bool outermost = pending_starts_.size() == 1;
  const uint32_t start = pending_starts_.back();
  uint32_t kept = start;
  for (uint32_t i = start; i < pending_.size(); ++i) {
    const PendingLabel p = pending_[i];
    const Binding* b = names_.find_here(p.name);
    if (b != nullptr && b->kind == NameKind::label) {
      (p.list == NameMap::kAbsent ? fn_.pool[p.index].index : fn_.branch_targets[p.list][p.index]) = b->index;
    } else if (outermost) {
      report(Code::E1106, p.at,
             fmt::format("label '{}' is not defined in this block or an enclosing one", p.name),
             "labels inside { } are visible only there");
    } else {
      pending_[kept++] = p;
    }
  }
  pending_.resize(kept);
  pending_starts_.pop_back();
  scope_positions_.pop_back();
  names_.close();
}

// ---- registers

void Parser::reg_statement() {
  unsigned vec = 1;
  TextPos at = lex_.pos();
  std::string_view word = lex_.directive();
  if (word == "v2" || word == "v4") {
    vec = word == "v2" ? 2 : 4;
    at = lex_.pos();
    word = lex_.directive();
  }
  const Mod type = type_word(word, at);
  do reg_declarator(type, vec);
  while (lex_.take(','));
  expect_semicolon();
}

void Parser::reg_declarator(Mod type, unsigned vec) {
  const TextPos at = lex_.pos();
  const std::string_view name = expect_identifier("a register name");
  const auto twice = [&] { fail(Code::E1105, at, fmt::format("'{}' is declared twice in this scope", name)); };
  if (lex_.take('<')) {
    if (vec > 1) fail(Code::E1112, at, "a range of vector registers is not possible", "declare them one by one");
    const uint32_t count = plain_number("a register count");  // not an expression: '>' would be its operator
    expect('>', "'>'");
    const RegId first = add_registers(name, true, count, type, at);
    if (names_.declare(name, NameKind::reg_range, first, count) == nullptr) twice();
    return;
  }
  if (names_.find_here(name) != nullptr) twice();
  if (vec == 1) {
    names_.declare(name, NameKind::reg, add_registers(name, false, 1, type, at));
    return;
  }
  // A vector register becomes several scalar registers; v.x names the first.
  RegId first = kNoReg;
  for (unsigned k = 0; k < vec; ++k) {
    const RegId r =
        add_registers(names_.keep(fmt::format("{}_{}", name, kComponents[k])), false, 1, type, at);
    if (k == 0) first = r;
  }
  names_.declare(name, NameKind::vector_reg, first, vec);
}

RegId Parser::add_registers(std::string_view prefix, bool numbered, uint32_t count, Mod type, TextPos at) {
  const auto first = static_cast<RegId>(fn_.regs.size());
  if (count > kMaxRegistersPerFunction - first || count > kMaxRegistersPerModule - registers_total_) {
    fail(Code::E1110, at, fmt::format("{} more registers are too many", count),
         fmt::format("at most {} in a function", kMaxRegistersPerFunction));
  }
  registers_total_ += count;
  if (!numbered) {
    fn_.regs.push_back({std::string(names_.unique(prefix)), type});
    return first;
  }
  const std::string_view printed = names_.unique_prefix(prefix, count);
  fn_.regs.reserve(fn_.regs.size() + count);
  for (uint32_t i = 0; i < count; ++i) {
    char digits[10];
    const auto end = fmt::format_to(digits, "{}", i);
    RegDecl r{{}, type};
    r.name.reserve(printed.size() + 10);
    r.name.append(printed).append(digits, static_cast<size_t>(end - digits));
    fn_.regs.push_back(std::move(r));
  }
  return first;
}

// ---- labels

void Parser::labelled(std::string_view name, TextPos at) {
  if (lex_.peek() == '.') {
    // A declaration with a name; any other directive is the next statement.
    Lexer before = lex_;
    const std::string_view word = lex_.directive();
    if (word == "branchtargets") return branch_target_list(name, at);
    if (word == "calltargets") return call_target_list(name, at);
    if (word == "callprototype") {
      if (names_.find_here(name) != nullptr) {
        fail(Code::E1105, at, fmt::format("'{}' is declared twice in this scope", name));
      }
      names_.declare(name, NameKind::prototype, static_cast<uint32_t>(fn_.prototypes.size()));
      // The element is appended first: a prototype with a syntax error leaves an empty element, never a name without an
      // element.
      const size_t place = fn_.prototypes.size();
      fn_.prototypes.emplace_back();
      fn_.prototypes[place] = call_prototype(names_.unique(name));
      return;
    }
    lex_ = before;
  }
  define_label(name, at);
}

void Parser::define_label(std::string_view name, TextPos at) {
  if (names_.declare(name, NameKind::label, static_cast<uint32_t>(fn_.labels.size())) == nullptr) {
    return report(Code::E1105, at, fmt::format("'{}' is declared twice in this scope", name));
  }
  fn_.labels.push_back({std::string(names_.unique(name)), static_cast<uint32_t>(fn_.body.size())});
}

void Parser::branch_target_list(std::string_view name, TextPos at) {
  const auto list = static_cast<uint32_t>(fn_.branch_targets.size());
  fn_.branch_targets.emplace_back();
  branch_target_names_.push_back(names_.unique(name));
  if (names_.declare(name, NameKind::branch_targets, list) == nullptr) {
    fail(Code::E1105, at, fmt::format("'{}' is declared twice in this scope", name));
  }
  do {
    const TextPos here = lex_.pos();
    const std::string_view target = expect_identifier("a label");
    pending_.push_back({target, here, list, static_cast<uint32_t>(fn_.branch_targets[list].size())});
    fn_.branch_targets[list].push_back(kUnresolved);
  } while (lex_.take(','));
  expect_semicolon();
}

void Parser::call_target_list(std::string_view name, TextPos at) {
  const auto list = static_cast<uint32_t>(fn_.call_targets.size());
  fn_.call_targets.emplace_back();
  call_target_names_.push_back(names_.unique(name));
  if (names_.declare(name, NameKind::call_targets, list) == nullptr) {
    fail(Code::E1105, at, fmt::format("'{}' is declared twice in this scope", name));
  }
  do {
    const TextPos here = lex_.pos();
    const std::string_view target = expect_identifier("a function");
    const Binding* b = names_.find(target);
    if (b == nullptr || b->kind != NameKind::function) fail_unknown_name(target, here);
    fn_.call_targets[list].push_back(b->index);
  } while (lex_.take(','));
  expect_semicolon();
}

// ---- directives

void Parser::body_directive(TextPos at) {
  const std::string_view word = lex_.directive();
  if (word == "reg") return reg_statement();
  if (word == "loc") return loc_directive();
  if (word == "local" || word == "shared" || word == "param" || word == "global" || word == "const") {
    return variable_statement(find_mod(word), Linkage::internal);
  }
  if (word == "pragma") return fn_.pragmas.push_back({static_cast<uint32_t>(fn_.body.size()), pragma_text()});
  if (word == "extern" || word == "visible" || word == "weak") {
    const std::string_view space = lex_.directive();
    if (space != "shared" && space != "global" && space != "const") fail_expected("a variable");
    return variable_statement(find_mod(space), word == "extern" ? Linkage::external
                                               : word == "weak" ? Linkage::weak
                                                                : Linkage::visible);
  }
  if (word == "file") return file_directive();
  if (word == "section") return section_directive();
  if (word == "branchtargets" || word == "callprototype" || word == "calltargets") {
    fail(Code::E1103, at, fmt::format("'.{}' needs a name in front of it", word),
         fmt::format("name: .{} …;", word));
  }
  if (word == "entry" || word == "func") {
    fail(Code::E1111, at, fmt::format("'.{}' inside the body of '{}'", word, fn_.name),
         "a '}' is missing before it");
  }
  fail(Code::E1108, at, fmt::format("unknown directive '.{}'", word));
}

// ".loc file line column {, function_name label{+n}} {, inlined_at file line column}": ends at the end of the
// line. LLVM counts the lines of an inline assembly text onto the author's line: there the earlier .loc holds.
void Parser::loc_directive() {
  const bool counted = lex_.in_inline_assembly();
  ends_with_line_ = true;
  const uint32_t file = plain_number("a file number"), line = plain_number("a line"),
                 column = plain_number("a column");
  SourceRef inlined_at{};
  while (lex_.take(',')) {
    const TextPos at = lex_.pos();
    const std::string_view word = lex_.identifier();
    if (word == "function_name") {
      expect_identifier("a label of .debug_str");
      if (lex_.take('+')) plain_number("an offset");
    } else if (word == "inlined_at") {
      inlined_at.file = plain_number("a file number");
      inlined_at.line = plain_number("a line");
      inlined_at.column = plain_number("a column");
    } else {
      fail(Code::E1103, at, "expected function_name or inlined_at",
           ".loc 1 20 5, function_name $L__info_string0, inlined_at 1 30 3");
    }
  }
  if (!counted) source_ = call_sites_.line({file, line, column}, inlined_at);
}

}  // namespace drywell::isa
