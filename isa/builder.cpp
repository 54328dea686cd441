#include "drywell/isa/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
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
    case Mod::b16: case Mod::u16: case Mod::s16: case Mod::f16: case Mod::bf16: return "%rs";
    case Mod::b64: case Mod::u64: case Mod::s64: return "%rd";
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

}  // namespace

RegArray RegArray::slice(size_t first, size_t count) const {
  std::vector<Reg> out;
  for (size_t i = 0; i < count; ++i) out.push_back(regs_.at(first + i));
  return RegArray(std::move(out));
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
  module_.target = target;
  module_.functions.emplace_back();
  function().name = std::move(name);
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
  return {id, stored};
}

Reg KernelBuilder::reg(Mod type, std::string_view name) { return add_register(type, name.empty() ? std::string() : unique_name(name)); }

RegArray KernelBuilder::regs(Mod type, size_t count, std::string_view name) {
  const std::string base = name.empty() ? std::string() : unique_name(name);
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
  return {add_symbol({SymbolRef::Kind::param, static_cast<uint32_t>(function().params.size() - 1), v.name})};
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
  return {add_symbol({SymbolRef::Kind::param, static_cast<uint32_t>(function().params.size() - 1), v.name})};
}

Reg KernelBuilder::load_param(Symbol p, Mod type, Where w) {
  const Reg r = reg(type);
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
  return {add_symbol({SymbolRef::Kind::local, static_cast<uint32_t>(function().variables.size() - 1), v.name})};
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
  return {add_symbol({SymbolRef::Kind::variable, static_cast<uint32_t>(module_.variables.size() - 1), v.name})};
}

void KernelBuilder::role(std::string_view name, uint32_t first, uint32_t last) {
  function().roles.push_back({std::string(name), first, last});
}

uint32_t KernelBuilder::put(const std::vector<Operand>& elements) {
  const auto at = static_cast<uint32_t>(function().pool.size());
  function().pool.insert(function().pool.end(), elements.begin(), elements.end());
  return at;
}

Operand KernelBuilder::lower(const Arg& a) {
  const auto composite = [&](Operand::Kind kind) {
    std::vector<Operand> elements;
    for (const Arg& p : a.parts) elements.push_back(lower(p));
    Operand o;
    o.kind = kind;
    o.count = static_cast<uint16_t>(elements.size());
    o.index = put(elements);
    return o;
  };
  switch (a.kind) {
    case Arg::Kind::reg: return Operand::reg(a.reg.id, a.negated);
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

void KernelBuilder::emit(OpText op, std::span<const Arg> args) {
  const SourcePos where{std::string(base_name(op.where.file_name())), op.where.line(), op.where.column()};
  std::string why, hint;
  const auto forms = resolve_opcode(op.text, &why, &hint);
  Diagnostics problems;
  if (forms.empty()) {
    problems.error(Code::E1101, where, why, hint);
    throw InputError(std::move(problems));
  }
  std::vector<Operand> operands;
  for (const Arg& a : args) operands.push_back(lower(a));
  const OpcodeForm* form = choose_form(function(), forms, operands, &why);
  if (form == nullptr) {
    problems.error(Code::E1102, where, fmt::format("{} — in '{}'", why, op.text), fmt::format("for example: {}", spec(forms[0].op).example));
    throw InputError(std::move(problems));
  }
  Instruction i;
  i.op = form->op;
  i.mods = form->mods;
  i.operands = put(operands);
  i.operand_count = static_cast<uint8_t>(operands.size());
  i.guard = guard_;
  i.guard_negated = guard_negated_;
  i.source = {module_.file_index(op.where.file_name()), op.where.line(), op.where.column()};
  guard_ = kNoReg;
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
  const Reg r = reg(type);
  std::vector<Arg> all = {Arg(r)};
  all.insert(all.end(), args.begin(), args.end());
  emit(op, all);
  return r;
}

LabelRef KernelBuilder::label(std::string_view name) {
  const auto id = static_cast<uint32_t>(function().labels.size());
  function().labels.push_back({fmt::format("$L{}{}{}", label_counter_++, name.empty() ? "" : "_", name), kUnbound});
  return {id};
}

void KernelBuilder::bind(LabelRef l) { function().labels.at(l.id).position = static_cast<uint32_t>(function().body.size()); }

void KernelBuilder::branch(LabelRef target, RegId guard, bool negated, Where w) {
  guard_ = guard;
  guard_negated_ = negated;
  emit(OpText("bra", w), {target});
}

void KernelBuilder::if_(Reg p, const Body& then, Where w) {
  const LabelRef end = label("endif");
  branch(end, p.id, true, w);
  then();
  bind(end);
}

void KernelBuilder::if_not(Reg p, const Body& then, Where w) {
  const LabelRef end = label("endif");
  branch(end, p.id, false, w);
  then();
  bind(end);
}

void KernelBuilder::if_else(Reg p, const Body& then, const Body& otherwise, Where w) {
  const LabelRef other = label("else"), end = label("endif");
  branch(other, p.id, true, w);
  then();
  branch(end, kNoReg, false, w);
  bind(other);
  otherwise();
  bind(end);
}

void KernelBuilder::while_(const std::function<Reg()>& condition, const Body& body, Where w) {
  const LabelRef top = label("while"), end = label("endwhile");
  bind(top);
  branch(end, condition().id, true, w);
  body();
  branch(top, kNoReg, false, w);
  bind(end);
}

void KernelBuilder::do_while(const std::function<Reg()>& body_then_condition, Where w) {
  const LabelRef top = label("do");
  bind(top);
  branch(top, body_then_condition().id, false, w);
}

void KernelBuilder::for_range(Arg begin, Arg end, Arg step, const std::function<void(Reg)>& body, Where w) {
  const Reg i = reg(Mod::b32), more = reg(Mod::pred);
  const LabelRef top = label("for"), done = label("endfor");
  emit(OpText("mov.u32", w), {i, std::move(begin)});
  bind(top);
  emit(OpText("setp.lt.u32", w), {more, i, std::move(end)});
  branch(done, more.id, true, w);
  body(i);
  emit(OpText("add.u32", w), {i, i, std::move(step)});
  branch(top, kNoReg, false, w);
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

Module KernelBuilder::finish() {
  const Function& f = function();
  if (f.body.empty() || (spec(f.body.back().op).mnemonic != "ret" && spec(f.body.back().op).mnemonic != "exit")) emit(OpText("ret"), {});
  sort_registers();
  Diagnostics problems = validate(module_);
  if (problems.has_errors()) throw InputError(std::move(problems));
  return std::move(module_);
}

}  // namespace drywell::isa
