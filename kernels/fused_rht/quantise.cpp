#include "kernels/fused_rht/quantise.h"

#include <array>
#include <limits>

namespace drywell::kernels {
namespace {

using namespace isa;

constexpr float kFloatMax = std::numeric_limits<float>::max();
constexpr float kE2m1Max = 6.0f, kE4m3Max = 448.0f;
constexpr int kBlocks = 4, kBlockSize = 16;

// Philox4x32 multipliers and key increments (Salmon et al., SC 2011; TransformerEngine curanddx.hpp).
constexpr uint32_t kPhiloxM0 = 0xD2511F53, kPhiloxM1 = 0xCD9E8D57, kPhiloxW0 = 0x9E3779B9, kPhiloxW1 = 0xBB67AE85;
constexpr int kPhiloxRounds = 10;

using Words = std::array<Reg, 4>;

// One block of four random words for counter `ctr`.
Words philox(KernelBuilder& k, Words ctr, Reg key0, Reg key1) {
  Reg k0 = k.def("mov.b32", key0), k1 = k.def("mov.b32", key1);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const Reg hi0 = k.def("mul.hi.u32", ctr[0], kPhiloxM0), lo0 = k.def("mul.lo.u32", ctr[0], kPhiloxM0);
    const Reg hi1 = k.def("mul.hi.u32", ctr[2], kPhiloxM1), lo1 = k.def("mul.lo.u32", ctr[2], kPhiloxM1);
    const Reg x = k.def("xor.b32", k.def("xor.b32", hi1, ctr[1]), k0), z = k.def("xor.b32", k.def("xor.b32", hi0, ctr[3]), k1);
    ctr = {x, lo1, z, lo0};
    if (round + 1 < kPhiloxRounds) {
      k("add.u32", k0, k0, kPhiloxW0);
      k("add.u32", k1, k1, kPhiloxW1);
    }
  }
  return ctr;
}

// ++ctr on 128 bits.
void increment(KernelBuilder& k, const Words& ctr) {
  Reg carry = k.def("mov.b32", 1);
  for (Reg word : ctr) {
    k("add.u32", word, word, carry);
    const Reg wrapped = k.reg(Mod::pred);
    k("setp.lt.u32", wrapped, word, carry);
    carry = k.def("selp.b32", 1, 0, wrapped);
  }
}

// f32 -> bf16 -> f32 for pairs: the widening is a shift.
void round_trip(KernelBuilder& k, const RegArray& acc) {
  for (size_t i = 0; i < acc.size(); i += 2) {
    const Reg packed = k.def("cvt.rn.bf16x2.f32", acc[i + 1], acc[i]);
    k("mov.b32", acc[i], k.def("shl.b32", packed, 16));
    k("mov.b32", acc[i + 1], k.def("and.b32", packed, static_cast<int>(0xFFFF0000)));
  }
}

Reg block_amax(KernelBuilder& k, const RegArray& acc, int block) {
  const Reg m = k.def("mov.f32", 0.0f);
  for (int i = 0; i < kBlockSize; ++i) k("max.NaN.f32", m, m, k.def("abs.f32", acc[static_cast<size_t>(block * kBlockSize + i)]));
  return m;
}

// Multiplier of the block's elements: 1 / (stored scale * S_dec), at most FLT_MAX.
Reg element_scale(KernelBuilder& k, const FusedRhtOptions& o, Reg stored, const QuantiseScales& s) {
  const Reg product = k.def("mul.f32", stored, s.decode);
  const Reg inverse = o.approximate_reciprocal ? k.def("rcp.approx.ftz.f32", product) : k.def("div.rn.f32", 1.0f, product);
  return k.def("min.NaN.f32", inverse, kFloatMax);
}

// Eight codes of a word, element 0 lowest: four byte conversions packed.
Reg round_nearest(KernelBuilder& k, const std::array<Reg, 8>& y) {
  std::array<Reg, 4> byte;
  for (size_t i = 0; i < 4; ++i) byte[i] = k.def("cvt.rn.satfinite.e2m1x2.f32", y[2 * i + 1], y[2 * i]);
  return k.def("mov.b32", vec(byte[0], byte[1], byte[2], byte[3]));
}

Reg round_stochastic(KernelBuilder& k, const std::array<Reg, 8>& y, Reg bits0, Reg bits1) {
  const Reg low = k.def("cvt.rs.satfinite.e2m1x4.f32", vec(y[3], y[2], y[1], y[0]), bits0);
  const Reg high = k.def("cvt.rs.satfinite.e2m1x4.f32", vec(y[7], y[6], y[5], y[4]), bits1);
  return k.def("mov.b32", vec(low, high));
}

// Four ue4m3 codes as a word and their values as floats.
std::array<Reg, kBlocks> convert_scales(KernelBuilder& k, const std::array<Reg, kBlocks>& v, Reg& packed) {
  const Reg low = k.def("cvt.rn.satfinite.e4m3x2.f32", v[1], v[0]), high = k.def("cvt.rn.satfinite.e4m3x2.f32", v[3], v[2]);
  packed = k.def("mov.b32", vec(low, high));
  std::array<Reg, kBlocks> out;
  for (int half = 0; half < 2; ++half) {
    const Reg pair = k.def("cvt.rn.f16x2.e4m3x2", half == 0 ? low : high);
    const Reg a = k.reg(Mod::b16), b = k.reg(Mod::b16);
    k("mov.b32", vec(a, b), pair);
    out[static_cast<size_t>(2 * half)] = k.def("cvt.f32.f16", a);
    out[static_cast<size_t>(2 * half + 1)] = k.def("cvt.f32.f16", b);
  }
  return out;
}

}  // namespace

