#include "sim/debug/value_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/core/text.h"
#include "drywell/isa/spec.h"

namespace drywell::sim {
namespace {

using Kind = ValueType::Kind;

std::vector<ValueType> make_types() {
  std::vector<ValueType> all;
  for (const uint8_t bits : {8, 16, 32, 64}) {
    all.push_back({Kind::hex, bits, 1, {}, fmt::format("b{}", bits)});
    all.push_back({Kind::unsigned_integer, bits, 1, {}, fmt::format("u{}", bits)});
    all.push_back({Kind::signed_integer, bits, 1, {}, fmt::format("s{}", bits)});
  }
  all.push_back({Kind::f64, 64, 1, {}, "f64"});
  for (unsigned i = 0; i < numeric::kFormatCount; ++i) {
    const auto f = static_cast<numeric::Format>(i);
    const numeric::FormatInfo& info = numeric::format_info(f);
    // 6-bit codes and ue4m3 are stored in bytes.
    const auto bits = static_cast<uint8_t>(info.bits() <= 4 ? 4 : info.bits() <= 8 ? 8
                                                              : info.bits() <= 16  ? 16
                                                                                   : 32);
    all.push_back({Kind::format, bits, 1, f, std::string(info.name)});
    for (uint8_t n = 2; n * bits <= 32; n = static_cast<uint8_t>(2 * n)) all.push_back({Kind::format, bits, n, f, fmt::format("{}x{}", info.name, n)});
  }
  return all;
}

uint64_t low_bits(uint64_t v, unsigned bits) { return bits >= 64 ? v : v & ((uint64_t{1} << bits) - 1); }

std::string print_number(double v) {
  if (std::isnan(v)) return "nan";
  return fmt::format("{:.9g}", v);
}

std::string print_element(const ValueType& t, uint64_t v) {
  switch (t.kind) {
    case Kind::hex: return fmt::format("0x{:0{}x}", v, t.bits / 4);
    case Kind::unsigned_integer: return fmt::format("{}", v);
    case Kind::signed_integer: return fmt::format("{}", static_cast<int64_t>(v << (64 - t.bits)) >> (64 - t.bits));
    case Kind::f64: return fmt::format("{:.17g}", std::bit_cast<double>(v));
    case Kind::format: return print_number(numeric::to_double(t.format, static_cast<uint32_t>(v)));
  }
  return {};
}

}  // namespace

ValueType parse_value_type(std::string_view name) {
  // Never destroyed: destructors of a program's globals may still launch kernels.
  static const auto& kTypes = *new std::vector<ValueType>(make_types());
  if (name == "hex" || name == "x") name = "b32";
  const auto it = std::find_if(kTypes.begin(), kTypes.end(), [&](const ValueType& t) { return t.name == name; });
  if (it != kTypes.end()) return *it;
  std::vector<std::string_view> names;
  for (const ValueType& t : kTypes) names.push_back(t.name);
  throw InputError(Code::E4321, fmt::format("no type '{}'", name), did_you_mean(name, names) + " types: " + join(names));
}

ValueType type_of_register(isa::Mod declared) {
  const unsigned bits = isa::type_bits(declared);
  switch (declared) {
    case isa::Mod::f16: return parse_value_type("f16");
    case isa::Mod::bf16: return parse_value_type("bf16");
    case isa::Mod::f16x2: return parse_value_type("f16x2");
    case isa::Mod::bf16x2: return parse_value_type("bf16x2");
    case isa::Mod::f32: return parse_value_type("f32");
    case isa::Mod::f64: return parse_value_type("f64");
    case isa::Mod::s8:
    case isa::Mod::s16:
    case isa::Mod::s32:
    case isa::Mod::s64: return parse_value_type(fmt::format("s{}", bits));
    case isa::Mod::u8:
    case isa::Mod::u16:
    case isa::Mod::u32:
    case isa::Mod::u64: return parse_value_type(fmt::format("u{}", bits));
    default: return parse_value_type(bits <= 8 ? "b8" : bits <= 16 ? "b16"
                                                    : bits <= 32   ? "b32"
                                                                   : "b64");
  }
}

std::string print_value(const ValueType& t, uint64_t bits) {
  if (t.elements == 1) return print_element(t, low_bits(bits, t.bits));
  std::string out = "(";
  for (unsigned i = 0; i < t.elements; ++i) out += (i == 0 ? "" : ", ") + print_element(t, low_bits(bits >> (i * t.bits), t.bits));
  return out + ")";
}

double value_as_double(const ValueType& t, uint64_t bits) {
  const uint64_t v = low_bits(bits, t.bits);
  switch (t.kind) {
    case Kind::signed_integer: return static_cast<double>(static_cast<int64_t>(v << (64 - t.bits)) >> (64 - t.bits));
    case Kind::f64: return std::bit_cast<double>(v);
    case Kind::format: return numeric::to_double(t.format, static_cast<uint32_t>(v));
    default: return static_cast<double>(v);
  }
}

}  // namespace drywell::sim
