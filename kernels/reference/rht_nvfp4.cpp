#include "kernels/reference/rht_nvfp4.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "drywell/core/error.h"
#include "drywell/core/parallel.h"
#include "kernels/reference/formats.h"
#include "kernels/reference/fused_sum.h"

namespace drywell::kernels::reference {
namespace {

constexpr uint64_t kBlock = 16;           // values per scale
constexpr uint64_t kTileRows = 64;        // input rows one pipeline stage of the kernel holds
constexpr uint64_t kTileColumns = 128;    // input columns of a tile, one epilogue thread each
constexpr uint64_t kColumnsAtATime = 32;  // of the host loop: one cache line of input
using Block = std::array<float, kBlock>;

/// Transforms blocks of finite values. All entries of the matrix have the same magnitude, so the sixteen sums
/// of a block share their window: the truncated terms are the same integers up to sign, and a Walsh-Hadamard
/// transform of them gives every sum exactly.
bool transform_finite(std::span<const uint16_t, kBlock> x, uint16_t signs, Block& out) {
  int top = 0;  // largest exponent field; every finite value has 1 at least, zero products do not count
  for (uint16_t bits : x) {
    const int field = (bits >> 7) & 0xFF;
    if (field == 0xFF) return false;
    if ((bits & 0x7FFF) != 0) top = std::max({top, field, 1});
  }
  if (top == 0) {
    out.fill(0);
    return true;
  }
  // A term is sig * 2^(raw - 7) * 2^-2, its raw exponent raw - 2; the quantum lies 25 below the largest of
  // those.
  std::array<int32_t, kBlock> v;
  for (size_t i = 0; i < kBlock; ++i) {
    const int field = (x[i] >> 7) & 0xFF;
    const int32_t significand = (x[i] & 0x7F) | (field != 0 ? 0x80 : 0);
    const int right = top - std::max(field, 1);
    const int32_t term = right > 31 ? 0 : (significand << 18) >> right;
    v[i] = ((x[i] >> 15) ^ (signs >> i)) & 1 ? -term : term;
  }
  for (size_t half = 1; half < kBlock; half *= 2) {
    for (size_t i = 0; i < kBlock; i += 2 * half) {
      for (size_t j = i; j < i + half; ++j) {
        const int32_t sum = v[j] + v[j + half], difference = v[j] - v[j + half];
        v[j] = sum;
        v[j + half] = difference;
      }
    }
  }
  const int quantum = top - 127 - 2 - 25;  // always above the window floor: top is 1 at least
  const double unit = std::ldexp(1.0, quantum);
  for (size_t i = 0; i < kBlock; ++i) {
    const auto magnitude = static_cast<uint32_t>(std::abs(v[i]));
    const int drop = std::max({static_cast<int>(std::bit_width(magnitude)) - 24, -149 - quantum, 0});
    const double value = static_cast<double>(magnitude >> drop << drop) * unit;
    const float result =
        value >= 0x1p128 ? std::numeric_limits<float>::infinity() : static_cast<float>(value);
    out[i] = v[i] < 0 && result != 0 ? -result : result;
  }
  return true;
}

void check(std::span<const uint16_t> input, const RhtNvfp4Options& o, uint64_t k_tile_size) {
  Diagnostics d;
  if (o.m == 0 || o.m % kBlock != 0) {
    d.error(Code::E2101, {}, fmt::format("m = {} is not a positive multiple of {}", o.m, kBlock));
  }
  if (o.n == 0) d.error(Code::E2101, {}, "n is 0");
  if (d.empty() && (input.size() % o.n != 0 || input.size() / o.n != o.m)) {
    d.error(Code::E2101, {}, fmt::format("{} input elements for {} x {}", input.size(), o.m, o.n));
  }
  if (k_tile_size % kTileRows != 0) {
    d.error(Code::E2101, {}, fmt::format("k_tile_size = {} is not a multiple of {}", k_tile_size, kTileRows));
  }
  if (o.rounding == Rounding::stochastic && o.m < kTileRows) {
    d.error(Code::E2101, {}, fmt::format("stochastic rounding needs m of {} at least, m = {}", kTileRows, o.m));
  }
  if (d.has_errors()) throw InputError(std::move(d));
}

/// Calls body(column, block, values) for every block of the columns of chunk `chunk`, values as they lie in
/// the input.
template <class Body>
void for_blocks(std::span<const uint16_t> input, const RhtNvfp4Options& o, uint64_t chunk, Body body) {
  const uint64_t first = chunk * kColumnsAtATime, end = std::min(o.n, first + kColumnsAtATime);
  for (uint64_t block = 0; block < o.m / kBlock; ++block) {
    const uint16_t* rows = input.data() + block * kBlock * o.n;
    for (uint64_t column = first; column < end; ++column) {
      std::array<uint16_t, kBlock> x;
      for (uint64_t i = 0; i < kBlock; ++i) x[i] = rows[i * o.n + column];
      body(column, block, std::span<const uint16_t, kBlock>(x));
    }
  }
}

uint64_t chunk_count(const RhtNvfp4Options& o) { return (o.n + kColumnsAtATime - 1) / kColumnsAtATime; }

/// The larger of `found` and the blocks of one chunk's columns. No value of a transform is larger than a quarter of the
/// block's magnitudes together, and truncation makes none larger: most blocks need no transform.
float block_row_amax(std::span<const uint16_t> input, const RhtNvfp4Options& o, uint64_t chunk, uint64_t block, float found) {
  const uint64_t first = chunk * kColumnsAtATime, columns = std::min(o.n, first + kColumnsAtATime) - first;
  const uint16_t* rows = input.data() + block * kBlock * o.n + first;
  constexpr float kQuarter = 0.2501f;  // and what the additions round away
  std::array<float, kColumnsAtATime> bounds = {};
  for (uint64_t i = 0; i < kBlock; ++i) {
    for (uint64_t c = 0; c < columns; ++c) bounds[c] += kQuarter * std::bit_cast<float>(uint32_t{rows[i * o.n + c]} << 16 & 0x7FFFFFFF);
  }
  for (uint64_t c = 0; c < columns; ++c) {
    if (bounds[c] <= found) continue;  // not so for NaN and infinity
    std::array<uint16_t, kBlock> x;
    for (uint64_t i = 0; i < kBlock; ++i) x[i] = rows[i * o.n + c];
    for (float v : rht_block(x, o.signs)) {
      const float magnitude = std::fabs(bf16_to_float(float_to_bf16(v)));
      if (magnitude > found) found = magnitude;
    }
  }
  return found;
}

/// The blocks of one tensor, with everything that is the same for all of them worked out.
class Quantizer {
 public:
  Quantizer(const RhtNvfp4Options& o, uint64_t k_tile_size, float amax)
      : options_(o),
        scaler_({o.scale_order, o.approximate_reciprocal, true}, amax),
        tiles_per_strip_(std::min(o.m, k_tile_size) / kTileRows) {}

