#include <fmt/format.h>

#include <algorithm>

#include "drywell/isa/wmma_shape.h"
#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

bool is_byte(Mod t) { return t == Mod::s8 || t == Mod::u8; }
bool is_nibble(Mod t) { return t == Mod::s4 || t == Mod::u4; }

bool shape_fits(Mod type, Mod shape) {
  if (is_nibble(type)) return shape == Mod::m8n8k32;
  if (type == Mod::b1) return shape == Mod::m8n8k128;
  if (type == Mod::f64) return shape == Mod::m8n8k4;
  if (type == Mod::tf32) return shape == Mod::m16n16k8;
  return shape == Mod::m16n16k16 || shape == Mod::m32n8k16 || shape == Mod::m8n32k16;
}

void fragment(const InstructionRef& i, LegalityReport& out, const char* operand, WmmaMatrix matrix, Mod type) {
  check_registers(i, out, operand, wmma_registers(wmma_shape(i.mod(Slot::shape)), matrix, type), type == Mod::f64 ? 64 : 32, type == Mod::f32 || type == Mod::f64);
}

}  // namespace

// PTX ISA 9.7.14.4.
void wmma(const InstructionRef& i, LegalityReport& out) {
  const std::string_view name = i.row().mnemonic;
  const Mod shape = i.mod(Slot::shape);
  const bool product = name == "wmma.mma";
  const Mod a = product ? (i.mod(Slot::atype) == Mod::none ? Mod::f16 : i.mod(Slot::atype)) : i.mod(Slot::type);
  const bool operand = product || name == "wmma.load.a" || name == "wmma.load.b";
  if (operand && !shape_fits(a, shape)) out.error(Code::E1385, fmt::format(".{} has no .{}", mod_text(a), mod_text(shape)));
  if (product && i.mod(Slot::btype) != Mod::none && i.mod(Slot::btype) != a) out.error(Code::E1384, "A and B are of one type");
  if (product && i.mod(Slot::atype) != Mod::none && i.mod(Slot::dtype) != i.mod(Slot::ctype)) out.error(Code::E1384, "C and D are of one type");
  const bool narrow = is_nibble(a) || a == Mod::b1;
  if (operand && narrow && ((name != "wmma.load.b" && i.mod(Slot::layout_a) != Mod::row) || (name == "wmma.load.b" && i.mod(Slot::layout_a) != Mod::col))) {
    out.error(Code::E1387, "A is .row and B is .col here");
  }
  if (product && i.has(Mod::satfinite) && !is_byte(a) && !is_nibble(a)) out.error(Code::E1384, ".satfinite is for integers");
  if (product && i.mod(Slot::rnd) != Mod::none && a != Mod::f64) out.error(Code::E1384, "a rounding is for .f64");
  if (product && i.has(Mod::popc) != (a == Mod::b1)) out.error(Code::E1384, ".xor.popc and .and.popc are for .b1");
  if (out.failed()) return;
  if (product) {
    fragment(i, out, "d", WmmaMatrix::c, i.mod(Slot::dtype));
    fragment(i, out, "a", WmmaMatrix::a, a);
    fragment(i, out, "b", WmmaMatrix::b, a);
    fragment(i, out, "c", WmmaMatrix::c, i.mod(Slot::ctype));
  } else {
    fragment(i, out, "r", name == "wmma.load.a" ? WmmaMatrix::a : name == "wmma.load.b" ? WmmaMatrix::b
                                                                                        : WmmaMatrix::c,
             a);
  }
}

}  // namespace drywell::isa::legality
