#include "kernels/nvfp4/inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/launch/generate.h"
#include "launch/bf16.h"

namespace drywell::kernels::nvfp4 {

std::vector<Parameter> matrix_parameters(std::string_view rows, std::string_view columns) {
  constexpr int64_t kMaxSide = 1 << 24;
  return {{.name = "rows", .default_value = rows, .doc = "of the bf16 input", .least = 1, .greatest = kMaxSide},
          {.name = "columns", .default_value = columns, .doc = "of the bf16 input", .least = 1, .greatest = kMaxSide},
          {.name = "distribution",
           .type = ParamType::choice,
           .default_value = "heavy-tailed",
           .doc = "of generated input",
           .allowed = {"normal", "uniform", "heavy-tailed"}},
          {.name = "input-seed", .default_value = "1", .doc = "seed of generated input", .least = 0}};
}

std::vector<Parameter> quantize_parameters(bool nearest_only) {
  std::vector<Parameter> p = {
      {.name = "scale-order",
       .type = ParamType::choice,
       .default_value = "article",
       // "NVFP4 training in TransformerEngine", section "Blockwise decode scale factors".
       .doc = "order of the scale arithmetic: the article's or TransformerEngine's present one",
       .allowed = {"article", "te"}},
      {.name = "approximate-reciprocal", .type = ParamType::flag, .default_value = "false", .doc = "rcp.approx.ftz in place of the division"},
      {.name = "amax", .type = ParamType::real, .default_value = "0", .doc = "the tensor's largest magnitude; 0: computed", .least = 0}};
  if (nearest_only) return p;
  return join_parameters({{.name = "rounding",
                           .type = ParamType::choice,
                           .default_value = "nearest-even",
                           .doc = "of the e2m1 codes",
                           .allowed = {"nearest-even", "stochastic"}},
                          {.name = "seed", .default_value = "0", .doc = "Philox seed of stochastic rounding", .least = 0},
                          {.name = "offset", .default_value = "0", .doc = "Philox offset of stochastic rounding", .least = 0}},
                         std::move(p));
}

std::vector<Parameter> join_parameters(std::vector<Parameter> a, std::vector<Parameter> b) {
  a.insert(a.end(), std::make_move_iterator(b.begin()), std::make_move_iterator(b.end()));
  return a;
}

Bf16Input bf16_input(const RunContext& c) {
  Bf16Input x{static_cast<uint64_t>(c.params.integer("rows")), static_cast<uint64_t>(c.params.integer("columns")), {}};
  if (!c.input.empty()) {
    const NpyArray a = read_npy(c.input);
    if (a.shape.size() != 2) throw InputError(Code::E2110, fmt::format("{}: {} is not two-dimensional", c.input, a.describe()));
    x = {a.shape[0], a.shape[1], bf16_bits(a)};
  }
  if (x.columns % 8 != 0) throw InputError(Code::E2110, fmt::format("columns = {}: must be a multiple of 8", x.columns), "rows of bf16 are multiples of 16 bytes");
  if (!x.values.empty()) return x;
  c.enter("generating input");
  GenerateOptions g;
  g.distribution = *parse_distribution(c.params.text("distribution"));
  g.seed = static_cast<uint64_t>(c.params.integer("input-seed"));
  x.values = generate_bf16(x.rows, x.columns, g);
  return x;
}

Arithmetic arithmetic_of(const Params& p) {
  return {.te_scale_order = p.text("scale-order") == "te", .approximate_reciprocal = p.flag("approximate-reciprocal")};
}

reference::Nvfp4Scaling scaling_of(const Params& p) {
  return {.order = p.text("scale-order") == "te" ? reference::ScaleOrder::te : reference::ScaleOrder::article,
          .approximate_reciprocal = p.flag("approximate-reciprocal")};
}

}  // namespace drywell::kernels::nvfp4
