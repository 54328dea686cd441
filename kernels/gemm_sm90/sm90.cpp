// Plan, host side and the entry in the table of kernels.
#include "kernels/gemm_sm90/sm90.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "drywell/core/bits.h"
#include "drywell/core/whole_number.h"
#include "drywell/kernels/device_arrays.h"
#include "kernels/blockwise/parameters.h"

namespace drywell::kernels::blockwise {
namespace {

constexpr uint32_t kSmemLimit = 232448;  // 227 KiB, the limit of one CTA on sm_90

isa::TensorMap matrix_map(Accelerator& device, const Sm90Plan& p, GmemAddr at, uint64_t rows, uint64_t k, uint32_t box_rows) {
  isa::TensorMapFields f;
  f.type = isa::TensorType::u8;
  f.rank = 2;
  f.address = at.value();
  f.dim = {k, rows, 1, 1, 1};
  f.stride[0] = k;
  f.box = {p.tile_k(), box_rows, 1, 1, 1};
  f.swizzle = p.swizzle();
  return device.encode(f);
}

isa::TensorMap scale_map(Accelerator& device, GmemAddr at, const ScaleShape& s, uint32_t box_rows) {
  isa::TensorMapFields f;
  f.type = isa::TensorType::f32;
  f.rank = 2;
  f.address = at.value();
  f.dim = {s.rows, s.factors, 1, 1, 1};
  f.stride[0] = 4 * s.rows;
  f.box = {box_rows, 1, 1, 1, 1};
  return device.encode(f);
}

DeviceScales device_scales(GmemAddr at, const ScaleShape& s) {
  const auto u = [](uint64_t v) { return static_cast<uint32_t>(v); };
  return {at.value(), u(s.rows), u(s.factors), u(s.row_stride), u(s.k_stride)};
}

std::vector<uint8_t> bytes_of(const QuantizedMatrix& q) { return {q.codes.begin(), q.codes.end()}; }

/// Number of cluster tiles along M, and in all.
uint64_t cluster_tiles_m(const Sm90Config& c, const Shape& s) { return ceil_div(ceil_div(s.m, Sm90Plan::kTileM), c.cluster_m); }
uint64_t cluster_tiles(const Sm90Config& c, const Shape& s) { return cluster_tiles_m(c, s) * ceil_div(ceil_div(s.n, c.bn), c.cluster_n); }

}  // namespace

Sm90Plan::Sm90Plan(const Sm90Config& c) : config(c) {
  sfa = {kTileM / c.scales.m, 1, isa::Major::mn};
  sfb = {c.bn / c.scales.n, 1, isa::Major::mn};
  a_bytes = kTileM * tile_k();
  b_bytes = c.bn * tile_k();
  transaction_bytes = a_bytes + b_bytes + (tma_sfa() ? sfa.bytes() : 0) + (tma_sfb() ? sfb.bytes() : 0);
  smem_a = kHeaderBytes;
  smem_b = smem_a + c.stages * a_bytes;
  smem_sfa = smem_b + c.stages * b_bytes;
  smem_sfb = smem_sfa + c.stages * sfa_pitch();
  smem_bytes = smem_sfb + c.stages * sfb_pitch();
}

reference::BlockwiseArithmetic Sm90Plan::arithmetic() const {
  return {.instruction = reference::kHopperFp8,
          .granularity_k = tile_k(),
          .stage_k = tile_k(),
          .promotion = sfa.rows > 1 && sfb.rows > 1 ? reference::Promotion::a_then_b : reference::Promotion::product_first};
}

void check_sm90_blockwise(const Sm90Config& c, const Shape& s) {
  Diagnostics problems;
  const auto need = [&](bool good, const std::string& what, const char* why) {
    if (!good) problems.error(Code::E2310, {}, what, why);
  };
  need(c.scales.m != 0 && Sm90Plan::kTileM % c.scales.m == 0, fmt::format("scale-m = {}: must divide the tile's 128", c.scales.m), "");
  need(c.scales.n != 0 && c.bn % c.scales.n == 0, fmt::format("scale-n = {}: must divide the tile's {}", c.scales.n, c.bn), "");
  need(c.scales.k == 32 || c.scales.k == 64 || c.scales.k == 128, fmt::format("scale-k = {}", c.scales.k), "32, 64 or 128: it is the tile's K, a swizzle span");
  need(c.cluster_m * c.cluster_n <= 8, fmt::format("a cluster of {} CTAs", c.cluster_m * c.cluster_n), "at most 8 without opting in");
  need(c.bn / c.cluster_m >= 8, fmt::format("bn = {}: {} CTAs share its load", c.bn, c.cluster_m), "swizzled rows come in groups of eight");
  need(s.k % 16 == 0, fmt::format("k = {}: must be a multiple of 16", s.k), "a tensor map's strides are multiples of 16 bytes");
  need(s.n % 8 == 0, fmt::format("n = {}: must be a multiple of 8", s.n), "columns are stored in pairs, rows of D aligned to 16 bytes");
  need(s.m * s.n <= uint64_t{1} << 40 && s.m <= 0xFFFFFFFFu && s.n <= 0xFFFFFFFFu && s.k <= 0xFFFFFFFFu, "sizes are 32-bit", "");
  if (problems.has_errors()) throw InputError(std::move(problems));
  const Sm90Plan p(c);
  const auto aligned = [](uint64_t extent, uint32_t granularity) { return ceil_div(extent, granularity) % 4 == 0; };
  need(!p.tma_sfa() || aligned(s.m, c.scales.m), fmt::format("m = {}: SFA comes by TMA, its rows must be a multiple of 4", s.m), "a tensor map's strides are multiples of 16 bytes");
  need(!p.tma_sfb() || aligned(s.n, c.scales.n), fmt::format("n = {}: SFB comes by TMA, its rows must be a multiple of 4", s.n), "a tensor map's strides are multiples of 16 bytes");
  need(c.stages >= 2 && p.smem_bytes <= kSmemLimit, fmt::format("{} stages take {} bytes of shared memory", c.stages, p.smem_bytes), "2 at least, 232448 bytes at most");
  if (problems.has_errors()) throw InputError(std::move(problems));
}

sim::LaunchConfig sm90_launch(const Sm90Plan& p, const Shape& s, uint32_t sm_count) {
  const uint32_t ctas = p.config.ctas == 0 ? sm_count : std::min(p.config.ctas, sm_count);
  const uint64_t clusters = std::min<uint64_t>(cluster_tiles(p.config, s), std::max(1u, ctas / p.cluster()));
  return {.grid = {static_cast<uint32_t>(clusters) * p.cluster()}, .block = {Sm90Plan::kThreads}, .cluster = {p.cluster()}, .dynamic_smem = p.smem_bytes};
}

Sm90Result run_sm90_blockwise(Accelerator& device, const Sm90Plan& p, const Problem& x, const Scalars& scalars, const sim::RunOptions& options) {
  const Sm90Config& c = p.config;
  const Shape& s = x.shape;
  const uint32_t width = isa::element_bits(c.output) / 8;
  DeviceArrays arrays(device);
  const ScaleShape sa = scale_shape(s.m, s.k, c.scales.m, c.scales.k, isa::Major::mn), sb = scale_shape(s.n, s.k, c.scales.n, c.scales.k, isa::Major::mn);
  const GmemAddr sfa = arrays.make(scale_image(x.sfa, sa), "SFA"), sfb = arrays.make(scale_image(x.sfb, sb), "SFB"), d = arrays.make(s.m * s.n * width, "D");
  Sm90Problem q;
  q.map_a = matrix_map(device, p, arrays.make(bytes_of(x.a), "A"), s.m, s.k, Sm90Plan::kTileM / c.cluster_n);
  q.map_b = matrix_map(device, p, arrays.make(bytes_of(x.b), "B"), s.n, s.k, c.bn / c.cluster_m);
  if (p.tma_sfa()) q.map_sf = scale_map(device, sfa, sa, p.sfa.rows);
  if (p.tma_sfb()) q.map_sf = scale_map(device, sfb, sb, p.sfb.rows);
  q.sfa = device_scales(sfa, sa);
  q.sfb = device_scales(sfb, sb);
  q.d = d.value();
  if (c.reads_c) {
    const std::vector<uint32_t> codes = c.d_major == isa::Major::mn ? transposed(x.c, s.m, s.n) : x.c;
    std::vector<uint8_t> bytes(codes.size() * width);
    for (size_t i = 0; i < codes.size(); ++i) std::memcpy(bytes.data() + i * width, &codes[i], width);
    q.c = arrays.make(bytes, "C").value();
  }
  q.tiles_m = static_cast<uint32_t>(cluster_tiles_m(c, s));
  q.tiles = static_cast<uint32_t>(cluster_tiles(c, s));
  q.k_tiles = static_cast<uint32_t>(ceil_div(s.k, p.tile_k()));
  q.m = static_cast<uint32_t>(s.m);
  q.n = static_cast<uint32_t>(s.n);
  sim::Args args;
  args.add(q).add(scalars.alpha).add(scalars.beta);
  device.load(build_sm90_blockwise(p));
  Sm90Result r;
  r.run = device.launch("gemm_sm90_blockwise", sm90_launch(p, s, device.sm_count()), args, options);
  const auto bytes = arrays.read<uint8_t>(d, s.m * s.n * width);
  r.d.assign(s.m * s.n, 0);
  for (size_t i = 0; i < r.d.size(); ++i) std::memcpy(&r.d[i], bytes.data() + i * width, width);
  if (c.d_major == isa::Major::mn) r.d = transposed(r.d, s.n, s.m);
  return r;
}

}  // namespace drywell::kernels::blockwise