QuantiseScales global_scales(KernelBuilder& k, const FusedRhtOptions& o, Reg amax_address) {
  const Reg amax = k.def("ld.global.f32", mem(amax_address));
  const Reg encode = k.def("min.NaN.f32", k.def("div.rn.f32", kE4m3Max * kE2m1Max, amax), kFloatMax);
  const Reg no_amax = k.reg(Mod::pred), unusable = k.reg(Mod::pred);
  k("setp.eq.f32", no_amax, amax, 0.0f);
  k("setp.eq.or.f32", unusable, encode, 0.0f, no_amax);
  const Reg chosen = k.def("selp.f32", 1.0f, encode, unusable);
  QuantiseScales s;
  s.decode = k.def("div.rn.f32", 1.0f, chosen);
  // TransformerEngine at d0067d0 folds the division by 6 into the global scale (facts/numerics.md §4).
  s.encode = o.te_scale_order ? k.def("mul.f32", chosen, 1.0f / kE2m1Max) : chosen;
  return s;
}

PhiloxSeed load_seed(KernelBuilder& k, Reg rng_address) {
  PhiloxSeed s{k.def("mov.b32", 0), k.def("mov.b32", 0), k.def("mov.b32", 0), k.def("mov.b32", 0)};
  const Reg present = k.reg(Mod::pred);
  k("setp.ne.s64", present, rng_address, 0);
  k.when(present)("ld.global.v4.u32", vec(s.seed_low, s.seed_high, s.offset_low, s.offset_high), mem(rng_address));
  return s;
}

QuantisedTile quantise_tile(KernelBuilder& k, const FusedRhtOptions& o, const RegArray& acc, const QuantiseScales& s, const PhiloxSeed& seed, Reg sequence) {
  if (o.bf16_round_trip) round_trip(k, acc);
  std::array<Reg, kBlocks> scale;
  for (int b = 0; b < kBlocks; ++b) {
    const Reg amax = block_amax(k, acc, b);
    const Reg relative = o.te_scale_order ? amax : k.def("div.rn.f32", amax, kE2m1Max);
    scale[static_cast<size_t>(b)] = k.def("mul.f32", relative, s.encode);
  }
  QuantisedTile q;
  const std::array<Reg, kBlocks> stored = convert_scales(k, scale, q.scales);
  Words counter{};
  if (o.stochastic) counter = {k.def("mov.b32", seed.offset_low), k.def("mov.b32", seed.offset_high), k.def("mov.b32", sequence), k.def("mov.b32", 0)};
  std::vector<Reg> words;
  for (int b = 0; b < kBlocks; ++b) {
    const Reg multiplier = element_scale(k, o, stored[static_cast<size_t>(b)], s);
    Words random{};
    if (o.stochastic) {
      random = philox(k, counter, seed.seed_low, seed.seed_high);
      if (b + 1 < kBlocks) increment(k, counter);
    }
    for (size_t half = 0; half < 2; ++half) {
      std::array<Reg, 8> y;
      for (size_t i = 0; i < 8; ++i) y[i] = k.def("mul.f32", acc[static_cast<size_t>(b * kBlockSize) + 8 * half + i], multiplier);
      words.push_back(o.stochastic ? round_stochastic(k, y, random[2 * half], random[2 * half + 1]) : round_nearest(k, y));
    }
  }
  q.codes = RegArray(words);
  return q;
}

}  // namespace drywell::kernels