  void block(uint64_t column, uint64_t index, Block x, uint8_t* codes, uint8_t& scale) const {
    if (options_.bf16_round_trip) {
      for (float& v : x) v = bf16_to_float(float_to_bf16(v));
    }
    const float largest = scaler_.block_amax(x);
    if (options_.rounding == Rounding::nearest_even) {
      scaler_.quantize(x, largest, nullptr, codes, scale);
    } else {
      const auto words = random_words(column, index);
      scaler_.quantize(x, largest, &words, codes, scale);
    }
  }

 private:
  /// The Philox block a column's thread draws for 16-element block `index` (docs/facts/numerics.md §4, Philox).
  std::array<uint32_t, 4> random_words(uint64_t column, uint64_t index) const {
    const uint64_t tile_row = index / (kTileRows / kBlock), draw = index % (kTileRows / kBlock);
    const uint64_t strip = tile_row / tiles_per_strip_, k_tile = tile_row % tiles_per_strip_;
    const uint64_t tile_columns = (options_.n + kTileColumns - 1) / kTileColumns;
    const uint64_t linear_tile = column / kTileColumns + tile_columns * strip;
    const auto subsequence =
        static_cast<uint32_t>(column % kTileColumns + k_tile * 256 + linear_tile * tiles_per_strip_ * 256);
    const uint64_t low = options_.offset + draw, high = subsequence + uint64_t{low < draw};
    return philox4x32({static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                       static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)},
                      {static_cast<uint32_t>(options_.seed), static_cast<uint32_t>(options_.seed >> 32)},
                      options_.philox_rounds);
  }

