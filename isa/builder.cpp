#include "drywell/isa/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <functional>
#include <map>
#include <numeric>

#include "drywell/core/source_path.h"
#include "drywell/isa/resolve.h"
#include "drywell/isa/validate.h"

namespace drywell::isa {
namespace {

constexpr uint32_t kUnbound = ~uint32_t{0};

std::string_view reg_prefix(Mod type) {
  switch (type) {
    case Mod::pred: return "%p";
    case Mod::b8: return "%b";
    case Mod::b16:
    case Mod::u16:
    case Mod::s16:
    case Mod::f16:
    case Mod::bf16: return "%rs";
    case Mod::b64:
    case Mod::u64:
    case Mod::s64: return "%rd";
    case Mod::f32: return "%f";
    case Mod::f64: return "%fd";
    case Mod::b128: return "%rq";
    default: return "%r";
  }
}

// Registers hold untyped bits (docs/facts/ptx-census.md, "Things that are easy to miss", 4).
Mod storage_type(Mod type) {
  switch (type_bits(type)) {
    case 1: return Mod::pred;
    case 8: return Mod::b8;
    case 16: return Mod::b16;
    case 32: return type == Mod::f32 ? Mod::f32 : Mod::b32;
    case 64: return type == Mod::f64 ? Mod::f64 : Mod::b64;
    case 128: return Mod::b128;
    default: return Mod::none;
  }
}

SourcePos position(const SourceLocation& w) { return {std::string(base_name(w.file_name())), w.line(), w.column()}; }

[[noreturn]] void fail(Code code, const SourcePos& where, std::string why, std::string hint) {
  Diagnostics problems;
  problems.error(code, where, std::move(why), std::move(hint));
  throw InputError(std::move(problems));
}

/// Operand `k` is a register or a symbol, and some form has an address there.
bool forgot_mem(std::span<const OpcodeForm> forms, std::span<const Operand> given, size_t k) {
  if (k >= given.size() || (given[k].kind != Operand::Kind::reg && given[k].kind != Operand::Kind::symbol)) return false;
  return std::any_of(forms.begin(), forms.end(), [&](const OpcodeForm& f) {
    const OperandSpec& want = spec(f.op).operands[k];
    return want.name != nullptr && (want.shapes & kAddr) != 0;
  });
}

std::string misfit_hint(std::span<const OpcodeForm> forms, std::span<const Operand> given, size_t k) {
  if (forgot_mem(forms, given, k)) return fmt::format("operand {} is an address: write mem(address) or mem(address, offset)", k + 1);
  return fmt::format("for example: {}", spec(forms[0].op).example);
}

}  // namespace

RegArray RegArray::slice(size_t first, size_t count) const {
  std::vector<Reg> out;
  for (size_t i = 0; i < count; ++i) out.push_back(regs_.at(first + i));
  return RegArray(std::move(out));
}

PartReg part(Reg r, std::string_view text) {
  const std::optional<Subword> found = find_subword(text);
  if (!found) throw InputError(Code::E1102, fmt::format("'.{}' selects no byte or half-word", text), "for example: b0, h1, b7654");
  return {r, *found};
}

Arg::Arg(float v) : kind(Kind::f32), value(std::bit_cast<uint32_t>(v)) {}
Arg::Arg(const RegArray& a) : kind(Kind::vec) {
  for (Reg r : a) parts.emplace_back(r);
}

Arg::Arg(std::initializer_list<Arg> elements) : kind(Kind::vec), parts(elements) {}
Arg::Arg(const Arg& other) = default;
Arg::Arg(Arg&& other) noexcept = default;
Arg& Arg::operator=(const Arg& other) = default;
Arg& Arg::operator=(Arg&& other) noexcept = default;
Arg::~Arg() = default;

Arg mem(Reg base, int64_t offset) {
  Arg a(base);
  a.kind = Arg::Kind::addr_reg;
  a.value = offset;
  return a;
}

Arg mem(Symbol base, int64_t offset) {
  Arg a(base);
  a.kind = Arg::Kind::addr_symbol;
  a.value = offset;
  return a;
}

Arg tensor(Reg map, std::initializer_list<Arg> coordinates) {
  Arg a(0);
  a.kind = Arg::Kind::tensor;
  a.parts = {mem(map), Arg(coordinates)};
  return a;
}

Arg tensor(Symbol map, std::initializer_list<Arg> coordinates) {
  Arg a(0);
  a.kind = Arg::Kind::tensor;
  a.parts = {mem(map), Arg(coordinates)};
  return a;
}

Arg pair(Arg d, Reg p) {
  Arg a(0);
  a.kind = Arg::Kind::pair;
  a.parts = {std::move(d), Arg(p)};
  return a;
}

KernelBuilder::KernelBuilder(std::string name, Target target) {
  // The address tells apart builders that live at the same time, the name those that follow each other at one address.
  tag_ = static_cast<BuilderTag>(1 + std::hash<std::string_view>()(fmt::format("{}{}", fmt::ptr(this), name)) % 0xFFFF);
  module_.target = target;
  module_.functions.emplace_back();
  function().name = std::move(name);
}

Function& KernelBuilder::function() {
  expect_open({});
  return module_.functions[0];
}

std::string KernelBuilder::unique_name(std::string_view name) {
  uint32_t& uses = names_[std::string(name)];
  return uses++ == 0 ? fmt::format("%{}", name) : fmt::format("%{}_{}_", name, uses);
}

Reg KernelBuilder::add_register(Mod type, std::string name) {
  const Mod stored = storage_type(type);
  if (stored == Mod::none) throw InputError(Code::E1100, fmt::format("no register holds a .{}", mod_text(type)));
  const auto id = static_cast<RegId>(function().regs.size());
  named_.push_back(!name.empty());
  function().regs.push_back({name.empty() ? fmt::format("{}{}", reg_prefix(stored), id) : std::move(name), stored});
  return {id, stored, tag_};
}

std::string KernelBuilder::author_name(std::string_view name, const SourcePos& where) {
  expect_open(where);
  if (name.empty()) return {};
  const bool fits = std::all_of(name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; });
  if (!fits) fail(Code::E1107, where, fmt::format("'{}' is no name of PTX", name), "letters, digits, _ and $");
  return unique_name(name);
}

