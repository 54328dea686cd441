#include "drywell/launch/generate.h"

#include <algorithm>
#include <cmath>

#include "drywell/core/parallel.h"
#include "launch/bf16.h"

namespace drywell::kernels {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;

/// Output function of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

}  // namespace

uint64_t random_word(uint64_t seed, uint64_t index) { return mix(seed + (index + 1) * kGolden); }

namespace {

/// (0, 1), never an end: 52 bits and a half.
double unit_interval(uint64_t word) { return (static_cast<double>(word >> 12) + 0.5) * 0x1p-52; }

/// Natural logarithm from IEEE operations alone, so that every platform rounds alike.
double natural_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // exact
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), s2 = s * s;  // ln m = 2 atanh s, |s| < 0.172
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
  return 2 * s * sum + exponent * 0.69314718055994531;
}

// P. J. Acklam, An algorithm for computing the inverse normal cumulative distribution function (2003): one rational
// function between kTail and 1 - kTail, another one of the logarithm beyond.
constexpr double kTail = 0.02425;
inline double central_quantile(double p) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02,
                          1.383577518672690e+02, -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                          6.680131188771972e+01, -1.328068155288572e+01};
  const double q = p - 0.5, r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

/// Streams of one seed that must not share words.
enum Stream : uint64_t {
  kElement = 0,
  kMixture = 1,
  kRow = 2,
  kChannel = 3
};

uint64_t stream_seed(uint64_t seed, Stream stream) { return mix(seed * kGolden + stream + 1); }

/// Gain of every column: 1, or an outlier channel's.
std::vector<float> channel_gains(uint64_t columns, const GenerateOptions& o) {
  std::vector<float> gains(columns, 1.0f);
  if (o.outlier_period == 0) return gains;
  const uint64_t seed = stream_seed(o.seed, kChannel);
  for (uint64_t first = 0; first < columns; first += o.outlier_period) {
    const uint64_t word = random_word(seed, first / o.outlier_period);
    const uint64_t column = first + (word >> 32) % o.outlier_period;
    const double position = static_cast<double>(word & 0xFFFF) * 0x1p-16;
    if (column < columns) gains[column] = static_cast<float>(o.outlier_gain * (0.25 + 0.75 * position));
  }
  return gains;
}

/// Values of one row at a time.
class RowGenerator {
 public:
  RowGenerator(uint64_t columns, const GenerateOptions& options)
      : options_(options),
        columns_(columns),
        element_seed_(stream_seed(options.seed, kElement)),
        mixture_seed_(stream_seed(options.seed, kMixture)),
        row_seed_(stream_seed(options.seed, kRow)) {
    if (options.distribution == Distribution::heavy_tailed) gains_ = channel_gains(columns, options);
  }

  void fill(uint64_t row, float* out) const {
    const uint64_t first = row * columns_;
    switch (options_.distribution) {
      case Distribution::uniform:
        for (uint64_t c = 0; c < columns_; ++c) {
          const double u = unit_interval(random_word(element_seed_, first + c));
          out[c] = static_cast<float>(options_.scale * (2 * u - 1));
        }
        return;
      case Distribution::normal:
        for_normals(first, [&](uint64_t c, double x) { out[c] = static_cast<float>(options_.scale * x); });
        return;
      case Distribution::heavy_tailed: {
        const double row_gain = options_.scale * (0.5 + 1.5 * unit_interval(random_word(row_seed_, row)));
        for_normals(first, [&](uint64_t c, double x) { out[c] = static_cast<float>(row_gain * gains_[c] * mixture(first + c) * x); });
        return;
      }
    }
  }

 private:
  static constexpr uint64_t kRun = 128;

  /// Calls use(c, x) with a normal variable for every column of the row whose first element is `first`: many at a time, and
  /// what is not in the tails, 95 in 100, without branches.
  template <class Use>
  void for_normals(uint64_t first, Use use) const {
    double p[kRun], x[kRun];
    for (uint64_t c = 0; c < columns_; c += kRun) {
      const uint64_t count = std::min(kRun, columns_ - c);
      for (uint64_t i = 0; i < count; ++i) p[i] = unit_interval(random_word(element_seed_, first + c + i));
      for (uint64_t i = 0; i < count; ++i) x[i] = central_quantile(p[i]);
      for (uint64_t i = 0; i < count; ++i) {
        if (p[i] < kTail || p[i] > 1 - kTail) x[i] = normal_quantile(p[i]);
      }
      for (uint64_t i = 0; i < count; ++i) use(c + i, x[i]);
    }
  }
  double mixture(uint64_t i) const {
    const uint64_t percent = (random_word(mixture_seed_, i) >> 32) % 100;
    return percent < 90 ? 1 : percent < 99 ? 3
                                           : 10;
  }

  const GenerateOptions& options_;
  uint64_t columns_, element_seed_, mixture_seed_, row_seed_;
  std::vector<float> gains_;
};

/// Small arrays are not worth a thread; the result does not depend on how many there are.
unsigned threads_for(uint64_t elements) { return elements < 65536 ? 1 : 0; }

}  // namespace

std::string_view distribution_name(Distribution d) {
  switch (d) {
    case Distribution::normal: return "normal";
    case Distribution::uniform: return "uniform";
    case Distribution::heavy_tailed: return "heavy-tailed";
  }
  return "?";
}

std::optional<Distribution> parse_distribution(std::string_view name) {
  for (Distribution d : {Distribution::normal, Distribution::uniform, Distribution::heavy_tailed}) {
    if (name == distribution_name(d)) return d;
  }
  return std::nullopt;
}

double normal_quantile(double p) {
  if (p >= kTail && p <= 1 - kTail) return central_quantile(p);
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00, 2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                          3.754408661907416e+00};
  const double q = std::sqrt(-2 * natural_log(p < kTail ? p : 1 - p));
  const double x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
                   ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  return p < kTail ? x : -x;
}

std::vector<float> generate_floats(uint64_t rows, uint64_t columns, const GenerateOptions& options) {
  std::vector<float> out(rows * columns);
  const RowGenerator generator(columns, options);
  parallel_for(rows, threads_for(out.size()), [&generator, &out, columns](uint64_t first, uint64_t end) {
    for (uint64_t r = first; r < end; ++r) generator.fill(r, out.data() + r * columns);
  });
  return out;
}

std::vector<uint16_t> generate_bf16(uint64_t rows, uint64_t columns, const GenerateOptions& options) {
  std::vector<uint16_t> out(rows * columns);
  const RowGenerator generator(columns, options);
  parallel_for(rows, threads_for(out.size()), [&generator, &out, columns](uint64_t first, uint64_t end) {
    std::vector<float> row(columns);
    for (uint64_t r = first; r < end; ++r) {
      generator.fill(r, row.data());
      for (uint64_t c = 0; c < columns; ++c) out[r * columns + c] = bf16_from_float(row[c]);
    }
  });
  return out;
}

}  // namespace drywell::kernels
