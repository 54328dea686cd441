// Layouts of an MMA's operands (docs/facts/tcgen05.md §4.6, §5, §6, §8), in a second implementation.
#include <algorithm>

#include "conformance/programs/tensor_case.h"

namespace drywell::kernels::conformance {
namespace {

// Bytes per element in shared memory: a container counts as one (§8); two packed fp4 elements share one.
unsigned stored_bytes(const MmaCase& c, const std::string& type) {
  return c.bits(type) >= 16 ? c.bits(type) / 8 : c.packed_fp4() ? 0
                                                                : 1;
}

unsigned span_of(Swizzling s) {
  return s == Swizzling::none ? 0 : s == Swizzling::s32 ? 32
                                : s == Swizzling::s64   ? 64
                                                        : 128;
}
unsigned swizzle_code(Swizzling s) {
  static constexpr unsigned kCodes[] = {0, 6, 4, 2, 1};
  return kCodes[static_cast<unsigned>(s)];
}

// §4.6: XOR on absolute byte addresses.
uint32_t swizzle(Swizzling s, uint32_t a) {
  switch (s) {
    case Swizzling::s32: return a ^ (a >> 7 & 1) << 4;
    case Swizzling::s64: return a ^ (a >> 7 & 3) << 4;
    case Swizzling::s128: return a ^ (a >> 7 & 7) << 4;
    case Swizzling::s128_atom32: return a ^ (a >> 7 & 3) << 5;
    default: return a;
  }
}

// An operand of `rows` rows and `k` elements, and the strides that this test uses.
struct SmemOperand {
  SmemPlan plan;
  unsigned rows, k, bytes, value_bits;   // bytes 0: two elements per byte
  uint32_t start, lbo, sbo, second = 0;  // second: offset of the rows behind the span

  SmemOperand(const MmaCase& c, const SmemPlan& p, const std::string& type, unsigned rows_, unsigned k_,
              uint32_t start_)
      : plan(p), rows(rows_), k(k_), bytes(stored_bytes(c, type)), value_bits(c.bits(type)), start(start_) {
    const unsigned span = span_of(p.swizzle), slack = 32;
    if (p.split) {
      sbo = 8 * span;
      second = (rows + 7) / 8 * sbo + 3072;
      lbo = start + second;
    } else if (!p.mn_major) {
      sbo = span == 0 ? 128 + slack : 8 * span;
      lbo = span == 0 ? (rows + 7) / 8 * sbo + slack : 16;
    } else if (span == 0) {
      lbo = 128 + slack;
      sbo = (k + 7) / 8 * lbo + slack;
    } else {
      const unsigned group = p.swizzle == Swizzling::s128_atom32 ? 4 : 8;
      sbo = group * span;
      lbo = (k + group - 1) / group * sbo;
    }
  }

  // Offset of the element's 16-byte chunk or of the element, before the swizzle (§4.6, table of offset
  // formulas).
  uint32_t offset(unsigned mn, unsigned kk) const {
    const unsigned span = span_of(plan.swizzle);
    if (!plan.mn_major) {
      const unsigned b = bytes == 0 ? kk / 2 : kk * bytes;
      const unsigned from_row = b + 32 * plan.steps;
      if (plan.split && from_row >= span) return second + mn % 8 * span + mn / 8 * sbo + from_row - span;
      return span == 0 ? mn % 8 * 16 + mn / 8 * sbo + b / 16 * lbo + b % 16
                       : mn % 8 * span + mn / 8 * sbo + b + 32 * plan.steps;
    }
    if (span == 0) {
      const unsigned t = 16 / bytes;
      return mn % t * bytes + mn / t * sbo + kk % 8 * 16 + kk / 8 * lbo;
    }
    const unsigned w = span / bytes, group = plan.swizzle == Swizzling::s128_atom32 ? 4 : 8;
    return mn % w * bytes + mn / w * lbo + kk % group * span + kk / group * sbo;
  }

  uint32_t end() const {
    uint32_t last = 0;
    for (unsigned r : {0u, rows - 1, rows - 1 - (rows - 1) % 8}) {
      for (unsigned kk = 0; kk < k; ++kk) last = std::max(last, offset(r, kk));
    }
    for (unsigned r = 0; r < rows; ++r) last = std::max(last, std::max(offset(r, 0), offset(r, k - 1)));
    return (start + last + 16 + 1023) / 1024 * 1024 + (plan.steps != 0 ? 1024 : 0);
  }

