#include "drywell/isa/mods.h"

#include <iterator>
#include <unordered_map>

namespace drywell::isa {
namespace {

constexpr std::string_view kModText[] = {
    "",
#define MOD(OP_, TEXT_) TEXT_,
#include "drywell/isa/table/mods.inc"
#undef MOD
};

std::unordered_map<std::string_view, Mod> make_index() {
  std::unordered_map<std::string_view, Mod> index;
  for (size_t i = 1; i < std::size(kModText); ++i) index.emplace(kModText[i], static_cast<Mod>(i));
  return index;
}

}  // namespace

std::string_view mod_text(Mod m) { return kModText[static_cast<size_t>(m)]; }

Mod find_mod(std::string_view text) {
  // Never destroyed: destructors of a program's globals may still launch kernels.
  static const auto& index = *new std::unordered_map<std::string_view, Mod>(make_index());
  const auto it = index.find(text);
  return it == index.end() ? Mod::none : it->second;
}

unsigned type_bits(Mod type) {
  switch (type) {
    case Mod::pred:
    case Mod::b1: return 1;
    case Mod::s2:
    case Mod::u2: return 2;
    case Mod::b4:
    case Mod::s4:
    case Mod::u4:
    case Mod::e2m1: return 4;
    case Mod::b6: return 6;
    case Mod::b8:
    case Mod::u8:
    case Mod::s8:
    case Mod::e4m3:
    case Mod::e5m2:
    case Mod::e2m3:
    case Mod::e3m2:
    case Mod::ue8m0:
    case Mod::ue4m3:
    case Mod::e2m1x2: return 8;
    case Mod::b16:
    case Mod::u16:
    case Mod::s16:
    case Mod::f16:
    case Mod::bf16:
    case Mod::e4m3x2:
    case Mod::e5m2x2:
    case Mod::e2m3x2:
    case Mod::e3m2x2:
    case Mod::ue8m0x2:
    case Mod::s2f6x2:
    case Mod::e2m1x4: return 16;
    case Mod::b32:
    case Mod::u32:
    case Mod::s32:
    case Mod::f32:
    case Mod::tf32:
    case Mod::f16x2:
    case Mod::bf16x2:
    case Mod::u16x2:
    case Mod::s16x2:
    case Mod::e4m3x4:
    case Mod::e5m2x4:
    case Mod::e2m3x4:
    case Mod::e3m2x4: return 32;
    case Mod::b64:
    case Mod::u64:
    case Mod::s64:
    case Mod::f64:
    case Mod::f32x2: return 64;
    case Mod::b128: return 128;
    case Mod::b1024: return 1024;
    default: return 0;
  }
}

bool is_type(Mod type) { return type_bits(type) != 0; }

bool is_float_type(Mod type) {
  switch (type) {
    case Mod::f16:
    case Mod::f16x2:
    case Mod::bf16:
    case Mod::bf16x2:
    case Mod::f32:
    case Mod::f32x2:
    case Mod::f64:
    case Mod::tf32: return true;
    default: return false;
  }
}

bool is_signed_type(Mod type) {
  return type == Mod::s8 || type == Mod::s16 || type == Mod::s32 || type == Mod::s64 || type == Mod::s4 || type == Mod::s2 ||
         type == Mod::s16x2;
}

}  // namespace drywell::isa
