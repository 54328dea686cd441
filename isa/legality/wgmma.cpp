#include <fmt/format.h>

#include "drywell/isa/wgmma_shape.h"
#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

constexpr PtxVersion kMixedIntegers{8, 4};  // the rows' other types need an earlier version

bool is_eight_bits(Mod t) { return t == Mod::e4m3 || t == Mod::e5m2; }

void check_immediates(const InstructionRef& i, LegalityReport& out, bool a_in_registers) {
  for (const char* name : {"scale_a", "scale_b"}) {
    const Operand* o = i.operand(name);
    if (o != nullptr && o->value != 1 && o->value != -1) out.error(Code::E1355, "imm-scale-a and imm-scale-b are 1 or -1");
  }
  const Mod a = i.mod(Slot::atype);
  const Operand *first = i.operand("trans"), *second = i.operand("trans_b");
  const unsigned given = first == nullptr ? 0 : second == nullptr ? 1
                                                                  : 2;
  const unsigned wanted = a != Mod::f16 && a != Mod::bf16 ? 0 : a_in_registers ? 1
                                                                               : 2;
  if (given != wanted) out.error(Code::E1356, fmt::format("{} transpose immediates here, {} given", wanted, given), "only 16-bit operands in shared memory can be transposed");
  for (const Operand* o : {first, second}) {
    if (o != nullptr && o->value != 0 && o->value != 1) out.error(Code::E1356, "a transpose immediate is 0 or 1");
  }
}

}  // namespace

// PTX ISA 9.7.15.5.2; the legal combinations are those that ptxas 13.0 accepts.
void wgmma(const InstructionRef& i, LegalityReport& out) {
  const Mod a = i.mod(Slot::atype), b = i.mod(Slot::btype), d = i.mod(Slot::dtype);
  const WgmmaShape s = wgmma_shape(i.mod(Slot::shape));
  const Operand* selector = i.operand("selector");
  const unsigned depth = (selector != nullptr ? 2 : 1) * (a == Mod::b1 ? 256 : 256 / type_bits(a));  // 32 bytes of stored K
  const int last_selector = type_bits(a) == 8 ? 0 : 1;                                               // 8-bit metadata fills all four lanes of a quad
  if (selector != nullptr && (selector->value < 0 || selector->value > last_selector))
    out.error(Code::E1388, last_selector == 0 ? "the sparsity selector of 8-bit types is 0" : "the sparsity selector is 0 or 1 here");
  if (s.k != depth) out.error(Code::E1385, fmt::format(".{} has no .{}", mod_text(a), mod_text(i.mod(Slot::shape))));
  if (d == Mod::s32 && s.n > 32 && s.n % 16 != 0) out.error(Code::E1385, "integer and single-bit shapes beyond N = 32 are multiples of 16");
  if (a != b && !(is_eight_bits(a) && is_eight_bits(b)) && d != Mod::s32) out.error(Code::E1384, fmt::format("A of .{} does not go with B of .{}", mod_text(a), mod_text(b)));
  if (d == Mod::s32 && a != b && i.module.version < kMixedIntegers)
    out.error(Code::E1211, fmt::format("A of .{} with B of .{} needs PTX {}.{}", mod_text(a), mod_text(b), kMixedIntegers.major, kMixedIntegers.minor));
  if (d == Mod::f16 && (a == Mod::bf16 || a == Mod::tf32)) out.error(Code::E1384, fmt::format("the products of .{} are .f32", mod_text(a)));
  const bool a_in_registers = i.operand("a")->kind == Operand::Kind::vec;
  if (d != Mod::s32) check_immediates(i, out, a_in_registers);
  if (out.failed()) return;
  check_registers(i, out, "d", d == Mod::f16 ? s.n / 4 : s.n / 2, 32, d == Mod::f32);
  if (a_in_registers) {
    check_registers(i, out, "a", 4, 32, false);
  } else if (type_bits(i.function.regs[i.operand("a")->index].type) != 64) {
    out.error(Code::E1201, "the matrix descriptor of A is a 64-bit register");
  }
}

void wgmma_wait(const InstructionRef& i, LegalityReport& out) {
  if (i.operand("N")->value < 0) out.error(Code::E1357, "the number of groups is not negative");
}

}  // namespace drywell::isa::legality