  void store(std::vector<uint8_t>& smem, unsigned mn, unsigned kk, uint32_t code) const {
    // §8: 4- and 6-bit elements are a little-endian bit stream at the start of their 16-byte unit.
    const bool container = bytes == 1 && value_bits < 8;
    const uint32_t at = swizzle(plan.swizzle, start + offset(mn, container ? kk / 16 * 16 : kk));
    const unsigned bit = container ? kk % 16 * value_bits : bytes == 0 ? kk % 2 * 4
                                                                       : 0;
    for (unsigned i = 0; i < value_bits; ++i) {
      uint8_t& byte = smem[at + (bit + i) / 8];
      const unsigned mask = 1u << (bit + i) % 8;
      byte = static_cast<uint8_t>((code >> i & 1) != 0 ? byte | mask : byte & ~mask);
    }
  }

  uint64_t descriptor() const {
    return uint64_t{plan.split} << 52 | uint64_t{(start + 32 * plan.steps) >> 4} | uint64_t{lbo >> 4} << 16 | uint64_t{sbo >> 4} << 32 |
           uint64_t{1} << 46 | uint64_t{swizzle_code(plan.swizzle)} << 61;
  }
};

unsigned lane_groups(char layout) { return layout == 'B' || layout == 'E' ? 2 : layout == 'G' ? 4
                                                                                              : 1; }
unsigned rows_per_cta(const MmaCase& c) { return c.m / c.cta_group; }

}  // namespace

// §5.
Cell d_place(const MmaCase& c, unsigned m, unsigned n) {
  switch (c.layout()) {
    case 'A': return {m / 128, m % 128, n};
    case 'B': return {m / 64, m % 64 + 64 * (n >= c.n / 2 ? 1 : 0), n % (c.n / 2)};
    case 'C': return {m / 64, 32 * (m % 64 / 16) + m % 16, n};
    case 'D': return {0, m, n};
    case 'E': return {0, m + 64 * (n >= c.n / 2 ? 1 : 0), n % (c.n / 2)};
    case 'F': return {0, 32 * (m / 16) + m % 16, n};
    default: return {0, m + 32 * (n / (c.n / 4)), n % (c.n / 4)};
  }
}

namespace {

// Columns of the suite: D from 0, A from kAColumn, then scale factors and metadata.
constexpr unsigned kSfaColumn = 280, kSfbColumn = 290, kMetaColumn = 310;

// §5, "A in TMEM": k packed little-endian into 8 columns, in every lane that holds D's row m.
void place_a_tmem(const MmaCase& c, const MmaData& data, std::vector<TensorImage>& images) {
  const unsigned width = c.bits(c.a_type), slot = c.packed_fp4() ? 4 : std::max(width, 8u),
                 shift = slot == 8 && width == 4 ? 2 : 0;
  const unsigned groups = lane_groups(c.layout());
  for (unsigned g = 0; g < groups; ++g) {
    for (unsigned m = 0; m < c.m; ++m) {
      const Cell at = d_place(c, m, g * (c.n / groups));
      for (unsigned k = 0; k < c.stored_k(); ++k) {
        put_bits(images[at.cta].cell(at.lane + c.d_lane, kAColumn + k * slot / 32), k * slot % 32 + shift,
                 width, data.a[m][k]);
      }
    }
  }
}

// §6.2: one byte per factor; column base + row/32, lane row%32, copies in the partitions. Factors beyond the fourth byte (K = 96) are in
// the next word, four columns further for each block of 128 rows, in layout B two (CUTLASS's tmem_sf_frg).
void place_scales(const MmaCase& c, const MmaData& data, std::vector<TensorImage>& images) {
  const unsigned rows = rows_per_cta(c);
  for (unsigned m = 0; m < c.m; ++m) {
    for (unsigned j = 0; j < c.factors; ++j) {
      for (unsigned p = 0; p < 4; ++p)
        put_bits(images[m / rows].cell(m % rows % 32 + 32 * p, kSfaColumn + m % rows / 32 + (c.sfa_id + j) / 4 * 4),
                 8 * ((c.sfa_id + j) % 4), 8, data.sfa[m][j]);
    }
  }
  for (TensorImage& image : images) {
    for (unsigned n = 0; n < c.n; ++n) {
      for (unsigned j = 0; j < c.factors; ++j) {
        for (unsigned p = 0; p < 4; ++p) {
          unsigned index = n;
          if (c.layout() == 'B') {  // half h of N only in partitions 2h and 2h + 1
            if (p / 2 != n / (c.n / 2)) continue;
            index = n % (c.n / 2);
          }
          const unsigned word = (c.sfb_id + j) / 4 * (c.n > 128 ? 8 : 4) / (c.layout() == 'B' ? 2 : 1);
          put_bits(image.cell(index % 32 + 32 * p, kSfbColumn + index / 32 + word), 8 * ((c.sfb_id + j) % 4), 8,
                   data.sfb[n][j]);
        }
      }
    }
  }
}

// §6.3.
void place_metadata(const MmaCase& c, const MmaData& data, std::vector<TensorImage>& images) {
  const bool split = c.kind == "f16" || c.kind == "tf32", half = c.layout() == 'C' || c.layout() == 'F';
  const unsigned groups = lane_groups(c.layout()), rows = rows_per_cta(c), step = c.k() / c.meta_groups();
  for (unsigned copy = 0; copy < groups; ++copy) {
    for (unsigned m = 0; m < c.m; ++m) {
      const unsigned r = m % rows;
      for (unsigned g = 0; g < c.meta_groups(); ++g) {
        const unsigned k = g * step, k_half = c.k() / 2;
        unsigned lane = r, column = k / k_half, nibble = k % k_half / step;
        if (half) lane = 32 * (r / 16) + r % 16;
        if (split) {
          lane = r % 8 + 8 * (k / k_half) + (half ? 32 : 16) * (r / 16);
          column = c.selector;
          nibble += 4 * (r / 8 % 2);
        }
        put_bits(images[m / rows].cell(lane + copy * (128 / groups) + c.d_lane, kMetaColumn + column),
                 4 * nibble, 4, data.meta[m][g]);
      }
    }
  }
}

}  // namespace

SmemOperands store_smem(const MmaCase& c, const MmaData& data, std::vector<TensorImage>& images,
                        uint32_t a_start) {
  const unsigned a_rows = c.m / c.cta_group, b_rows = c.n / c.cta_group + c.column_shift();
  const SmemOperand a(c, c.a, c.a_type, a_rows, c.stored_k(), a_start),
      b(c, c.b, c.b_type, b_rows, c.k(), c.a_in_tmem ? a_start : a.end());
  RandomWords words(c.seed + 17);
  for (unsigned i = 0; i < c.cta_group; ++i) {
    std::vector<uint8_t>& smem = images[i].smem;
    while (smem.size() < b.end()) smem.push_back(static_cast<uint8_t>(words.next()));
    for (unsigned r = 0; r < a_rows && !c.a_in_tmem; ++r) {
      for (unsigned k = 0; k < c.stored_k(); ++k) a.store(smem, r, k, data.a[i * a_rows + r][k]);
    }
    for (unsigned r = 0; r < b_rows; ++r) {
      for (unsigned k = 0; k < c.k(); ++k) b.store(smem, r, k, data.b[i * (c.n / c.cta_group) + r][k]);
    }
  }
  return {a.descriptor(), b.descriptor(), b.end()};
}

MmaSetup place(const MmaCase& c, const MmaData& data) {
  MmaSetup s;
  s.images.resize(c.cta_group);
  const SmemOperands operands = store_smem(c, data, s.images);
  RandomWords words(c.seed + 18);
  for (TensorImage& image : s.images) {
    for (uint32_t& v : image.tmem) v = words.next();
  }
  for (unsigned m = 0; m < c.m; ++m) {
    for (unsigned n = 0; n < c.n; ++n) {
      const Cell at = d_place(c, m, n);
      put_bits(s.images[at.cta].cell(at.lane + c.d_lane, at.column), 0, c.d_type == "f16" ? 16 : 32,
               data.c[m][n]);
    }
  }
  if (c.a_in_tmem) place_a_tmem(c, data, s.images);
  if (c.scaled()) place_scales(c, data, s.images);
  if (c.sparse) place_metadata(c, data, s.images);
  const uint32_t lane = c.d_lane << 16;
  s.a_desc = operands.a_desc;
  s.b_desc = operands.b_desc;
  s.d = lane;
  s.a_tmem = lane | kAColumn;
  s.meta = lane | kMetaColumn;
  s.sfa = kSfaColumn;
  s.sfb = kSfbColumn;
  return s;
}

}  // namespace drywell::kernels::conformance
