#include "kernels/nvfp4/arithmetic.h"

#include <limits>
#include <optional>
#include <vector>

namespace drywell::kernels::nvfp4 {
namespace {

using namespace isa;

constexpr float kFloatMax = std::numeric_limits<float>::max();
constexpr float kE2m1Max = 6.0f, kE4m3Max = 448.0f;
constexpr size_t kBlocks = 4;

// Philox4x32 multipliers and key increments (Salmon et al., SC 2011; TransformerEngine curanddx.hpp).
constexpr uint32_t kPhiloxM0 = 0xD2511F53, kPhiloxM1 = 0xCD9E8D57, kPhiloxW0 = 0x9E3779B9, kPhiloxW1 = 0xBB67AE85;
constexpr int kPhiloxRounds = 10;

using Words = std::array<Reg, 4>;

// Computes one block of four random words for counter `ctr`.
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

// Rounds pairs f32 -> bf16 -> f32; the widening is a shift.
void round_trip(KernelBuilder& k, const RegArray& acc) {
  for (size_t i = 0; i < acc.size(); i += 2) {
    const Reg packed = k.def("cvt.rn.bf16x2.f32", acc[i + 1], acc[i]);
    k("mov.b32", acc[i], k.def("shl.b32", packed, 16));
    k("mov.b32", acc[i + 1], k.def("and.b32", packed, static_cast<int>(0xFFFF0000)));
  }
}

const char* smaller(const Arithmetic& a) { return a.propagates_nan ? "min.NaN.f32" : "min.f32"; }

// Returns the block's scale before the rounding to e4m3. If NaN is not propagated, the minimum with FLT_MAX turns it
// into the largest scale (core_nvfp4.cuh); the fused kernel has no such minimum.
Reg wanted_scale(KernelBuilder& k, const Arithmetic& a, Reg amax, const GlobalScales& s) {
  const Reg relative = a.te_scale_order ? amax : k.def("div.rn.f32", amax, kE2m1Max);
  const Reg wanted = k.def("mul.f32", relative, s.encode);
  return a.propagates_nan ? wanted : k.def("min.f32", wanted, kFloatMax);
}

Reg element_scale(KernelBuilder& k, const Arithmetic& a, Reg stored, const GlobalScales& s) {
  const Reg product = k.def("mul.f32", stored, s.decode);
  const Reg inverse = a.approximate_reciprocal ? k.def("rcp.approx.ftz.f32", product) : k.def("div.rn.f32", 1.0f, product);
  return k.def(OpText(smaller(a)), inverse, kFloatMax);
}

// Rounds eight values to the codes of a word, element 0 lowest: four byte conversions packed.
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

// Converts two e4m3 codes to floats, through f16: there is no direct conversion.
std::array<Reg, 2> widen_e4m3(KernelBuilder& k, Reg codes) {
  const Reg pair = k.def("cvt.rn.f16x2.e4m3x2", codes);
  const Reg a = k.reg(Mod::b16), b = k.reg(Mod::b16);
  k("mov.b32", vec(a, b), pair);
  return {k.def("cvt.f32.f16", a), k.def("cvt.f32.f16", b)};
}

// Rounds four scales to ue4m3 codes in a word, and returns the values of the codes as floats.
std::array<Reg, kBlocks> convert_scales(KernelBuilder& k, const std::array<Reg, kBlocks>& v, Reg& packed) {
  const Reg low = k.def("cvt.rn.satfinite.e4m3x2.f32", v[1], v[0]), high = k.def("cvt.rn.satfinite.e4m3x2.f32", v[3], v[2]);
  packed = k.def("mov.b32", vec(low, high));
  const auto first = widen_e4m3(k, low), second = widen_e4m3(k, high);
  return {first[0], first[1], second[0], second[1]};
}

}  // namespace

GlobalScales global_scales(KernelBuilder& k, const Arithmetic& a, Reg amax_address) {
  const Reg amax = k.def("ld.global.f32", mem(amax_address));
  const Reg encode = k.def(OpText(smaller(a)), k.def("div.rn.f32", kE4m3Max * kE2m1Max, amax), kFloatMax);
  const Reg no_amax = k.reg(Mod::pred), unusable = k.reg(Mod::pred);
  k("setp.eq.f32", no_amax, amax, 0.0f);
  k("setp.eq.or.f32", unusable, encode, 0.0f, no_amax);
  const Reg chosen = k.def("selp.f32", 1.0f, encode, unusable);
  GlobalScales s;
  s.decode = k.def("div.rn.f32", 1.0f, chosen);
  // TransformerEngine at d0067d0 folds the division by 6 into the global scale (docs/facts/numerics.md §4).
  s.encode = a.te_scale_order ? k.def("mul.f32", chosen, 1.0f / kE2m1Max) : chosen;
  return s;
}

PhiloxSeed load_seed(KernelBuilder& k, Reg rng_address) {
  PhiloxSeed s{k.def("mov.b32", 0), k.def("mov.b32", 0), k.def("mov.b32", 0), k.def("mov.b32", 0)};
  const Reg present = k.reg(Mod::pred);
  k("setp.ne.s64", present, rng_address, 0);
  k.when(present)("ld.global.v4.u32", vec(s.seed_low, s.seed_high, s.offset_low, s.offset_high), mem(rng_address));
  return s;
}

PhiloxStream::PhiloxStream(KernelBuilder& k, const PhiloxSeed& seed, Reg subsequence)
    : k_(k),
      key_low_(seed.seed_low),
      key_high_(seed.seed_high),
      counter_{k.def("mov.b32", seed.offset_low), k.def("mov.b32", seed.offset_high), k.def("mov.b32", subsequence), k.def("mov.b32", 0)} {}

Words PhiloxStream::next(bool more) {
  const Words drawn = philox(k_, counter_, key_low_, key_high_);
  if (more) increment(k_, counter_);
  return drawn;
}

std::array<Reg, 2> widen_bf16(KernelBuilder& k, Reg packed) {
  const Reg low = k.reg(Mod::f32), high = k.reg(Mod::f32);
  k("mov.b32", low, k.def("shl.b32", packed, 16));
  k("mov.b32", high, k.def("and.b32", packed, static_cast<int>(0xFFFF0000)));
  return {low, high};
}

Reg block_amax(KernelBuilder& k, const Arithmetic& a, BlockValues values) {
  const Reg m = k.def("mov.f32", 0.0f);
  for (const Reg v : values) k(OpText(a.propagates_nan ? "max.NaN.f32" : "max.f32"), m, m, k.def("abs.f32", v));
  return m;
}

BlockScale block_scale(KernelBuilder& k, const Arithmetic& a, Reg amax, const GlobalScales& s) {
  BlockScale b;
  b.code = k.def("cvt.rn.satfinite.e4m3x2.f32", 0.0f, wanted_scale(k, a, amax, s));
  b.multiplier = element_scale(k, a, widen_e4m3(k, b.code)[0], s);
  return b;
}

std::array<Reg, 2> encode_block(KernelBuilder& k, BlockValues values, Reg multiplier, const Words* random) {
  std::array<Reg, 2> words;
  for (size_t half = 0; half < 2; ++half) {
    std::array<Reg, 8> y;
    for (size_t i = 0; i < 8; ++i) y[i] = k.def("mul.f32", values[8 * half + i], multiplier);
    words[half] = random == nullptr ? round_nearest(k, y) : round_stochastic(k, y, (*random)[2 * half], (*random)[2 * half + 1]);
  }
  return words;
}

QuantizedTile quantize_tile(KernelBuilder& k, const Arithmetic& a, const RegArray& acc, const GlobalScales& s, const PhiloxSeed& seed, Reg sequence) {
  if (a.bf16_round_trip) round_trip(k, acc);
  const std::vector<Reg> values(acc.begin(), acc.end());
  const auto block = [&](size_t b) { return BlockValues(values.data() + b * kBlockSize, kBlockSize); };
  std::array<Reg, kBlocks> wanted;
  for (size_t b = 0; b < kBlocks; ++b) wanted[b] = wanted_scale(k, a, block_amax(k, a, block(b)), s);
  QuantizedTile q;
  const std::array<Reg, kBlocks> stored = convert_scales(k, wanted, q.scales);
  std::optional<PhiloxStream> stream;
  if (a.stochastic) stream.emplace(k, seed, sequence);
  std::vector<Reg> words;
  for (size_t b = 0; b < kBlocks; ++b) {
    const Reg multiplier = element_scale(k, a, stored[b], s);
    Words random{};
    if (stream) random = stream->next(b + 1 < kBlocks);
    for (const Reg w : encode_block(k, block(b), multiplier, stream ? &random : nullptr)) words.push_back(w);
  }
  q.codes = RegArray(words);
  return q;
}

}  // namespace drywell::kernels::nvfp4
