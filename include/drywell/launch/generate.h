// Generated kernel inputs: the same bits on every platform, for every thread count. Element i depends on (seed, i)
// only; the code uses no std distribution and no libm function.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace drywell::kernels {

/// What generated numbers are like.
enum class Distribution : uint8_t {
  normal,        // mean 0, standard deviation `scale`
  uniform,       // [-scale, scale)
  heavy_tailed,  // distribution of LLM activations: see generate_floats
};

/// Returns "normal", "uniform" or "heavy-tailed"
std::string_view distribution_name(Distribution d);
/// The distribution of that name; none if there is none.
std::optional<Distribution> parse_distribution(std::string_view name);

/// How numbers are generated.
struct GenerateOptions {
  Distribution distribution = Distribution::normal;  // of the numbers
  uint64_t seed = 1;                                 // equal seeds give equal numbers
  float scale = 1;                                   // as the distribution says
  /// heavy_tailed: one of this many columns is an outlier channel; 0 = none.
  uint32_t outlier_period = 128;
  /// heavy_tailed: largest gain of an outlier channel; the smallest is a quarter of it.
  float outlier_gain = 64;
};

/// Returns rows x columns values, row-major. heavy_tailed: rows are tokens and columns are channels. Each element is a
/// normal value times a mixture (1 for 90 %, 3 for 9 %, 10 for 1 % of the elements), each row has a gain in [0.5, 2),
/// and each outlier channel (one pseudo-random column of each group of `outlier_period`) has its gain in every row.
std::vector<float> generate_floats(uint64_t rows, uint64_t columns, const GenerateOptions& options);

/// Returns the values of generate_floats rounded to bf16 (nearest even).
std::vector<uint16_t> generate_bf16(uint64_t rows, uint64_t columns, const GenerateOptions& options);

/// Returns random 64-bit word `index` of stream `seed` (splitmix64 started at a counter).
uint64_t random_word(uint64_t seed, uint64_t index);

/// Quantile function of the standard normal distribution, p in (0, 1): relative error below 1.2e-9.
double normal_quantile(double p);

}  // namespace drywell::kernels
