// Instructions: guard, opcode, operands, and the selection of the table's row.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "isa/parser.h"

namespace drywell::isa {
namespace {

bool admits(const std::vector<OpcodeForm>& forms, size_t position, uint16_t shape) {
  for (const OpcodeForm& f : forms) {
    if ((spec(f.op).operands[position].shapes & shape) != 0) return true;
  }
  return false;
}

bool is_ident_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

int component_of(std::string_view word) {
  if (word.size() != 1) return -1;
  constexpr std::string_view kXyzw = "xyzw", kRgba = "rgba";
  const size_t at = kXyzw.find(word[0]);
  return static_cast<int>(at != std::string_view::npos ? at : kRgba.find(word[0]));
}

/// An instruction as one line of a message.
std::string one_line(std::string_view text) {
  constexpr size_t kMost = 120;
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
    if (!blank) out += c;
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
    if (out.size() == kMost) return out + "…";
  }
  return out;
}

}  // namespace

// ---- opcodes

Parser::OpcodeEntry& Parser::opcode_entry(std::string_view text, TextPos at) {
  std::string joined;
  // "st.global .u32" is one opcode; ptxas accepts white space in front of a modifier.
  while (lex_.peek() == '.') {
    const std::string_view more = lex_.directive();
    if (more.empty()) break;
    if (joined.empty()) joined = text;
    joined.append(".").append(more);
  }
  if (!joined.empty()) {
    if (const uint32_t known = opcode_index_.find(joined); known != NameMap::kAbsent) return opcodes_[known];
    text = joined_opcodes_.emplace_back(std::move(joined));
  }
  uint32_t& index = opcode_index_.at(text);
  if (index == NameMap::kAbsent) {
    index = static_cast<uint32_t>(opcodes_.size());
    OpcodeEntry& e = opcodes_.emplace_back();
    e.text = text;
    e.first_seen = at;
    e.forms = resolve_opcode(text, &e.why, &e.hint);
    if (e.forms.empty() && !is_texture_opcode(text) && ++unknown_opcodes_ > kMaxUnknownOpcodes) throw TooMany{};  // the text is not PTX
    e.label_first = admits(e.forms, 0, kLabel);
    for (size_t k = 0; k < kMaxOperands; ++k) e.takes_arguments |= admits(e.forms, k, kArgs);
  }
  return opcodes_[index];
}

RegId Parser::guard(bool& negated) {
  lex_.take('@');
  negated = lex_.take('!');
  const TextPos at = lex_.pos();
  const std::string_view name = expect_identifier("a predicate register");
  Binding* other = nullptr;
  const RegId r = find_register(name, other);
  if (r == kNoReg) fail_unknown_name(name, at);
  return r;
}

void Parser::instruction(std::string_view word, TextPos at) {
  Instruction i;
  if (word.empty()) {
    i.guard = guard(i.guard_negated);
    at = lex_.pos();
    word = lex_.opcode();
    if (word.empty()) fail_expected("an instruction behind the guard");
  }
  const auto begin = static_cast<size_t>(word.data() - text_.data());
  OpcodeEntry& entry = opcode_entry(word, at);
  ++entry.uses;
  if (entry.forms.empty()) {
    if (fn_.refused.empty() && is_texture_opcode(entry.text)) fn_.refused = entry.text;
    lex_.skip_statement(0);
    return;
  }
  operand_list(entry);
  expect_semicolon();

  i.source = source_;
  i.ptx_line = at.line;
  std::string why;
  size_t which = 0;
  const OpcodeForm* form = choose_form(fn_, entry.forms, given_, &why, &which);
  while (form == nullptr && put_in_register(entry, which, i, at)) form = choose_form(fn_, entry.forms, given_, &why, &which);
  if (form == nullptr) {
    return report(Code::E1102, which < given_at_.size() ? given_at_[which] : at,
                  fmt::format("{} — in '{}'", why, one_line(text_.substr(begin, lex_.offset() - begin))),
                  fmt::format("for example: {}", spec(entry.forms[0].op).example));
  }
  if (saw_decimal_float_) convert_float_literals(*form);
  read_specials_first(i, at);
  put_fragments_in_registers(*form, i, at);
  if (spec(form->op).flow == Flow::return_) store_results(i, at);
  i.op = form->op;
  i.mods = form->mods;
  i.operands = static_cast<uint32_t>(fn_.pool.size());
  i.operand_count = static_cast<uint8_t>(given_.size());
  fn_.pool.insert(fn_.pool.end(), given_.begin(), given_.end());
  for (PendingLabel& p : given_labels_) {
    p.index += i.operands;
    pending_.push_back(p);
  }
  fn_.body.push_back(i);
}