Reg KernelBuilder::reg(Mod type, std::string_view name, Where w) { return add_register(type, author_name(name, position(w))); }

Reg KernelBuilder::named(std::string_view name, Reg r, Where w) {
  const SourcePos where = position(w);
  expect_own(Arg(r), where);
  function().regs[r.id].name = author_name(name, where);
  named_[r.id] = true;
  return r;
}

RegArray KernelBuilder::regs(Mod type, size_t count, std::string_view name, Where w) {
  const std::string base = author_name(name, position(w));
  std::vector<Reg> out;
  for (size_t i = 0; i < count; ++i) out.push_back(add_register(type, name.empty() ? std::string() : fmt::format("{}_{}", base, i)));
  return RegArray(std::move(out));
}

uint32_t KernelBuilder::add_symbol(SymbolRef s) {
  function().symbols.push_back(std::move(s));
  return static_cast<uint32_t>(function().symbols.size() - 1);
}

Symbol KernelBuilder::param(Mod type, std::string_view name) {
  Variable v;
  v.name = fmt::format("{}_param_{}_{}", function().name, function().params.size(), name);
  v.space = Mod::param;
  v.type = type;
  v.align = type_bits(type) / 8;
  function().params.push_back(v);
  return {add_symbol({SymbolRef::Kind::param, static_cast<uint32_t>(function().params.size() - 1), v.name}), tag_};
}

Symbol KernelBuilder::param_bytes(std::string_view name, uint32_t bytes, uint32_t align) {
  Variable v;
  v.name = fmt::format("{}_param_{}_{}", function().name, function().params.size(), name);
  v.space = Mod::param;
  v.type = Mod::b8;
  v.align = align;
  v.elements = bytes;
  v.is_array = true;
  function().params.push_back(v);
  return {add_symbol({SymbolRef::Kind::param, static_cast<uint32_t>(function().params.size() - 1), v.name}), tag_};
}

