// Decodes operands into the arrays that the tile kernels read.
#include <algorithm>
#include <bit>
#include <cstring>

#include "drywell/core/bits.h"
#include "drywell/core/error.h"
#include "drywell/sim/numeric/convert.h"
#include "drywell/sim/numeric/mma_tile.h"
#include "sim/numeric/highway/operand_kernels.h"
#include "sim/numeric/highway/tile_kernels.h"

namespace drywell::numeric {
namespace {

/// 2^e, -1022 <= e <= 1023.
constexpr double pow2(int e) { return std::bit_cast<double>(static_cast<uint64_t>(e + 1023) << 52); }

unsigned storage_bits(CodeStorage s) {
  switch (s) {
    case CodeStorage::nibbles: return 4;
    case CodeStorage::bytes: return 8;
    case CodeStorage::halves: return 16;
    case CodeStorage::words: return 32;
  }
  throw InternalError("storage_bits: unknown storage");
}

/// The sign bits of the elements in a word.
uint32_t sign_bits(Format f, unsigned element_bits) {
  uint32_t signs = 0;
  for (unsigned bit = 0; bit < 32; bit += element_bits) signs |= format_info(f).sign_mask() << bit;
  return signs;
}

/// Order of k in the legacy fp8 rule: first k mod 4 in {0,1}, then {2,3} (docs/facts/numerics.md §3.2).
unsigned legacy_source_index(unsigned i, unsigned k) {
  const unsigned half = i < k / 2 ? 0 : 1;
  const unsigned j = i - half * (k / 2);
  return j / 2 * 4 + half * 2 + j % 2;
}

}  // namespace

uint32_t MmaOperand::code(unsigned row, unsigned k) const {
  const unsigned per_word = 32 / element_bits_;
  const uint32_t word = words_[k / per_word * stride_ + row];
  return element_bits_ == 32 ? word : word >> k % per_word * element_bits_ & ((1u << element_bits_) - 1);
}

/// Transposes rows of bytes to [word][row].
void MmaOperand::load_words(const OperandSource& s) {
  element_bits_ = storage_bits(s.storage);
  const size_t bytes = size_t{k_} * element_bits_ / 8, whole = bytes / 4, words = ceil_div(bytes, size_t{4});
  const uint32_t flip = s.negate ? sign_bits(s.format, element_bits_) : 0;
  words_.resize(words * stride_);
  for (size_t w = 0; w < words; ++w) std::fill_n(words_.begin() + static_cast<ptrdiff_t>(w * stride_ + rows_), stride_ - rows_, 0);
  for (unsigned r = 0; r < rows_; ++r) {
    const unsigned char* row = static_cast<const unsigned char*>(s.codes) + r * s.row_stride;
    for (size_t w = 0; w < whole; ++w) {
      uint32_t word;
      std::memcpy(&word, row + 4 * w, 4);
      words_[w * stride_ + r] = word ^ flip;
    }
    if (whole == words) continue;
    uint32_t last = 0;
    std::memcpy(&last, row + 4 * whole, bytes % 4);
    words_[whole * stride_ + r] = last ^ flip;
  }
}

/// Packs the codes to eight in a word.
void MmaOperand::pack_nibbles() {
  std::vector<uint32_t> packed(ceil_div(k_, 8u) * stride_);
  for (unsigned r = 0; r < rows_; ++r)
    for (unsigned k = 0; k < k_; ++k) packed[k / 8 * stride_ + r] |= (code(r, k) & 0xF) << k % 8 * 4;
  words_.swap(packed);
  element_bits_ = 4;
}

void MmaOperand::load_scales(const OperandSource& s) {
  scale_words_.assign(ceil_div(scales_per_row_, 4u) * stride_, 0);
  for (unsigned i = 0; i < scales_per_row_; i += 4) {
    for (unsigned r = 0; r < rows_; ++r) std::memcpy(&scale_words_[i / 4 * stride_ + r], s.scales + r * s.scale_stride + i, std::min(4u, scales_per_row_ - i));
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
  stride_ = round_up(rows_, kColumnMultiple);
  load_words(s);
  load_scales(s);
  row_flags_.assign(stride_, 0);
  if (params.group != 1) {
    DRYWELL_CHECK(s.format == Format::e2m1 && scales_per_row_ != 0 && k_ % static_cast<unsigned>(params.group) == 0,
                  "grouped sums are mxf4 kinds");
    assign_grouped(static_cast<unsigned>(params.group));
  } else if (params.legacy_fp8) {
    assign_legacy_fp8();
  } else {
    assign_aligned(s);
  }
  for (uint8_t flags : row_flags_) {
    any_special_ |= (flags & kSpecial) != 0;
    any_wide_ |= (flags & kWide) != 0;
  }
  if (any_wide_) set_wide_values(params.legacy_fp8 ? Format::f16 : format_);
}

void MmaOperand::assign_aligned(const OperandSource& s) {
  DRYWELL_CHECK(scales_per_row_ <= 1, "one scale per row: the kind's block is the whole K");
  decode_values(s.format, words_.data(), static_cast<unsigned>(words_.size() / stride_), element_bits_);
}

/// The fp8 forms of mma.sync: converts the elements to f16, in the order of their two sums.
void MmaOperand::assign_legacy_fp8() {
  std::vector<uint32_t> halves(ceil_div(k_, 2u) * stride_);
  for (unsigned r = 0; r < rows_; ++r) {
    for (unsigned i = 0; i < k_; ++i) {
      const uint32_t half = convert({.dst = Format::f16, .src = format_}, code(r, legacy_source_index(i, k_)));
      halves[i / 2 * stride_ + r] |= half << i % 2 * 16;
    }
  }
  decode_values(Format::f16, halves.data(), ceil_div(k_, 2u), 16);
}

void MmaOperand::decode_values(Format format, const uint32_t* words, unsigned word_count, unsigned element_bits) {
  const size_t count = size_t{word_count} * (32 / element_bits) * stride_;
  values_.resize(count + kReadSlack);
  exponents_.resize(count + kReadSlack);
  row_exponents_.resize(stride_);
  row_tops_.resize(stride_);
  row_lowest_.resize(stride_);
  std::vector<int32_t> bottoms(stride_);
  std::vector<uint32_t> specials(stride_);
  numeric::decode_values({format, element_bits, word_count, static_cast<unsigned>(stride_), words, values_.data(), exponents_.data(),
                          row_exponents_.data(), row_tops_.data(), bottoms.data(), row_lowest_.data(), specials.data()});
  for (unsigned r = 0; r < rows_; ++r) {
    if (specials[r] != 0) {
      row_flags_[r] |= kSpecial;  // `dot` computes every element of D that uses this row
    } else if (row_tops_[r] - bottoms[r] > kMaxExponentSpan) {
      row_flags_[r] |= kWide;
    }
    if (scales_per_row_ == 0) continue;
    const Decoded scale = decode(scale_format_, scale_code(r, 0));
    if (scale.is_nan()) row_flags_[r] |= kSpecial;
    for (auto* exponents : {&row_exponents_, &row_tops_, &row_lowest_}) (*exponents)[r] += scale.raw_exponent;
  }
}

void MmaOperand::set_wide_values(Format format) {
  wide_values_.resize(size_t{k_} * stride_ + kReadSlack);
  wide_exponents_.resize(wide_values_.size());
  for (size_t i = 0; i < size_t{k_} * stride_; ++i) {
    wide_values_[i] = values_[i];
    wide_exponents_[i] = exponents_[i] == kZeroExponent ? kWideZeroExponent : exponents_[i];
  }
  for (unsigned r = 0; r < rows_; ++r) {
    if ((row_flags_[r] & (kWide | kSpecial)) != kWide) continue;
    const double scale = pow2(-row_exponents_[r]);  // wide formats have no block scale
    for (unsigned i = 0; i < k_; ++i) {
      const Decoded d = decode(format, code(r, i));
      wide_values_[i * stride_ + r] = to_double(format, code(r, i)) * scale;
      wide_exponents_[i * stride_ + r] =
          static_cast<int16_t>(d.is_zero() ? kWideZeroExponent : d.raw_exponent - row_exponents_[r]);
    }
  }
}

void MmaOperand::assign_grouped(unsigned group) {
  const unsigned groups = k_ / group, groups_per_scale = groups / scales_per_row_, words = k_ / 8;
  if (element_bits_ != 4) pack_nibbles();
  bytes_.resize(size_t{2} * words * stride_);
  decode_e2m1(words_.data(), words, static_cast<unsigned>(stride_), side_ == Side::b ? kE2m1Bias : 0, bytes_.data());
  for (auto* scales : {&group_scales_, &group_magic_scales_}) scales->resize(groups * stride_);
  for (auto* exponents : {&group_exponents_, &group_bias_}) exponents->resize(groups * stride_);
  for (auto* exponents : {&row_tops_, &row_lowest_}) exponents->resize(stride_);
  row_exponents_.clear();
  std::vector<uint32_t> specials(stride_);
  // Both factors are doubled, so that a product is four times too large; A's scale corrects this.
  decode_scales({scale_format_, groups, groups_per_scale, static_cast<unsigned>(stride_), scale_words_.data(),
                 side_ == Side::a ? 0.25f : 1.0f, group_scales_.data(), group_magic_scales_.data(), group_exponents_.data(),
                 row_tops_.data(), row_lowest_.data(), specials.data()});
  for (unsigned r = 0; r < rows_; ++r) {
    if (specials[r] != 0) row_flags_[r] |= kSpecial;
  }
  if (side_ == Side::a) group_biases(bytes_.data(), groups, static_cast<unsigned>(stride_), group_bias_.data());
}

}  // namespace drywell::numeric
