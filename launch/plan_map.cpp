// Tensor maps of a launch plan: "x,box=64x8,swizzle=128B".
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "launch/plan.h"
#include "launch/words.h"

namespace drywell::kernels {
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
  for (size_t i = 0; i < v.size(); ++i) {
    if (v[i] > std::numeric_limits<typename A::value_type>::max()) return false;
    into[i] = static_cast<typename A::value_type>(v[i]);
  }
  return true;
}

template <class E, size_t N>
bool choose(std::string_view value, const std::string_view (&names)[N], E& into) {
  for (size_t i = 0; i < N; ++i) {
    if (value != names[i]) continue;
    into = static_cast<E>(i);
    return true;
  }
  return false;
}

// "-1x-1": corners of the im2col bounding box, W first.
bool parse_corner(std::string_view text, std::array<int32_t, 3>& into) {
  const auto words = split(text, text.find('x') != std::string_view::npos ? 'x' : ',');
  if (words.size() > into.size()) return false;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto v = parse_signed(words[i]);
    if (!v.has_value() || *v < -0x8000 || *v > 0x7FFF) return false;
    into[i] = static_cast<int32_t>(*v);
  }
  return true;
}

bool parse_count(std::string_view text, uint32_t& into) {
  const auto v = parse_unsigned(text);
  if (v.has_value() && *v <= 0xFFFFFFFF) into = static_cast<uint32_t>(*v);
  return v.has_value() && *v <= 0xFFFFFFFF;
}

bool parse_map_option(std::string_view key, std::string_view value, MapSpec& spec) {
  isa::TensorMapFields& f = spec.fields;
  if (key == "type") {
    const auto t = parse_tensor_type(value);
    if (t.has_value()) f.type = *t;
    spec.type_given = true;
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
  if (key == "strides") {
    spec.strides_given = true;
    return fill_extents(value, f.stride);
  }
  if (key == "box") return fill_extents(value, f.box);
  if (key == "element-strides") return fill_extents(value, f.element_stride);
  if (key == "fill") {
    f.oob_fill = value == "nan" ? isa::OobFill::nan : isa::OobFill::zero;
    return value == "nan" || value == "zero";
  }
  static constexpr std::string_view kModes[] = {"tile", "im2col", "im2col::w", "im2col::w::128"};
  static constexpr std::string_view kInterleaves[] = {"none", "16B", "32B"};
  static constexpr std::string_view kPromotions[] = {"none", "64B", "128B", "256B"};
  if (key == "mode") return choose(value, kModes, f.mode);
  if (key == "interleave") return choose(value, kInterleaves, f.interleave);
  if (key == "l2") return choose(value, kPromotions, f.l2_promotion);
  if (key == "lower") return parse_corner(value, f.lower_corner);
  if (key == "upper") return parse_corner(value, f.upper_corner);
  if (key == "channels") return parse_count(value, f.channels_per_pixel);
  if (key == "pixels") return parse_count(value, f.pixels_per_column);
  if (key == "offset") {
    const auto v = parse_unsigned(value);
    if (v.has_value()) spec.offset = *v;
    return v.has_value();
  }
  return false;
}

}  // namespace

bool parse_map(std::string_view name, std::string_view text, MapSpec& spec, Diagnostics& out) {
  spec.name = std::string(name);
  const auto words = split(text, ';').size() > 1 ? split(text, ';') : split(text, ',');
  spec.buffer = std::string(words[0]);
  spec.fields.channels_per_pixel = spec.fields.pixels_per_column = 1;
  bool ok = true;
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t eq = words[i].find('=');
    if (eq == std::string_view::npos || !parse_map_option(words[i].substr(0, eq), words[i].substr(eq + 1), spec)) {
      plan_problem(out, Code::E4403, fmt::format("tensor map '{}': '{}' is not understood", name, words[i]),
                   "type=bf16, dims=256x64 (innermost first), strides=512 (bytes), box=64x8, element-strides=1x1, offset=BYTES, "
                   "swizzle=none|32B|64B|128B, fill=zero|nan, interleave=none|16B|32B, l2=none|64B|128B|256B, mode=tile|im2col, "
                   "lower=-1x-1, upper=-1x-1, channels=64, pixels=128");
      ok = false;
    }
  }
  return ok;
}

}  // namespace drywell::kernels