// A special register that is packed, unpacked or an element of a store's vector: rows take them in mov alone, so that a mov into a register
// of its own comes first, with the same guard.
void Parser::read_specials_first(const Instruction& of, TextPos at) {
  const auto is_vector = [](const Operand& o) { return o.kind == Operand::Kind::vec; };
  const auto vector = std::find_if(given_.begin(), given_.end(), is_vector);
  if (vector == given_.end()) return;
  for (Operand& o : given_) {
    if (o.kind == Operand::Kind::special) o = special_in_register(o, of, at);
    if (!is_vector(o)) continue;
    for (uint32_t k = o.index; k < o.index + o.count; ++k) {
      if (fn_.pool[k].kind != Operand::Kind::special) continue;
      const Operand read = special_in_register(fn_.pool[k], of, at);
      fn_.pool[k] = read;
    }
  }
}

/// An instruction of the parser's own, at the place and with the guard of `like`.
void Parser::append(std::string_view opcode, std::span<const Operand> operands, const Instruction& like, TextPos at) {
  const std::vector<OpcodeForm> forms = resolve_opcode(opcode, nullptr, nullptr);
  const OpcodeForm* form = choose_form(fn_, forms, operands, nullptr);
  if (form == nullptr) fail(Code::E1102, at, fmt::format("no '{}' of such a value", opcode));
  Instruction i = like;
  i.op = form->op;
  i.mods = form->mods;
  i.operands = static_cast<uint32_t>(fn_.pool.size());
  i.operand_count = static_cast<uint8_t>(operands.size());
  fn_.pool.insert(fn_.pool.end(), operands.begin(), operands.end());
  fn_.body.push_back(i);
}

/// A new register, which a mov ahead of the instruction gives the value.
Operand Parser::in_register(std::string_view name, Mod type, const Operand& value, const Instruction& of, TextPos at) {
  const std::array<Operand, 2> operands{Operand::reg(add_registers(names_.keep(std::string(name)), false, 1, type, at)), value};
  append(type == Mod::b64 ? "mov.b64" : "mov.b32", operands, of, at);
  return operands[0];
}

// The register has the special register's own width: whether that fits the instruction is judged as for any register.
Operand Parser::special_in_register(const Operand& special, const Instruction& of, TextPos at) {
  const bool wide = reads_special_as(static_cast<SpecialReg>(special.index), Mod::b64);
  return in_register("%special", wide ? Mod::b64 : Mod::b32, special, of, at);
}

// As ptxas 13.0: conversions between integers read special registers, and descriptors of the tensor core's operands may be constants.
bool Parser::put_in_register(const OpcodeEntry& entry, size_t which, const Instruction& of, TextPos at) {
  if (which >= given_.size()) return false;
  Operand& o = given_[which];
  const bool special = o.kind == Operand::Kind::special && spec(entry.forms[0].op).timing == TimingClass::cvt_move;
  const Completion completion = spec(entry.forms[0].op).completion;
  const bool descriptor = o.kind == Operand::Kind::imm && (completion == Completion::commit || completion == Completion::wgmma_group);
  if (special) o = special_in_register(o, of, at);
  if (descriptor) o = in_register("%constant", Mod::b64, o, of, at);
  return special || descriptor;
}

// Decimal floating-point literals are double precision and take the instruction's type (PTX ISA 4.5.2).
void Parser::convert_float_literals(const OpcodeForm& form) {
  std::array<int8_t, kMaxOperands> positions;
  if (!match_operands(fn_, form, given_, positions)) return;
  const InstrSpec& row = spec(form.op);
  for (size_t k = 0; k < row.operand_count(); ++k) {
    if (positions[k] < 0 || row.operands[k].type.from != TypeRule::From::slot) continue;
    Operand& o = given_[static_cast<size_t>(positions[k])];
    const int slot = row.slot_index(row.operands[k].type.slot);
    if (o.kind != Operand::Kind::imm || o.imm_kind != ImmKind::f64 || slot < 0 ||
        form.mods[static_cast<size_t>(slot)] == 0)
      continue;
    const Mod type = row.slots[static_cast<size_t>(slot)].mods[form.mods[static_cast<size_t>(slot)] - 1];
    if (type != Mod::f32) continue;
    o.imm_kind = ImmKind::f32;
    o.value = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(o.value)));
  }
}

// ---- operands

void Parser::operand_list(const OpcodeEntry& entry) {
  given_.clear();
  given_at_.clear();
  given_labels_.clear();
  elements_.clear();
  saw_decimal_float_ = false;
  if (lex_.peek() == ';') return;
  do {
    if (given_.size() == kMaxOperandsGiven) {
      fail(Code::E1110, lex_.pos(), fmt::format("more than {} operands", kMaxOperandsGiven));
    }
    given_at_.push_back(lex_.pos());
    if (entry.label_first && given_.empty()) {
      label_operand();
    } else {
      given_.push_back(operand(entry.takes_arguments));
    }
  } while (lex_.take(','));
}

