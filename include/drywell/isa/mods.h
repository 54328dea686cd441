// All modifier tokens of PTX (the words after a dot), as enumerators with the PTX spelling.
#pragma once

#include <cstdint>
#include <string_view>

namespace drywell::isa {

/// Modifier token (".s32", ".cta_group::1", …). Mod::none marks an absent optional slot.
enum class Mod : uint16_t {
  none,
#define MOD(OP_, TEXT_) OP_,
#include "drywell/isa/table/mods.inc"
#undef MOD
  count_
};

/// PTX text of a token, without the leading dot.
std::string_view mod_text(Mod m);
/// Returns the token with that text, or Mod::none.
Mod find_mod(std::string_view text);

/// Width in bits of a type token (.s32 → 32, .f16x2 → 32, .pred → 1); 0 for tokens that are not types.
unsigned type_bits(Mod type);
/// True for type tokens: .s32, .bf16x2, .pred.
bool is_type(Mod type);
/// True for types of floating-point numbers, packed ones included.
bool is_float_type(Mod type);
/// True for types of signed integers, packed ones included.
bool is_signed_type(Mod type);

}  // namespace drywell::isa
