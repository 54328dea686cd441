#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "drywell/core/bits.h"
#include "drywell/core/error.h"
#include "drywell/isa/print.h"
#include "isa/rows.h"
#include "sim/exec/decoder.h"
#include "sim/exec/exec.h"

namespace drywell::sim {
namespace {

using BindFn = ExecFn (*)(Decoder&, DecodedOp&);

ExecFn bind_unsupported(Decoder& d, DecodedOp& op) {
  op.extra = static_cast<uint32_t>(d.program().unsupported.size());
  d.program().unsupported.push_back(isa::print_instruction(d.function(), d.instr()));
  return exec_unsupported;
}

template <size_t I>
constexpr BindFn bind_of() {
  if constexpr (isa::kSpecs[I].status == isa::Status::supported) {
    return &bind<static_cast<isa::Opcode>(I)>;
  } else {
    return &bind_unsupported;
  }
}

template <size_t... I>
constexpr std::array<BindFn, sizeof...(I)> make_table(std::index_sequence<I...>) {
  return {bind_of<I>()...};
}

constexpr auto kBind = make_table(std::make_index_sequence<isa::kOpcodeCount>());

uint64_t symbol_key(const isa::SymbolRef& s) { return (uint64_t{static_cast<uint8_t>(s.kind)} << 32) | s.index; }

}  // namespace

Decoder::Decoder(Program& p, const isa::Module& m, const isa::Function& f, const ModuleImage& image) : p_(p), m_(m), f_(f), image_(image) {
  p.module = &m;
  p.function = &f;
}

void Decoder::layout_registers() {
  uint32_t offset = 0, preds = 1;
  for (const isa::RegDecl& r : f_.regs) {
    if (r.type == isa::Mod::pred) {
      p_.reg_offset.push_back(preds++);
    } else {
      p_.reg_offset.push_back(offset);
      offset += register_bytes(isa::type_bits(r.type));
    }
  }
  scratch_ = offset;
  offset += register_bytes(128);
  p_.frame_bytes = offset;
  p_.pred_count = preds + 1;  // the last one takes discarded predicates
}

// Static shared variables are laid out in declaration order after the reserved part, then the dynamic block.
void Decoder::layout_memory() {
  uint32_t offset = kSmemReserved, local = 0, param = 0;
  const auto place = [](uint32_t& at, const isa::Variable& v) {
    at = static_cast<uint32_t>(round_up(at, std::max(1u, v.align)));
    const uint32_t here = at;
    at += static_cast<uint32_t>(v.bytes());
    return here;
  };
  for (uint32_t i = 0; i < m_.variables.size(); ++i) {
    const isa::Variable& v = m_.variables[i];
    if (v.space == isa::Mod::shared && v.elements != 0) shared_offset_[symbol_key({isa::SymbolRef::Kind::variable, i, {}})] = place(offset, v);
  }
  for (uint32_t i = 0; i < f_.variables.size(); ++i) {
    const isa::Variable& v = f_.variables[i];
    const uint64_t key = symbol_key({isa::SymbolRef::Kind::local, i, {}});
    if (v.space == isa::Mod::shared && v.elements != 0) shared_offset_[key] = place(offset, v);
    if (v.space == isa::Mod::local || v.space == isa::Mod::param) shared_offset_[key] = place(local, v);
  }
  p_.static_smem = offset - kSmemReserved;
  p_.local_bytes = local;
  uint32_t dynamic_align = 1;
  const auto is_dynamic = [](const isa::Variable& v) { return v.space == isa::Mod::shared && v.elements == 0; };
  for (const isa::Variable& v : m_.variables) if (is_dynamic(v)) dynamic_align = std::max(dynamic_align, v.align);
  const auto dynamic = static_cast<uint32_t>(round_up(offset, std::max(16u, dynamic_align)));
  bool any = false;
  for (uint32_t i = 0; i < m_.variables.size(); ++i) {
    if (is_dynamic(m_.variables[i])) {
      shared_offset_[symbol_key({isa::SymbolRef::Kind::variable, i, {}})] = dynamic;
      any = true;
    }
  }
  if (any) p_.static_smem = dynamic - kSmemReserved;
  p_.dynamic_smem_align = dynamic_align;
  for (const isa::Variable& v : f_.params) p_.param_offset.push_back(place(param, v));
  p_.param_bytes = param;
}

uint64_t Decoder::symbol_value(uint32_t symbol, bool generic) const {
  const isa::SymbolRef& s = f_.symbols[symbol];
  switch (s.kind) {
    case isa::SymbolRef::Kind::param:
      return generic ? window::generic(window::kParamHigh, p_.param_offset[s.index]) : p_.param_offset[s.index];
    case isa::SymbolRef::Kind::variable:
    case isa::SymbolRef::Kind::local: {
      const isa::Mod space = symbol_space(symbol);
      if (space == isa::Mod::global || space == isa::Mod::const_) return image_.variable_address.at(s.index);
      const uint64_t low = shared_offset_.at(symbol_key(s));
      if (!generic) return low;
      return window::generic(space == isa::Mod::shared ? window::kSharedHigh : window::kLocalHigh, low);
    }
    default: throw Unsupported(fmt::format("address of '{}'", s.name));
  }
}

isa::Mod Decoder::symbol_space(uint32_t symbol) const {
  const isa::SymbolRef& s = f_.symbols[symbol];
  if (s.kind == isa::SymbolRef::Kind::param) return isa::Mod::param;
  if (s.kind == isa::SymbolRef::Kind::variable) return m_.variables[s.index].space;
  if (s.kind == isa::SymbolRef::Kind::local) return f_.variables[s.index].space;
  return isa::Mod::none;
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
    case isa::Operand::Kind::reg: return {p_.reg_offset[o.index], 0};
    case isa::Operand::Kind::imm: {
      if (o.imm_kind == isa::ImmKind::warp_size) return constant(kWarpSize, bits);
      return constant(static_cast<uint64_t>(o.value) & low_bits(bits), bits);
    }
    case isa::Operand::Kind::symbol: return constant(symbol_value(o.index, false), bits);
    default: break;
  }
  throw InternalError(fmt::format("operand cannot be a source: {}", isa::print_operand(f_, o)));
}

