#include "kernels/reference/nvfp4.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "drywell/core/error.h"
#include "kernels/reference/formats.h"

namespace drywell::kernels::reference {
namespace {

constexpr uint64_t kBlock = 16, kTile = 128, kSlice = 32, kThreads = 128;

/// The kernel's thread that quantizes a block, and the number of blocks for which it has drawn random words before.
struct Draw {
  uint64_t thread, count;
};

class Quantizer {
 public:
  Quantizer(std::span<const uint16_t> input, uint64_t rows, uint64_t columns, const Nvfp4QuantizeOptions& o)
      : input_(input), rows_(rows), columns_(columns), o_(o), tiles_across_((columns + kTile - 1) / kTile) {
    const bool whole_rows = rows % kBlock == 0, whole_columns = columns % kBlock == 0;
    if (((o.rowwise || o.square_blocks) && !whole_columns) || ((o.columnwise || o.square_blocks) && !whole_rows) || input.size() != rows * columns)
      throw InputError(Code::E2101, fmt::format("{} x {} bf16 ({} elements): blocks of {} are not whole", rows, columns, input.size(), kBlock));
  }

  Nvfp4Tensor rowwise(float amax) const {
    return tensor(
        rows_, columns_, amax, [&](uint64_t r, uint64_t at) { return value(r, at); },
        [&](uint64_t r, uint64_t block) { return square_amax(r / kBlock, block); }, [&](uint64_t r, uint64_t block) { return row_draw(r, block); });
  }
  Nvfp4Tensor columnwise(float amax) const {
    return tensor(
        columns_, rows_, amax, [&](uint64_t c, uint64_t at) { return value(at, c); },
        [&](uint64_t c, uint64_t block) { return square_amax(block, c / kBlock); }, [&](uint64_t c, uint64_t block) { return column_draw(c, block); });
  }

 private:
  float value(uint64_t row, uint64_t column) const { return bf16_to_float(input_[row * columns_ + column]); }

  float square_amax(uint64_t block_row, uint64_t block_column) const {
    float largest = 0;
    for (uint64_t r = 0; r < kBlock; ++r) {
      for (uint64_t c = 0; c < kBlock; ++c) largest = std::fmax(largest, std::fabs(value(block_row * kBlock + r, block_column * kBlock + c)));
    }
    return largest;
  }

  uint64_t cta(uint64_t row, uint64_t column) const { return row / kTile * tiles_across_ + column / kTile; }
  /// Number of blocks that a thread quantizes in one slice of 32 rows: two of each orientation, column-wise first.
  uint64_t per_slice() const { return 2 * uint64_t{o_.columnwise} + 2 * uint64_t{o_.rowwise}; }

  // "2 threads per warp * 4 warps * 16 elements per thread = 128 columns", two threads to a row, 16 rows an iteration.
  Draw row_draw(uint64_t row, uint64_t block) const {
    const uint64_t across = block % (kTile / kBlock), thread = across / 2 * 32 + row % kBlock * 2 + across % 2;
    const uint64_t slice = row % kTile / kSlice, iteration = row % kSlice / kBlock;
    return {cta(row, block * kBlock) * kThreads + thread, slice * per_slice() + 2 * uint64_t{o_.columnwise} + iteration};
  }
  Draw column_draw(uint64_t column, uint64_t block) const {
    const uint64_t row = block * kBlock, slice = row % kTile / kSlice, iteration = row % kSlice / kBlock;
    return {cta(row, column) * kThreads + column % kTile, slice * per_slice() + iteration};
  }
  std::array<uint32_t, 4> random_words(const Draw& d) const {
    const uint64_t low = o_.offset + d.count, high = uint64_t{static_cast<uint32_t>(d.thread)} + uint64_t{low < d.count};
    return philox4x32({static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)},
                      {static_cast<uint32_t>(o_.seed), static_cast<uint32_t>(o_.seed >> 32)});
  }

  Nvfp4Tensor tensor(uint64_t rows, uint64_t k, float amax, const std::function<float(uint64_t, uint64_t)>& at,
                     const std::function<float(uint64_t, uint64_t)>& square, const std::function<Draw(uint64_t, uint64_t)>& draw) const {
    Nvfp4Tensor t{rows, k, std::vector<uint8_t>(rows * k / 2), std::vector<uint8_t>(rows * k / kBlock), amax};
    const Nvfp4Scaler scaler(o_.scaling, amax);
    for (uint64_t r = 0; r < rows; ++r) {
      for (uint64_t b = 0; b < k / kBlock; ++b) {
        Nvfp4Values x;
        for (uint64_t i = 0; i < kBlock; ++i) x[i] = at(r, b * kBlock + i);
        const float largest = o_.square_blocks ? square(r, b) : scaler.block_amax(x);
        std::array<uint32_t, 4> random{};
        if (o_.rounding == Rounding::stochastic) random = random_words(draw(r, b));
        scaler.quantize(x, largest, o_.rounding == Rounding::stochastic ? &random : nullptr, &t.codes[(r * k + b * kBlock) / 2],
                        t.scales[r * (k / kBlock) + b]);
      }
    }
    return t;
  }

  std::span<const uint16_t> input_;
  uint64_t rows_, columns_;
  const Nvfp4QuantizeOptions& o_;
  uint64_t tiles_across_;
};

}  // namespace

float bf16_amax(std::span<const uint16_t> values) {
  float largest = 0;
  for (const uint16_t v : values) largest = std::fmax(largest, std::fabs(bf16_to_float(v)));
  return largest;
}

Nvfp4Pair quantize_nvfp4(std::span<const uint16_t> input, uint64_t rows, uint64_t columns, const Nvfp4QuantizeOptions& o, float row_amax,
                         float column_amax) {
  const Quantizer q(input, rows, columns, o);
  Nvfp4Pair p;
  if (o.rowwise) p.row = q.rowwise(row_amax);
  if (o.columnwise) p.column = q.columnwise(column_amax);
  return p;
}

std::vector<uint8_t> to_blockscale_format(std::span<const uint8_t> scales, uint64_t rows, uint64_t columns) {
  const uint64_t row_blocks = (rows + 127) / 128, column_blocks = (columns + 3) / 4;
  std::vector<uint8_t> out;
  out.reserve(row_blocks * column_blocks * 512);
  for (uint64_t rb = 0; rb < row_blocks; ++rb) {
    for (uint64_t cb = 0; cb < column_blocks; ++cb) {
      for (uint64_t i = 0; i < 32 * 16; ++i) {
        const uint64_t row = rb * 128 + i / 16 + i % 16 / 4 * 32, column = cb * 4 + i % 4;
        out.push_back(row < rows && column < columns ? scales[row * columns + column] : uint8_t{0});
      }
    }
  }
  return out;
}

std::vector<float> dequantize(const Nvfp4Tensor& t) {
  std::vector<float> out(t.rows * t.k);
  for (uint64_t i = 0; i < out.size(); ++i) {
    const float weight = ue4m3_to_float(t.scales[i / kBlock]) * t.amax * (1.0f / 2688.0f);
    const uint8_t pair = t.codes[i / 2];
    out[i] = e2m1_to_float(static_cast<uint8_t>(i % 2 == 0 ? pair & 0xF : pair >> 4)) * weight;
  }
  return out;
}

}  // namespace drywell::kernels::reference
