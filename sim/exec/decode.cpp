#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "drywell/core/bits.h"
#include "drywell/core/error.h"
#include "drywell/core/sizes.h"
#include "drywell/isa/opcode.h"
#include "drywell/isa/print.h"
#include "drywell/isa/registers.h"
#include "isa/rows.h"
#include "sim/exec/call.h"
#include "sim/exec/closed_waits.h"
#include "sim/exec/cta_order.h"
#include "sim/exec/decoder.h"
#include "sim/exec/exec.h"
#include "sim/exec/memory.h"
#include "sim/exec/polling_loops.h"
#include "sim/exec/register_sharing.h"
#include "sim/exec/shared_layout.h"
#include "sim/state/payload/unsupported.h"

namespace drywell::sim {
namespace {

using BindFn = ExecFn (*)(Decoder&, DecodedOp&);

ExecFn bind_unsupported(Decoder& d, DecodedOp& op) {
  op.emplace<payload::Unsupported>({static_cast<uint32_t>(d.program().unsupported.size())});
  d.program().unsupported.push_back(isa::print_instruction(d.function(), d.instr()));
  return exec_unsupported;
}

template <class Row, isa::Opcode Op>
constexpr BindFn bind_row() {
  if constexpr (isa::kSpecs[static_cast<size_t>(Op)].status == isa::Status::supported) {
    return &bind<Row>;
  } else {
    return &bind_unsupported;
  }
}

constexpr BindFn kBind[] = {
#define INSTR(OP_, ...) bind_row<isa::row::OP_, isa::Opcode::OP_>(),
#include "drywell/isa/table/all.inc"
#undef INSTR
};

}  // namespace

Decoder::Decoder(Program& p, const isa::Module& m, const ModuleImage& image) : p_(p), m_(m), image_(image) { p.module = &m; }

namespace {

/// The function that a symbol names, as Module::find_function, which looks at every function, finds it; nullptr if it is only declared.
const isa::Function* named_function(const isa::Module& m, const isa::SymbolRef& s) {
  const isa::Function* f = s.index < m.functions.size() ? &m.functions[s.index] : nullptr;
  return f != nullptr && f->name == s.name && !f->is_prototype ? f : m.find_function(s.name);
}

bool calls_by_address(const isa::Function& f) {
  return std::any_of(f.body.begin(), f.body.end(), [&](const isa::Instruction& i) {
    if (isa::spec(i.op).flow != isa::Flow::call) return false;
    const auto operands = f.operands(i);
    return std::any_of(operands.begin(), operands.end(), [](const isa::Operand& o) { return o.kind == isa::Operand::Kind::reg; });
  });
}

}  // namespace

// Adds the kernel and, recursively, every function that an added function names. An indirect call may reach every function of the module.
void Decoder::find_functions(const isa::Function& kernel) {
  std::vector<bool> added(m_.functions.size(), false);
  for (const FunctionCode& c : p_.functions) added[c.module_index] = true;  // found before, for shared registers
  bool all = false;
  const auto add = [&](const isa::Function* f) {
    if (f == nullptr || f->is_prototype) return;
    const auto index = static_cast<size_t>(f - m_.functions.data());
    if (added[index]) return;
    added[index] = true;
    p_.functions.emplace_back();
    p_.functions.back().function = f;
    p_.functions.back().module_index = static_cast<uint32_t>(f - m_.functions.data());
  };
  p_.function = &kernel;
  add(&kernel);
  for (size_t k = 0; k < p_.functions.size(); ++k) {
    const isa::Function& f = *p_.functions[k].function;
    for (const isa::SymbolRef& s : f.symbols) {
      if (s.kind == isa::SymbolRef::Kind::function) add(named_function(m_, s));
    }
    if (!all && calls_by_address(f)) {
      all = true;
      for (const isa::Function& g : m_.functions) add(g.is_entry ? nullptr : &g);
    }
  }
  for (const FunctionCode& c : p_.functions) {
    if (!c.function->refused.empty()) throw Unsupported(fmt::format("textures and surfaces ('{}') are not modelled, and '{}' uses them", c.function->refused, c.function->name), Code::U5001);
  }
  place_.assign(m_.functions.size(), kNoPlace);
  for (uint32_t i = 0; i < p_.functions.size(); ++i) place_[p_.functions[i].module_index] = i;
}

std::optional<uint32_t> Decoder::callee(uint32_t symbol) const {
  const isa::Function* f = named_function(m_, f_->symbols[symbol]);
  const uint32_t place = f == nullptr ? kNoPlace : place_[static_cast<size_t>(f - m_.functions.data())];
  return place == kNoPlace ? std::nullopt : std::optional(place);
}

namespace {

/// The registers that some instruction of the function names.
std::vector<bool> named_registers(const isa::Function& f) {
  std::vector<bool> named(f.regs.size(), false);
  for (const isa::Operand& o : f.pool) {
    const bool reg = o.kind == isa::Operand::Kind::reg || (o.kind == isa::Operand::Kind::addr && o.base == isa::Operand::Base::reg);
    if (reg) named[o.index] = true;
  }
  for (const isa::Instruction& i : f.body) {
    if (i.guard != isa::kNoReg) named[i.guard] = true;
  }
  return named;
}

}  // namespace

// Registers that no instruction names have one place together: a frame is not larger for what is only declared.
void Decoder::layout_registers(FunctionCode& c) {
  const std::vector<isa::RegDecl>& regs = c.function->regs;
  const std::vector<bool> named = named_registers(*c.function);
  if (c.reg_offset.empty()) {
    c.reg_offset.assign(regs.size(), 0);
    for (size_t r = 0; r < regs.size(); ++r) {
      if (!named[r] || regs[r].type == isa::Mod::pred) continue;
      c.reg_offset[r] = c.frame_bytes;
      c.frame_bytes += register_bytes(isa::type_bits(regs[r].type));
    }
    for (size_t r = 0; r < regs.size(); ++r) {
      if (!named[r]) c.reg_offset[r] = c.frame_bytes;
    }
    c.frame_bytes += register_bytes(128);
  }
  uint32_t offset = c.frame_bytes, preds = 1;
  for (size_t r = 0; r < regs.size(); ++r) {
    if (regs[r].type == isa::Mod::pred && named[r]) c.reg_offset[r] = preds++;
  }
  for (size_t r = 0; r < regs.size(); ++r) {
    if (regs[r].type == isa::Mod::pred && !named[r]) c.reg_offset[r] = preds;
  }
  ++preds;
  if (preds > kMaxPredicates) throw Unsupported(fmt::format("'{}' uses {} predicates; Drywell keeps {}", c.function->name, preds, kMaxPredicates), Code::U5001);
  if (offset > kMaxRegisterBytes) throw Unsupported(fmt::format("the registers of '{}' are {} bytes a warp; Drywell keeps {}", c.function->name, offset, kMaxRegisterBytes), Code::U5001);
  c.scratch = offset;
  offset += register_bytes(128);
  c.return_pc = offset;
  if (&c != &p_.functions[0]) offset += register_bytes(32);
  c.frame_bytes = offset;
  c.carry = preds;
  c.sink_pred = preds + 1;
  c.pred_count = preds + 2;
}

namespace {

uint64_t place(SizeCursor& at, const isa::Variable& v) { return at.place(v.bytes(), v.align); }

/// A device has no memory for more than this for every thread it runs; what a call passes counts too, although ptxas may keep it in
/// registers.
void check_frame(const isa::Function& f, uint64_t bytes, uint64_t params) {
  if (bytes <= kMaxLocalBytes && params <= ~uint32_t{0}) return;
  SizeCursor variables;
  for (const isa::Variable& v : f.variables) {
    if (v.space == isa::Mod::local) place(variables, v);
  }
  const std::string text = fmt::format("a thread in '{}' needs {} bytes of local memory; at most {}", f.name, bytes, kMaxLocalBytes);
  if (variables.end() > kMaxLocalBytes) throw InputError(Code::E4129, text, "put large arrays in global memory");
  throw Unsupported(text + ", with what its calls pass", Code::U5001);
}

}  // namespace

void Decoder::layout_function(uint32_t index) {
  FunctionCode& c = p_.functions[index];
  const isa::Function& f = *c.function;
  auto& offsets = function_offset_.emplace_back();
  SizeCursor local, param;
  SizeCursor& formals = index == 0 ? param : local;
  for (const isa::Variable& v : f.params) c.param_offset.push_back(static_cast<uint32_t>(place(formals, v)));
  for (const isa::Variable& v : f.returns) c.return_offset.push_back(static_cast<uint32_t>(place(local, v)));
  for (uint32_t i = 0; i < f.variables.size(); ++i) {
    const isa::Variable& v = f.variables[i];
    if (v.space == isa::Mod::local || v.space == isa::Mod::param) offsets[i] = static_cast<uint32_t>(place(local, v));
  }
  local.align_to(16);
  check_frame(f, local.end(), param.end());
  c.local_bytes = static_cast<uint32_t>(local.end());
  if (index == 0) p_.param_bytes = static_cast<uint32_t>(param.end());
}

void Decoder::layout_shared() {
  const SharedLayout layout = lay_out_shared(m_, p_.functions);
  p_.static_smem = layout.static_bytes;
  p_.dynamic_smem_align = layout.dynamic_align;
  for (const SharedVariable& v : layout.variables) {
    (v.function == SharedVariable::kModule ? module_shared_ : function_offset_[v.function])[v.index] = v.offset;
  }
}

isa::Mod Decoder::symbol_space(uint32_t symbol) const {
  const isa::SymbolRef& s = f_->symbols[symbol];
  switch (s.kind) {
    case isa::SymbolRef::Kind::param: return in_kernel() ? isa::Mod::param : isa::Mod::local;
    case isa::SymbolRef::Kind::variable: return m_.variables[s.index].space;
    case isa::SymbolRef::Kind::local: {
      const isa::Mod space = f_->variables[s.index].space;
      return space == isa::Mod::param ? isa::Mod::local : space;  // a call's argument
    }
    default: return isa::Mod::none;
  }
}

Space Decoder::access_space(const isa::Operand& address) const {
  const Space named = space_of(mod(isa::Slot::space));
  if (address.base == isa::Operand::Base::symbol && (named == Space::generic || named == Space::param)) {
    return space_of(symbol_space(address.index));
  }
  return named == Space::param && !in_kernel() ? Space::local : named;
}

// A register whose value is written when the function's frame is created: an address that depends on the frame or the CTA.
Src Decoder::frame_address(isa::Mod space, uint32_t offset, bool wide) {
  for (const FunctionCode::FrameAddress& a : code_->frame_addresses) {
    if (a.space == space && a.offset == offset && a.wide == wide) return {a.slot, 0};
  }
  const uint32_t slot = code_->frame_bytes;
  code_->frame_bytes += register_bytes(wide ? 64 : 32);
  code_->frame_addresses.push_back({space, slot, offset, wide});
  return {slot, 0};
}

Src Decoder::symbol(uint32_t symbol, int64_t addend, unsigned bits) {
  const isa::SymbolRef& s = f_->symbols[symbol];
  const auto plus = [&](uint64_t base) { return base + static_cast<uint64_t>(addend); };
  const auto in_frame = [&](isa::Mod space, uint64_t base) { return frame_address(space, static_cast<uint32_t>(plus(base)), bits > 32); };
  switch (s.kind) {
    case isa::SymbolRef::Kind::param: {
      if (in_kernel()) return constant(plus(code_->param_offset[s.index]), bits);
      const size_t params = code_->param_offset.size();
      return in_frame(isa::Mod::local, s.index < params ? code_->param_offset[s.index] : code_->return_offset[s.index - params]);
    }
    case isa::SymbolRef::Kind::variable: {
      const isa::Mod space = m_.variables[s.index].space;
      if (space == isa::Mod::shared) return in_frame(space, module_shared_.at(s.index));
      return constant(plus(image_.variable_address.at(s.index)), bits);
    }
    case isa::SymbolRef::Kind::local: {
      const isa::Mod space = symbol_space(symbol);
      const auto& offsets = function_offset_[static_cast<size_t>(code_ - p_.functions.data())];
      const auto at = offsets.find(s.index);
      if (at == offsets.end()) throw Unsupported(fmt::format("'{}': a variable of this state space inside a function", s.name));
      if (space == isa::Mod::local && in_kernel()) return constant(plus(at->second), bits);
      return in_frame(space, at->second);
    }
    case isa::SymbolRef::Kind::function: {
      const auto c = callee(symbol);
      if (!c.has_value()) throw Unsupported(fmt::format("address of '{}', which the module does not define", s.name));
      return constant(window::function_address(p_.functions[*c].module_index), bits);
    }
    default: throw Unsupported(fmt::format("address of '{}'", s.name));
  }
}

Src Decoder::constant(uint64_t value, unsigned bits) {
  auto& cache = bits <= 32 ? constants32_ : constants64_;
  if (bits <= 32) value &= 0xFFFFFFFF;
  const auto [it, fresh] = cache.try_emplace(value, static_cast<uint32_t>(p_.constants.size()));
  if (fresh) {
    p_.constants.resize(p_.constants.size() + register_bytes(bits <= 32 ? 32 : bits));
    uint8_t* at = p_.constants.data() + it->second;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (bits <= 32) {
        const auto v = static_cast<uint32_t>(value);
        std::memcpy(at + 4 * lane, &v, 4);
      } else {
        std::memcpy(at + 8 * lane, &value, 8);  // b128 constants: the high run stays zero
      }
    }
  }
  return {it->second, 1};
}

