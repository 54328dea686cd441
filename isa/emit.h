// Appends instructions that a pass makes to a function's body.
#pragma once

#include <initializer_list>
#include <string>

#include "drywell/core/error.h"
#include "drywell/isa/instruction.h"
#include "drywell/isa/resolve.h"

namespace drywell::isa {

class Emitter {
 public:
  explicit Emitter(Function& f) : f_(f) {}

  /// Appends `opcode operands` with the source line and the guard of `like`.
  void push(const std::string& opcode, const Instruction& like, std::initializer_list<Operand> operands) {
    const std::vector<OpcodeForm> forms = resolve_opcode(opcode, nullptr, nullptr);
    if (forms.empty()) throw InternalError("no instruction '" + opcode + "'");
    Instruction out = like;
    out.op = forms[0].op;
    out.mods = forms[0].mods;
    out.operands = static_cast<uint32_t>(f_.pool.size());
    out.operand_count = static_cast<uint8_t>(operands.size());
    f_.pool.insert(f_.pool.end(), operands);
    f_.body.push_back(out);
  }
  Operand fresh(Mod type) {
    const auto r = static_cast<RegId>(f_.regs.size());
    f_.regs.push_back({"%contract" + std::to_string(r), type});
    return Operand::reg(r);
  }

 private:
  Function& f_;
};

}  // namespace drywell::isa
