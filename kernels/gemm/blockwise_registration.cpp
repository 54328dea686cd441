// gemm-blockwise's entry in the table of kernels.
#include <fmt/format.h>

#include "drywell/core/whole_number.h"
#include "kernels/blockwise/parameters.h"
#include "kernels/gemm/blockwise.h"

namespace drywell::kernels {
namespace {

using blockwise::Problem;
using blockwise::ProblemSpec;
using blockwise::Shape;

isa::Major major_of(const Params& p, std::string_view name) { return p.text(name) == "mn" ? isa::Major::mn : isa::Major::k; }

isa::MmaElement element_of(numeric::Format f) { return f == numeric::Format::e5m2 ? isa::MmaElement::e5m2 : isa::MmaElement::e4m3; }

/// The requested problems, and the kernel's problems: with --swap the transposed ones.
struct Request {
  explicit Request(const Params& p) : spec(blockwise::spec_of(p)), swap(p.flag("swap")) {
    spec.scales.a_major = major_of(p, "sfa-major");
    spec.scales.b_major = major_of(p, "sfb-major");
    shapes = blockwise::parse_shapes(p.text("groups"));
    config.grouped = !shapes.empty();
    if (shapes.empty()) shapes = {spec.shape};
    const auto number = [&](std::string_view name) { return whole_number<uint32_t>(p.text(name)).value(); };
    config.kind = isa::MmaKind::f8f6f4;
    config.a = {element_of(spec.a), major_of(p, "a-major")};
    config.b = {element_of(spec.b), major_of(p, "b-major")};
    config.block = swap ? blockwise::swapped(spec.scales) : spec.scales;
    if (swap) std::swap(config.a, config.b);
    config.cta_group = number("cta-group");
    config.cluster_n = number("cluster-n");
    config.cluster_m = number("cluster-m");
    config.bm = number("bm");
    config.bn = number("bn");
    config.stages = static_cast<uint32_t>(p.integer("stages"));
    config.ctas = static_cast<uint32_t>(p.integer("ctas"));
    config.output = spec.output;
    config.d_major = major_of(p, "d-major");
    config.reads_c = spec.reads_c;
    widen_scales();
    check_blockwise(config, kernel_shapes());
  }

  /// Copies factors four at a time if every problem has whole quadruples only.
  void widen_scales() {
    config.wide_sfa = config.wide_sfb = true;
    const blockwise::ScaleConfig& b = config.block;
    const uint32_t factors = 128 / b.k;
    for (const Shape& s : kernel_shapes()) {
      config.wide_sfa &= blockwise::whole_quadruples(blockwise::scale_shape(s.m, s.k, b.m, b.k, b.a_major), b.a_major, config.bm / b.m, factors);
      config.wide_sfb &= blockwise::whole_quadruples(blockwise::scale_shape(s.n, s.k, b.n, b.k, b.b_major), b.b_major, config.bn / b.n, factors);
    }
  }

  std::vector<Shape> kernel_shapes() const {
    std::vector<Shape> out = shapes;
    if (swap) {
      for (Shape& s : out) std::swap(s.m, s.n);
    }
    return out;
  }