namespace drywell::kernels {
namespace {

using namespace blockwise;

struct Request {
  explicit Request(const Params& p) : spec(spec_of(p)) {
    config.a = spec.a;
    config.b = spec.b;
    config.scales = spec.scales;
    config.bn = whole_number<uint32_t>(p.text("bn")).value();
    config.stages = static_cast<uint32_t>(p.integer("stages"));
    config.ctas = static_cast<uint32_t>(p.integer("ctas"));
    config.output = spec.output;
    config.d_major = p.text("d-major") == "mn" ? isa::Major::mn : isa::Major::k;
    config.reads_c = spec.reads_c;
    config.cluster_m = whole_number<uint32_t>(p.text("cluster-m")).value();
    config.cluster_n = whole_number<uint32_t>(p.text("cluster-n")).value();
    check_sm90_blockwise(config, spec.shape);
  }
  ProblemSpec spec;
  Sm90Config config;
};

isa::Module build(const Params& p, const sim::ArchConfig&) { return build_sm90_blockwise(Sm90Plan(Request(p).config)); }

KernelReport run(const RunContext& c) {
  const Request q(c.params);
  const Sm90Plan plan(q.config);
  const auto machine = c.open();
  if (machine->arch().target != isa::Target::sm_90a)
    throw InputError(Code::E2310, fmt::format("gemm-sm90-blockwise on {}: wgmma is Hopper's", machine->arch().name), "--arch=sm_90a");
  c.enter("making input");
  const Problem p = make_problem(q.spec);
  const Scalars scalars = scalars_of(c.params);
  KernelReport r;
  r.shape = describe(q.spec);
  r.launch = sm90_launch(plan, p.shape, machine->sm_count());
  const uint64_t width = isa::element_bits(q.spec.output) / 8;
  r.bytes_read = p.a.codes.size() + p.b.codes.size() + 4 * (p.sfa.size() + p.sfb.size()) + p.c.size() * width;
  r.bytes_written = p.shape.m * p.shape.n * width;
  r.notes.emplace_back("tile", fmt::format("128 x {} x {}, {} stages, clusters of {} x {}", q.config.bn, plan.tile_k(), q.config.stages, q.config.cluster_m, q.config.cluster_n));
  const auto how = [](bool tma) { return tma ? "TMA" : "cp.async"; };
  r.notes.emplace_back("factors", fmt::format("{} of SFA by {}, {} of SFB by {} a stage", plan.sfa.rows, how(plan.tma_sfa()), plan.sfb.rows, how(plan.tma_sfb())));
  c.enter("running");
  Sm90Result got = run_sm90_blockwise(*machine, plan, p, scalars, c.options);
  r.run = std::move(got.run);
  if (!r.run.ok()) return r;
  if (c.verify) {
    c.enter("verifying");
    verify(r, p, q.spec.scales, plan.arithmetic(), scalars, q.spec.output, got.d, c.options.threads);
    r.notes.emplace_back("error", error_text(p, q.spec.scales, scalars, q.spec.output, got.d, c.options.threads));
  }
  if (c.keep_outputs) r.outputs.emplace_back("d", output_array(got.d, p.shape, q.spec.output));
  return r;
}

}  // namespace

Kernel gemm_sm90_blockwise_kernel() {
  std::vector<Parameter> p = common_parameters();
  const std::vector<Parameter> more = {choice_parameter("bn", "128", "columns of a tile", {"32", "64", "128"}),
                                       choice_parameter("d-major", "k", "C and D: row-major (k) or column-major (mn)", {"k", "mn"}),
                                       choice_parameter("cluster-m", "1", "tiles along m whose CTAs share B by multicast", {"1", "2", "4"}),
                                       choice_parameter("cluster-n", "1", "tiles along n whose CTAs share A by multicast", {"1", "2", "4"}),
                                       {.name = "stages", .default_value = "4", .doc = "of the mainloop ring", .least = 2, .greatest = 16},
                                       {.name = "ctas", .default_value = "0", .doc = "CTAs of the grid at most; 0: one for every SM", .least = 0, .greatest = 1 << 16}};
  p.insert(p.end(), more.begin(), more.end());
  return {.name = "gemm-sm90-blockwise",
          .doc = "gemm-blockwise on Hopper (--arch=sm_90a); cooperative warp-specialised wgmma, scales by TMA or cp.async",
          .parameters = p,
          .build = build,
          .run = run};
}

}  // namespace drywell::kernels