  const RhtNvfp4Options& options_;
  Nvfp4Scaler scaler_;
  uint64_t tiles_per_strip_;
};

/// The sixteen values of block `index` of a result, as TransformerEngine's dequantize kernel computes them.
Block dequantized_block(const RhtNvfp4Result& result, uint64_t index) {
  const float weight = ue4m3_to_float(result.scales[index]) * result.amax * (1.0f / 2688.0f);
  Block out;
  for (uint64_t j = 0; j < kBlock; ++j) {
    const uint8_t pair = result.codes[(index * kBlock + j) / 2];
    out[j] = e2m1_to_float(static_cast<uint8_t>(j % 2 == 0 ? pair & 0xF : pair >> 4)) * weight;
  }
  return out;
}

/// Parts of a QuantizationError.
struct ErrorSums {
  double error = 0, exact = 0, value = 0, product = 0, max_abs = 0;
  uint64_t counted = 0, not_finite = 0, lost_to_zero = 0;

  void add(double exact_value, double quantized) {
    if (!std::isfinite(exact_value) || !std::isfinite(quantized)) {
      ++not_finite;
      return;
    }
    ++counted;
    lost_to_zero += exact_value != 0 && quantized == 0;
    const double e = quantized - exact_value;
    max_abs = std::max(max_abs, std::fabs(e));
    error += e * e;
    exact += exact_value * exact_value;
    value += quantized * quantized;
    product += exact_value * quantized;
  }
  void add(const ErrorSums& o) {
    error += o.error;
    exact += o.exact;
    value += o.value;
    product += o.product;
    max_abs = std::max(max_abs, o.max_abs);
    counted += o.counted;
    not_finite += o.not_finite;
    lost_to_zero += o.lost_to_zero;
  }
  QuantizationError report() const {
    QuantizationError e;
    e.max_abs = max_abs;
    e.not_finite = not_finite;
    e.lost_to_zero = lost_to_zero;
    if (counted == 0 || exact == 0) return e;
    e.rms = std::sqrt(error / static_cast<double>(counted));
    e.relative_rms = std::sqrt(error / exact);
    e.sqnr_db = -20 * std::log10(e.relative_rms);
    e.cosine = value == 0 ? 0 : product / std::sqrt(exact * value);
    return e;
  }
};

}  // namespace

uint64_t rht_k_tile_size(uint64_t m, uint64_t n) {
  struct Row {
    uint64_t m, n, size;
  };
  constexpr Row kTable[] = {{8192, 5120, 512}, {8192, 10240, 1024}, {8192, 2560, 1280}, {8192, 11328, 1024}, {8192, 512, 256}, {8192, 3584, 512}, {11328, 8192, 1024}, {5120, 8192, 512}, {10240, 8192, 1024}, {2560, 8192, 1280}, {512, 8192, 256}, {3584, 8192, 512}};
  for (const Row& row : kTable) {
    if (row.m == m && row.n == n) return row.size;
  }
  return m < 1024 || n < 1024 ? 512 : 1024;
}

std::array<uint16_t, 256> rht_matrix(uint16_t signs) {
  std::array<uint16_t, 256> h;
  for (unsigned row = 0; row < kBlock; ++row) {
    for (unsigned column = 0; column < kBlock; ++column) {
      const bool negative = ((std::popcount(row & column) & 1) != 0) != (((signs >> row) & 1) != 0);
      h[row * kBlock + column] = negative ? 0xBE80 : 0x3E80;  // -+0.25
    }
  }
  return h;
}

std::array<float, 16> rht_block_slow(std::span<const uint16_t, 16> x, uint16_t signs) {
  const auto h = rht_matrix(signs);
  Block out;
  for (size_t j = 0; j < kBlock; ++j) {
    std::array<uint16_t, kBlock> column;
    for (size_t i = 0; i < kBlock; ++i) column[i] = h[i * kBlock + j];
    out[j] = fused_dot_bf16(x, column, 0.0f);
  }
  return out;
}

std::array<float, 16> rht_block(std::span<const uint16_t, 16> x, uint16_t signs) {
  Block out;
  return transform_finite(x, signs, out) ? out : rht_block_slow(x, signs);
}

