// The host references: their formats against tables, their sums against published and measured words, and the
// whole quantization against results made with NumPy and ml_dtypes (tests/data/rht_nvfp4/make.py).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include "drywell/core/error.h"
#include "drywell/launch/generate.h"
#include "kernels/reference/formats.h"
#include "kernels/reference/fused_sum.h"
#include "kernels/reference/rht_nvfp4.h"
#include "support/paths.h"

namespace drywell::kernels::reference {
namespace {

const std::string kData = test::source_path("tests/data/");

float f32(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t bits_of(float v) { return std::bit_cast<uint32_t>(v); }

TEST(ReferencePhilox, GivesTheCheckWords) {
  using Block = std::array<uint32_t, 4>;
  constexpr uint32_t kOnes = 0xFFFFFFFF;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Block{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(philox4x32({3, 0, 7, 0}, {1234, 0}), (Block{0xE4449D5F, 0xB28A18D8, 0x1719D660, 0xE55A6B84}));
}

TEST(ReferenceE4m3, RoundsBetweenTabulatedValuesToTheEvenCode) {
  // Value table of the format: 8 subnormals of 2^-9, then 1.fff * 2^(e-7).
  std::vector<float> value;
  for (int code = 0; code < 0x7F; ++code) {
    value.push_back(code < 8
                        ? static_cast<float>(code) / 512
                        : static_cast<float>(8 + code % 8) * std::exp2(static_cast<float>(code / 8 - 10)));
    EXPECT_EQ(ue4m3_to_float(static_cast<uint8_t>(code)), value.back());
  }
  for (uint8_t code = 0; code < 0x7E; ++code) {
    const float middle = (value[code] + value[code + 1]) / 2;  // exact
    const uint8_t next = static_cast<uint8_t>(code + 1), even = code % 2 == 0 ? code : next;
    EXPECT_EQ(float_to_e4m3(value[code]), code);
    EXPECT_EQ(float_to_e4m3(middle), even);
    EXPECT_EQ(float_to_e4m3(std::nextafter(middle, 0.0f)), code);
    EXPECT_EQ(float_to_e4m3(-std::nextafter(middle, 1000.0f)), next | 0x80);
  }
  EXPECT_EQ(float_to_e4m3(448), 0x7E);
  EXPECT_EQ(float_to_e4m3(1e30f), 0x7E);
  EXPECT_EQ(float_to_e4m3(-INFINITY), 0xFE);
  EXPECT_EQ(float_to_e4m3(NAN), 0x7F);
  EXPECT_EQ(float_to_e4m3(-0.0f), 0x80);
  EXPECT_TRUE(std::isnan(ue4m3_to_float(0x7F)));
}

constexpr float kE2m1[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

TEST(ReferenceE2m1, RoundsBetweenTabulatedValuesToTheEvenCode) {
  for (uint8_t code = 0; code < 7; ++code) {
    const float middle = (kE2m1[code] + kE2m1[code + 1]) / 2;
    const uint8_t next = static_cast<uint8_t>(code + 1), even = code % 2 == 0 ? code : next;
    EXPECT_EQ(e2m1_to_float(code), kE2m1[code]);
    EXPECT_EQ(e2m1_to_float(code | 8), -kE2m1[code]);
    EXPECT_EQ(float_to_e2m1(kE2m1[code]), code);
    EXPECT_EQ(float_to_e2m1(middle), even);
    EXPECT_EQ(float_to_e2m1(std::nextafter(middle, 0.0f)), code);
    EXPECT_EQ(float_to_e2m1(-std::nextafter(middle, 9.0f)), next | 8);
  }
  EXPECT_EQ(float_to_e2m1(-0.0f), 8);
  EXPECT_EQ(float_to_e2m1(-0.25f), 8);
  EXPECT_EQ(float_to_e2m1(INFINITY), 7);
  EXPECT_EQ(float_to_e2m1(f32(0xFFC00000)), 7);  // NaN: +6, sign dropped
}

TEST(ReferenceE2m1, StochasticRoundingGoesUpInProportion) {
  for (uint8_t code = 0; code < 7; ++code) {
    for (uint32_t sixteenth = 0; sixteenth < 16; ++sixteenth) {
      const float v = kE2m1[code] + (kE2m1[code + 1] - kE2m1[code]) * static_cast<float>(sixteenth) / 16;
      const uint32_t first_up =
          65536 - sixteenth * 4096;  // smallest random integer that rounds away from zero
      EXPECT_EQ(float_to_e2m1_stochastic(v, static_cast<uint16_t>(first_up - 1)), code);
      if (sixteenth != 0) {
        EXPECT_EQ(float_to_e2m1_stochastic(-v, static_cast<uint16_t>(first_up)), (code + 1) | 8);
      }
    }
  }
  EXPECT_EQ(float_to_e2m1_stochastic(6.5f, 0), 7);
  EXPECT_EQ(float_to_e2m1_stochastic(-1e-30f, 0xFFFF), 8);  // less than one part in 65536: never up
  EXPECT_EQ(float_to_e2m1_stochastic(NAN, 0), 7);
  // docs/facts/numerics.md §2.2, e2m1x4 row, by hand for bytes 01 02 03 04: f, e, b, a.
  EXPECT_EQ(e2m1x4_random_bits(0x01020304), (std::array<uint16_t, 4>{0x0204, 0x2040, 0x0103, 0xC080}));
}

TEST(ReferenceBf16, RoundsToNearestEven) {
  EXPECT_EQ(float_to_bf16(f32(0x3F808000)), 0x3F80);
  EXPECT_EQ(float_to_bf16(f32(0x3F818000)), 0x3F82);
  EXPECT_EQ(float_to_bf16(f32(0xBF808001)), 0xBF81);
  EXPECT_EQ(float_to_bf16(f32(0x7F7FFFFF)), 0x7F80);
  EXPECT_EQ(float_to_bf16(f32(0x80000001)), 0x8000);
  EXPECT_EQ(float_to_bf16(f32(0xFFC00000)), 0x7FFF);
}

std::vector<uint16_t> codes_of(const std::string& text) {
  std::vector<uint16_t> out;
  std::istringstream in(text);
  for (std::string word; in >> word;) out.push_back(static_cast<uint16_t>(std::stoul(word, nullptr, 16)));
  return out;
}

/// bf16 rows of kind::f16 on sm_100 in the test vectors of a file: their sums, compared; returns how many
/// there were.
size_t compare_bf16_rows(const std::string& file_name) {
  enum Column {
    arch,
    kind,
    atype,
    btype,
    dtype,
    sf_type,
    sf_vec,
    k,
    a,
    b,
    sfa,
    sfb,
    c,
    d,
    count
  };
  std::ifstream file(kData + "numerics/" + file_name);
  size_t rows = 0;
  for (std::string line; std::getline(file, line);) {
    std::array<std::string, count> f;
    std::istringstream in(line);
    for (std::string& field : f) std::getline(in, field, ',');
    if ((f[arch] != "blackwell-sm100-tcgen05" && f[arch] != "b200") || f[atype] != "bf16" ||
        f[dtype] != "f32")
      continue;
    const float start = f32(static_cast<uint32_t>(std::stoul(f[c], nullptr, 16)));
    EXPECT_EQ(bits_of(fused_dot_bf16(codes_of(f[a]), codes_of(f[b]), start)), std::stoul(f[d], nullptr, 16))
        << line;
    ++rows;
  }
  return rows;
}

TEST(ReferenceFusedSum, GivesPublishedAndMeasuredWords) {
  EXPECT_EQ(compare_bf16_rows("mma_numerics.csv"), 67u);
  EXPECT_EQ(compare_bf16_rows("mma_measured_hw.csv"), 50u);
}

TEST(ReferenceTransform, OfUnitVectorsIsARowOfTheMatrix) {
  std::array<uint16_t, 16> x{};
  x[0] = 0x3F80;
  for (float v : rht_block(x, kRhtSigns)) EXPECT_EQ(v, 0.25f);
  x[0] = 0;
  x[3] = 0x4000;  // 2, and row 3 is negated: -, +, +, -, repeated
  const auto y = rht_block(x, kRhtSigns);
  for (size_t j = 0; j < 16; ++j) EXPECT_EQ(y[j], j % 4 == 0 || j % 4 == 3 ? -0.5f : 0.5f) << j;
}

TEST(ReferenceTransform, FastAndSlowSumsAgreeBitForBit) {
  // Words of every kind: any bit pattern (NaN and infinity in most blocks), finite ones of all exponents,
  // exponents that straddle the 25-bit window, subnormals, overflowing sums, and cancelling ones.
  for (uint64_t block = 0; block < 6000; ++block) {
    std::array<uint16_t, 16> x;
    for (uint64_t i = 0; i < 16; ++i) {
      const uint64_t w = random_word(77, block * 16 + i), field = w >> 32;
      const auto make = [&](uint64_t exponent) {
        return static_cast<uint16_t>((w & 0x807F) | exponent << 7);
      };
      switch (block % 6) {
        case 0: x[i] = static_cast<uint16_t>(w); break;
        case 1: x[i] = make(field % 255); break;
        case 2: x[i] = make(100 + field % 30); break;
        case 3: x[i] = make(field % 3); break;
        case 4: x[i] = make(250 + field % 5); break;
        default:
          x[i] = i % 2 == 0 ? make(120 + field % 4) : static_cast<uint16_t>(x[i - 1] ^ (field & 0x8001));
          break;
      }
    }
    const auto fast = rht_block(x, kRhtSigns), slow = rht_block_slow(x, kRhtSigns);
    for (size_t j = 0; j < 16; ++j) ASSERT_EQ(bits_of(fast[j]), bits_of(slow[j])) << block << ' ' << j;
  }
}

TEST(ReferenceRhtNvfp4, QuantizesHandComputableBlocks) {
  // One column; the first block is 1, 0, 0, …: transform 0.25 everywhere, scale 448 exactly, all codes +6.
  // The second is 0, 0, 0, 0.5, 0, …: -+0.125, half the scale (224), codes -6 +6 +6 -6. The third is zero.
  std::vector<uint16_t> input(48, 0);
  input[0] = 0x3F80;
  input[16 + 3] = 0x3F00;
  const auto r = rht_nvfp4(input, {.m = 48, .n = 1});
  EXPECT_EQ(r.amax, 0.25f);
  EXPECT_EQ(r.scales, (std::vector<uint8_t>{0x7E, 0x76, 0x00}));
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(r.codes[i], 0x77);
    EXPECT_EQ(r.codes[8 + i], i % 2 == 0 ? 0x7F : 0xF7);
    EXPECT_EQ(r.codes[16 + i], 0);
  }
  const auto values = dequantize(r, 48, 1);
  EXPECT_NEAR(values[0], 0.25f, 1e-7f);
  EXPECT_NEAR(values[16], -0.125f, 1e-7f);
  const auto all_zero = rht_nvfp4(std::vector<uint16_t>(32, 0), {.m = 16, .n = 2});
  EXPECT_EQ(all_zero.scales, std::vector<uint8_t>(2, 0));
  EXPECT_EQ(all_zero.codes, std::vector<uint8_t>(16, 0));
}

uint64_t fnv(const std::vector<uint8_t>& bytes) {
  uint64_t h = 0xCBF29CE484222325;
  for (uint8_t b : bytes) h = (h ^ b) * 0x100000001B3;
  return h;
}

/// The input of make.py's `make_input`.
std::vector<uint16_t> made_input(const std::string& kind, uint64_t count, uint64_t seed) {
  std::vector<uint16_t> out(count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t w = random_word(seed, i);
    const uint64_t exponent = kind == "finite" ? (w >> 16) % 255 : 115 + (w >> 16) % 13;
    out[i] = static_cast<uint16_t>(kind == "wild" ? w & 0xFFFF : (w & 0x807F) | exponent << 7);
    if (kind == "nans" && (w >> 32) % 200 == 0) out[i] = 0x7FC1;
  }
  return out;
}

TEST(ReferenceRhtNvfp4, AgreesWithNumpyBitForBit) {
  std::ifstream file(kData + "rht_nvfp4/cases.txt");
  size_t cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    std::string kind, order, rounding;
    uint64_t input_seed = 0, codes = 0, scales = 0;
    uint32_t amax = 0;
    RhtNvfp4Options o;
    in >> kind >> o.m >> o.n >> input_seed >> order >> rounding >> o.bf16_round_trip >> o.seed >> o.offset >>
        o.k_tile_size >> std::hex >> amax >> codes >> scales;
    ASSERT_TRUE(in) << line;
    o.scale_order = order == "te" ? ScaleOrder::te : ScaleOrder::article;
    o.rounding = rounding == "stochastic" ? Rounding::stochastic : Rounding::nearest_even;
    const auto r = rht_nvfp4(made_input(kind, o.m * o.n, input_seed), o);
    EXPECT_EQ(bits_of(r.amax), amax) << line;
    EXPECT_EQ(fnv(r.codes), codes) << line;
    EXPECT_EQ(fnv(r.scales), scales) << line;
    ++cases;
  }
  EXPECT_EQ(cases, 42u);
}

TEST(ReferenceRhtNvfp4, DoesNotDependOnTheThreadCount) {
  const auto input = generate_bf16(128, 200, {.distribution = Distribution::heavy_tailed});
  RhtNvfp4Options o{.m = 128, .n = 200, .rounding = Rounding::stochastic, .seed = 5};
  o.threads = 1;
  const auto one = rht_nvfp4(input, o);
  const auto one_error = quantization_error(input, one, o);
  o.threads = 5;
  const auto five = rht_nvfp4(input, o);
  EXPECT_EQ(one.codes, five.codes);
  EXPECT_EQ(one.scales, five.scales);
  EXPECT_EQ(one_error.rms, quantization_error(input, five, o).rms);
}

TEST(ReferenceRhtNvfp4, ReportsItsErrorInFloat64) {
  const auto input = generate_bf16(256, 256, {});
  RhtNvfp4Options o{.m = 256, .n = 256};
  const auto nearest = quantization_error(input, rht_nvfp4(input, o), o);
  o.rounding = Rounding::stochastic;
  const auto stochastic = quantization_error(input, rht_nvfp4(input, o), o);
  // Public NVFP4 results for normal data are near 20 dB; stochastic rounding has about twice the noise power.
  EXPECT_NEAR(nearest.sqnr_db, 20.5, 1.0);
  EXPECT_NEAR(nearest.sqnr_db - stochastic.sqnr_db, 3, 1);
  EXPECT_GT(nearest.cosine, 0.99);
  EXPECT_EQ(nearest.not_finite, 0u);
  EXPECT_LT(nearest.max_abs, 0.6);
}

TEST(ReferenceRhtNvfp4, TakesTheHostCodesTileSizes) {
  EXPECT_EQ(rht_k_tile_size(8192, 5120), 512u);
  EXPECT_EQ(rht_k_tile_size(8192, 2560), 1280u);
  EXPECT_EQ(rht_k_tile_size(512, 8192), 256u);
  EXPECT_EQ(rht_k_tile_size(4096, 4096), 1024u);
  EXPECT_EQ(rht_k_tile_size(1008, 4096), 512u);
}

TEST(ReferenceRhtNvfp4, RefusesShapesThatHaveNoMeaning) {
  const std::vector<uint16_t> input(48 * 4);
  const auto refused = [&](const RhtNvfp4Options& o) {
    try {
      rht_nvfp4(input, o);
    } catch (const InputError& e) {
      return e.code() == Code::E2101;
    }
    return false;
  };
  EXPECT_FALSE(refused({.m = 48, .n = 4}));
  EXPECT_TRUE(refused({.m = 24, .n = 8}));
  EXPECT_TRUE(refused({.m = 48, .n = 5}));
  EXPECT_TRUE(refused({.m = 48, .n = 0}));
  EXPECT_TRUE(refused({.m = 48, .n = 4, .rounding = Rounding::stochastic}));
  EXPECT_TRUE(refused({.m = 48, .n = 4, .k_tile_size = 100}));
}

}  // namespace
}  // namespace drywell::kernels::reference