Reg KernelBuilder::load_param(Symbol p, Mod type, Where w) {
  const Reg r = reg(type, {}, w);
  emit(OpText(fmt::format("ld.param.{}", mod_text(type)), w), {r, mem(p)});
  return r;
}

Symbol KernelBuilder::shared(std::string_view name, uint32_t bytes, uint32_t align) {
  Variable v;
  v.name = std::string(name);
  v.space = Mod::shared;
  v.align = align;
  v.elements = bytes;
  v.is_array = true;
  function().variables.push_back(v);
  return {add_symbol({SymbolRef::Kind::local, static_cast<uint32_t>(function().variables.size() - 1), v.name}), tag_};
}

Symbol KernelBuilder::dynamic_shared(std::string_view name, uint32_t align) {
  Variable v;
  v.name = std::string(name);
  v.space = Mod::shared;
  v.align = align;
  v.elements = 0;
  v.is_array = true;
  v.linkage = Linkage::external;
  module_.variables.push_back(v);
  return {add_symbol({SymbolRef::Kind::variable, static_cast<uint32_t>(module_.variables.size() - 1), v.name}), tag_};
}

void KernelBuilder::role(std::string_view name, uint32_t first, uint32_t last) {
  function().roles.push_back({std::string(name), first, last});
}

uint32_t KernelBuilder::put(const std::vector<Operand>& elements) {
  const auto at = static_cast<uint32_t>(function().pool.size());
  function().pool.insert(function().pool.end(), elements.begin(), elements.end());
  return at;
}

void KernelBuilder::expect_open(const SourcePos& where) const {
  if (finished_) fail(Code::E1100, where, "the builder is used after finish()", "a builder makes one kernel: make another builder for the next");
}

void KernelBuilder::expect_own(const Arg& a, const SourcePos& where) const {
  expect_open(where);
  const bool reg = a.kind == Arg::Kind::reg || a.kind == Arg::Kind::addr_reg;
  const bool named = a.kind == Arg::Kind::symbol || a.kind == Arg::Kind::addr_symbol || a.kind == Arg::Kind::label;
  if (reg && !a.reg.valid()) fail(Code::E1102, where, "a default Reg{} names no register", "make it with k.reg(type) or k.def(opcode, …)");
  const size_t count = reg ? module_.functions[0].regs.size() : a.kind == Arg::Kind::label ? module_.functions[0].labels.size()
                                                                                           : module_.functions[0].symbols.size();
  const bool known = (reg ? a.reg.id : a.id) < count && (reg ? a.reg.owner : a.owner) == tag_;
  if ((reg || named) && !known)
    fail(Code::E1102, where, fmt::format("the {} is of another builder", reg ? "register" : a.kind == Arg::Kind::label ? "label"
                                                                                                                       : "symbol"),
         "each kernel has registers, labels and symbols of its own");
}

Operand KernelBuilder::lower(const Arg& a, const SourcePos& where) {
  expect_own(a, where);
  const auto composite = [&](Operand::Kind kind) {
    std::vector<Operand> elements;
    for (const Arg& p : a.parts) elements.push_back(lower(p, where));
    Operand o;
    o.kind = kind;
    o.count = static_cast<uint16_t>(elements.size());
    o.index = put(elements);
    return o;
  };
  switch (a.kind) {
    case Arg::Kind::reg: {
      Operand o = Operand::reg(a.reg.id, a.negated);
      o.minus = a.minus;
      o.part = a.part;
      return o;
    }
    case Arg::Kind::imm: return Operand::imm(a.value);
    case Arg::Kind::f32: return Operand::imm(a.value, ImmKind::f32);
    case Arg::Kind::addr_reg: return Operand::address(a.reg.id, a.value);
    case Arg::Kind::addr_symbol: return Operand::address_of(a.id, a.value);
    case Arg::Kind::vec: return composite(Operand::Kind::vec);
    case Arg::Kind::label: return Operand::label(a.id);
    case Arg::Kind::symbol: return Operand::symbol(a.id);
    case Arg::Kind::sink: return Operand::sink();
    case Arg::Kind::special: return Operand::special(static_cast<SpecialReg>(a.id));
    case Arg::Kind::tensor: return composite(Operand::Kind::tensor);
    case Arg::Kind::pair: return composite(Operand::Kind::pair);
  }
  return {};
}