float rht_amax(std::span<const uint16_t> input, const RhtNvfp4Options& options) {
  const uint64_t chunks = chunk_count(options);
  std::vector<float> largest(chunks, 0.0f);
  parallel_for(chunks, options.threads, [&](uint64_t first, uint64_t end) {
    float found = 0;
    for (uint64_t chunk = first; chunk < end; ++chunk) {
      for (uint64_t block = 0; block < options.m / kBlock; ++block) found = block_row_amax(input, options, chunk, block, found);
      largest[chunk] = found;
    }
  });
  return *std::max_element(largest.begin(), largest.end());
}

RhtNvfp4Result rht_nvfp4(std::span<const uint16_t> input, const RhtNvfp4Options& options) {
  const uint64_t k_tile_size =
      options.k_tile_size != 0 ? options.k_tile_size : rht_k_tile_size(options.m, options.n);
  check(input, options, k_tile_size);
  RhtNvfp4Result result;
  result.codes.resize(options.n * options.m / 2);
  result.scales.resize(options.n * options.m / kBlock);
  result.amax = options.amax ? *options.amax : rht_amax(input, options);
  const Quantizer quantizer(options, k_tile_size, result.amax);
  parallel_for(chunk_count(options), options.threads, [&](uint64_t first, uint64_t end) {
    // Rows are put together here and copied out: in the result they lie a power of two apart more often than
    // not, and writing 32 of them in turn would fight over the same cache sets.
    const uint64_t code_bytes = options.m / 2, scale_bytes = options.m / kBlock,
                   row_bytes = code_bytes + scale_bytes + 64;
    std::vector<uint8_t> rows(kColumnsAtATime * row_bytes);
    for (uint64_t chunk = first; chunk < end; ++chunk) {
      const uint64_t first_column = chunk * kColumnsAtATime;
      for_blocks(input, options, chunk,
                 [&](uint64_t column, uint64_t block, std::span<const uint16_t, kBlock> x) {
                   uint8_t* row = rows.data() + (column - first_column) * row_bytes;
                   quantizer.block(column, block, rht_block(x, options.signs), row + block * kBlock / 2,
                                   row[code_bytes + block]);
                 });
      for (uint64_t column = first_column; column < std::min(options.n, first_column + kColumnsAtATime);
           ++column) {
        const uint8_t* row = rows.data() + (column - first_column) * row_bytes;
        std::copy_n(row, code_bytes, result.codes.data() + column * code_bytes);
        std::copy_n(row + code_bytes, scale_bytes, result.scales.data() + column * scale_bytes);
      }
    }
  });
  return result;
}

std::vector<float> dequantize(const RhtNvfp4Result& result, uint64_t m, uint64_t n) {
  std::vector<float> out(m * n);
  for (uint64_t i = 0; i < m * n; i += kBlock) {
    const Block values = dequantized_block(result, i / kBlock);
    std::copy(values.begin(), values.end(), out.begin() + static_cast<ptrdiff_t>(i));
  }
  return out;
}

QuantizationError quantization_error(std::span<const uint16_t> input, const RhtNvfp4Result& result,
                                     const RhtNvfp4Options& options) {
  std::array<std::array<double, kBlock>, kBlock> h;
  const auto bits = rht_matrix(options.signs);
  for (uint64_t i = 0; i < kBlock * kBlock; ++i) h[i / kBlock][i % kBlock] = bf16_to_float(bits[i]);
  std::vector<ErrorSums> sums(chunk_count(options));  // added up in order, whatever thread made them
  parallel_for(sums.size(), options.threads, [&](uint64_t first, uint64_t end) {
    for (uint64_t chunk = first; chunk < end; ++chunk) {
      ErrorSums here;
      for_blocks(input, options, chunk,
                 [&](uint64_t column, uint64_t block, std::span<const uint16_t, kBlock> x) {
                   std::array<double, kBlock> exact{};
                   for (uint64_t i = 0; i < kBlock; ++i) {
                     const double v = bf16_to_float(x[i]);
                     for (uint64_t j = 0; j < kBlock; ++j) exact[j] += v * h[i][j];
                   }
                   const Block values = dequantized_block(result, column * (options.m / kBlock) + block);
                   for (uint64_t j = 0; j < kBlock; ++j) here.add(exact[j], values[j]);
                 });
      sums[chunk] = here;
    }
  });
  ErrorSums all;
  for (const ErrorSums& s : sums) all.add(s);
  return all.report();
}

}  // namespace drywell::kernels::reference
