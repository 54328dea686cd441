// The kernel's entry in the table of kernels: parameters, input, verification.
#include <fmt/format.h>

#include "drywell/kernels/verify.h"
#include "drywell/launch/generate.h"
#include "kernels/fused_rht/fused_rht.h"
#include "launch/bf16.h"

namespace drywell::kernels {
namespace {

FusedRhtOptions options_of(const Params& p) {
  FusedRhtOptions o;
  o.m = static_cast<uint64_t>(p.integer("m"));
  o.n = static_cast<uint64_t>(p.integer("n"));
  o.stochastic = p.text("rounding") == "stochastic";
  o.te_scale_order = p.text("scale-order") == "te";
  o.bf16_round_trip = p.flag("bf16-round-trip");
  o.approximate_reciprocal = p.flag("approximate-reciprocal");
  o.fences = p.flag("fences");
  o.seed = static_cast<uint64_t>(p.integer("seed"));
  o.offset = static_cast<uint64_t>(p.integer("offset"));
  o.k_tile_size = static_cast<uint64_t>(p.integer("k-tile-size"));
  return o;
}

// Reads or generates m x n bf16; a file sets m and n.
std::vector<uint16_t> input_of(const RunContext& c, FusedRhtOptions& o) {
  if (c.input.empty()) {
    check_fused_rht(o);
    c.enter("generating input");
    GenerateOptions g;
    g.distribution = *parse_distribution(c.params.text("distribution"));
    g.seed = static_cast<uint64_t>(c.params.integer("input-seed"));
    return generate_bf16(o.m, o.n, g);
  }
  const NpyArray a = read_npy(c.input);
  if (a.shape.size() != 2)
    throw InputError(Code::E2103, fmt::format("{}: {} is not two-dimensional", c.input, a.describe()));
  for (const auto& [name, given, size] : {std::tuple{"m", o.m, a.shape[0]}, {"n", o.n, a.shape[1]}}) {
    if (c.params.given(name) && given != size) {
      throw InputError(Code::E2103, fmt::format("{}: {}, but --{}={}", c.input, a.describe(), name, given));
    }
  }
  o.m = a.shape[0];
  o.n = a.shape[1];
  check_fused_rht(o);
  return bf16_bits(a);
}

isa::Module build(const Params& p, const sim::ArchConfig&) {
  const FusedRhtOptions o = options_of(p);
  check_fused_rht(o);
  return build_fused_rht(o);
}

KernelReport run(const RunContext& c) {
  FusedRhtOptions o = options_of(c.params);
  const std::vector<uint16_t> input = input_of(c, o);
  c.enter("computing the global amax");
  reference::RhtNvfp4Options ro = reference_options(o, 0);
  ro.threads = c.options.threads;
  ro.amax.reset();
  const float amax =
      c.params.real("amax") != 0 ? static_cast<float>(c.params.real("amax")) : reference::rht_amax(input, ro);
  ro.amax = amax;

  const std::unique_ptr<Accelerator> machine = c.open();
  Accelerator& device = *machine;
  KernelReport r;
  r.shape = fmt::format("{} x {} bf16 -> {} x {} e2m1 codes, {} x {} ue4m3 scales", o.m, o.n, o.n, o.m, o.n,
                        o.m / 16);
  r.launch = {
      .grid = {fused_rht_grid(o, device.sm_count())}, .block = {256}, .dynamic_smem = fused_rht::kSmemBytes};
  r.bytes_read = 2 * input.size();
  r.bytes_written = input.size() / 2 + input.size() / 16;
  r.notes.emplace_back("stages", fmt::format("{}", fused_rht::kStages));
  r.notes.emplace_back("global amax", fmt::format("{}", amax));
  c.enter("running");
  FusedRhtResult got = run_fused_rht(device, input, amax, o, c.options);
  r.run = std::move(got.run);
  if (!r.run.ok()) return r;
  if (c.verify) {
    c.enter("verifying");
    const reference::RhtNvfp4Result want = reference::rht_nvfp4(input, ro);
    compare_bits<uint8_t>(r.verify, "codes", got.codes, want.codes, o.m / 2);
    compare_bits<uint8_t>(r.verify, "scales", got.scales, want.scales, o.m / 16);
  }
  if (c.keep_outputs) {
    r.outputs.emplace_back("codes", NpyArray::of<uint8_t>(got.codes, {o.n, o.m / 2}));
    r.outputs.emplace_back("scales", NpyArray::of<uint8_t>(got.scales, {o.n, o.m / 16}));
    r.outputs.emplace_back("amax", NpyArray::of<float>(std::span(&amax, 1), {}));
  }
  return r;
}

}  // namespace

Kernel fused_rht_kernel() {
  constexpr int64_t kMaxSide = 0xFFFFFFFFll;
  return {
      .name = "fused-rht",
      .doc = "transpose, random Hadamard transform, NVFP4 quantization; TransformerEngine's fused kernel",
      .parameters =
          {
              {.name = "m",
               .default_value = "8192",
               .doc = "rows of the input, a multiple of 64; blocks run along them",
               .least = 1,
               .greatest = kMaxSide},
              {.name = "n",
               .default_value = "5120",
               .doc = "columns of the input, a multiple of 8",
               .least = 1,
               .greatest = kMaxSide},
              {.name = "rounding",
               .type = ParamType::choice,
               .default_value = "nearest-even",
               .doc = "of the e2m1 codes",
               .allowed = {"nearest-even", "stochastic"}},
              {.name = "scale-order",
               .type = ParamType::choice,
               .default_value = "article",
               // "NVFP4 training in TransformerEngine", section "Blockwise decode scale factors"; the table: section "Host Code".
               .doc = "order of the scale arithmetic: the article's or TransformerEngine's present one",
               .allowed = {"article", "te"}},
              {.name = "bf16-round-trip",
               .type = ParamType::flag,
               .default_value = "true",
               .doc = "round the transformed values to bf16 first"},
              {.name = "approximate-reciprocal",
               .type = ParamType::flag,
               .default_value = "false",
               .doc = "rcp.approx.ftz in place of the division"},
              {.name = "fences",
               .type = ParamType::flag,
               .default_value = "true",
               .doc = "tcgen05.fence around the accumulators' barriers; TransformerEngine's kernel has none"},
              {.name = "seed", .default_value = "0", .doc = "Philox seed of stochastic rounding", .least = 0},
              {.name = "offset",
               .default_value = "0",
               .doc = "Philox offset of stochastic rounding",
               .least = 0},
              {.name = "k-tile-size",
               .default_value = "0",
               .doc = "rows a tile strip covers, a multiple of 64; 0: the article's table",
               .least = 0,
               .greatest = kMaxSide},
              {.name = "amax",
               .type = ParamType::real,
               .default_value = "0",
               .doc = "largest magnitude after the transform; 0: computed",
               .least = 0},
              {.name = "distribution",
               .type = ParamType::choice,
               .default_value = "heavy-tailed",
               .doc = "of generated input",
               .allowed = {"normal", "uniform", "heavy-tailed"}},
              {.name = "input-seed", .default_value = "1", .doc = "seed of generated input", .least = 0},
          },
      .build = build,
      .run = run,
  };
}

}  // namespace drywell::kernels