RegId KernelBuilder::guard_of(Reg p, const SourcePos& where) const {
  if (!has_guard_) return kNoReg;
  expect_own(Arg(p), where);
  return p.id;
}

void KernelBuilder::emit(OpText op, std::span<const Arg> args) {
  const SourcePos where = position(op.where);
  expect_open(where);
  std::string why, hint;
  const auto forms = resolve_opcode(op.text, &why, &hint);
  Diagnostics problems;
  if (forms.empty()) {
    problems.error(Code::E1101, where, why, hint);
    throw InputError(std::move(problems));
  }
  std::vector<Operand> operands;
  for (const Arg& a : args) operands.push_back(lower(a, where));
  size_t misfit = 0;
  const OpcodeForm* form = choose_form(function(), forms, operands, &why, &misfit);
  if (form == nullptr) fail(Code::E1102, where, fmt::format("{} — in '{}'", why, op.text), misfit_hint(forms, operands, misfit));
  Instruction i;
  i.op = form->op;
  i.mods = form->mods;
  i.operands = put(operands);
  i.operand_count = static_cast<uint8_t>(operands.size());
  i.guard = guard_of(guard_, where);
  i.guard_negated = has_guard_ && guard_negated_;
  i.source = {module_.file_index(op.where.file_name()), op.where.line(), op.where.column()};
  has_guard_ = false;
  module_.version = std::max(module_.version, spec(i.op).since);  // 9.0, or what a newer form needs
  validate_instruction({module_, function(), i}, problems);
  if (problems.has_errors()) throw InputError(std::move(problems));
  function().body.push_back(i);
}

Reg KernelBuilder::emit_def(OpText op, std::span<const Arg> args) {
  const auto forms = resolve_opcode(op.text, nullptr, nullptr);
  Mod type = Mod::b32;
  if (!forms.empty()) {
    const InstrSpec& row = spec(forms[0].op);
    if ((row.operands[0].shapes & kReg) == 0)
      fail(Code::E1102, position(op.where), fmt::format("'{}' has no result in a register", row.mnemonic), "call k(opcode, …) in place of k.def(opcode, …)");
    const TypeRule& t = row.operands[0].type;
    const auto slot_type = [&](Slot s) {
      const int k = row.slot_index(s);
      return k < 0 || forms[0].mods[static_cast<size_t>(k)] == 0 ? Mod::b32 : row.slots[static_cast<size_t>(k)].mods[forms[0].mods[static_cast<size_t>(k)] - 1];
    };
    if (t.from == TypeRule::From::fixed) type = t.fixed;
    if (t.from == TypeRule::From::slot) type = slot_type(t.slot);
    if (t.from == TypeRule::From::slot_wide) type = type_bits(slot_type(t.slot)) == 32 ? Mod::b64 : Mod::b32;
    if (type_bits(type) == 8 && t.loose) type = Mod::b16;
  }
  const Reg r = reg(type, {}, op.where);
  std::vector<Arg> all = {Arg(r)};
  all.insert(all.end(), args.begin(), args.end());
  emit(op, all);
  return r;
}

LabelRef KernelBuilder::label(std::string_view name) {
  const auto id = static_cast<uint32_t>(function().labels.size());
  function().labels.push_back({fmt::format("$L{}{}{}", label_counter_++, name.empty() ? "" : "_", name), kUnbound});
  return {id, tag_};
}

void KernelBuilder::bind(LabelRef l, Where w) {
  const SourcePos where = position(w);
  expect_own(Arg(l), where);
  Label& label = function().labels[l.id];
  if (label.position != kUnbound) fail(Code::E1221, where, fmt::format("the label '{}' is bound already", label.name), "one label stands at one place");
  label.position = static_cast<uint32_t>(function().body.size());
}

void KernelBuilder::jump(LabelRef target, Where w) { emit(OpText("bra", w), {target}); }

void KernelBuilder::branch(LabelRef target, Reg guard, bool negated, Where w) {
  Guarded(*this, guard, negated)(OpText("bra", w), target);
}

