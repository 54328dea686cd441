#include "kernels/blockwise/parameters.h"

#include <fmt/format.h>

#include <charconv>

namespace drywell::kernels::blockwise {
namespace {

numeric::Format format_named(std::string_view name) { return name == "e5m2" ? numeric::Format::e5m2 : numeric::Format::e4m3; }

isa::TensorType type_named(std::string_view name) {
  return name == "f32" ? isa::TensorType::f32 : name == "f16" ? isa::TensorType::f16
                                                              : isa::TensorType::bf16;
}

}  // namespace

std::vector<Parameter> common_parameters() {
  return {size_parameter("m", "512", "rows of D"),
          size_parameter("n", "512", "columns of D"),
          size_parameter("k", "512", "length of the sums"),
          choice_parameter("a-format", "e4m3", "elements of A", {"e4m3", "e5m2"}),
          choice_parameter("b-format", "e4m3", "elements of B", {"e4m3", "e5m2"}),
          size_parameter("scale-m", "1", "rows of A that share a factor", 128),
          size_parameter("scale-n", "128", "columns of B that share a factor", 128),
          size_parameter("scale-k", "128", "elements along k that share a factor", 128),
          {.name = "alpha", .type = ParamType::real, .default_value = "1", .doc = "factor of the product"},
          {.name = "beta", .type = ParamType::real, .default_value = "0", .doc = "factor of C; 0: C is void"},
          choice_parameter("d-type", "bf16", "type of D and C", {"bf16", "f16", "f32"}),
          choice_parameter("distribution", "heavy-tailed", "of generated input; codes: random codes and factors, which no data gives",
                           {"normal", "uniform", "heavy-tailed", "codes"}),
          {.name = "input-seed", .default_value = "1", .doc = "seed of generated input", .least = 0}};
}

ProblemSpec spec_of(const Params& p) {
  const auto number = [&](std::string_view name) { return static_cast<uint64_t>(p.integer(name)); };
  ProblemSpec s;
  s.shape = {number("m"), number("n"), number("k")};
  s.a = format_named(p.text("a-format"));
  s.b = format_named(p.text("b-format"));
  s.scales.m = static_cast<uint32_t>(number("scale-m"));
  s.scales.n = static_cast<uint32_t>(number("scale-n"));
  s.scales.k = static_cast<uint32_t>(number("scale-k"));
  s.output = type_named(p.text("d-type"));
  s.reads_c = p.real("beta") != 0;
  s.codes = p.text("distribution") == "codes";
  if (!s.codes) s.generate.distribution = *parse_distribution(p.text("distribution"));
  s.generate.seed = number("input-seed");
  return s;
}

Scalars scalars_of(const Params& p) { return {static_cast<float>(p.real("alpha")), static_cast<float>(p.real("beta"))}; }

std::vector<Shape> parse_shapes(const std::string& text) {
  std::vector<Shape> out;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](uint64_t& v) {
    const auto [next, error] = std::from_chars(at, end, v);
    const bool good = error == std::errc{} && v != 0;
    at = next;
    return good;
  };
  const auto skip = [&](char c) { return at != end && *at++ == c; };
  while (at != end) {
    Shape s;
    if (!number(s.m) || !skip('x') || !number(s.n) || !skip('x') || !number(s.k) || (at != end && (!skip(',') || at == end)))
      throw InputError(Code::E2310, fmt::format("groups '{}': not a list of shapes", text), "MxNxK,MxNxK,…, as 128x256x512,64x64x128");
    out.push_back(s);
  }
  return out;
}

NpyArray output_array(const std::vector<uint32_t>& d, const Shape& s, isa::TensorType type) {
  if (type == isa::TensorType::f32) return NpyArray::of_bytes("<f4", std::as_bytes(std::span(d)), {s.m, s.n});
  const std::vector<uint16_t> halves(d.begin(), d.end());
  return NpyArray::of_bytes(type == isa::TensorType::f16 ? "<f2" : "<V2", std::as_bytes(std::span(halves)), {s.m, s.n});
}

std::string describe(const ProblemSpec& s) {
  const auto name = [](numeric::Format f) { return f == numeric::Format::e5m2 ? "e5m2" : "e4m3"; };
  return fmt::format("{} x {} x {}, {} every {} x {} and {} every {} x {} -> {}", s.shape.m, s.shape.n, s.shape.k, name(s.a), s.scales.m, s.scales.k, name(s.b),
                     s.scales.n, s.scales.k, to_string(s.output));
}

}  // namespace drywell::kernels::blockwise
