#include "sim/check/product_registers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "drywell/isa/spec.h"

namespace drywell::sim::check {
namespace {

using Register = std::pair<uint32_t, uint32_t>;  // function, offset in its frame

bool multiplies(const DecodedOp& op) { return isa::spec(op.opcode).completion == isa::Completion::wgmma_group; }

void add_fragments(const Program& p, const DecodedOp& op, std::set<Register>& all) {
  const isa::Function& f = p.function_of(op);
  for (const isa::Operand& o : f.operands(p.instruction(op))) {
    if (o.kind != isa::Operand::Kind::vec) continue;
    for (const isa::Operand& e : f.elements(o)) {
      if (e.kind == isa::Operand::Kind::reg) all.emplace(op.function, p.functions[op.function].reg_offset[e.index]);
    }
  }
}

std::set<Register> fragments(const Program& p) {
  std::set<Register> all;
  for (const DecodedOp& op : p.code) {
    if (multiplies(op)) add_fragments(p, op, all);
  }
  return all;
}

bool add_copies(const Program& p, std::set<Register>& all) {
  const size_t before = all.size();
  for (size_t pc = 0; pc < p.code.size(); ++pc) {
    const uint32_t f = p.code[pc].function;
    const auto c = copy_of(p, pc);
    if (c && (all.contains({f, c->from}) || all.contains({f, c->to}))) all.insert({{f, c->from}, {f, c->to}});
  }
  return all.size() != before;
}

std::set<Register> followed(const Program& p) {
  std::set<Register> all = fragments(p);
  while (!all.empty() && add_copies(p, all)) {
  }
  return all;
}

}  // namespace

std::optional<RegisterCopy> copy_of(const Program& p, size_t pc) {
  const Program::RegUse& use = p.reg_use[pc];
  if (isa::spec(p.code[pc].opcode).timing != isa::TimingClass::move || use.writes != 1 || use.reads > 1) return std::nullopt;
  const uint32_t to = p.reg_lists[use.first + use.reads];
  return RegisterCopy{use.reads == 0 ? to : p.reg_lists[use.first], to};
}

std::vector<uint8_t> uses_of_products(const Program& p) {
  const std::set<Register> registers = followed(p);
  std::vector<uint8_t> uses(p.code.size());
  for (size_t pc = 0; pc < p.code.size() && !registers.empty(); ++pc) {
    const Program::RegUse& use = p.reg_use[pc];
    const uint32_t* at = p.reg_lists.data() + use.first;
    uses[pc] = !multiplies(p.code[pc]) && std::any_of(at, at + use.reads + use.writes, [&](uint32_t r) { return registers.contains({p.code[pc].function, r}); });
  }
  return uses;
}

std::string register_name(const Program& p, uint32_t function, uint32_t offset) {
  const FunctionCode& code = p.functions[function];
  for (size_t r = 0; r < code.function->regs.size(); ++r) {
    const isa::RegDecl& reg = code.function->regs[r];
    if (reg.type != isa::Mod::pred && code.reg_offset[r] == offset) return std::string(reg.name);
  }
  return "a register";
}

}  // namespace drywell::sim::check
