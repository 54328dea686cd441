#include "launch/element_type.h"

#include <bit>
#include <cstring>

#include "drywell/sim/numeric/convert_fast.h"
#include "launch/bf16.h"
#include "launch/words.h"

namespace drywell::kernels {
namespace {

using Kind = ElementType::Kind;

constexpr ElementType kTypes[] = {
    {Kind::real, "f64", "<f8", 8},
    {Kind::real, "f32", "<f4", 4},
    {Kind::real, "f16", "<f2", 2},
    {Kind::real, "bf16", "<u2", 2},
    {Kind::integer, "u8", "|u1", 1},
    {Kind::integer, "s8", "|i1", 1},
    {Kind::integer, "u16", "<u2", 2},
    {Kind::integer, "s16", "<i2", 2},
    {Kind::integer, "u32", "<u4", 4},
    {Kind::integer, "s32", "<i4", 4},
    {Kind::integer, "u64", "<u8", 8},
    {Kind::integer, "s64", "<i8", 8},
    {Kind::bits, "b8", "|u1", 1},
    {Kind::bits, "b16", "<u2", 2},
    {Kind::bits, "b32", "<u4", 4},
    {Kind::bits, "b64", "<u8", 8},
};

template <class T>
T load(const uint8_t* data, uint64_t i) {
  T v;
  std::memcpy(&v, data + i * sizeof(T), sizeof(T));
  return v;
}

}  // namespace

const ElementType* find_element_type(std::string_view name) {
  for (const ElementType& t : kTypes) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

const ElementType* element_type_of(std::string_view dtype) {
  if (dtype == "<V2") return find_element_type("bf16");  // NumPy's bfloat16
  for (const ElementType& t : kTypes) {
    if (t.dtype == dtype && t.name != "bf16") return &t;
  }
  return nullptr;
}

std::string element_type_names() {
  std::string out;
  for (const ElementType& t : kTypes) out += (out.empty() ? "" : ", ") + std::string(t.name);
  return out;
}

uint16_t encode_half(const ElementType& t, float v) {
  return t.name == "bf16" ? bf16_from_float(v) : static_cast<uint16_t>(numeric::f32_to_f16_rn(std::bit_cast<uint32_t>(v)));
}

bool parse_element(const ElementType& t, std::string_view value, std::vector<uint8_t>& out) {
  uint64_t bits = 0;
  if (t.kind == ElementType::Kind::real) {
    const auto v = parse_real(value);
    if (!v.has_value()) return false;
    if (t.bytes == 8) bits = std::bit_cast<uint64_t>(*v);
    if (t.bytes == 4) bits = std::bit_cast<uint32_t>(static_cast<float>(*v));
    if (t.bytes == 2) bits = encode_half(t, static_cast<float>(*v));
  } else if (value.starts_with('-')) {
    const auto v = parse_unsigned(value.substr(1));
    if (!v.has_value() || *v > uint64_t{1} << (8 * t.bytes - 1)) return false;
    bits = ~*v + 1;
  } else {
    const auto v = parse_unsigned(value);
    if (!v.has_value() || (t.bytes < 8 && (*v >> (8 * t.bytes)) != 0)) return false;
    bits = *v;
  }
  out.resize(t.bytes);
  std::memcpy(out.data(), &bits, t.bytes);
  return true;
}

double element_value(const ElementType& t, const uint8_t* data, uint64_t i) {
  if (t.kind == Kind::real) {
    if (t.bytes == 8) return load<double>(data, i);
    if (t.bytes == 4) return load<float>(data, i);
    return t.name == "bf16" ? float_from_bf16(load<uint16_t>(data, i)) : float_from_half(load<uint16_t>(data, i));
  }
  const bool is_signed = t.name[0] == 's';
  switch (t.bytes) {
    case 1: return is_signed ? load<int8_t>(data, i) : load<uint8_t>(data, i);
    case 2: return is_signed ? load<int16_t>(data, i) : load<uint16_t>(data, i);
    case 4: return is_signed ? load<int32_t>(data, i) : load<uint32_t>(data, i);
    default: return is_signed ? static_cast<double>(load<int64_t>(data, i)) : static_cast<double>(load<uint64_t>(data, i));
  }
}

}  // namespace drywell::kernels
