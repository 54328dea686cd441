// Collectives between simulated devices, as a tensor-parallel layer uses them. They copy through the host: the network is
// not simulated.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "drywell/launch/accelerator.h"

namespace drywell::kernels::nvfp4 {

using Ranks = std::span<const std::unique_ptr<Accelerator>>;

/// Sets the f32 at at[r] of every rank to the largest of them.
void all_reduce_max(Ranks ranks, std::span<const GmemAddr> at);
/// Copies rank r's `bytes` at from[r] to position r at to[…] on every rank.
void all_gather(Ranks ranks, std::span<const GmemAddr> from, uint64_t bytes, std::span<const GmemAddr> to);
/// Returns the sum over the ranks of `count` bf16 values each, in f32 and in rank order, rounded to bf16; rank r gets the r-th
/// part.
std::vector<std::vector<uint16_t>> reduce_scatter_sum(std::span<const std::vector<uint16_t>> partial);

}  // namespace drywell::kernels::nvfp4
