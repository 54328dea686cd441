#include "kernels/gemm/blockwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "drywell/core/bits.h"
#include "drywell/kernels/device_arrays.h"
#include "kernels/gemm/maps.h"

namespace drywell::kernels {
namespace {

using gemm::DeviceProblem;
using gemm::GemmConfig;
using gemm::GemmPlan;

blockwise::DeviceScales device_scales(DeviceArrays& arrays, const std::vector<float>& logical, const blockwise::ScaleShape& s, const char* name) {
  const auto u = [](uint64_t v) { return static_cast<uint32_t>(v); };
  return {arrays.make(blockwise::scale_image(logical, s), name).value(), u(s.rows), u(s.factors), u(s.row_stride), u(s.k_stride)};
}

/// The tiles that a cluster computes at once count as one.
uint64_t tiles_m_of(const GemmPlan& p, const blockwise::Shape& s) { return ceil_div(s.m, p.tile_m * p.config.cluster_m); }
uint64_t tiles_of(const GemmPlan& p, const blockwise::Shape& s) { return tiles_m_of(p, s) * ceil_div(ceil_div(s.n, p.config.bn), p.config.cluster_n); }

/// Converts codes in row-major order to the bytes of C or D, and the bytes back to codes.
std::vector<uint8_t> output_bytes(const GemmPlan& p, const std::vector<uint32_t>& codes, const blockwise::Shape& s) {
  const std::vector<uint32_t> turned = p.column_major_d() ? blockwise::transposed(codes, s.m, s.n) : codes;
  std::vector<uint8_t> bytes(turned.size() * p.output_bytes());
  for (size_t i = 0; i < turned.size(); ++i) std::memcpy(bytes.data() + i * p.output_bytes(), &turned[i], p.output_bytes());
  return bytes;
}
std::vector<uint32_t> output_codes(const GemmPlan& p, const std::vector<uint8_t>& bytes, const blockwise::Shape& s) {
  std::vector<uint32_t> codes(s.m * s.n, 0);
  for (size_t i = 0; i < codes.size(); ++i) std::memcpy(&codes[i], bytes.data() + i * p.output_bytes(), p.output_bytes());
  return p.column_major_d() ? blockwise::transposed(codes, s.n, s.m) : codes;
}

/// Copies one problem's tensors to the device.
DeviceProblem device_problem(DeviceArrays& arrays, const GemmPlan& p, const blockwise::Problem& x) {
  const GemmConfig& c = p.config;
  const blockwise::Shape& s = x.shape;
  DeviceProblem out;
  out.m = static_cast<uint32_t>(s.m);
  out.n = static_cast<uint32_t>(s.n);
  out.k = static_cast<uint32_t>(s.k);
  out.a = arrays.make(operand_image(x.a, c.a.major), "A").value();
  out.b = arrays.make(operand_image(x.b, c.b.major), "B").value();
  out.d = arrays.make(s.m * s.n * p.output_bytes(), "D").value();
  if (c.reads_c) out.c = arrays.make(output_bytes(p, x.c, s), "C").value();
  out.sfa = device_scales(arrays, x.sfa, blockwise::scale_shape(s.m, s.k, c.block.m, c.block.k, c.block.a_major), "SFA");
  out.sfb = device_scales(arrays, x.sfb, blockwise::scale_shape(s.n, s.k, c.block.n, c.block.k, c.block.b_major), "SFB");
  out.tiles_m = static_cast<uint32_t>(tiles_m_of(p, s));
  out.tiles = static_cast<uint32_t>(tiles_of(p, s));
  out.k_tiles = static_cast<uint32_t>(ceil_div(s.k, p.tile_k));
  return out;
}

gemm::DeviceMaps device_maps(Accelerator& device, const GemmPlan& p, const DeviceProblem& x) {
  gemm::DeviceMaps maps;
  maps.a = gemm::operand_map(device, p.a, GmemAddr{x.a}, x.m, x.k, p.tile_k, p.config.cluster_n);
  maps.b = gemm::operand_map(device, p.b, GmemAddr{x.b}, x.n, x.k, p.tile_k, p.config.cluster_m);
  maps.d = gemm::output_map(device, p, GmemAddr{x.d}, x.m, x.n);
  maps.c = p.config.reads_c ? gemm::output_map(device, p, GmemAddr{x.c}, x.m, x.n) : maps.d;
  return maps;
}

}  // namespace

void check_blockwise(const GemmConfig& c, std::span<const blockwise::Shape> shapes) {
  Diagnostics problems;
  const auto refuse = [&](const std::string& what, const char* why) { problems.error(Code::E2310, {}, what, why); };
  const auto divides = [&](const char* name, uint32_t granularity, uint32_t tile) {
    if (granularity == 0 || tile % granularity != 0)
      refuse(fmt::format("{} = {}: must divide the tile's {}", name, granularity, tile), "a tile's rows or columns share whole factors (CUTLASS asks the same)");
  };
  if (c.bm != 64 && c.bm != 128) refuse(fmt::format("bm = {}", c.bm), "64 or 128: rows of an MMA in one CTA");
  divides("scale-m", c.block.m, c.bm);
  divides("scale-n", c.block.n, c.bn);
  if (c.block.k != 32 && c.block.k != 64 && c.block.k != 128) refuse(fmt::format("scale-k = {}", c.block.k), "32, 64 or 128: whole MMAs that divide a stage");
  if (c.bn < 8 || c.bn > 256 || !std::has_single_bit(c.bn)) refuse(fmt::format("bn = {}", c.bn), "a power of two from 8 to 256");
  if (c.bn == 8 && c.bm != 64) refuse("bn = 8: with bm = 64 only", "PTX ISA: N of M = 128 is a multiple of 16");
  if (c.cta_group == 2 && c.bn < 32) refuse(fmt::format("bn = {} for two CTAs: 32 at least", c.bn), "PTX ISA: N of cta_group::2 is a multiple of 32");
  if (c.bn == 8 && c.d_major == isa::Major::k && c.output != isa::TensorType::f32)
    refuse("bn = 8: two threads share a row, 8 bytes each", "d-type f32 or a column-major D: a box of a tensor map has lines of 16 bytes at least");
  if (c.b.major == isa::Major::mn && c.bn / c.cta_group < 32) refuse(fmt::format("bn = {}: too narrow for an MN-major B", c.bn), "its lines are 32 bytes at least");
  if (const uint32_t ctas = c.cta_group * c.cluster_m * c.cluster_n; ctas > 16) refuse(fmt::format("a cluster of {} CTAs", ctas), "16 at most, 8 without opting in");
  if (c.b.major == isa::Major::k && c.bn / c.cta_group / c.cluster_m < 8)
    refuse(fmt::format("bn = {}: less than eight columns of B for each CTA that loads it", c.bn), "a box of a swizzled tensor map begins at a row of eight");
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
  std::vector<blockwise::Shape> shapes;
  uint32_t tiles = 0;
  for (size_t i = 0; i < problems.size(); ++i) {
    table.push_back(device_problem(arrays, p, problems[i]));
    shapes.push_back(problems[i].shape);
    tiles += table.back().tiles;
  }
  const sim::LaunchConfig config = blockwise_launch(p, shapes, device.sm_count());
  sim::Args args;
  args.add(device_maps(device, p, table[0]));
  if (p.config.grouped) {
    const uint64_t slots = config.grid.x * uint64_t{table.size()};
    args.add(arrays.make(table, "problems")).add(static_cast<uint32_t>(table.size())).add(arrays.make(slots * p.device_maps() * isa::kTensorMapBytes, "tensor maps"));
  } else {
    args.add(table[0]);
  }
  args.add(tiles).add(scalars.alpha);
  if (p.config.reads_c) args.add(scalars.beta);
  device.load(build_gemm(p, device.arch().target));
  BlockwiseResult r;
  r.run = device.launch(p.entry_name(), config, args, options);
  for (size_t i = 0; i < problems.size(); ++i)
    r.d.push_back(output_codes(p, arrays.read<uint8_t>(GmemAddr{table[i].d}, shapes[i].m * shapes[i].n * p.output_bytes()), shapes[i]));
  return r;
}

}  // namespace drywell::kernels