Src Decoder::source(const isa::Operand& o, unsigned bits) {
  switch (o.kind) {
    case isa::Operand::Kind::reg: return {code_->reg_offset[o.index], 0};
    case isa::Operand::Kind::imm: {
      if (o.imm_kind == isa::ImmKind::warp_size) return constant(kWarpSize, bits);
      // Double-precision literals take the operand's width; the bits of 0f… are unchanged (PTX ISA 4.5.2).
      if (o.imm_kind == isa::ImmKind::f64 && bits == 32) return constant(std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(o.value))), 32);
      return constant(static_cast<uint64_t>(o.value) & low_bits(bits), bits);
    }
    case isa::Operand::Kind::symbol: return symbol(o.index, o.value, bits);
    case isa::Operand::Kind::special: throw Unsupported(fmt::format("{} in this place", isa::print_operand(*f_, o)));
    default: break;
  }
  throw InternalError(fmt::format("operand cannot be a source: {}", isa::print_operand(*f_, o)));
}

uint32_t Decoder::dest(const isa::Operand& o) { return o.kind == isa::Operand::Kind::reg ? code_->reg_offset[o.index] : code_->scratch; }

PredSrc Decoder::pred(const isa::Operand& o) {
  if (o.kind == isa::Operand::Kind::imm) return {0, o.value == 0};
  return {static_cast<uint16_t>(code_->reg_offset[o.index]), o.negated};
}

