#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "drywell/core/bits.h"
#include "kernels/launch/element_type.h"
#include "kernels/launch/plan.h"
#include "kernels/support/bf16.h"

namespace drywell::kernels {
namespace {

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> out;
  while (true) {
    const size_t at = text.find(by);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

std::optional<uint64_t> parse_unsigned(std::string_view t) {
  uint64_t v = 0;
  int base = 10;
  if (t.starts_with("0x")) {
    t.remove_prefix(2);
    base = 16;
  }
  const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), v, base);
  if (t.empty() || error != std::errc() || end != t.data() + t.size()) return std::nullopt;
  return v;
}

std::optional<double> parse_real(std::string_view t) {
  double v = 0;
  const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), v);
  if (t.empty() || error != std::errc() || end != t.data() + t.size()) return std::nullopt;
  return v;
}

// "64x128" or "64,128".
using Extents = std::vector<uint64_t>;
bool parse_extents(std::string_view text, Extents& out) {
  out.clear();
  const char by = text.find('x') != std::string_view::npos && !text.starts_with("0x") ? 'x' : ',';
  for (std::string_view part : split(text, by)) {
    const auto v = parse_unsigned(part);
    if (!v.has_value()) return false;
    out.push_back(*v);
  }
  return true;
}

void problem(Diagnostics& out, std::string code, std::string message, std::string hint = {}) { out.error(std::move(code), {}, std::move(message), std::move(hint)); }

bool parse_init(std::string_view text, BufferSpec& spec, Diagnostics& out) {
  for (std::string_view word : split(text, ',')) {
    using Init = BufferSpec::Init;
    if (word == "zeros") {
      spec.init = Init::zeros;
    } else if (word == "ones") {
      spec.init = Init::ones;
    } else if (word == "iota") {
      spec.init = Init::iota;
    } else if (word == "random") {
      spec.init = Init::random;
    } else if (word == "poison") {
      spec.init = Init::poison;
    } else if (word.starts_with("seed=") && parse_unsigned(word.substr(5)).has_value()) {
      spec.seed = *parse_unsigned(word.substr(5));
    } else {
      problem(out, "E4402", fmt::format("buffer '{}': '{}' is not a way to fill it", spec.name, word), "zeros, ones, iota, random, poison, seed=N");
      return false;
    }
  }
  return true;
}

}  // namespace

uint64_t BufferSpec::count() const {
  uint64_t n = 1;
  for (uint64_t d : shape) n *= d;
  return n;
}
uint64_t BufferSpec::bytes() const { return count() * find_element_type(type)->bytes; }

bool parse_buffer(std::string_view name, std::string_view text, BufferSpec& spec, Diagnostics& out) {
  spec.name = std::string(name);
  if (text.ends_with(".npy")) {
    spec.init = BufferSpec::Init::file;
    spec.path = std::string(text);
    return true;
  }
  const size_t open = text.find('['), close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    problem(out, "E4401", fmt::format("buffer '{}': '{}' is neither TYPE[SHAPE]:INIT nor a .npy file", name, text), "e.g. f32[64,128]:random,seed=3");
    return false;
  }
  spec.type = std::string(text.substr(0, open));
  Extents shape;
  const bool shaped = parse_extents(text.substr(open + 1, close - open - 1), shape);
  bool ok = true;
  if (find_element_type(spec.type) == nullptr) {
    problem(out, "E4401", fmt::format("buffer '{}': no element type '{}'", name, spec.type), element_type_names());
    ok = false;
  }
  uint64_t elements = 1;
  for (uint64_t d : shape) {
    if (d != 0 && elements > (uint64_t{1} << 40) / d) elements = uint64_t{1} << 41;
    else elements *= d;
  }
  if (!shaped || elements > (uint64_t{1} << 40)) {
    problem(out, "E4401", fmt::format("buffer '{}': '{}' is not a shape of at most 2^40 elements", name, text.substr(open, close - open + 1)));
    return false;
  }
  spec.shape = shape;
  const std::string_view rest = text.substr(close + 1);
  if (rest.empty()) return ok;
  if (rest[0] != ':') {
    problem(out, "E4402", fmt::format("buffer '{}': '{}' after the shape", name, rest), "e.g. f32[64]:zeros");
    return false;
  }
  return parse_init(rest.substr(1), spec, out) && ok;
}