uint32_t Decoder::dest(const isa::Operand& o) { return o.kind == isa::Operand::Kind::reg ? p_.reg_offset[o.index] : scratch_; }

PredSrc Decoder::pred(const isa::Operand& o) {
  if (o.kind == isa::Operand::Kind::imm) return {0, o.value == 0};
  return {static_cast<uint16_t>(p_.reg_offset[o.index]), o.negated};
}

uint32_t Decoder::dest_pred(const isa::Operand& o) {
  return o.kind == isa::Operand::Kind::reg ? p_.reg_offset[o.index] : p_.pred_count - 1;
}

Decoder::Address Decoder::address(const isa::Operand& o) {
  switch (o.base) {
    case isa::Operand::Base::reg: return {{p_.reg_offset[o.index], 0}, o.value, register_bits(o) == 64, true};
    case isa::Operand::Base::symbol: return {constant(symbol_value(o.index, false), 64), o.value, true, false};
    case isa::Operand::Base::none: return {constant(0, 64), o.value, true, false};
  }
  return {};
}

uint32_t Decoder::vector(const isa::Operand& o, unsigned bits) {
  const auto first = static_cast<uint32_t>(p_.slots.size());
  if (o.kind != isa::Operand::Kind::vec) {
    push_slot(o.kind == isa::Operand::Kind::sink ? Src{scratch_, 0} : source(o, bits));
    return first;
  }
  std::vector<Src> slots;
  for (const isa::Operand& e : elements(o)) slots.push_back(e.kind == isa::Operand::Kind::sink ? Src{scratch_, 0} : source(e, bits));
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
        if (f_.regs[o.index].type != isa::Mod::pred) (write ? writes : reads).push_back(p_.reg_offset[o.index]);
        break;
      case isa::Operand::Kind::addr:
        if (o.base == isa::Operand::Base::reg) reads.push_back(p_.reg_offset[o.index]);
        break;
      case isa::Operand::Kind::vec: case isa::Operand::Kind::tensor: case isa::Operand::Kind::pair: case isa::Operand::Kind::args:
        for (const isa::Operand& e : f_.elements(o)) self(self, e, write);
        break;
      default: break;
    }
  };
  const isa::InstrSpec& row = isa::spec(i.op);
  for (size_t k = 0; k < isa::kMaxOperands && row.operands[k].name != nullptr; ++k) {
    if (const isa::Operand* o = operand(k); o != nullptr) {
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

void Decoder::decode_one(uint32_t index) {
  instr_ = &f_.body[index];
  operands_ = f_.operands(*instr_);
  positions_ = isa::operand_positions(f_, *instr_);
  DecodedOp op;
  op.opcode = instr_->op;
  op.instr = index;
  op.aligned = isa::spec(instr_->op).convergent;
  if (instr_->guard != isa::kNoReg) op.guard = {static_cast<uint16_t>(p_.reg_offset[instr_->guard]), instr_->guard_negated};
  try {
    op.fn = kBind[static_cast<size_t>(instr_->op)](*this, op);
  } catch (const Unsupported& e) {
    // A supported row with an operand or modifier that is not modelled: like an unsupported row, when reached.
    op.extra = static_cast<uint32_t>(p_.unsupported.size());
    p_.unsupported.push_back(fmt::format("{} ({})", isa::print_instruction(f_, *instr_), e.what()));
    op.fn = exec_unsupported;
  }
  record_registers(*instr_);
  p_.code.push_back(op);
}

void Decoder::run() {
  layout_registers();
  layout_memory();
  for (uint32_t i = 0; i < f_.body.size(); ++i) decode_one(i);
  // Falling off the end is a return.
  DecodedOp end;
  end.fn = exec_fall_off_end;
  end.instr = static_cast<uint32_t>(f_.body.empty() ? 0 : f_.body.size() - 1);
  p_.code.push_back(end);
  p_.reg_use.push_back({});
}

std::unique_ptr<Program> decode(const isa::Module& m, const isa::Function& f, const ModuleImage& image) {
  auto p = std::make_unique<Program>();
  Decoder(*p, m, f, image).run();
  return p;
}

}  // namespace drywell::sim
