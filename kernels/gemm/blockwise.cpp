#include "kernels/gemm/blockwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "drywell/core/bits.h"
#include "kernels/gemm/maps.h"
#include "kernels/support/device_arrays.h"

namespace drywell::kernels {
namespace {

using gemm::DeviceProblem;
using gemm::GemmConfig;
using gemm::GemmPlan;

blockwise::DeviceScales device_scales(DeviceArrays& arrays, const std::vector<float>& logical, const blockwise::ScaleShape& s, const char* name) {
  const auto u = [](uint64_t v) { return static_cast<uint32_t>(v); };
  return {arrays.make(blockwise::scale_image(logical, s), name).value(), u(s.rows), u(s.factors), u(s.row_stride), u(s.k_stride)};
}

uint64_t tiles_of(const GemmPlan& p, const blockwise::Shape& s) {
  return ceil_div(s.m, p.tile_m) * ceil_div(ceil_div(s.n, p.config.bn), p.config.cluster_n);
}

/// Puts one problem's tensors on the device; `d` is where its output goes.
DeviceProblem device_problem(Accelerator& device, DeviceArrays& arrays, const GemmPlan& p, const blockwise::Problem& x, GmemAddr& d) {
  const GemmConfig& c = p.config;
  const blockwise::Shape& s = x.shape;
  DeviceProblem out;
  out.map_a = gemm::operand_map(device, p.a, arrays.make(operand_image(x.a, c.a.major), "A"), s.m, s.k, p.tile_k, c.cluster_n);
  out.map_b = gemm::operand_map(device, p.b, arrays.make(operand_image(x.b, c.b.major), "B"), s.n, s.k, p.tile_k, 1);
  d = arrays.make(s.m * s.n * p.output_bytes(), "D");
  out.map_d = gemm::output_map(device, p, d, s.m, s.n);
  if (c.reads_c) {
    std::vector<uint8_t> bytes(x.c.size() * p.output_bytes());
    for (size_t i = 0; i < x.c.size(); ++i) std::memcpy(bytes.data() + i * p.output_bytes(), &x.c[i], p.output_bytes());
    out.map_c = gemm::output_map(device, p, arrays.make(bytes, "C"), s.m, s.n);
  }
  out.sfa = device_scales(arrays, x.sfa, blockwise::scale_shape(s.m, s.k, c.block.m, c.block.k, c.block.a_major), "SFA");
  out.sfb = device_scales(arrays, x.sfb, blockwise::scale_shape(s.n, s.k, c.block.n, c.block.k, c.block.b_major), "SFB");
  out.tiles_m = static_cast<uint32_t>(ceil_div(s.m, p.tile_m));
  out.tiles = static_cast<uint32_t>(tiles_of(p, s));
  out.k_tiles = static_cast<uint32_t>(ceil_div(s.k, p.tile_k));
  return out;
}

}  // namespace

void check_blockwise(const GemmConfig& c, std::span<const blockwise::Shape> shapes) {
  Diagnostics problems;
  const auto refuse = [&](const std::string& what, const char* why) { problems.error("E2310", {}, what, why); };
  const auto divides = [&](const char* name, uint32_t granularity, uint32_t tile) {
    if (granularity == 0 || tile % granularity != 0)
      refuse(fmt::format("{} = {}: must divide the tile's {}", name, granularity, tile), "a tile's rows or columns share whole factors (CUTLASS asks the same)");
  };
  divides("scale-m", c.block.m, 128);
  divides("scale-n", c.block.n, c.bn);
  if (c.block.k != 32 && c.block.k != 64 && c.block.k != 128) refuse(fmt::format("scale-k = {}", c.block.k), "32, 64 or 128: whole MMAs that divide a stage");
  if (c.bn > 128) refuse(fmt::format("bn = {}: at most 128", c.bn), "the epilogue threads keep a row of sums in registers");
  if (c.cta_group == 2 && c.bn < 32) refuse(fmt::format("bn = {} for two CTAs: 32 at least", c.bn), "PTX ISA: N of cta_group::2 is a multiple of 32 with M = 256");
  if (c.b.major == isa::Major::mn && c.bn / c.cta_group < 32) refuse(fmt::format("bn = {}: too narrow for an MN-major B", c.bn), "its lines are 32 bytes at least");
  if (c.cta_group * c.cluster_n > 8) refuse("a cluster of more than 8 CTAs", "");
  if (problems.has_errors()) throw InputError(std::move(problems));
  for (const blockwise::Shape& s : shapes) check_gemm(c, s.m, s.n, s.k);
}

sim::LaunchConfig blockwise_launch(const GemmPlan& p, std::span<const blockwise::Shape> shapes, uint32_t sm_count) {
  uint64_t tiles = 0;
  for (const blockwise::Shape& s : shapes) tiles += tiles_of(p, s);
  const uint32_t ctas = p.config.ctas == 0 ? sm_count : std::min(p.config.ctas, sm_count);
  return {.grid = {static_cast<uint32_t>(std::min<uint64_t>(tiles, std::max(1u, ctas / p.cluster))) * p.cluster},
          .block = {p.threads()},
          .cluster = {p.cluster},
          .dynamic_smem = p.smem_bytes};
}

BlockwiseResult run_blockwise(Accelerator& device, const GemmPlan& p, std::span<const blockwise::Problem> problems, const blockwise::Scalars& scalars,
                              const sim::RunOptions& options) {
  DeviceArrays arrays(device);
  std::vector<DeviceProblem> table;
  std::vector<GmemAddr> outputs(problems.size());
  std::vector<blockwise::Shape> shapes;
  uint32_t tiles = 0;
  for (size_t i = 0; i < problems.size(); ++i) {
    table.push_back(device_problem(device, arrays, p, problems[i], outputs[i]));
    shapes.push_back(problems[i].shape);
    tiles += table.back().tiles;
  }
  sim::Args args;
  if (p.config.grouped) {
    args.add(arrays.make(table, "problems"));
  } else {
    args.add(table[0]);
  }
  args.add(tiles).add(scalars.alpha);
  if (p.config.reads_c) args.add(scalars.beta);
  device.load(build_gemm(p, device.arch().target));
  BlockwiseResult r;
  r.run = device.launch(p.entry_name(), blockwise_launch(p, shapes, device.sm_count()), args, options);
  for (size_t i = 0; i < problems.size(); ++i) {
    const uint64_t count = shapes[i].m * shapes[i].n;
    const auto bytes = arrays.read<uint8_t>(outputs[i], count * p.output_bytes());
    r.d.emplace_back(count, 0u);
    for (size_t at = 0; at < count; ++at) std::memcpy(&r.d[i][at], bytes.data() + at * p.output_bytes(), p.output_bytes());
  }
  return r;
}

}  // namespace drywell::kernels