namespace {

std::optional<isa::Swizzle> parse_swizzle(std::string_view t) {
  for (unsigned i = 0; i < isa::kSwizzleCount; ++i) {
    const auto s = static_cast<isa::Swizzle>(i);
    if (isa::to_string(s) == t) return s;
  }
  if (t == "none") return isa::Swizzle::none;
  if (t == "32B") return isa::Swizzle::b32;
  if (t == "64B") return isa::Swizzle::b64;
  if (t == "128B") return isa::Swizzle::b128;
  return std::nullopt;
}

std::optional<isa::TensorType> parse_tensor_type(std::string_view t) {
  for (unsigned i = 0; i < isa::kTensorTypeCount; ++i) {
    if (isa::to_string(static_cast<isa::TensorType>(i)) == t) return static_cast<isa::TensorType>(i);
  }
  return std::nullopt;
}

template <class A>
bool fill_extents(std::string_view text, A& into) {
  Extents v;
  if (!parse_extents(text, v) || v.size() > into.size()) return false;
  for (size_t i = 0; i < v.size(); ++i) into[i] = static_cast<typename A::value_type>(v[i]);
  return true;
}

bool parse_map_option(std::string_view key, std::string_view value, MapSpec& spec) {
  isa::TensorMapFields& f = spec.fields;
  if (key == "type") {
    const auto t = parse_tensor_type(value);
    if (t.has_value()) f.type = *t;
    return t.has_value();
  }
  if (key == "swizzle") {
    const auto s = parse_swizzle(value);
    if (s.has_value()) f.swizzle = *s;
    return s.has_value();
  }
  if (key == "dims") {
    Extents v;
    if (!parse_extents(value, v) || v.empty() || v.size() > 5) return false;
    f.rank = static_cast<uint32_t>(v.size());
    spec.dims_given = true;
    return fill_extents(value, f.dim);
  }
  if (key == "strides") return fill_extents(value, f.stride);
  if (key == "box") return fill_extents(value, f.box);
  if (key == "element-strides") return fill_extents(value, f.element_stride);
  if (key == "fill") {
    f.oob_fill = value == "nan" ? isa::OobFill::nan : isa::OobFill::zero;
    return value == "nan" || value == "zero";
  }
  return false;
}

}  // namespace

bool parse_map(std::string_view name, std::string_view text, MapSpec& spec, Diagnostics& out) {
  spec.name = std::string(name);
  const auto words = split(text, ';').size() > 1 ? split(text, ';') : split(text, ',');
  spec.buffer = std::string(words[0]);
  bool ok = true;
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t eq = words[i].find('=');
    if (eq == std::string_view::npos || !parse_map_option(words[i].substr(0, eq), words[i].substr(eq + 1), spec)) {
      problem(out, "E4403", fmt::format("tensor map '{}': '{}' is not understood", name, words[i]),
              "type=bf16, dims=256x64 (innermost first), strides=512 (bytes), box=64x8, element-strides=1x1, swizzle=none|32B|64B|128B, fill=zero|nan");
      ok = false;
    }
  }
  return ok;
}