uint32_t Decoder::dest_pred(const isa::Operand& o) {
  return o.kind == isa::Operand::Kind::reg ? code_->reg_offset[o.index] : code_->sink_pred;
}

Decoder::Address Decoder::address(const isa::Operand& o) {
  switch (o.base) {
    case isa::Operand::Base::reg: return {{code_->reg_offset[o.index], 0}, o.value, register_bits(o) == 64, true};
    case isa::Operand::Base::symbol: return {symbol(o.index, 0, 64), o.value, true, false};
    case isa::Operand::Base::none: return {constant(0, 64), o.value, true, false};
  }
  return {};
}

uint32_t Decoder::vector(const isa::Operand& o, unsigned bits) {
  const auto first = static_cast<uint32_t>(p_.slots.size());
  if (o.kind != isa::Operand::Kind::vec) {
    push_slot(o.kind == isa::Operand::Kind::sink ? Src{code_->scratch, 0} : source(o, bits));
    return first;
  }
  std::vector<Src> slots;
  for (const isa::Operand& e : elements(o)) slots.push_back(e.kind == isa::Operand::Kind::sink ? Src{code_->scratch, 0} : source(e, bits));
  p_.slots.insert(p_.slots.end(), slots.begin(), slots.end());
  return first;
}

void Decoder::record_registers(const isa::Instruction& i) {
  Program::RegUse use;
  use.first = static_cast<uint32_t>(p_.reg_lists.size());
  std::vector<uint32_t> reads, writes;
  const auto visit = [&](const auto& self, const isa::Operand& o, bool write) -> void {
    switch (o.kind) {
      case isa::Operand::Kind::reg:
        if (f_->regs[o.index].type != isa::Mod::pred) (write ? writes : reads).push_back(code_->reg_offset[o.index]);
        break;
      case isa::Operand::Kind::addr:
        if (o.base == isa::Operand::Base::reg) reads.push_back(code_->reg_offset[o.index]);
        break;
      case isa::Operand::Kind::vec:
      case isa::Operand::Kind::tensor:
      case isa::Operand::Kind::pair:
      case isa::Operand::Kind::args:
        for (const isa::Operand& e : f_->elements(o)) self(self, e, write);
        break;
      default: break;
    }
  };
  const isa::InstrSpec& row = isa::spec(i.op);
  for (size_t k = 0; k < isa::kMaxOperands && row.operands[k].name != nullptr; ++k) {
    if (const isa::Operand* o = operand(k); o != nullptr) {
      // Fragments of wgmma are read and written by the asynchronous operation, not by the instruction.
      if (row.completion == isa::Completion::wgmma_group && o->kind == isa::Operand::Kind::vec) continue;
      if (row.operands[k].access != isa::Access::write) visit(visit, *o, false);
      if (row.operands[k].access != isa::Access::read) visit(visit, *o, true);
    }
  }
  use.reads = static_cast<uint16_t>(reads.size());
  use.writes = static_cast<uint16_t>(writes.size());
  p_.reg_lists.insert(p_.reg_lists.end(), reads.begin(), reads.end());
  p_.reg_lists.insert(p_.reg_lists.end(), writes.begin(), writes.end());
  p_.reg_use.push_back(use);
}

