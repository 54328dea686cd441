#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "drywell/core/bits.h"
#include "drywell/isa/tensor_map.h"
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
    problems.error("E2102", {}, fmt::format("m = {}: must be a positive multiple of 64", o.m),
                   "blocks of 16 run along m, and the kernel stores 64 codes at a time without predication, as TransformerEngine's does");
  }
  if (o.n == 0 || o.n % 8 != 0) problems.error("E2102", {}, fmt::format("n = {}: must be a positive multiple of 8", o.n), "a tensor map's row stride is a multiple of 16 bytes");
  if (o.m > 0xFFFFFFFFull || o.n > 0xFFFFFFFFull) problems.error("E2102", {}, "m and n are 32-bit");
  if (k_tile_size(o) % 64 != 0) problems.error("E2102", {}, fmt::format("k_tile_size = {}: must be a multiple of 64", k_tile_size(o)));
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

FusedRhtResult run_fused_rht(Accelerator& device, std::span<const uint16_t> input, float amax, const FusedRhtOptions& o, const sim::RunOptions& run) {
  check_fused_rht(o);
  if (input.size() != o.m * o.n) throw InputError("E2103", fmt::format("the input has {} elements, m x n = {}", input.size(), o.m * o.n));
  const GmemAddr a = device.allocate(2 * input.size(), "A"), b = device.allocate(fused_rht::kHadamardBytes, "hadamard");
  const uint64_t code_bytes = o.n * o.m / 2, scale_bytes = o.n * o.m / 16;
  const GmemAddr c = device.allocate(code_bytes, "C"), sfc = device.allocate(scale_bytes, "SFC"), amax_at = device.allocate(4, "global_amax"), rng = device.allocate(16, "rng_state");
  device.write(a, input.data(), 2 * input.size());
  const auto hadamard = reference::rht_matrix(reference::kRhtSigns);
  device.write(b, hadamard.data(), sizeof(hadamard));
  device.write(amax_at, &amax, 4);
  const uint64_t rng_state[2] = {o.seed, o.offset};
  device.write(rng, rng_state, sizeof(rng_state));
  device.load(build_fused_rht(o));
  sim::LaunchConfig config;
  config.grid = {fused_rht_grid(o, device.sm_count())};
  config.block = {256};
  config.dynamic_smem = fused_rht::kSmemBytes;
  sim::Args args;
  args.add(bf16_map(device, a, o.n, o.m, 64, 8, isa::Swizzle::b128)).add(bf16_map(device, b, 16, 16, 16, 16, isa::Swizzle::b32));
  args.add(c).add(sfc).add(amax_at).add(rng);
  args.add(static_cast<uint32_t>(o.n)).add(static_cast<uint32_t>(o.m)).add(static_cast<uint32_t>(k_tile_size(o)));
  FusedRhtResult result;
  result.run = device.launch("fused_rht", config, args, run);
  result.codes.resize(code_bytes);
  result.scales.resize(scale_bytes);
  device.read(result.codes.data(), c, code_bytes);
  device.read(result.scales.data(), sfc, scale_bytes);
  for (GmemAddr g : {a, b, c, sfc, amax_at, rng}) device.release(g);
  return result;
}

}  // namespace drywell::kernels
