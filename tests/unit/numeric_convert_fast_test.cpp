// Fast conversions against the exact ones: every code of the sources up to 16 bits, and for f32 the
// neighbourhood of every decision point plus random words.
#include "drywell/sim/numeric/convert_fast.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "drywell/sim/numeric/convert.h"

namespace drywell::numeric {
namespace {

// Every exponent and both signs, with the fractions around which a target rounds, ties or saturates.
std::vector<uint32_t> edge_words() {
  std::vector<uint32_t> words;
  for (uint32_t exponent = 0; exponent < 256; ++exponent) {
    for (uint32_t bit = 0; bit < 24; ++bit) {
      for (uint32_t base : {0u, 1u << bit, (1u << bit) * 3, (1u << bit) - 1, ~0u << bit}) {
        for (uint32_t delta : {0u, 1u, ~0u}) {
          const uint32_t word = exponent << 23 | ((base + delta) & 0x7FFFFF);
          words.push_back(word);
          words.push_back(word | 0x80000000);
        }
      }
    }
  }
  return words;
}

// One million words: edges, then random in the exponent range the narrow formats care about, then anything.
const std::vector<uint32_t>& f32_words() {
  static const std::vector<uint32_t> words = [] {
    std::vector<uint32_t> w = edge_words();
    std::mt19937 gen(20261121);
    while (w.size() < (1u << 20)) {
      const uint32_t r = gen();
      w.push_back(w.size() % 2 != 0 ? r : (r & 0x807FFFFF) | (127 - 26 + gen() % 48) << 23);
    }
    return w;
  }();
  return words;
}

class FastFromF32 : public ::testing::TestWithParam<ConvertSpec> {};

TEST_P(FastFromF32, EqualsTheExactConversion) {
  const std::vector<uint32_t>& in = f32_words();
  std::vector<uint32_t> random(in.size()), out(in.size());
  std::mt19937 gen(7);
  const uint32_t mask = (1u << random_width(GetParam().dst)) - 1;
  for (size_t i = 0; i < in.size(); ++i) random[i] = i % 8 == 0 ? 0 : i % 8 == 1 ? mask
                                                                                 : gen() & mask;
  convert_lanes(GetParam(), in.data(), out.data(), static_cast<unsigned>(in.size()), random.data());
  for (size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(out[i], convert(GetParam(), in[i], random[i])) << std::hex << in[i] << " random " << random[i];
  }
}

std::vector<ConvertSpec> f32_specs() {
  std::vector<ConvertSpec> specs;
  for (Rounding r : {Rounding::rn, Rounding::rs}) {
    for (Format f : {Format::e2m1, Format::e2m3, Format::e3m2, Format::e4m3, Format::e5m2}) {
      specs.push_back({f, Format::f32, r, true});
    }
  }
  for (Rounding r : {Rounding::rn, Rounding::rz, Rounding::rs}) {
    for (Format f : {Format::f16, Format::bf16}) {
      for (bool satfinite : {false, true}) specs.push_back({f, Format::f32, r, satfinite});
    }
  }
  for (Rounding r : {Rounding::rn, Rounding::rz, Rounding::rna})
    specs.push_back({Format::tf32, Format::f32, r});
  for (Rounding r : {Rounding::rz, Rounding::rp}) {
    for (bool satfinite : {false, true}) specs.push_back({Format::ue8m0, Format::f32, r, satfinite});
  }
  specs.push_back({Format::e4m3, Format::f32, Rounding::rn, true, true});
  specs.push_back({Format::bf16, Format::f32, Rounding::rn, false, true});
  specs.push_back({Format::e2m1, Format::f32, Rounding::rz, true});
  specs.push_back({Format::e4m3, Format::f32, Rounding::rz, true});
  return specs;
}

std::string spec_name(const ConvertSpec& s) {
  static constexpr const char* kRounding[] = {"Rn", "Rz", "Rm", "Rp", "Rna", "Rs"};
  return std::string(format_info(s.src).name) + "To" + std::string(format_info(s.dst).name) +
         kRounding[static_cast<int>(s.rounding)] + (s.satfinite ? "Sat" : "") + (s.relu ? "Relu" : "");
}

INSTANTIATE_TEST_SUITE_P(, FastFromF32, ::testing::ValuesIn(f32_specs()),
                         [](const auto& p) { return spec_name(p.param); });

TEST(FastWidening, EqualsTheExactConversionOnEveryCode) {
  std::vector<ConvertSpec> specs = {{Format::bf16, Format::ue8m0},
                                    {Format::f32, Format::f16},
                                    {Format::f32, Format::bf16},
                                    {Format::f32, Format::f16, Rounding::rn, false, true},
                                    {Format::f32, Format::bf16, Rounding::rn, false, true},
                                    {Format::e4m3, Format::f16, Rounding::rn, true},
                                    {Format::e5m2, Format::bf16, Rounding::rn, true, true}};
  for (Format f : {Format::e2m1, Format::e2m3, Format::e3m2, Format::e4m3, Format::e5m2}) {
    specs.push_back({Format::f16, f});
  }
  for (const ConvertSpec& spec : specs) {
    const uint32_t count = 1u << format_info(spec.src).bits();
    std::vector<uint32_t> in(count), out(count);
    for (uint32_t i = 0; i < count; ++i) in[i] = i;
    convert_lanes(spec, in.data(), out.data(), count);
    for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(out[i], convert(spec, i)) << spec_name(spec) << ' ' << i;
  }
  for (uint32_t i = 0; i < 256; ++i) {
    EXPECT_EQ(narrow_to_f32<Format::e4m3>(i), convert({Format::f32, Format::e4m3}, i));
    EXPECT_EQ(narrow_to_f32<Format::ue4m3>(i), convert({Format::f32, Format::ue4m3}, i));
    EXPECT_EQ(narrow_to_f32<Format::e5m2>(i), convert({Format::f32, Format::e5m2}, i));
  }
}

}  // namespace
}  // namespace drywell::numeric
