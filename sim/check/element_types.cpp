#include "sim/check/element_types.h"

#include "drywell/isa/instr_descriptor.h"
#include "sim/engine/umma_form.h"

namespace drywell::sim::check {
namespace {

enum Kind : uint8_t {
  kHalf = 1,
  kBfloat = 2,
  kSingle = 4,
  kDouble = 8,
  kPacked4 = 16,
  kPadded4 = 32,
  kPadded6 = 64,
  kByte = 128
};

// Maps of CUTLASS, Triton and the driver's own names have UINT8 for all 8-bit types.
uint8_t kind_of(isa::MmaKind kind, isa::MmaElement e) {
  switch (e) {
    case isa::MmaElement::f16: return kHalf;
    case isa::MmaElement::bf16: return kBfloat;
    case isa::MmaElement::tf32: return kSingle;
    case isa::MmaElement::e2m1: return isa::is_packed_fp4(kind) ? kPacked4 : kPadded4;
    case isa::MmaElement::e2m3:
    case isa::MmaElement::e3m2: return kPadded6;
    case isa::MmaElement::e4m3:
    case isa::MmaElement::e5m2:
    case isa::MmaElement::u8:
    case isa::MmaElement::s8: return kByte;
    case isa::MmaElement::invalid: return 0;
  }
  return 0;
}

uint8_t kind_of(isa::Mod type) {
  switch (type) {
    case isa::Mod::f16: return kHalf;
    case isa::Mod::bf16: return kBfloat;
    case isa::Mod::tf32: return kSingle;
    default: return kByte;
  }
}

}  // namespace

uint8_t elements_of(isa::TensorType type) {
  switch (type) {
    case isa::TensorType::f16: return kHalf;
    case isa::TensorType::bf16: return kBfloat;
    case isa::TensorType::f32:
    case isa::TensorType::f32_ftz:
    case isa::TensorType::tf32:
    case isa::TensorType::tf32_ftz: return kSingle;
    case isa::TensorType::f64: return kDouble;
    case isa::TensorType::b4x16: return kPacked4;
    case isa::TensorType::b4x16_p64: return kPadded4;
    case isa::TensorType::b6x16_p32: return kPadded6;
    case isa::TensorType::u8:
    case isa::TensorType::u16:
    case isa::TensorType::u32:
    case isa::TensorType::s32:
    case isa::TensorType::u64:
    case isa::TensorType::s64: return 0;
  }
  return 0;
}

uint8_t elements_of(const Umma& u) {
  const isa::InstrDescriptor d = isa::InstrDescriptor::decode(mma_kind_of(u.kind), u.idesc);
  const uint8_t b = kind_of(d.kind, d.b_element());
  return u.a_in_tmem ? b : static_cast<uint8_t>(b | kind_of(d.kind, d.a_element()));
}

uint8_t elements_of(const Wgmma& m) {
  const uint8_t b = kind_of(m.b_type);
  return m.a_in_registers ? b : static_cast<uint8_t>(b | kind_of(m.a_type));
}

}  // namespace drywell::sim::check