void KernelBuilder::if_(Reg p, const Body& then, Where w) {
  expect_open(position(w));
  const LabelRef end = label("endif");
  branch(end, p, true, w);
  then();
  bind(end);
}

void KernelBuilder::if_not(Reg p, const Body& then, Where w) {
  expect_open(position(w));
  const LabelRef end = label("endif");
  branch(end, p, false, w);
  then();
  bind(end);
}

void KernelBuilder::if_else(Reg p, const Body& then, const Body& otherwise, Where w) {
  expect_open(position(w));
  const LabelRef other = label("else"), end = label("endif");
  branch(other, p, true, w);
  then();
  jump(end, w);
  bind(other);
  otherwise();
  bind(end);
}

void KernelBuilder::while_(const std::function<Reg()>& condition, const Body& body, Where w) {
  expect_open(position(w));
  const LabelRef top = label("while"), end = label("endwhile");
  bind(top);
  branch(end, condition(), true, w);
  body();
  jump(top, w);
  bind(end);
}

void KernelBuilder::do_while(const std::function<Reg()>& body_then_condition, Where w) {
  const LabelRef top = label("do");
  bind(top);
  branch(top, body_then_condition(), false, w);
}

void KernelBuilder::for_range(Arg begin, Arg end, Arg step, const std::function<void(Reg)>& body, Where w) {
  const Reg i = reg(Mod::b32), more = reg(Mod::pred);
  const LabelRef top = label("for"), done = label("endfor");
  emit(OpText("mov.u32", w), {i, std::move(begin)});
  bind(top);
  emit(OpText("setp.lt.u32", w), {more, i, std::move(end)});
  branch(done, more, true, w);
  body(i);
  emit(OpText("add.u32", w), {i, i, std::move(step)});
  jump(top, w);
  bind(done);
}

void KernelBuilder::warp_role(std::string_view name, Reg warp_index, uint32_t first, uint32_t last, const Body& body, Where w) {
  role(name, first, last);
  const Reg relative = reg(Mod::b32), inside = reg(Mod::pred);
  emit(OpText("sub.u32", w), {relative, warp_index, first});
  emit(OpText("setp.le.u32", w), {inside, relative, last - first});
  if_(inside, body, w);
}

void KernelBuilder::elect_one(const Body& body, Where w) {
  const Reg elected = reg(Mod::pred);
  emit(OpText("elect.sync", w), {pair(Arg::sink(), elected), Arg(-1)});
  if_(elected, body, w);
}

// Registers of one type get consecutive numbers, so that they print as one range: %r<120>.
void KernelBuilder::sort_registers() {
  Function& f = function();
  std::vector<RegId> order(f.regs.size()), place(f.regs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](RegId a, RegId b) {
    return f.regs[a].type != f.regs[b].type ? f.regs[a].type < f.regs[b].type : named_[a] < named_[b];
  });
  std::vector<RegDecl> sorted;
  std::map<Mod, uint32_t> count;
  for (RegId old : order) {
    place[old] = static_cast<RegId>(sorted.size());
    RegDecl r = f.regs[old];
    if (!named_[old]) r.name = fmt::format("{}{}", reg_prefix(r.type), count[r.type]++);
    sorted.push_back(std::move(r));
  }
  f.regs = std::move(sorted);
  for (Operand& o : f.pool) {
    if (o.kind == Operand::Kind::reg || (o.kind == Operand::Kind::addr && o.base == Operand::Base::reg)) o.index = place[o.index];
  }
  for (Instruction& i : f.body) {
    if (i.guard != kNoReg) i.guard = place[i.guard];
  }
}

Module KernelBuilder::finish(Where w) {
  expect_open(position(w));
  const Function& f = function();
  if (f.body.empty() || (spec(f.body.back().op).mnemonic != "ret" && spec(f.body.back().op).mnemonic != "exit")) emit(OpText("ret", w), {});
  sort_registers();
  Diagnostics problems = validate(module_);
  if (problems.has_errors()) throw InputError(std::move(problems));
  finished_ = true;
  return std::move(module_);
}

}  // namespace drywell::isa
