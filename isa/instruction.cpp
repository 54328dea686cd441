#include "drywell/isa/instruction.h"

#include <unordered_map>

#include "drywell/isa/resolve.h"

namespace drywell::isa {
namespace {

struct SpecialRow {
  std::string_view text;
  unsigned widths;
};

// Names of the table's widths.
constexpr unsigned b16 = 1, b32 = 2, b64 = 4, pred = 8;

constexpr SpecialRow kSpecials[] = {
#define SREG(OP_, TEXT_, WIDTHS_) {TEXT_, WIDTHS_},
#include "drywell/isa/table/special_regs.inc"
#undef SREG
};

unsigned width_of(Mod type) {
  if (type == Mod::pred) return pred;
  if (is_float_type(type)) return 0;
  switch (type_bits(type)) {
    case 16: return b16;
    case 32: return b32;
    case 64: return b64;
    default: return 0;
  }
}

}  // namespace

std::string_view special_reg_text(SpecialReg r) { return kSpecials[static_cast<size_t>(r)].text; }

bool reads_special_as(SpecialReg r, Mod type) { return (kSpecials[static_cast<size_t>(r)].widths & width_of(type)) != 0; }

std::optional<SpecialReg> find_special_reg(std::string_view text) {
  // Never destroyed: destructors of a program's globals may still launch kernels.
  static const auto& index = *new auto([] {
    std::unordered_map<std::string_view, SpecialReg> m;
    for (size_t i = 0; i < std::size(kSpecials); ++i) m.emplace(kSpecials[i].text, static_cast<SpecialReg>(i));
    // PTX ISA 10: %reserved_smem_offset_<2>. Both parts begin where the reserved memory does (read on an H200).
    m.emplace("%reserved_smem_offset_0", SpecialReg::reserved_smem_offset_begin);
    m.emplace("%reserved_smem_offset_1", SpecialReg::reserved_smem_offset_begin);
    return m;
  }());
  const auto it = index.find(text);
  return it == index.end() ? std::nullopt : std::optional(it->second);
}

bool Instruction::has(Mod m) const {
  const InstrSpec& row = spec(op);
  for (size_t i = 0; i < kMaxSlots && row.slots[i].count != 0; ++i) {
    if (mods[i] != 0 && row.slots[i].mods[mods[i] - 1] == m) return true;
  }
  return false;
}

const Function* Module::find_function(std::string_view name) const {
  for (const Alias& a : aliases) {
    if (a.name == name) name = a.target;
  }
  for (const Function& f : functions) {
    if (f.name == name && !f.is_prototype) return &f;
  }
  return nullptr;
}

uint32_t Module::file_index(std::string_view path) {
  for (size_t i = 1; i < files.size(); ++i) {
    if (files[i] == path) return static_cast<uint32_t>(i);
  }
  files.emplace_back(path);
  return static_cast<uint32_t>(files.size() - 1);
}

std::array<int8_t, kMaxOperands> operand_positions(const Function& f, const Instruction& i) {
  std::array<int8_t, kMaxOperands> positions;
  const OpcodeForm form{i.op, i.mods};
  const bool fits = match_operands(f, form, f.operands(i), positions);
  DRYWELL_CHECK(fits, "instruction whose operands do not fit its row: " + std::string(opcode_name(i.op)));
  return positions;
}

const Operand* InstructionRef::operand(std::string_view name) const {
  const auto positions = operand_positions(function, instr);
  const InstrSpec& r = row();
  for (size_t k = 0; k < kMaxOperands && r.operands[k].name != nullptr; ++k) {
    if (r.operands[k].name == name) return positions[k] < 0 ? nullptr : &operands()[static_cast<size_t>(positions[k])];
  }
  return nullptr;
}

std::vector<SourcePos> InstructionRef::author_lines() const {
  std::vector<SourcePos> lines;
  SourceRef at = instr.source;
  while (at.file != 0) {
    lines.push_back({module.files[at.file], at.line, at.column});
    if (at.call_site == 0) break;
    at = module.call_sites[at.call_site - 1];
  }
  return lines;
}

SourcePos InstructionRef::where() const {
  if (instr.source.file != 0) return {module.files[instr.source.file], instr.source.line, instr.source.column};
  return {module.files[0].empty() ? function.name : module.files[0], instr.ptx_line, 0};
}

}  // namespace drywell::isa