void Parser::label_operand() {
  const TextPos at = lex_.pos();
  const std::string_view name = expect_identifier("a label");
  given_labels_.push_back({name, at, NameMap::kAbsent, static_cast<uint32_t>(given_.size())});
  given_.push_back(Operand::label(0));
}

Operand Parser::operand(bool takes_arguments) {
  const char c = lex_.peek();
  if (c == '[') return address_operand();
  if (c == '{') return list_operand(Operand::Kind::vec, '}');
  if (c == '(' && takes_arguments) return list_operand(Operand::Kind::args, ')');
  if (c == '!') {
    lex_.take('!');
    if (!is_ident_start(lex_.peek())) return constant_operand(true);
    Operand o = name_operand();
    if (o.kind != Operand::Kind::reg) fail_expected("a predicate register behind '!'");
    o.negated = true;
    return o;
  }
  if (c == '-' && is_ident_start(lex_.look(1))) return minus_operand();
  if (!is_ident_start(c)) return constant_operand(false);
  Operand first = name_operand();
  if (first.kind == Operand::Kind::reg && lex_.peek() == '.') first.part = selector();
  if (!lex_.take('|')) return first;
  const size_t start = elements_.size();
  elements_.push_back(first);
  elements_.push_back(name_operand());
  return composite(Operand::Kind::pair, start);
}

// PTX's only constant with a letter in front is WARP_SZ.
Operand Parser::minus_operand() {
  lex_.take('-');
  Operand o = name_operand();
  if (o.kind == Operand::Kind::imm) o = Operand::imm(-o.value);
  o.minus = o.kind == Operand::Kind::reg;
  if (o.minus && lex_.peek() == '.') o.part = selector();
  return o;
}

Subword Parser::selector() {
  const TextPos at = lex_.pos();
  const std::string_view text = lex_.directive();
  const std::optional<Subword> part = find_subword(text);
  if (!part) fail(Code::E1102, at, fmt::format("'.{}' selects no byte or half-word", text), "for example: .b0, .h1, .b7654");
  return *part;
}

Operand Parser::constant_operand(bool negated) {
  const Constant c = constant();
  if (negated && c.is_float()) fail(Code::E1107, lex_.pos(), "'!' takes an integer or a predicate");
  saw_decimal_float_ |= c.kind == ImmKind::f64;
  return negated ? Operand::imm(c.bits == 0 ? 1 : 0) : Operand::imm(static_cast<int64_t>(c.bits), c.kind);
}

RegId Parser::find_register(std::string_view name, Binding*& other) {
  Binding* b = names_.find(name);
  uint32_t depth = 0;
  const RegId in_range =
      b != nullptr && b->depth == names_.depth() ? kNoReg : names_.find_in_ranges(name, depth);
  if (in_range != kNoReg && (b == nullptr || depth > b->depth)) return in_range;
  if (b != nullptr && b->kind == NameKind::reg) return b->index;
  other = b;
  return kNoReg;
}

Operand Parser::name_operand() {
  const TextPos at = lex_.pos();
  const std::string_view name = expect_identifier("an operand");
  Binding* b = nullptr;
  if (const RegId r = find_register(name, b); r != kNoReg) return Operand::reg(r);
  if (b != nullptr && b->kind == NameKind::vector_reg) return register_of(*b, name, at);
  if (b != nullptr && b->kind != NameKind::label) return symbol_operand(*b);
  if (name == "_") return Operand::sink();
  if (name == "WARP_SZ") return Operand::imm(32, ImmKind::warp_size);
  if (name[0] == '%') return special_operand(name, at);
  fail_unknown_name(name, at);
}

Operand Parser::special_operand(std::string_view name, TextPos at) {
  std::string_view text = name;
  if (lex_.look(0) == '.') {
    const std::string_view component = lex_.directive();
    text = {name.data(), name.size() + 1 + component.size()};
  }
  const auto special = find_special_reg(text);
  if (!special) fail_unknown_name(text, at);
  return Operand::special(*special);
}

// A vector register: one of its components, or all of them.
Operand Parser::register_of(Binding& b, std::string_view name, TextPos at) {
  if (lex_.look(0) == '.') {
    const std::string_view component = lex_.directive();
    const int k = component_of(component);
    if (k < 0 || static_cast<uint32_t>(k) >= b.count) {
      fail(Code::E1104, at, fmt::format("'{}' has no component '.{}'", name, component));
    }
    return Operand::reg(b.index + static_cast<uint32_t>(k));
  }
  const size_t start = elements_.size();
  for (uint32_t k = 0; k < b.count; ++k) elements_.push_back(Operand::reg(b.index + k));
  return composite(Operand::Kind::vec, start);
}

