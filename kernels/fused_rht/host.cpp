#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "drywell/core/bits.h"
#include "drywell/isa/tensor_map.h"
#include "drywell/kernels/device_arrays.h"
#include "kernels/fused_rht/fused_rht.h"

namespace drywell::kernels {
namespace {

isa::TensorMap bf16_map(Accelerator& device, GmemAddr address, uint64_t inner, uint64_t outer, uint32_t box_inner, uint32_t box_outer, isa::Swizzle swizzle) {
  isa::TensorMapFields f;
  f.type = isa::TensorType::bf16;
  f.rank = 2;
  f.address = address.value();
  f.dim = {inner, outer, 1, 1, 1};
  f.stride[0] = 2 * inner;
  f.box = {box_inner, box_outer, 1, 1, 1};
  f.swizzle = swizzle;
  return device.encode(f);
}

uint64_t k_tile_size(const FusedRhtOptions& o) { return o.k_tile_size != 0 ? o.k_tile_size : reference::rht_k_tile_size(o.m, o.n); }

}  // namespace

void check_fused_rht(const FusedRhtOptions& o) {
  Diagnostics problems;
  if (o.m == 0 || o.m % 64 != 0) {
    problems.error(Code::E2102, {}, fmt::format("m = {}: must be a positive multiple of 64", o.m),
                   "blocks of 16 run along m, and the kernel stores 64 codes at a time without predication, as TransformerEngine's does");
  }
  if (o.n == 0 || o.n % 8 != 0) problems.error(Code::E2102, {}, fmt::format("n = {}: must be a positive multiple of 8", o.n), "a tensor map's row stride is a multiple of 16 bytes");
  if (o.m > 0xFFFFFFFFull || o.n > 0xFFFFFFFFull) problems.error(Code::E2102, {}, "m and n are 32-bit");
  if (k_tile_size(o) % 64 != 0) problems.error(Code::E2102, {}, fmt::format("k_tile_size = {}: must be a multiple of 64", k_tile_size(o)));
  if (problems.has_errors()) throw InputError(std::move(problems));
}

uint32_t fused_rht_grid(const FusedRhtOptions& o, uint32_t sm_count) {
  const uint64_t tiles = ceil_div(o.n, 128) * ceil_div(o.m, k_tile_size(o));
  return static_cast<uint32_t>(std::min<uint64_t>(tiles, sm_count));
}

reference::RhtNvfp4Options reference_options(const FusedRhtOptions& o, float amax) {
  reference::RhtNvfp4Options r;
  r.m = o.m;
  r.n = o.n;
  r.rounding = o.stochastic ? reference::Rounding::stochastic : reference::Rounding::nearest_even;
  r.scale_order = o.te_scale_order ? reference::ScaleOrder::te : reference::ScaleOrder::article;
  r.bf16_round_trip = o.bf16_round_trip;
  r.approximate_reciprocal = o.approximate_reciprocal;
  r.amax = amax;
  r.seed = o.seed;
  r.offset = o.offset;
  r.k_tile_size = o.k_tile_size;
  return r;
}

sim::RunResult launch_fused_rht(Accelerator& device, const FusedRhtTensors& t, const FusedRhtOptions& o, const sim::RunOptions& run) {
  check_fused_rht(o);
  device.load(build_fused_rht(o));
  sim::LaunchConfig config;
  config.grid = {fused_rht_grid(o, device.sm_count())};
  config.block = {256};
  config.dynamic_smem = fused_rht::kSmemBytes;
  sim::Args args;
  args.add(bf16_map(device, t.input, o.n, o.m, 64, 8, isa::Swizzle::b128)).add(bf16_map(device, t.hadamard, 16, 16, 16, 16, isa::Swizzle::b32));
  args.add(t.codes).add(t.scales).add(t.amax).add(t.rng);
  args.add(static_cast<uint32_t>(o.n)).add(static_cast<uint32_t>(o.m)).add(static_cast<uint32_t>(k_tile_size(o)));
  return device.launch("fused_rht", config, args, run);
}

FusedRhtResult run_fused_rht(Accelerator& device, std::span<const uint16_t> input, float amax, const FusedRhtOptions& o, const sim::RunOptions& run) {
  check_fused_rht(o);
  if (input.size() != o.m * o.n) throw InputError(Code::E2103, fmt::format("the input has {} elements, m x n = {}", input.size(), o.m * o.n));
  const uint64_t code_bytes = o.n * o.m / 2, scale_bytes = o.n * o.m / 16, rng_state[2] = {o.seed, o.offset};
  const auto hadamard = reference::rht_matrix(reference::kRhtSigns);
  DeviceArrays arrays(device);
  FusedRhtTensors t;
  t.input = arrays.make(input, "A");
  t.hadamard = arrays.make(std::span<const uint16_t>(hadamard), "hadamard");
  t.codes = arrays.make(code_bytes, "C");
  t.scales = arrays.make(scale_bytes, "SFC");
  t.amax = arrays.make(std::span<const float>(&amax, 1), "global_amax");
  t.rng = arrays.make(std::span<const uint64_t>(rng_state), "rng_state");
  FusedRhtResult result;
  result.run = launch_fused_rht(device, t, o, run);
  result.codes = arrays.read<uint8_t>(t.codes, code_bytes);
  result.scales = arrays.read<uint8_t>(t.scales, scale_bytes);
  return result;
}

}  // namespace drywell::kernels