static bool is_plain(const isa::InstrSpec& row) {
  const bool of_lanes = row.issue == isa::Issue::lane && (row.engine == isa::Engine::alu || row.engine == isa::Engine::lsu);
  return of_lanes && row.completion == isa::Completion::sync && row.flow == isa::Flow::next && row.sync == isa::SyncRole::none && !row.convergent;
}

void Decoder::decode_one(uint32_t index) {
  instr_ = &f_->body[index];
  operands_ = f_->operands(*instr_);
  positions_ = isa::operand_positions(*f_, *instr_);
  DecodedOp op;
  op.opcode = instr_->op;
  op.flow = isa::spec(instr_->op).flow;
  op.sync = isa::spec(instr_->op).sync;
  op.function = static_cast<uint32_t>(code_ - p_.functions.data());
  op.instr = index;
  op.aligned = isa::spec(instr_->op).convergent;
  if (instr_->guard != isa::kNoReg) op.guard = {static_cast<uint16_t>(code_->reg_offset[instr_->guard]), instr_->guard_negated};
  try {
    op.fn = kBind[static_cast<size_t>(instr_->op)](*this, op);
  } catch (const Unsupported& e) {
    // A supported row with an operand or modifier that is not modelled: it faults when reached, like an unsupported row.
    op.emplace<payload::Unsupported>({static_cast<uint32_t>(p_.unsupported.size())});
    p_.unsupported.push_back(fmt::format("{} ({})", isa::print_instruction(*f_, *instr_), e.what()));
    op.fn = exec_unsupported;
  }
  op.plain = !op.needs_all && is_plain(isa::spec(instr_->op));
  record_registers(*instr_);
  p_.code.push_back(op);
}