namespace {

bool parse_scalar(std::string_view type, std::string_view value, std::vector<uint8_t>& out) {
  const ElementType* t = find_element_type(type);
  if (t == nullptr) return false;
  uint64_t bits = 0;
  if (t->kind == ElementType::Kind::real) {
    const auto v = parse_real(value);
    if (!v.has_value()) return false;
    if (t->bytes == 8) bits = std::bit_cast<uint64_t>(*v);
    if (t->bytes == 4) bits = std::bit_cast<uint32_t>(static_cast<float>(*v));
    if (t->bytes == 2) bits = encode_half(*t, static_cast<float>(*v));
  } else if (value.starts_with('-')) {
    const auto v = parse_unsigned(value.substr(1));
    if (!v.has_value()) return false;
    bits = ~*v + 1;
  } else {
    const auto v = parse_unsigned(value);
    if (!v.has_value() || (t->bytes < 8 && (*v >> (8 * t->bytes)) != 0)) return false;
    bits = *v;
  }
  out.resize(t->bytes);
  std::memcpy(out.data(), &bits, t->bytes);
  return true;
}

bool parse_hex(std::string_view t, std::vector<uint8_t>& out) {
  if (t.size() % 2 != 0) return false;
  for (size_t i = 0; i < t.size(); i += 2) {
    uint8_t v = 0;
    const auto [end, error] = std::from_chars(t.data() + i, t.data() + i + 2, v, 16);
    if (error != std::errc() || end != t.data() + i + 2) return false;
    out.push_back(v);
  }
  return true;
}

}  // namespace

bool parse_arg(std::string_view text, LaunchPlan& plan, ArgSpec& spec, Diagnostics& out) {
  if (text.starts_with('@')) {
    spec.kind = ArgSpec::Kind::pointer;
    const size_t plus = text.find('+');
    spec.name = std::string(text.substr(1, plus == std::string_view::npos ? plus : plus - 1));
    if (plus == std::string_view::npos) return true;
    const auto v = parse_unsigned(text.substr(plus + 1));
    if (v.has_value()) spec.offset = *v;
    else problem(out, "E4404", fmt::format("argument '{}': the offset is not a number", text));
    return v.has_value();
  }
  if (text.starts_with("map:")) {
    spec.kind = ArgSpec::Kind::map;
    spec.name = std::string(text.substr(4));
    return true;
  }
  if (text.starts_with("hex:")) {
    if (parse_hex(text.substr(4), spec.bytes)) return true;
    problem(out, "E4404", fmt::format("argument '{}': not pairs of hexadecimal digits", text));
    return false;
  }
  if (text.find('[') != std::string_view::npos || text.ends_with(".npy")) {
    BufferSpec b;
    if (!parse_buffer(fmt::format("arg{}", plan.buffers.size()), text, b, out)) return false;
    spec.kind = ArgSpec::Kind::pointer;
    spec.name = b.name;
    plan.buffers.push_back(std::move(b));
    return true;
  }
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos && parse_scalar(text.substr(0, colon), text.substr(colon + 1), spec.bytes)) return true;
  problem(out, "E4404", fmt::format("argument '{}' is not understood", text), "u32:5, f32:0.5, @buffer, @buffer+256, map:NAME, hex:00ff, f32[1024]:zeros, input.npy");
  return false;
}

bool parse_expect(std::string_view buffer, std::string_view text, ExpectSpec& spec, Diagnostics& out) {
  const auto words = split(text, ',');
  spec.buffer = std::string(buffer);
  spec.path = std::string(words[0]);
  for (size_t i = 1; i < words.size(); ++i) {
    const bool absolute = words[i].starts_with("abs="), relative = words[i].starts_with("rel=");
    const auto v = absolute || relative ? parse_real(words[i].substr(4)) : std::nullopt;
    if (!v.has_value() || *v < 0) {
      problem(out, "E4405", fmt::format("expectation of '{}': '{}' is not a tolerance", buffer, words[i]), "e.g. y=ref.npy,abs=1e-3,rel=1e-2");
      return false;
    }
    (absolute ? spec.absolute : spec.relative) = *v;
    spec.exact = false;
  }
  return true;
}

bool parse_dim3(std::string_view text, Dim3& out) {
  Extents v;
  if (!parse_extents(text, v) || v.empty() || v.size() > 3) return false;
  for (uint64_t d : v) {
    if (d == 0 || d > 0xFFFFFFFF) return false;
  }
  out = {static_cast<uint32_t>(v[0]), v.size() > 1 ? static_cast<uint32_t>(v[1]) : 1, v.size() > 2 ? static_cast<uint32_t>(v[2]) : 1};
  return true;
}

}  // namespace drywell::kernels
