#include "drywell/sim/numeric/convert.h"

#include "drywell/core/error.h"
#include "drywell/sim/numeric/convert_fast.h"

namespace drywell::numeric {
namespace {

constexpr uint32_t kF32SignMask = 0x80000000;

uint32_t flush_subnormal(uint32_t f32) { return (f32 & 0x7F800000) == 0 ? f32 & kF32SignMask : f32; }

// docs/facts/numerics.md §2.1, ue8m0 rows: the sign is ignored; zero and magnitudes up to 2^-127 become code 0.
uint32_t convert_to_ue8m0(const ConvertSpec& spec, const Decoded& in) {
  if (in.is_nan()) return 0xFF;
  if (in.is_infinity()) return spec.satfinite ? 0xFE : 0xFF;
  if (in.is_zero()) return 0;
  const int top = in.lsb_exponent + 31 - std::countl_zero(in.significand);
  const bool power_of_two = (in.significand & (in.significand - 1)) == 0;
  // Code 0 is 2^-127; in both modes every smaller magnitude becomes code 0, too.
  int exponent = top + (spec.rounding == Rounding::rp && !power_of_two ? 1 : 0);
  if (top < -127) exponent = -127;
  const int code = exponent + 127;
  return spec.satfinite && code > 0xFE ? 0xFE : static_cast<uint32_t>(code);
}

uint32_t convert_infinity(const ConvertSpec& spec, bool negative) {
  const FormatInfo& out = format_info(spec.dst);
  const uint32_t sign = negative ? out.sign_mask() : 0;
  if (spec.satfinite) return sign | out.max_finite;
  return sign | (out.has_infinity() ? out.infinity() : out.nan_result);
}

uint32_t convert_nan(const ConvertSpec& spec, uint32_t code) {
  if (spec.dst == Format::f32 && spec.src == Format::bf16) return code << 16;
  if (spec.dst == Format::tf32 && spec.rounding == Rounding::rna) return code & ~uint32_t{0x1FFF};
  return format_info(spec.dst).nan_result;
}

}  // namespace

uint32_t convert_scaled(const ConvertSpec& spec, uint32_t code, uint32_t scale) {
  const Decoded in = decode(spec.src, code);
  if (in.is_nan() || scale == 0xFF) return format_info(spec.dst).nan_result;
  if (spec.relu && in.negative) return 0;
  if (in.is_infinity()) return convert_infinity(spec, in.negative);
  return encode(spec.dst, in.negative, in.significand, in.lsb_exponent + static_cast<int>(scale) - 127, spec.rounding,
                spec.satfinite);
}

uint32_t convert(const ConvertSpec& spec, uint32_t code, uint32_t random) {
  if (spec.ftz && spec.src == Format::f32) code = flush_subnormal(code);
  const Decoded in = decode(spec.src, code);
  if (spec.dst == Format::ue8m0) return convert_to_ue8m0(spec, in);
  uint32_t result;
  if (in.is_nan()) {
    result = convert_nan(spec, code);
    return spec.relu ? format_info(spec.dst).nan_result : result;
  }
  if (spec.relu && in.negative) return 0;
  if (in.is_infinity()) return convert_infinity(spec, in.negative);
  result = encode(spec.dst, in.negative, in.significand, in.lsb_exponent, spec.rounding, spec.satfinite,
                  {random, random_width(spec.dst)});
  return spec.ftz && spec.dst == Format::f32 ? flush_subnormal(result) : result;
}

namespace {

template <auto F>
void map_lanes(const uint32_t* in, uint32_t* out, unsigned n, const uint32_t*) {
  for (unsigned i = 0; i < n; ++i) out[i] = F(in[i]);
}
template <auto F>
void map_random_lanes(const uint32_t* in, uint32_t* out, unsigned n, const uint32_t* random) {
  for (unsigned i = 0; i < n; ++i) out[i] = F(in[i], random[i]);
}

using LaneFunction = void (*)(const uint32_t*, uint32_t*, unsigned, const uint32_t*);

template <Format F>
LaneFunction narrow_function(const ConvertSpec& s) {
  switch (s.rounding) {
    case Rounding::rn: return s.satfinite ? map_lanes<narrow_rn<F, true>> : map_lanes<narrow_rn<F, false>>;
    case Rounding::rz: return s.satfinite ? map_lanes<narrow_rz<F, true>> : map_lanes<narrow_rz<F, false>>;
    case Rounding::rs:
      return s.satfinite ? map_random_lanes<narrow_rs<F, true>> : map_random_lanes<narrow_rs<F, false>>;
    default: return nullptr;
  }
}

LaneFunction bf16_function(const ConvertSpec& s) {
  switch (s.rounding) {
    case Rounding::rn:
      return s.satfinite ? map_lanes<f32_to_bf16_rn<true>> : map_lanes<f32_to_bf16_rn<false>>;
    case Rounding::rz:
      return s.satfinite ? map_lanes<f32_to_bf16_rz<true>> : map_lanes<f32_to_bf16_rz<false>>;
    case Rounding::rs:
      return s.satfinite ? map_random_lanes<f32_to_bf16_rs<true>> : map_random_lanes<f32_to_bf16_rs<false>>;
    default: return nullptr;
  }
}

LaneFunction tf32_function(const ConvertSpec& s) {
  if (s.satfinite) return nullptr;
  switch (s.rounding) {
    case Rounding::rn: return map_lanes<f32_to_tf32_rn>;
    case Rounding::rz: return map_lanes<f32_to_tf32_rz>;
    case Rounding::rna: return map_lanes<f32_to_tf32_rna>;
    default: return nullptr;
  }
}

LaneFunction ue8m0_function(const ConvertSpec& s) {
  switch (s.rounding) {
    case Rounding::rz:
      return s.satfinite ? map_lanes<f32_to_ue8m0_rz<true>> : map_lanes<f32_to_ue8m0_rz<false>>;
    case Rounding::rp:
      return s.satfinite ? map_lanes<f32_to_ue8m0_rp<true>> : map_lanes<f32_to_ue8m0_rp<false>>;
    default: return nullptr;
  }
}

LaneFunction from_f32(const ConvertSpec& s) {
  switch (s.dst) {
    case Format::e2m1: return narrow_function<Format::e2m1>(s);
    case Format::e2m3: return narrow_function<Format::e2m3>(s);
    case Format::e3m2: return narrow_function<Format::e3m2>(s);
    case Format::e4m3: return s.satfinite ? narrow_function<Format::e4m3>(s) : nullptr;
    case Format::e5m2: return narrow_function<Format::e5m2>(s);
    case Format::f16: return narrow_function<Format::f16>(s);
    case Format::bf16: return bf16_function(s);
    case Format::tf32: return tf32_function(s);
    case Format::ue8m0: return ue8m0_function(s);
    default: return nullptr;
  }
}

LaneFunction to_f16(Format src) {
  switch (src) {
    case Format::e2m1: return map_lanes<narrow_to_f16<Format::e2m1>>;
    case Format::e2m3: return map_lanes<narrow_to_f16<Format::e2m3>>;
    case Format::e3m2: return map_lanes<narrow_to_f16<Format::e3m2>>;
    case Format::e4m3: return map_lanes<e4m3_to_f16>;
    case Format::e5m2: return map_lanes<e5m2_to_f16>;
    default: return nullptr;
  }
}

/// The fast version of `spec` without relu, which the caller applies, and without ftz; nullptr if there is none.
LaneFunction fast_function(const ConvertSpec& s) {
  if (s.relu && s.dst == Format::tf32 && s.rounding == Rounding::rna) return nullptr;  // a NaN keeps its sign
  if (s.src == Format::f32) return from_f32(s);
  if (s.dst == Format::f16 && !s.satfinite) return to_f16(s.src);
  if (s.dst == Format::f32 && s.src == Format::f16 && !s.satfinite) return map_lanes<f16_to_f32>;
  if (s.dst == Format::f32 && s.src == Format::bf16 && !s.satfinite && !s.relu) return map_lanes<bf16_to_f32>;
  if (s.dst == Format::bf16 && s.src == Format::ue8m0) return map_lanes<ue8m0_to_bf16>;
  return nullptr;
}

}  // namespace

void convert_lanes(const ConvertSpec& spec, const uint32_t* in, uint32_t* out, unsigned n,
                   const uint32_t* random) {
  DRYWELL_CHECK(spec.rounding != Rounding::rs || random != nullptr,
                "stochastic rounding without random bits");
  const LaneFunction fast = spec.ftz ? nullptr : fast_function(spec);
  if (fast == nullptr) {
    for (unsigned i = 0; i < n; ++i) out[i] = convert(spec, in[i], random != nullptr ? random[i] : 0);
    return;
  }
  fast(in, out, n, random);
  if (spec.relu) {  // NaN results have no sign and do not change
    const uint32_t sign = format_info(spec.dst).sign_mask();
    for (unsigned i = 0; i < n; ++i) out[i] = (out[i] & sign) != 0 ? 0 : out[i];
  }
}

namespace {
constexpr unsigned kChunk = 32;  // lanes of a warp; the converted elements stay in registers or L1

/// Calls body(first, count) for every chunk of n lanes.
template <class Body>
void for_chunks(unsigned n, Body&& body) {
  for (unsigned first = 0; first < n; first += kChunk) body(first, n - first < kChunk ? n - first : kChunk);
}
}  // namespace

void convert_packed_lanes(const ConvertSpec& spec, const uint32_t* a, uint32_t* d, unsigned n) {
  for_chunks(n, [&](unsigned first, unsigned count) {
    uint32_t hi[kChunk], lo[kChunk];
    for (unsigned i = 0; i < count; ++i) {
      hi[i] = unpack(spec.src, a[first + i], 1);
      lo[i] = unpack(spec.src, a[first + i], 0);
    }
    convert_lanes(spec, hi, hi, count);
    convert_lanes(spec, lo, lo, count);
    for (unsigned i = 0; i < count; ++i) d[first + i] = pack_x2(spec.dst, hi[i], lo[i]);
  });
}

void convert_scaled_lanes(const ConvertSpec& spec, const uint32_t* a, const uint32_t* scale, uint32_t* d, unsigned n) {
  const auto element = [&](unsigned lane, unsigned i) {
    return convert_scaled(spec, unpack(spec.src, a[lane], i), scale[lane] >> 8 * i & 0xFF);
  };
  for (unsigned k = 0; k < n; ++k) d[k] = pack_x2(spec.dst, element(k, 1), element(k, 0));
}

void convert_x2_lanes(const ConvertSpec& spec, const uint32_t* a, const uint32_t* b, const uint32_t* rbits,
                      uint32_t* d, unsigned n) {
  for_chunks(n, [&](unsigned first, unsigned count) {
    uint32_t hi[kChunk], lo[kChunk], ra[kChunk] = {}, rb[kChunk] = {};
    if (spec.rounding == Rounding::rs) {
      for (unsigned i = 0; i < count; ++i) {
        const auto r = random_bits_x2(spec.dst, rbits[first + i]);
        ra[i] = r[0], rb[i] = r[1];
      }
    }
    convert_lanes(spec, a + first, hi, count, ra);
    convert_lanes(spec, b + first, lo, count, rb);
    for (unsigned i = 0; i < count; ++i) d[first + i] = pack_x2(spec.dst, hi[i], lo[i]);
  });
}

void convert_x4_lanes(const ConvertSpec& spec, const uint32_t* a, const uint32_t* b, const uint32_t* e,
                      const uint32_t* f, const uint32_t* rbits, uint32_t* d, unsigned n) {
  const uint32_t* sources[4] = {a, b, e, f};
  for_chunks(n, [&](unsigned first, unsigned count) {
    uint32_t random[4][kChunk] = {}, element[4][kChunk];
    for (unsigned i = 0; i < count; ++i) {
      const auto r = random_bits_x4(spec.dst, rbits[first + i]);
      for (unsigned j = 0; j < 4; ++j) random[j][i] = r[j];
    }
    for (unsigned j = 0; j < 4; ++j) convert_lanes(spec, sources[j] + first, element[j], count, random[j]);
    for (unsigned i = 0; i < count; ++i) {
      d[first + i] = pack_x4(spec.dst, element[0][i], element[1][i], element[2][i], element[3][i]);
    }
  });
}

}  // namespace drywell::numeric
