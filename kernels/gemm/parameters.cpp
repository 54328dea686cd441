#include "kernels/gemm/parameters.h"

#include <fmt/format.h>

#include <array>

#include "drywell/core/whole_number.h"

namespace drywell::kernels::gemm {
namespace {

using isa::MmaElement;

std::vector<Parameter> common_parameters() {
  const auto text = [](std::string_view name, std::string_view doc) {
    return Parameter{.name = name, .type = ParamType::text, .default_value = "", .doc = doc};
  };
  return {
      size_parameter("m", "1024", "rows of D"),
      size_parameter("n", "1024", "columns of D"),
      size_parameter("k", "1024", "length of the sums"),
      choice_parameter("cta-group", "1", "CTAs that share an MMA: tiles of 128 or 256 rows", {"1", "2"}),
      choice_parameter("cluster-n", "1", "tiles along n whose CTAs share A by multicast", {"1", "2", "4"}),
      choice_parameter("bn", "128", "columns of a tile", {"64", "128", "192", "256"}),
      {.name = "stages",
       .default_value = "0",
       .doc = "of the mainloop ring; 0: as many as fit",
       .least = 0,
       .greatest = kMaxStages},
      {.name = "ctas",
       .default_value = "0",
       .doc = "CTAs of the grid at most, so that each computes several tiles; 0: one for every SM",
       .least = 0,
       .greatest = 1 << 16},
      choice_parameter("a-major", "k", "the index of A that runs along memory; mn for 8- and 16-bit elements",
                       {"k", "mn"}),
      choice_parameter("b-major", "k", "the index of B that runs along memory; mn for 8- and 16-bit elements",
                       {"k", "mn"}),
      {.name = "alpha",
       .type = ParamType::real,
       .default_value = "1",
       .doc = "factor of the product, besides the operands' own"},
      {.name = "beta", .type = ParamType::real, .default_value = "0", .doc = "factor of C; 0: C is not read"},
      choice_parameter("d-type", "bf16", "type of D and C", {"bf16", "f16", "f32"}),
      text("a", "m x k .npy array to quantize; empty: generated"),
      text("b", "n x k .npy array to quantize; empty: generated"),
      text("c", "m x n .npy array; empty: generated"),
      choice_parameter("distribution", "normal",
                       "of generated input; codes: random codes and scales, which no data gives",
                       {"normal", "uniform", "heavy-tailed", "codes"}),
      {.name = "input-seed", .default_value = "1", .doc = "seed of generated input", .least = 0},
  };
}

constexpr std::array kNarrow = {MmaElement::e4m3, MmaElement::e5m2, MmaElement::e2m3, MmaElement::e3m2,
                                MmaElement::e2m1};

std::vector<std::string_view> narrow_names(bool automatic) {
  std::vector<std::string_view> names;
  if (automatic) names.emplace_back("auto");
  for (const MmaElement e : kNarrow) names.push_back(to_string(e));
  return names;
}

MmaElement element_named(std::string_view name, MmaElement otherwise) {
  for (const MmaElement e : kNarrow) {
    if (name == to_string(e)) return e;
  }
  return otherwise;
}

struct BlockFormat {
  std::string_view name;
  isa::MmaKind kind;
  MmaElement element;
  isa::ScaleVector scale;
  bool ue8m0;
};

constexpr std::array kBlockFormats = {
    BlockFormat{"nvf4", isa::MmaKind::mxf4nvf4, MmaElement::e2m1, isa::ScaleVector::x4, false},
    BlockFormat{"nvf4-ue8m0", isa::MmaKind::mxf4nvf4, MmaElement::e2m1, isa::ScaleVector::x4, true},
    BlockFormat{"mxf4", isa::MmaKind::mxf4, MmaElement::e2m1, isa::ScaleVector::x2, true},
    BlockFormat{"mxf6-e2m3", isa::MmaKind::mxf8f6f4, MmaElement::e2m3, isa::ScaleVector::x1, true},
    BlockFormat{"mxf6-e3m2", isa::MmaKind::mxf8f6f4, MmaElement::e3m2, isa::ScaleVector::x1, true},
    BlockFormat{"mxf8-e4m3", isa::MmaKind::mxf8f6f4, MmaElement::e4m3, isa::ScaleVector::x1, true},
    BlockFormat{"mxf8-e5m2", isa::MmaKind::mxf8f6f4, MmaElement::e5m2, isa::ScaleVector::x1, true},
};

void set_block_format(GemmConfig& c, const Params& p) {
  for (const BlockFormat& f : kBlockFormats) {
    if (p.text("format") != f.name) continue;
    c.kind = f.kind;
    c.scale = f.scale;
    c.ue8m0 = f.ue8m0;
    c.a.element = element_named(p.text("a-format"), f.element);
    c.b.element = element_named(p.text("b-format"), f.element);
  }
  if (isa::is_packed_fp4(c.kind) && (c.a.element != MmaElement::e2m1 || c.b.element != MmaElement::e2m1)) {
    throw InputError(Code::E2302, fmt::format("--format={} takes e2m1 only", p.text("format")),
                     "mixed elements go with the mxf6 and mxf8 formats");
  }
}

isa::TensorType output_type(std::string_view name) {
  return name == "f32" ? isa::TensorType::f32 : name == "f16" ? isa::TensorType::f16
                                                              : isa::TensorType::bf16;
}

numeric::Format format_of(MmaElement e) {
  switch (e) {
    case MmaElement::e2m1: return numeric::Format::e2m1;
    case MmaElement::e2m3: return numeric::Format::e2m3;
    case MmaElement::e3m2: return numeric::Format::e3m2;
    case MmaElement::e4m3: return numeric::Format::e4m3;
    case MmaElement::e5m2: return numeric::Format::e5m2;
    case MmaElement::f16: return numeric::Format::f16;
    default: return numeric::Format::bf16;
  }
}

}  // namespace

std::vector<Parameter> parameters_of(Family family) {
  std::vector<Parameter> all = common_parameters();
  const auto add = [&](std::string_view name, std::string_view value, std::string_view doc,
                       std::vector<std::string_view> allowed) {
    all.insert(all.begin() + 3, {.name = name,
                                 .type = ParamType::choice,
                                 .default_value = value,
                                 .doc = doc,
                                 .allowed = std::move(allowed)});
  };
  switch (family) {
    case Family::bf16: add("type", "bf16", "of A and B", {"bf16", "f16"}); break;
    case Family::fp8:
      add("b-format", "e4m3", "elements of B", narrow_names(false));
      add("a-format", "e4m3", "elements of A", narrow_names(false));
      break;
    case Family::blockscaled: {
      add("b-format", "auto", "elements of B in the mxf6 and mxf8 formats; auto: as the format says",
          narrow_names(true));
      add("a-format", "auto", "elements of A in the mxf6 and mxf8 formats; auto: as the format says",
          narrow_names(true));
      std::vector<std::string_view> names;
      for (const BlockFormat& f : kBlockFormats) names.push_back(f.name);
      add("format", "nvf4", "elements and scale factors", names);
      break;
    }
  }
  return all;
}

GemmConfig config_of(const Params& p, Family family) {
  GemmConfig c;
  switch (family) {
    case Family::bf16:
      c.kind = isa::MmaKind::f16;
      c.a.element = c.b.element = p.text("type") == "f16" ? MmaElement::f16 : MmaElement::bf16;
      break;
    case Family::fp8:
      c.kind = isa::MmaKind::f8f6f4;
      c.a.element = element_named(p.text("a-format"), MmaElement::e4m3);
      c.b.element = element_named(p.text("b-format"), MmaElement::e4m3);
      break;
    case Family::blockscaled: set_block_format(c, p); break;
  }
  const auto number = [&](std::string_view name) { return whole_number<uint32_t>(p.text(name)).value(); };
  c.a.major = p.text("a-major") == "mn" ? isa::Major::mn : isa::Major::k;
  c.b.major = p.text("b-major") == "mn" ? isa::Major::mn : isa::Major::k;
  c.cta_group = number("cta-group");
  c.cluster_n = number("cluster-n");
  c.bn = number("bn");
  c.stages = static_cast<uint32_t>(p.integer("stages"));
  c.ctas = static_cast<uint32_t>(p.integer("ctas"));
  c.output = output_type(p.text("d-type"));
  c.reads_c = p.real("beta") != 0;
  return c;
}

QuantizeRecipe recipe_of(const GemmConfig& c, MmaElement element, Family family) {
  QuantizeRecipe r;
  r.format = format_of(element);
  if (family == Family::fp8) r.rule = ScaleRule::tensor;
  if (family == Family::blockscaled) {
    r.rule = c.ue8m0 ? ScaleRule::mx : ScaleRule::nvfp4;
    r.block = isa::mma_k(c.kind, false) / static_cast<uint32_t>(c.scale);
  }
  return r;
}

}  // namespace drywell::kernels::gemm