  ProblemSpec spec;
  bool swap = false;
  std::vector<Shape> shapes;  // of D
  gemm::GemmConfig config;    // of the kernel
};

std::vector<Problem> make_problems(const Request& q) {
  std::vector<Problem> out;
  for (size_t i = 0; i < q.shapes.size(); ++i) {
    ProblemSpec s = q.spec;
    s.shape = q.shapes[i];
    s.generate.seed += 16 * i;
    out.push_back(blockwise::make_problem(s));
  }
  return out;
}

isa::Module build_blockwise(const Params& p, const sim::ArchConfig& arch) { return build_gemm(gemm::GemmPlan(Request(p).config), arch.target); }

void add_notes(KernelReport& r, const gemm::GemmPlan& p, const Request& q) {
  r.notes.emplace_back("tile", fmt::format("{} x {} x {}, {} stages, cta_group::{}, clusters of {}{}", p.tile_m, q.config.bn, p.tile_k, p.stages, q.config.cta_group,
                                           p.cluster, q.config.cluster_m == 1 ? "" : fmt::format(": {} x {} tiles", q.config.cluster_m, q.config.cluster_n)));
  r.notes.emplace_back("factors", fmt::format("{} x {} of SFA and {} x {} of SFB a stage, {} promotions", p.block_a.rows, p.block_a.factors, p.block_b.rows,
                                              p.block_b.factors, p.blocks_of_stage()));
  if (q.swap) r.notes.emplace_back("swap", "computes the transpose of D from B^T and A^T");
}

KernelReport run_blockwise(const RunContext& c) {
  const Request q(c.params);
  const gemm::GemmPlan plan(q.config);
  c.enter("making input");
  const std::vector<Problem> problems = make_problems(q);
  std::vector<Problem> given;
  for (const Problem& p : problems) given.push_back(q.swap ? blockwise::swapped(p) : p);
  const blockwise::Scalars scalars = blockwise::scalars_of(c.params);
  const auto machine = c.open();
  KernelReport r;
  r.shape = q.config.grouped ? fmt::format("{} problems, {} x {}", q.shapes.size(), to_string(q.config.a.element), to_string(q.config.b.element)) : describe(q.spec);
  r.launch = blockwise_launch(plan, q.kernel_shapes(), machine->sm_count());
  for (const Problem& p : problems) {
    r.bytes_read += p.a.codes.size() + p.b.codes.size() + 4 * (p.sfa.size() + p.sfb.size()) + p.c.size() * plan.output_bytes();
    r.bytes_written += p.shape.m * p.shape.n * plan.output_bytes();
  }
  c.enter("running");
  BlockwiseResult got = run_blockwise(*machine, plan, given, scalars, c.options);
  r.run = std::move(got.run);
  add_notes(r, plan, q);
  if (!r.run.ok()) return r;
  const reference::BlockwiseArithmetic arithmetic{.instruction = {.k = plan.mma_k}, .granularity_k = q.spec.scales.k, .stage_k = plan.tile_k};
  for (size_t i = 0; i < problems.size(); ++i) {
    const Problem& p = problems[i];
    const auto d = q.swap ? blockwise::transposed(got.d[i], p.shape.n, p.shape.m) : got.d[i];
    if (c.verify) {
      c.enter("verifying");
      blockwise::verify(r, p, q.spec.scales, arithmetic, scalars, q.spec.output, d, c.options.threads);
      if (i == 0) r.notes.emplace_back("error", blockwise::error_text(p, q.spec.scales, scalars, q.spec.output, d, c.options.threads));
    }
    if (c.keep_outputs) r.outputs.emplace_back(problems.size() == 1 ? "d" : fmt::format("d{}", i), blockwise::output_array(d, p.shape, q.spec.output));
  }
  return r;
}

}  // namespace

Kernel gemm_blockwise_kernel() {
  std::vector<Parameter> p = blockwise::common_parameters();
  const std::vector<Parameter> more = {
      {.name = "groups", .type = ParamType::text, .default_value = "", .doc = "shapes of a grouped GEMM, as 128x256x512,64x64x128; empty: one problem"},
      choice_parameter("sfa-major", "mn", "the index of SFA that runs along memory", {"mn", "k"}),
      choice_parameter("sfb-major", "mn", "the index of SFB that runs along memory", {"mn", "k"}),
      choice_parameter("a-major", "k", "the index of A that runs along memory", {"k", "mn"}),
      choice_parameter("b-major", "k", "the index of B that runs along memory", {"k", "mn"}),
      {.name = "swap", .type = ParamType::flag, .default_value = "false", .doc = "compute the transpose of D from B^T and A^T: for small m"},
      choice_parameter("d-major", "k", "C and D: row-major (k) or column-major (mn)", {"k", "mn"}),
      choice_parameter("cta-group", "1", "CTAs that share an MMA: tiles of bm or twice as many rows", {"1", "2"}),
      choice_parameter("cluster-n", "1", "tiles along n whose CTAs share A by multicast", {"1", "2", "4", "8"}),
      choice_parameter("cluster-m", "1", "tiles along m whose CTAs share B by multicast", {"1", "2", "4", "8"}),
      choice_parameter("bm", "128", "rows of a CTA's tile", {"64", "128"}),
      choice_parameter("bn", "128", "columns of a tile", {"8", "16", "32", "64", "128", "256"}),
      {.name = "stages", .default_value = "0", .doc = "of the mainloop ring; 0: as many as fit", .least = 0, .greatest = gemm::kMaxStages},
      {.name = "ctas", .default_value = "0", .doc = "CTAs of the grid at most; 0: one for every SM", .least = 0, .greatest = 1 << 16}};
  p.insert(p.end(), more.begin(), more.end());
  return {.name = "gemm-blockwise",
          .doc = "GEMM of 8-bit floats with f32 factors of blocks; grouped, too; D = alpha * (A * SFA) * (B * SFB)^T + beta * C, factors applied in software",
          .parameters = p,
          .build = build_blockwise,
          .run = run_blockwise};
}

}  // namespace drywell::kernels
