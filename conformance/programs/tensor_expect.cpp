// Expected result of an MMA (docs/facts/numerics.md §3.1, docs/facts/tcgen05.md §4.5, §4.8, §6.3).
#include <algorithm>

#include "conformance/programs/tensor_case.h"

namespace drywell::kernels::conformance {
namespace {

// docs/facts/tcgen05.md §6.3: the k of element i of a compressed row.
unsigned kept_k(const MmaCase& c, const std::vector<uint8_t>& meta, unsigned i) {
  if (c.kind == "tf32") return 2 * i + (meta[i] == 0xE ? 1 : 0);
  if (c.packed_fp4()) {
    const unsigned group = i / 4, pair = i % 4 / 2, index = meta[group] >> (2 * pair) & 3;
    return 8 * group + 2 * index + i % 2;
  }
  const unsigned group = i / 2, index = meta[group] >> (2 * (i % 2)) & 3;
  return 4 * group + index;
}
// docs/facts/tcgen05.md §4.8: runs of used and zeroed columns in each sub-mask.
std::vector<bool> zeroed_columns(const MmaCase& c) {
  std::vector<bool> zeroed(c.n, false);
  if (!c.has_zero_mask || (c.zero_mask >> 39 & 1) == 0) return zeroed;
  const unsigned parts = c.m == 32 ? 4 : c.m == 64 ? 2
                                                   : 1,
                 width = c.n / parts;
  const unsigned skip = (c.zero_mask >> 40 & 0xFF) + 1, use = (c.zero_mask >> 48 & 0xFF) + 1;
  for (unsigned p = 0; p < parts; ++p) {
    const bool first_zeroed = (c.zero_mask >> (32 + p) & 1) != 0;
    const unsigned first_run = first_zeroed ? skip : use;
    const unsigned past = std::min<unsigned>(c.zero_mask >> (8 * p) & 0xFF, first_run - 1);
    for (unsigned i = 0; i < width; ++i) {
      // Position in the periodic pattern that starts with the first run.
      const unsigned at = (i + past) % (skip + use);
      zeroed[p * width + i] = at < first_run ? first_zeroed : !first_zeroed;
    }
  }
  return zeroed;
}
}  // namespace

std::vector<std::vector<uint32_t>> expected_d(const MmaCase& c, const MmaData& data) {
  const std::vector<bool> zeroed = zeroed_columns(c);
  const unsigned shift = c.column_shift();
  std::vector<std::vector<uint32_t>> d(c.m, std::vector<uint32_t>(c.n));
  const auto sign = [&](const std::string& type) { return 1u << (c.bits(type) - 1); };
  FusedSum rule;
  rule.f16_result = c.d_type == "f16";
  if (rule.f16_result) rule.floor = c.kind == "f16" ? -21 : -500;
  if (c.packed_fp4()) rule = {16, 35, -139, false};
  for (unsigned m = 0; m < c.m; ++m) {
    for (unsigned n = 0; n < c.n; ++n) {
      std::vector<uint32_t> a = data.a[m], b(c.stored_k());
      for (unsigned i = 0; i < c.stored_k(); ++i)
        b[i] = zeroed[n] ? 0 : data.b[n + shift][c.sparse ? kept_k(c, data.meta[m], i) : i];
      const uint32_t old = c.accumulate ? data.c[m][n] : 0;
      if (c.kind == "i8") {
        int64_t sum = static_cast<int32_t>(old);
        for (unsigned i = 0; i < c.stored_k(); ++i) {
          const int va = c.a_type == "s8" ? static_cast<int8_t>(a[i]) : static_cast<int>(a[i]),
                    vb = c.b_type == "s8" ? static_cast<int8_t>(b[i]) : static_cast<int>(b[i]);
          sum += va * vb;
        }
        if (c.saturate) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
        d[m][n] = static_cast<uint32_t>(sum);
        continue;
      }
      for (uint32_t& v : a) v ^= c.negate_a ? sign(c.a_type) : 0;
      for (uint32_t& v : b) v ^= c.negate_b ? sign(c.b_type) : 0;
      uint32_t scaled = old;
      if (c.scale_d != 0 && (old & 0x7FFFFFFF) != 0)
        scaled -= c.scale_d << 23;  // normal numbers: the exponent field
      d[m][n] = fused_sum(rule,
                          {float_format(c.a_type), float_format(c.b_type),
                           float_format(c.scaled() ? c.scale_type : "ue8m0"), a, b, data.sfa[m], data.sfb[n]},
                          scaled);
    }
  }
  return d;
}

std::vector<TensorImage> expected_images(const MmaCase& c, const MmaData& data, const MmaSetup& setup) {
  std::vector<TensorImage> out = setup.images;
  const auto d = expected_d(c, data);
  for (unsigned m = 0; m < c.m; ++m) {
    for (unsigned n = 0; n < c.n; ++n) {
      const Cell at = d_place(c, m, n);
      const unsigned lane = at.lane + c.d_lane;
      if (!c.disable.empty() && (c.disable[4 * at.cta + lane / 32] >> (lane % 32) & 1) != 0) continue;
      put_bits(out[at.cta].cell(lane, at.column), 0, c.d_type == "f16" ? 16 : 32, d[m][n]);
    }
  }
  if (c.ashift) {  // docs/facts/tcgen05.md §4.5: row i of A := row i + 1, the last row of each partition stays
    for (TensorImage& image : out) {
      for (unsigned column = kAColumn; column < kAColumn + 8; ++column) {
        for (unsigned lane = 0; lane < 128; ++lane) {
          if (lane % 32 != 31) image.cell(lane, column) = image.cell(lane + 1, column);
        }
      }
    }
  }
  return out;
}

}  // namespace drywell::kernels::conformance
