// The three kernels' entries in the table of kernels: parameters, operands, verification.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "drywell/kernels/gemm_output.h"
#include "drywell/launch/generate.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/parameters.h"
#include "kernels/gemm/verification.h"

namespace drywell::kernels {
namespace {

using gemm::Family;
using gemm::GemmConfig;
using gemm::GemmPlan;

struct ProblemSize {
  uint64_t m, n, k;
};

ProblemSize shape_of(const Params& p) {
  return {static_cast<uint64_t>(p.integer("m")), static_cast<uint64_t>(p.integer("n")),
          static_cast<uint64_t>(p.integer("k"))};
}

/// Reads a .npy matrix; its sizes replace parameters that the user did not set and must agree with those that the user set.
std::vector<float> read_matrix(const Params& p, const char* which, std::pair<const char*, uint64_t&> rows,
                               std::pair<const char*, uint64_t&> columns) {
  const std::string& path = p.text(which);
  const NpyArray a = read_npy(path);
  if (a.shape.size() != 2)
    throw InputError(Code::E2303, fmt::format("{}: {} is not two-dimensional", path, a.describe()));
  const auto agree = [&](const char* name, uint64_t& size, uint64_t given) {
    if (p.given(name) && size != given)
      throw InputError(Code::E2303, fmt::format("{}: {}, but --{}={}", path, a.describe(), name, size));
    size = given;
  };
  agree(rows.first, rows.second, a.shape[0]);
  agree(columns.first, columns.second, a.shape[1]);
  return float_values(a);
}

GenerateOptions generation(const Params& p, uint64_t stream) {
  GenerateOptions g;
  if (const auto d = parse_distribution(p.text("distribution")); d.has_value()) g.distribution = *d;
  g.seed = static_cast<uint64_t>(p.integer("input-seed")) * 4 + stream;
  return g;
}

/// Quantizes `values`; generates them first if they are empty. Without a use for elements there are none.
QuantizedMatrix operand_of(const RunContext& c, std::vector<float>& values, uint64_t rows, uint64_t k,
                           const QuantizeRecipe& recipe, uint64_t stream) {
  const Params& p = c.params;
  if (!c.options.values) return shape_alone(rows, k, recipe);
  if (values.empty()) {
    if (p.text("distribution") == "codes") return random_codes(rows, k, recipe, generation(p, stream).seed);
    values = generate_floats(rows, k, generation(p, stream));
  }
  return quantize_matrix(values, rows, k, recipe);
}

std::vector<uint32_t> source_codes(const std::vector<float>& values, isa::TensorType type) {
  std::vector<uint32_t> out;
  out.reserve(values.size());
  for (const float v : values) out.push_back(gemm::output_code(v, type));
  return out;
}

GemmProblem problem_of(const RunContext& c, const GemmConfig& config, Family family) {
  const Params& p = c.params;
  if (!c.input.empty())
    throw InputError(Code::E2303, "a GEMM has several inputs", "--a, --b and --c name .npy files");
  c.enter("making input");
  ProblemSize s = shape_of(p);
  GemmProblem x;
  std::vector<float> source;
  if (!p.text("a").empty()) x.a_values = read_matrix(p, "a", {"m", s.m}, {"k", s.k});
  if (!p.text("b").empty()) x.b_values = read_matrix(p, "b", {"n", s.n}, {"k", s.k});
  if (!p.text("c").empty()) source = read_matrix(p, "c", {"m", s.m}, {"n", s.n});
  if ((!x.a_values.empty() && x.a_values.size() != s.m * s.k) ||
      (!x.b_values.empty() && x.b_values.size() != s.n * s.k)) {
    throw InputError(Code::E2303, "A and B have different k");
  }
  check_gemm(config, s.m, s.n, s.k);
  x.m = s.m;
  x.n = s.n;
  x.k = s.k;
  x.alpha = static_cast<float>(p.real("alpha"));
  x.beta = static_cast<float>(p.real("beta"));
  x.a = operand_of(c, x.a_values, s.m, s.k, gemm::recipe_of(config, config.a.element, family), 0);
  if (!c.verify) x.a_values = {};
  x.b = operand_of(c, x.b_values, s.n, s.k, gemm::recipe_of(config, config.b.element, family), 1);
  if (!c.verify) x.b_values = {};
  if (config.reads_c && c.options.values)
    x.c = source_codes(source.empty() ? generate_floats(s.m, s.n, generation(p, 2)) : source, config.output);
  return x;
}

void add_notes(KernelReport& r, const GemmPlan& p, const GemmProblem& x, bool values) {
  const GemmConfig& c = p.config;
  r.notes.emplace_back("tile", fmt::format("{} x {} x {}, {} stages, cta_group::{}, clusters of {}", p.tile_m,
                                           c.bn, p.tile_k, p.stages, c.cta_group, p.cluster));
  std::string columns = fmt::format("{} columns: {} x {} accumulator", p.tmem_columns, p.accumulators, c.bn);
  if (c.scaled())
    columns += fmt::format(", {} x ({} SFA + {} SFB)", p.scale_buffers, p.sfa_columns(), p.sfb_columns());
  r.notes.emplace_back("tensor memory", columns);
  if (r.run.host_seconds > 0 && values) {
    const double macs = static_cast<double>(x.m) * static_cast<double>(x.n) * static_cast<double>(x.k);
    r.host_notes.emplace_back("products", fmt::format("{:.3g} G/s on the host", macs / r.run.host_seconds / 1e9));
  }
}

std::string shape_text(const GemmConfig& c, const GemmProblem& x) {
  std::string text =
      fmt::format("{} x {} x {}, {} x {}", x.m, x.n, x.k, to_string(c.a.element), to_string(c.b.element));
  if (c.scaled()) text += fmt::format(", {} every {}", c.ue8m0 ? "ue8m0" : "ue4m3", x.a.block);
  return text + fmt::format(" -> {}", to_string(c.output));
}

template <Family F>
isa::Module build(const Params& p, const sim::ArchConfig& arch) {
  const GemmConfig config = gemm::config_of(p, F);
  const ProblemSize s = shape_of(p);
  check_gemm(config, s.m, s.n, s.k);
  return build_gemm(GemmPlan(config), arch.target);
}

template <Family F>
KernelReport run(const RunContext& c) {
  const GemmConfig config = gemm::config_of(c.params, F);
  const GemmPlan plan(config);
  const GemmProblem x = problem_of(c, config, F);
  const std::unique_ptr<Accelerator> machine = c.open();
  Accelerator& device = *machine;
  KernelReport r;
  r.shape = shape_text(config, x);
  r.launch = gemm_launch(plan, x.m, x.n, device.sm_count());
  const auto scales_of = [](const QuantizedMatrix& q) { return q.block == 0 ? 0 : q.rows * q.k / q.block; };
  r.bytes_read = operand_bytes(x.a) + operand_bytes(x.b) + scales_of(x.a) + scales_of(x.b) + (config.reads_c ? x.m * x.n * plan.output_bytes() : 0);
  r.bytes_written = x.m * x.n * plan.output_bytes();
  c.enter("running");
  GemmResult got = run_gemm(device, plan, x, c.options);
  r.run = std::move(got.run);
  add_notes(r, plan, x, c.options.values);
  if (!r.run.ok()) return r;
  if (c.verify) {
    c.enter("verifying");
    gemm::verify(r, plan, x, got.d, c.options.threads);
  }
  if (c.keep_outputs && c.options.values) r.outputs.emplace_back("d", gemm::output_array(got.d, x.m, x.n, config.output));
  return r;
}

}  // namespace

Kernel gemm_blockscaled_kernel() {
  return {.name = "gemm-blockscaled",
          .doc = "block-scaled GEMM in NVFP4, MXFP4, MXFP6 and MXFP8; D = alpha * (A * SFA) * (B * SFB)^T + beta * C",
          .parameters = gemm::parameters_of(Family::blockscaled),
          .build = build<Family::blockscaled>,
          .run = run<Family::blockscaled>};
}

Kernel gemm_fp8_kernel() {
  return {.name = "gemm-fp8",
          .doc = "GEMM in 8-, 6- and 4-bit floats without block scaling; D = alpha * A * B^T + beta * C",
          .parameters = gemm::parameters_of(Family::fp8),
          .build = build<Family::fp8>,
          .run = run<Family::fp8>};
}

Kernel gemm_bf16_kernel() {
  return {.name = "gemm-bf16",
          .doc = "GEMM in bf16 or f16; D = alpha * A * B^T + beta * C",
          .parameters = gemm::parameters_of(Family::bf16),
          .build = build<Family::bf16>,
          .run = run<Family::bf16>};
}

}  // namespace drywell::kernels