Operand Parser::symbol_operand(Binding& b) {
  if (b.symbol_function != function_number_) {
    SymbolRef s;
    s.index = b.index;
    s.name = b.name;
    switch (b.kind) {
      case NameKind::variable: s.kind = SymbolRef::Kind::variable; break;
      case NameKind::param: s.kind = SymbolRef::Kind::param; break;
      case NameKind::function: s.kind = SymbolRef::Kind::function; break;
      case NameKind::local:
        s.kind = SymbolRef::Kind::local;
        s.name = fn_.variables[b.index].name;
        break;
      case NameKind::prototype:
        s.kind = SymbolRef::Kind::prototype;
        s.name = fn_.prototypes[b.index].name;
        break;
      case NameKind::branch_targets:
        s.kind = SymbolRef::Kind::branch_targets;
        s.name = branch_target_names_[b.index];
        break;
      default:
        s.kind = SymbolRef::Kind::call_targets;
        s.name = call_target_names_[b.index];
        break;
    }
    b.symbol = static_cast<uint32_t>(fn_.symbols.size());
    b.symbol_function = function_number_;
    fn_.symbols.push_back(std::move(s));
  }
  Operand o = Operand::symbol(b.symbol);
  if (lex_.peek() == '+') o.value = address_offset();
  return o;
}

Operand Parser::composite(Operand::Kind kind, size_t first_element) {
  const size_t count = elements_.size() - first_element;
  if (count > kMaxElements) {
    fail(Code::E1110, lex_.pos(), fmt::format("more than {} elements in one operand", kMaxElements));
  }
  Operand o;
  o.kind = kind;
  o.count = static_cast<uint16_t>(count);
  o.index = static_cast<uint32_t>(fn_.pool.size());
  fn_.pool.insert(fn_.pool.end(), elements_.begin() + static_cast<ptrdiff_t>(first_element), elements_.end());
  elements_.resize(first_element);
  return o;
}

Operand Parser::list_operand(Operand::Kind kind, char close) {
  lex_.take(kind == Operand::Kind::vec ? '{' : '(');
  if (kind == Operand::Kind::vec) ++open_braces_;
  const size_t start = elements_.size();
  if (lex_.peek() != close) {
    do {
      const Operand e = is_ident_start(lex_.peek()) ? name_operand() : constant_operand(false);
      elements_.push_back(e);
    } while (lex_.take(','));
  }
  expect(close, kind == Operand::Kind::vec ? "',' or '}'" : "',' or ')'");
  if (kind == Operand::Kind::vec) --open_braces_;
  return composite(kind, start);
}

// "[base+offset]", or a tensor address "[base+offset, {coordinates}, …]".
Operand Parser::address_operand() {
  lex_.take('[');
  Operand address;
  if (is_ident_start(lex_.peek())) {
    const TextPos at = lex_.pos();
    const Operand base = name_operand();
    if (base.kind == Operand::Kind::reg) {
      address = Operand::address(base.index);
    } else if (base.kind == Operand::Kind::symbol) {
      address = Operand::address_of(base.index, base.value);
    } else {
      fail(Code::E1103, at, "an address starts with a register, a variable or a number", "[%rd1+16], [name+4]");
    }
    if (address.base == Operand::Base::reg && lex_.peek() == '+') {
      address.value = address_offset();
    }
  } else {
    address = Operand::absolute(address_offset());
  }
  if (lex_.peek() != ',') {
    expect(']', "']'");
    return address;
  }
  const size_t start = elements_.size();
  elements_.push_back(address);
  while (lex_.take(',')) {
    if (lex_.peek() != '{') fail_expected("'{' and the coordinates");
    elements_.push_back(list_operand(Operand::Kind::vec, '}'));
  }
  expect(']', "']'");
  return composite(Operand::Kind::tensor, start);
}

void Parser::fail_unknown_name(std::string_view name, TextPos at) {
  std::string hint = "declare it before it is used, in this block or an enclosing one";
  Binding* other = nullptr;
  const std::string_view with_percent = names_.keep(fmt::format("%{}", name));
  if (const Binding* range = names_.near_range(name); range != nullptr && range->count != 0) {
    hint = fmt::format("'{0}<{1}>' declares {0}0 to {0}{2}", range->name, range->count, range->count - 1);
  } else if (find_register(with_percent, other) != kNoReg) {
    hint = fmt::format("did you mean '{}'?", with_percent);
  }
  constexpr size_t kMost = 60;
  fail(Code::E1104, at, fmt::format("'{}' is not declared", name.substr(0, kMost)), std::move(hint));
}

}  // namespace drywell::isa
