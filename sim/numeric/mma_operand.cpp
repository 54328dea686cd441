// Decoding of operands into the arrays the tile kernels read.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "drywell/core/bits.h"
#include "drywell/core/error.h"
#include "drywell/sim/numeric/convert.h"
#include "drywell/sim/numeric/convert_fast.h"
#include "drywell/sim/numeric/mma_tile.h"
#include "sim/numeric/tile_kernels.h"

namespace drywell::numeric {
namespace {

/// 2^e, -1022 <= e <= 1023.
constexpr double pow2(int e) { return std::bit_cast<double>(static_cast<uint64_t>(e + 1023) << 52); }

/// Rows of these formats are scaled by one fixed exponent; bf16 and tf32 by that of their largest element.
constexpr int max_raw_exponent(Format f) {
  const FormatInfo& in = format_info(f);
  return in.has_infinity() ? in.bias : in.bias + 1;
}

/// Every code of a format of at most 8 bits, ready to use.
struct NarrowTable {
  std::array<float, 256> value;
  std::array<int16_t, 256> exponent;
  std::array<bool, 256> special;
};

constexpr NarrowTable make_table(Format f) {
  NarrowTable t = {};
  for (uint32_t code = 0; code < 256; ++code) {
    const Decoded d = decode(f, code);
    const int relative = d.raw_exponent - max_raw_exponent(f);
    t.special[code] = d.is_nan() || d.is_infinity();
    t.exponent[code] = static_cast<int16_t>(d.cls == FpClass::finite ? relative : kZeroExponent);
    if (d.cls == FpClass::finite) {
      const float unit = detail::as_float(detail::pow2_bits(relative - format_info(f).fraction_bits));
      t.value[code] = (d.negative ? -unit : unit) * static_cast<float>(d.significand);
    }
  }
  return t;
}

const NarrowTable& narrow_table(Format f) {
  static constexpr std::array<NarrowTable, 5> kTables = {make_table(Format::e2m1), make_table(Format::e2m3),
                                                         make_table(Format::e3m2), make_table(Format::e4m3),
                                                         make_table(Format::e5m2)};
  return kTables[static_cast<unsigned>(f)];
}

template <class T>
void load_row(const unsigned char* row, unsigned k, uint32_t flip, uint32_t* out) {
  for (unsigned i = 0; i < k; ++i) {
    T code;
    std::memcpy(&code, row + i * sizeof(T), sizeof(T));
    out[i] = code ^ flip;
  }
}

void load_row(const unsigned char* row, unsigned k, CodeStorage storage, uint32_t flip, uint32_t* out) {
  switch (storage) {
    case CodeStorage::nibbles:
      for (unsigned i = 0; i < k; ++i) out[i] = (row[i / 2] >> (i % 2 * 4) & 0xFu) ^ flip;
      return;
    case CodeStorage::bytes: return load_row<uint8_t>(row, k, flip, out);
    case CodeStorage::halves: return load_row<uint16_t>(row, k, flip, out);
    case CodeStorage::words: return load_row<uint32_t>(row, k, flip, out);
  }
}

/// Order in which the legacy fp8 rule takes k: first k mod 4 in {0,1}, then {2,3} (facts/numerics.md §3.2).
unsigned legacy_source_index(unsigned i, unsigned k) {
  const unsigned half = i < k / 2 ? 0 : 1;
  const unsigned j = i - half * (k / 2);
  return j / 2 * 4 + half * 2 + j % 2;
}

}  // namespace

void MmaOperand::load_codes(const OperandSource& s) {
  const uint32_t sign = s.negate ? format_info(s.format).sign_mask() : 0;
  codes_.resize(size_t{rows_} * k_);
  for (unsigned r = 0; r < rows_; ++r) {
    const unsigned char* row = static_cast<const unsigned char*>(s.codes) + r * s.row_stride;
    load_row(row, k_, s.storage, sign, codes_.data() + size_t{r} * k_);
  }
  scale_codes_.resize(size_t{rows_} * scales_per_row_);
  for (unsigned r = 0; r < rows_; ++r) {
    for (unsigned i = 0; i < scales_per_row_; ++i) {
      scale_codes_[size_t{r} * scales_per_row_ + i] = s.scales[r * s.scale_stride + i];
    }
  }
}

void MmaOperand::assign(Side side, const MmaParams& params, const OperandSource& s) {
  side_ = side;
  format_ = s.format;
  scale_format_ = s.scale_format;
  rows_ = s.rows;
  k_ = s.k;
  scales_per_row_ = s.scales_per_row;
  any_special_ = any_wide_ = false;
  load_codes(s);
  row_flags_.assign(rows_, 0);
  const size_t padded = round_up(rows_, kColumnMultiple);
  row_step_ = side == Side::a ? k_ : 1;
  element_step_ = side == Side::a ? 1 : padded;
  if (params.group == 1) {
    assign_aligned(s, params.legacy_fp8);
  } else {
    assign_grouped(s, static_cast<unsigned>(params.group));
  }
}

void MmaOperand::assign_aligned(const OperandSource& s, bool legacy_fp8) {
  DRYWELL_CHECK(scales_per_row_ <= 1, "one scale per row: the kind's block is the whole K");
  const size_t count = side_ == Side::a ? size_t{rows_} * k_ : element_step_ * k_;
  values_.assign(count, 0.0f);
  exponents_.assign(count, static_cast<int16_t>(kZeroExponent));
  row_exponents_.assign(round_up(rows_, kColumnMultiple), 0);
  const Format format = legacy_fp8 ? Format::f16 : s.format;
  std::vector<uint32_t> permuted(legacy_fp8 ? k_ : 0);
  for (unsigned r = 0; r < rows_; ++r) {
    const uint32_t* codes = codes_.data() + size_t{r} * k_;
    if (legacy_fp8) {
      for (unsigned i = 0; i < k_; ++i) {
        permuted[i] = convert({.dst = Format::f16, .src = s.format}, codes[legacy_source_index(i, k_)]);
      }
      codes = permuted.data();
    }
    if (format_info(format).bits() <= 8) {
      set_narrow_row(format, r, codes);
    } else {
      set_row_values(format, r, codes);
    }
    if (scales_per_row_ == 1) {
      const Decoded scale = decode(scale_format_, scale_codes_[r]);
      if (scale.is_nan()) row_flags_[r] |= kSpecial;
      row_exponents_[r] += scale.raw_exponent;
    }
    any_special_ |= (row_flags_[r] & kSpecial) != 0;
    any_wide_ |= (row_flags_[r] & kWide) != 0;
  }
  if (any_wide_) set_wide_values(format);
}

void MmaOperand::set_narrow_row(Format format, unsigned row, const uint32_t* codes) {
  const NarrowTable& table = narrow_table(format);
  bool special = false;
  for (unsigned i = 0; i < k_; ++i) {
    const uint32_t code = codes[i] & 0xFF;
    values_[at(row, i)] = table.value[code];
    exponents_[at(row, i)] = table.exponent[code];
    special |= table.special[code];
  }
  row_exponents_[row] = max_raw_exponent(format);
  if (special) row_flags_[row] |= kSpecial;
}

/// f16, bf16 and tf32: through their f32 words, which hold the value exactly.
void MmaOperand::set_row_values(Format format, unsigned row, const uint32_t* codes) {
  const bool fixed = format == Format::f16;
  const int min_exponent = format_info(format).min_exponent();
  std::array<uint32_t, 64> words;
  std::array<int, 64> raw;
  DRYWELL_CHECK(k_ <= words.size(), "K of one instruction");
  int top = fixed ? max_raw_exponent(format) : -1000, bottom = 1000;
  bool special = false;
  for (unsigned i = 0; i < k_; ++i) {
    words[i] = format == Format::f16    ? f16_to_f32(codes[i])
               : format == Format::bf16 ? bf16_to_f32(codes[i])
                                        : codes[i] & ~uint32_t{0x1FFF};
    const int field = static_cast<int>(words[i] >> 23 & 0xFF);
    const bool zero = (words[i] & 0x7FFFFFFF) == 0;
    special |= field == 0xFF;
    raw[i] = zero ? kZeroExponent : std::max(field - 127, min_exponent);
    top = std::max(top, raw[i]);
    bottom = std::min(bottom, zero ? 1000 : raw[i]);
  }
  if (special) {  // every element of D that meets this row is computed by `dot`
    row_flags_[row] |= kSpecial;
    return;
  }
  if (top == kZeroExponent || top == -1000) return;
  if (top - bottom > kMaxFloatSpan) row_flags_[row] |= kWide;
  row_exponents_[row] = top;
  const auto scale = static_cast<float>(pow2(-top));
  for (unsigned i = 0; i < k_; ++i) {
    values_[at(row, i)] = detail::as_float(words[i]) * scale;
    exponents_[at(row, i)] = static_cast<int16_t>(raw[i] == kZeroExponent ? kZeroExponent : raw[i] - top);
  }
}

void MmaOperand::set_wide_values(Format format) {
  wide_values_.assign(values_.size(), 0.0);
  for (unsigned r = 0; r < rows_; ++r) {
    if ((row_flags_[r] & kSpecial) != 0) continue;
    const double scale = pow2(-row_exponents_[r]);  // wide formats carry no block scale
    for (unsigned i = 0; i < k_; ++i) {
      wide_values_[at(r, i)] = to_double(format, codes_[size_t{r} * k_ + i]) * scale;
    }
  }
}

void MmaOperand::assign_grouped(const OperandSource& s, unsigned group) {
  DRYWELL_CHECK(s.format == Format::e2m1 && scales_per_row_ != 0 && k_ % group == 0,
                "grouped sums are mxf4 kinds");
  const unsigned groups = k_ / group, groups_per_scale = groups / scales_per_row_;
  const size_t lanes = side_ == Side::a ? rows_ : element_step_;
  integers_.assign(lanes * k_, 0);
  group_scales_.assign(lanes * groups, 0.0);
  group_exponents_.assign(lanes * groups, 0);
  group_masks_.assign(lanes * groups, 0);
  static constexpr std::array<int16_t, 16> kDoubled = {0, 1,  2,  3,  4,  6,  8,  12,
                                                       0, -1, -2, -3, -4, -6, -8, -12};
  for (unsigned r = 0; r < rows_; ++r) {
    const uint32_t* codes = codes_.data() + size_t{r} * k_;
    for (unsigned i = 0; i < k_; ++i) integers_[at(r, i)] = kDoubled[codes[i] & 0xF];
    for (unsigned g = 0; g < groups; ++g) {
      const Decoded scale =
          decode(scale_format_, scale_codes_[size_t{r} * scales_per_row_ + g / groups_per_scale]);
      if (scale.is_nan()) row_flags_[r] |= kSpecial;
      uint32_t mask = 0;
      for (unsigned i = 0; i < group; ++i)
        mask |= static_cast<uint32_t>((codes[g * group + i] & 7) != 0) << i;
      const size_t to = side_ == Side::a ? size_t{r} * groups + g : g * element_step_ + r;
      const bool usable = scale.cls == FpClass::finite;
      group_masks_[to] = static_cast<uint16_t>(usable ? mask : 0);
      group_exponents_[to] = static_cast<int16_t>(usable ? scale.raw_exponent : 0);
      // The doubled values make a product four times too large; A's scale takes that back.
      const int exponent = scale.lsb_exponent - (side_ == Side::a ? 2 : 0);
      group_scales_[to] = usable ? static_cast<double>(scale.significand) * pow2(exponent) : 0.0;
    }
    any_special_ |= (row_flags_[r] & kSpecial) != 0;
  }
}

}  // namespace drywell::numeric
