#include "kernels/linear_nvfp4/collective.h"

#include <algorithm>

#include "launch/bf16.h"

namespace drywell::kernels::nvfp4 {

void all_reduce_max(Ranks ranks, std::span<const GmemAddr> at) {
  float largest = 0;
  for (size_t r = 0; r < ranks.size(); ++r) {
    float mine = 0;
    ranks[r]->read(&mine, at[r], sizeof(mine));
    largest = std::max(largest, mine);
  }
  for (size_t r = 0; r < ranks.size(); ++r) ranks[r]->write(at[r], &largest, sizeof(largest));
}

void all_gather(Ranks ranks, std::span<const GmemAddr> from, uint64_t bytes, std::span<const GmemAddr> to) {
  std::vector<uint8_t> shard(bytes);
  for (size_t r = 0; r < ranks.size(); ++r) {
    ranks[r]->read(shard.data(), from[r], bytes);
    for (size_t other = 0; other < ranks.size(); ++other) ranks[other]->write(to[other] + r * bytes, shard.data(), bytes);
  }
}

std::vector<std::vector<uint16_t>> reduce_scatter_sum(std::span<const std::vector<uint16_t>> partial) {
  const size_t share = partial[0].size() / partial.size();
  std::vector<std::vector<uint16_t>> out(partial.size(), std::vector<uint16_t>(share));
  for (size_t r = 0; r < partial.size(); ++r) {
    for (size_t i = 0; i < share; ++i) {
      float sum = 0;
      for (const auto& p : partial) sum += float_from_bf16(p[r * share + i]);
      out[r][i] = bf16_from_float(sum);
    }
  }
  return out;
}

}  // namespace drywell::kernels::nvfp4
