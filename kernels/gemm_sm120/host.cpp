// Host side, reference and the entry in the table of kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "drywell/core/bits.h"
#include "drywell/kernels/device_arrays.h"
#include "drywell/kernels/gemm_output.h"
#include "drywell/launch/generate.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm_sm120/sm120.h"

namespace drywell::kernels {
namespace {

using sm120::BlockFormat;
using sm120::Config;

struct Shape {
  uint64_t m, n, k;
};

Shape shape_of(const Params& p) {
  return {static_cast<uint64_t>(p.integer("m")), static_cast<uint64_t>(p.integer("n")),
          static_cast<uint64_t>(p.integer("k"))};
}

Config config_of(const Params& p) {
  Config c;
  const std::string& format = p.text("format");
  c.format = format == "nvf4" ? BlockFormat::nvf4 : format == "mxf4" ? BlockFormat::mxf4
                                                                     : BlockFormat::mxf8;
  const auto element = [&](const char* name) {
    return c.packed()               ? numeric::Format::e2m1
           : p.text(name) == "e5m2" ? numeric::Format::e5m2
                                    : numeric::Format::e4m3;
  };
  c.a = element("a-format");
  c.b = element("b-format");
  c.output = p.text("d-type") == "f32" ? isa::TensorType::f32 : isa::TensorType::bf16;
  c.stages = static_cast<uint32_t>(p.integer("stages"));
  return c;
}

void check(const Params& p, const Config& c, const Shape& s) {
  Diagnostics problems;
  if (s.k % c.tile_k() != 0)
    problems.error(Code::E2302, {}, fmt::format("k = {}: must be a multiple of {}", s.k, c.tile_k()),
                   "four mma of one stage, whose scales are one vector");
  if (s.n % 2 != 0)
    problems.error(Code::E2302, {}, fmt::format("n = {}: must be even", s.n), "columns are stored in pairs");
  if (c.packed() && (p.given("a-format") || p.given("b-format")))
    problems.error(Code::E2302, {}, fmt::format("--format={} has e2m1 operands", p.text("format")),
                   "--format=mxf8");
  if (problems.has_errors()) throw InputError(std::move(problems));
}

QuantizedMatrix operand(const Params& p, const Config& c, numeric::Format format, uint64_t rows, uint64_t k,
                        uint64_t stream) {
  const QuantizeRecipe recipe{format, c.format == BlockFormat::nvf4 ? ScaleRule::nvfp4 : ScaleRule::mx,
                              c.block()};
  const uint64_t seed = static_cast<uint64_t>(p.integer("input-seed")) * 2 + stream;
  if (p.text("distribution") == "codes") return random_codes(rows, k, recipe, seed);
  GenerateOptions g;
  if (const auto d = parse_distribution(p.text("distribution")); d.has_value()) g.distribution = *d;
  g.seed = seed;
  return quantize_matrix(generate_floats(rows, k, g), rows, k, recipe);
}

isa::TensorMap map_of(Accelerator& device, GmemAddr at, uint64_t rows, uint64_t row_bytes) {
  isa::TensorMapFields f;
  f.type = isa::TensorType::u8;
  f.rank = 2;
  f.address = at.value();
  f.dim = {row_bytes, rows, 1, 1, 1};
  f.stride[0] = row_bytes;
  f.box = {Config::kRowBytes, Config::kTile, 1, 1, 1};
  f.swizzle = isa::Swizzle::b128;
  return device.encode(f);
}

sim::LaunchConfig launch_of(const Config& c, const Shape& s) {
  return {.grid = {static_cast<uint32_t>(ceil_div(s.n, Config::kTile)),
                   static_cast<uint32_t>(ceil_div(s.m, Config::kTile))},
          .block = {Config::kThreads},
          .dynamic_smem = c.smem_bytes()};
}

struct Problem {
  Shape shape;
  QuantizedMatrix a, b;
  float alpha;
};

std::vector<uint32_t> launch(KernelReport& r, Accelerator& device, const Config& c, const Problem& x,
                             const sim::RunOptions& options) {
  const Shape& s = x.shape;
  const uint64_t row_bytes = s.k / c.tile_k() * Config::kRowBytes;
  DeviceArrays arrays(device);
  const GmemAddr a = arrays.make(operand_image(x.a, isa::Major::k), "A"),
                 b = arrays.make(operand_image(x.b, isa::Major::k), "B");
  const GmemAddr sfa = arrays.make(x.a.scales, "SFA"), sfb = arrays.make(x.b.scales, "SFB"),
                 d = arrays.make(s.m * s.n * c.output_bytes(), "D");
  sim::Args args;
  args.add(map_of(device, a, s.m, row_bytes)).add(map_of(device, b, s.n, row_bytes)).add(sfa).add(sfb).add(d);
  args.add(static_cast<uint32_t>(s.m))
      .add(static_cast<uint32_t>(s.n))
      .add(static_cast<uint32_t>(s.k / c.block()))
      .add(static_cast<uint32_t>(s.k / c.tile_k()))
      .add(x.alpha);
  device.load(sm120::build(c, device.arch().target));
  r.run = device.launch("gemm_sm120_blockscaled", r.launch, args, options);
  const auto bytes = arrays.read<uint8_t>(d, s.m * s.n * c.output_bytes());
  std::vector<uint32_t> out(s.m * s.n);
  for (size_t i = 0; i < out.size(); ++i)
    std::memcpy(&out[i], bytes.data() + i * c.output_bytes(), c.output_bytes());
  return out;
}

// The reference sums as the instructions do, each one fused sum of its products and the accumulator
// (drywell/kernels/reference_gemm.h).
void verify(KernelReport& r, const Config& c, const Problem& x, const std::vector<uint32_t>& d,
            unsigned threads) {
  const reference::GemmArithmetic arithmetic{.k = c.mma_k(), .grouped = c.packed()};
  const std::vector<float> sums = reference::gemm_accumulators(
      gemm::reference_operand(x.a), gemm::reference_operand(x.b), arithmetic, threads);
  std::vector<uint32_t> want(sums.size());
  for (size_t i = 0; i < sums.size(); ++i)
    want[i] = reference::gemm_output(sums[i], x.alpha, 0, std::nullopt, gemm::output_format(c.output));
  gemm::compare_outputs(r, d, want, x.shape.n, c.output_bytes());
}

isa::Module build(const Params& p, const sim::ArchConfig& arch) {
  const Config c = config_of(p);
  check(p, c, shape_of(p));
  return sm120::build(
      c, isa::has_feature(arch.target, isa::Feature::sm120f) ? arch.target : isa::Target::sm_120a);
}

KernelReport run(const RunContext& c) {
  const Config config = config_of(c.params);
  Problem x{shape_of(c.params), {}, {}, 0};
  check(c.params, config, x.shape);
  const auto machine = c.open();
  if (!isa::has_feature(machine->arch().target, isa::Feature::sm120f))
    throw InputError(
        Code::E2302,
        fmt::format("gemm-sm120-blockscaled on {}: only sm_120 and sm_121 have mma.sync with block scales",
                    machine->arch().name),
        "--arch=sm_120a");
  c.enter("making input");
  x.a = operand(c.params, config, config.a, x.shape.m, x.shape.k, 0);
  x.b = operand(c.params, config, config.b, x.shape.n, x.shape.k, 1);
  x.alpha = static_cast<float>(c.params.real("alpha")) * x.a.factor * x.b.factor;
  KernelReport r;
  r.shape = fmt::format("{} x {} x {}, {} x {}, {} every {} -> {}", x.shape.m, x.shape.n, x.shape.k,
                        numeric::format_info(config.a).name, numeric::format_info(config.b).name,
                        config.format == BlockFormat::nvf4 ? "ue4m3" : "ue8m0", config.block(),
                        to_string(config.output));
  r.launch = launch_of(config, x.shape);
  const uint64_t operands = (x.shape.m + x.shape.n) * x.shape.k;
  r.bytes_read = operands / (config.packed() ? 2 : 1) + x.a.scales.size() + x.b.scales.size();
  r.bytes_written = x.shape.m * x.shape.n * config.output_bytes();
  r.notes.emplace_back("tile",
                       fmt::format("{0} x {0} x {1}, {2} stages, {3} bytes of shared memory", Config::kTile,
                                   config.tile_k(), config.stages, config.smem_bytes()));
  c.enter("running");
  const std::vector<uint32_t> d = launch(r, *machine, config, x, c.options);
  if (!r.run.ok()) return r;
  if (c.verify) {
    c.enter("verifying");
    verify(r, config, x, d, c.options.threads);
  }
  if (c.keep_outputs) r.outputs.emplace_back("d", gemm::output_array(d, x.shape.m, x.shape.n, config.output));
  return r;
}

}  // namespace

Kernel gemm_sm120_blockscaled_kernel() {
  return {
      .name = "gemm-sm120-blockscaled",
      .doc =
          "block-scaled GEMM by mma.sync (--arch=sm_120a); D = alpha * (A * SFA) * (B * SFB)^T in NVFP4, MXFP4 and MXFP8",
      .parameters =
          {size_parameter("m", "512", "rows of D"),
           size_parameter("n", "512", "columns of D"),
           size_parameter("k", "512", "length of the sums"),
           choice_parameter("format", "nvf4", "of both operands and their scales", {"nvf4", "mxf4", "mxf8"}),
           choice_parameter("a-format", "e4m3", "elements of A in mxf8", {"e4m3", "e5m2"}),
           choice_parameter("b-format", "e4m3", "elements of B in mxf8", {"e4m3", "e5m2"}),
           choice_parameter("d-type", "bf16", "type of D", {"bf16", "f32"}),
           {.name = "alpha",
            .type = ParamType::real,
            .default_value = "1",
            .doc = "factor of the product, besides the operands' own"},
           {.name = "stages", .default_value = "3", .doc = "of the mainloop ring", .least = 2, .greatest = 3},
           choice_parameter("distribution", "normal",
                            "of generated input; codes: random codes and scales, which no data gives",
                            {"normal", "uniform", "heavy-tailed", "codes"}),
           {.name = "input-seed", .default_value = "1", .doc = "seed of generated input", .least = 0}},
      .build = build,
      .run = run};
}

}  // namespace drywell::kernels