void Decoder::decode_function(uint32_t index) {
  code_ = &p_.functions[index];
  f_ = code_->function;
  code_->first = static_cast<uint32_t>(p_.code.size());
  unread_.clear();
  for (uint32_t i = 0; i < f_->body.size(); ++i) decode_one(i);
  // Control that reaches the end of the body returns.
  DecodedOp end;
  end.fn = exec_return;
  end.opcode = isa::Opcode::ret;
  end.flow = isa::Flow::return_;
  end.function = index;
  end.instr = static_cast<uint32_t>(f_->body.empty() ? 0 : f_->body.size() - 1);
  p_.code.push_back(end);
  p_.reg_use.push_back({});
}

bool Decoder::result_is_unread() {
  if (unread_.empty()) unread_ = isa::unread_results(*f_, isa::registers_of(*f_));
  return unread_[static_cast<size_t>(instr_ - f_->body.data())] != 0;
}

void Decoder::run(const isa::Function& kernel) {
  find_functions(kernel);
  for (uint32_t i = 0; i < p_.functions.size(); ++i) {
    layout_registers(p_.functions[i]);
    layout_function(i);
  }
  layout_shared();
  for (uint32_t i = 0; i < p_.functions.size(); ++i) decode_function(i);
  p_.ordered_across_ctas = p_.ordered_across_ctas || looks_at_reductions(p_);
  p_.polling = polling_loops(p_);
  p_.may_poll = loops_that_may_poll(p_);
  p_.closed_waits = closed_waits(p_);
  p_.closed_wait_at = closed_wait_at(p_, p_.closed_waits);
}

std::unique_ptr<Program> decode(const isa::Module& m, const isa::Function& f, const ModuleImage& image) {
  auto p = std::make_unique<Program>();
  Decoder(*p, m, image).run(f);
  return p;
}

std::unique_ptr<Program> decode_unwatched(const isa::Module& m, const isa::Function& f, const ModuleImage& image) {
  auto p = std::make_unique<Program>();
  if (std::none_of(f.body.begin(), f.body.end(), [](const isa::Instruction& i) { return isa::spec(i.op).flow == isa::Flow::call; })) {
    FunctionCode& kernel = p->functions.emplace_back();
    kernel.function = &f;
    kernel.module_index = static_cast<uint32_t>(&f - m.functions.data());
    share_registers(kernel);
  }
  Decoder(*p, m, image).run(f);
  return p;
}

}  // namespace drywell::sim
