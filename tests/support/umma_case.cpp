#include "support/umma_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/ptx_run.h"

namespace drywell::test {
namespace {

bool packed_fp4(const UmmaCase& c) { return c.kind == "mxf4" || c.kind == "mxf4nvf4"; }

// Bytes an element takes in shared memory: containers count one (§8); two packed fp4 share one.
unsigned stored_bytes(const UmmaCase& c, const std::string& type) { return c.bits(type) >= 16 ? c.bits(type) / 8 : packed_fp4(c) ? 0 : 1; }

// §4.7: type codes.
unsigned type_code(const UmmaCase& c, const std::string& t) {
  static const std::map<std::string, unsigned> codes = {{"f16", 0},  {"bf16", 1}, {"tf32", 2}, {"e4m3", 0}, {"e5m2", 1},
                                                        {"e2m3", 3}, {"e3m2", 4}, {"e2m1", 5}, {"u8", 0},   {"s8", 1}};
  return packed_fp4(c) ? 1 : codes.at(t);
}

unsigned span_of(Swizzling s) { return s == Swizzling::none ? 0 : s == Swizzling::s32 ? 32 : s == Swizzling::s64 ? 64 : 128; }
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

// An operand of `rows` rows and `k` elements, and the strides this test gives it.
struct SmemOperand {
  SmemPlan plan;
  unsigned rows, k, bytes, value_bits;  // bytes 0: two elements a byte
  uint32_t start, lbo, sbo;

  SmemOperand(const UmmaCase& c, const SmemPlan& p, const std::string& type, unsigned rows_, unsigned k_, uint32_t start_)
      : plan(p), rows(rows_), k(k_), bytes(stored_bytes(c, type)), value_bits(c.bits(type)), start(start_) {
    const unsigned span = span_of(p.swizzle), slack = 32;
    if (!p.mn_major) {
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

  // Byte of the element's 16-byte chunk or of the element, before the swizzle (§4.6, table of offset formulas).
  uint32_t offset(unsigned mn, unsigned kk) const {
    const unsigned span = span_of(plan.swizzle);
    if (!plan.mn_major) {
      const unsigned b = bytes == 0 ? kk / 2 : kk * bytes;
      return span == 0 ? mn % 8 * 16 + mn / 8 * sbo + b / 16 * lbo + b % 16 : mn % 8 * span + mn / 8 * sbo + b + 32 * plan.steps;
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
    // §8: 4- and 6-bit elements are a little-endian bit stream at the bottom of their 16-byte unit.
    const bool container = bytes == 1 && value_bits < 8;
    const uint32_t at = swizzle(plan.swizzle, start + offset(mn, container ? kk / 16 * 16 : kk));
    const unsigned bit = container ? kk % 16 * value_bits : bytes == 0 ? kk % 2 * 4 : 0;
    for (unsigned i = 0; i < value_bits; ++i) {
      uint8_t& byte = smem[at + (bit + i) / 8];
      const unsigned mask = 1u << (bit + i) % 8;
      byte = static_cast<uint8_t>((code >> i & 1) != 0 ? byte | mask : byte & ~mask);
    }
  }

  uint64_t descriptor() const {
    return uint64_t{(start + 32 * plan.steps) >> 4} | uint64_t{lbo >> 4} << 16 | uint64_t{sbo >> 4} << 32 | uint64_t{1} << 46 |
           uint64_t{swizzle_code(plan.swizzle)} << 61;
  }
};

// §6.3: k kept by element i of a compressed row.
unsigned kept_k(const UmmaCase& c, const std::vector<uint8_t>& meta, unsigned i) {
  if (c.kind == "tf32") return 2 * i + (meta[i] == 0xE ? 1 : 0);
  if (packed_fp4(c)) {
    const unsigned group = i / 4, pair = i % 4 / 2, index = meta[group] >> (2 * pair) & 3;
    return 8 * group + 2 * index + i % 2;
  }
  const unsigned group = i / 2, index = meta[group] >> (2 * (i % 2)) & 3;
  return 4 * group + index;
}
unsigned meta_groups(const UmmaCase& c) { return c.k() / (c.kind == "tf32" ? 2 : packed_fp4(c) ? 8 : 4); }

// §4.8: runs of used and zeroed columns in each sub-mask.
std::vector<bool> zeroed_columns(const UmmaCase& c) {
  std::vector<bool> zeroed(c.n, false);
  if (!c.has_zero_mask || (c.zero_mask >> 39 & 1) == 0) return zeroed;
  const unsigned parts = c.m == 32 ? 4 : c.m == 64 ? 2 : 1, width = c.n / parts;
  const unsigned skip = (c.zero_mask >> 40 & 0xFF) + 1, use = (c.zero_mask >> 48 & 0xFF) + 1;
  for (unsigned p = 0; p < parts; ++p) {
    const bool first_zeroed = (c.zero_mask >> (32 + p) & 1) != 0;
    const unsigned first_run = first_zeroed ? skip : use;
    const unsigned past = std::min<unsigned>(c.zero_mask >> (8 * p) & 0xFF, first_run - 1);
    for (unsigned i = 0; i < width; ++i) {
      // Position in the endless pattern that starts with the first run.
      const unsigned at = (i + past) % (skip + use);
      zeroed[p * width + i] = at < first_run ? first_zeroed : !first_zeroed;
    }
  }
  return zeroed;
}
unsigned column_shift(const UmmaCase& c) { return c.has_zero_mask ? c.zero_mask >> 56 & 0x3F : 0; }

unsigned lane_groups(char layout) { return layout == 'B' || layout == 'E' ? 2 : layout == 'G' ? 4 : 1; }
unsigned rows_per_cta(const UmmaCase& c) { return c.m / c.cta_group; }

uint32_t random_code(const UmmaCase& c, const std::string& type, Words& words) {
  const auto r = static_cast<uint32_t>(words.next() >> 16);
  const unsigned bits = c.bits(type);
  if (bits <= 8) {
    uint32_t code = r & ((1u << bits) - 1);
    if (c.tame && (type == "e4m3" || type == "e5m2")) code = (code & 0x80) | 0x30 | (code & 0xF);
    return code;
  }
  // Exponents near 1, now and then anything.
  const bool wild = !c.tame && words.next() % 64 == 0;
  if (wild) return type == "tf32" ? r << 13 ^ (r & 0x1FFF) : r & 0xFFFF;
  if (type == "f16") return (r & 0x8000) | (10 + r % 10) << 10 | (r >> 4 & 0x3FF);
  if (type == "bf16") return (r & 0x8000) | (122 + r % 10) << 7 | (r >> 4 & 0x7F);
  return (r & 0x80000000u) | (122 + r % 10) << 23 | (static_cast<uint32_t>(words.next()) & 0x7FFFFF);
}

uint32_t random_c(const UmmaCase& c, Words& words) {
  const auto r = static_cast<uint32_t>(words.next() >> 16);
  if (c.d_type == "s32") return r;
  if (c.d_type == "f16") return c.tame || r % 32 != 0 ? (r & 0x8000) | (10 + r % 10) << 10 | (r >> 4 & 0x3FF) : r & 0xFFFF;
  if (c.scale_d != 0 || c.tame || r % 32 != 0) return (r & 0x80000000u) | (122 + r % 12) << 23 | (static_cast<uint32_t>(words.next()) & 0x7FFFFF);
  return r;
}

uint32_t random_scale(const UmmaCase& c, Words& words) {
  const auto r = static_cast<uint32_t>(words.next() >> 16);
  if (!c.tame && r % 200 == 0) return r >> 8 & (c.scale_type == "ue4m3" ? 0x7F : 0xFF);
  return c.scale_type == "ue4m3" ? 0x28 + r % 0x20 : 120 + r % 14;
}

std::vector<std::vector<uint32_t>> matrix(size_t rows, size_t columns) { return std::vector<std::vector<uint32_t>>(rows, std::vector<uint32_t>(columns)); }

}  // namespace

unsigned UmmaCase::bits(const std::string& type) const {
  static const std::map<std::string, unsigned> widths = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"e4m3", 8}, {"e5m2", 8}, {"e2m3", 6}, {"e3m2", 6}, {"e2m1", 4}, {"u8", 8}, {"s8", 8}};
  return widths.at(type);
}
unsigned UmmaCase::stored_k() const { return kind == "f16" ? 16 : kind == "tf32" ? 8 : kind == "mxf4" || kind == "mxf4nvf4" ? 64 : 32; }
char UmmaCase::layout() const {
  if (cta_group == 2) return m == 256 ? 'A' : sparse ? 'C' : 'B';
  if (m == 128) return 'D';
  return m == 32 ? 'G' : ws ? 'E' : 'F';
}

uint32_t UmmaCase::idesc() const {
  uint32_t w = static_cast<uint32_t>(sparse) << 2 | static_cast<uint32_t>(negate_a) << 13 | static_cast<uint32_t>(negate_b) << 14 | type_code(*this, a_type) << 7 |
               type_code(*this, b_type) << 10 | (n >> 3) << 17;
  w |= static_cast<uint32_t>(a.mn_major) << 15 | static_cast<uint32_t>(b.mn_major) << 16;
  if (scaled()) return w | sfb_id << 4 | static_cast<uint32_t>(scale_type == "ue8m0") << 23 | (m >> 7) << 27 | sfa_id << 29;
  const uint32_t d = d_type == "f16" ? 0 : d_type == "f32" ? 1 : 2;
  return w | selector | static_cast<uint32_t>(saturate) << 3 | d << 4 | (m >> 4) << 24 | max_shift << 30;
}

std::string UmmaCase::name() const {
  static constexpr const char* kSwizzles[] = {"", "32", "64", "128", "Atom32"};
  const auto smem = [&](const SmemPlan& p) {
    return std::string(p.mn_major ? "mn" : "k") + kSwizzles[static_cast<unsigned>(p.swizzle)] + (p.steps != 0 ? "s" + std::to_string(p.steps) : "");
  };
  std::string s = kind + "_" + a_type + "_" + b_type + "_" + d_type + "_m" + std::to_string(m) + "n" + std::to_string(n) + "_cg" + std::to_string(cta_group);
  s += "_" + (a_in_tmem ? "tmem" : smem(a)) + "_" + smem(b);
  if (scaled()) s += "_" + scale_type + std::to_string(factors) + "X_ids" + std::to_string(sfa_id) + std::to_string(sfb_id);
  for (const auto& [on, text] : {std::pair{ws, "_ws"}, {sparse, "_sp"}, {!accumulate, "_zero"}, {saturate, "_sat"}, {negate_a, "_negA"}, {negate_b, "_negB"}, {ashift, "_ashift"},
                                 {has_zero_mask, "_mask"}, {!disable.empty(), "_disable"}, {d_lane != 0, "_lane16"}, {selector != 0, "_sel1"}, {issuer != 0, "_odd"}, {scale_d != 0, "_scaleD"}}) {
    if (on) s += text;
  }
  return s + "_" + std::to_string(seed);
}

UmmaData random_data(const UmmaCase& c) {
  Words words(c.seed * 7919 + c.m + c.n);
  UmmaData data{matrix(c.m, c.stored_k()), matrix(c.n + column_shift(c), c.k()), matrix(c.m, c.factors), matrix(c.n, c.factors), matrix(c.m, c.n), {}};
  for (auto& row : data.a) std::generate(row.begin(), row.end(), [&] { return random_code(c, c.a_type, words); });
  for (auto& row : data.b) std::generate(row.begin(), row.end(), [&] { return random_code(c, c.b_type, words); });
  for (auto* scales : {&data.sfa, &data.sfb}) {
    for (auto& row : *scales) std::generate(row.begin(), row.end(), [&] { return random_scale(c, words); });
  }
  for (auto& row : data.c) std::generate(row.begin(), row.end(), [&] { return random_c(c, words); });
  if (!c.sparse) return data;
  static constexpr uint8_t kPairs[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0x6, 0xE}, kOnes[] = {0x4, 0xE};
  data.meta.assign(c.m, std::vector<uint8_t>(meta_groups(c)));
  for (auto& row : data.meta) {
    std::generate(row.begin(), row.end(), [&] { return c.kind == "tf32" ? kOnes[words.next() % 2] : kPairs[words.next() % 7]; });
  }
  return data;
}

// §5.
Cell d_place(const UmmaCase& c, unsigned m, unsigned n) {
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

// Columns this test uses: D from 0, then A, scale factors and metadata.
constexpr unsigned kAColumn = 260, kSfaColumn = 280, kSfbColumn = 290, kMetaColumn = 310;

void put_bits(uint32_t& word, unsigned low, unsigned width, uint32_t value) {
  const uint32_t mask = (width == 32 ? ~0u : (1u << width) - 1) << low;
  word = (word & ~mask) | (value << low & mask);
}

// §5, "A in TMEM": k packed little-endian into 8 columns, at every lane D's row m has.
void place_a_tmem(const UmmaCase& c, const UmmaData& data, std::vector<TensorImage>& images) {
  const unsigned width = c.bits(c.a_type), slot = packed_fp4(c) ? 4 : std::max(width, 8u), shift = slot == 8 && width == 4 ? 2 : 0;
  const unsigned groups = lane_groups(c.layout());
  for (unsigned g = 0; g < groups; ++g) {
    for (unsigned m = 0; m < c.m; ++m) {
      const Cell at = d_place(c, m, g * (c.n / groups));
      for (unsigned k = 0; k < c.stored_k(); ++k) {
        put_bits(images[at.cta].cell(at.lane + c.d_lane, kAColumn + k * slot / 32), k * slot % 32 + shift, width, data.a[m][k]);
      }
    }
  }
}

// §6.2: one byte per factor; column base + row/32, lane row%32, copies in the partitions.
void place_scales(const UmmaCase& c, const UmmaData& data, std::vector<TensorImage>& images) {
  const unsigned rows = rows_per_cta(c);
  for (unsigned m = 0; m < c.m; ++m) {
    for (unsigned j = 0; j < c.factors; ++j) {
      for (unsigned p = 0; p < 4; ++p) put_bits(images[m / rows].cell(m % rows % 32 + 32 * p, kSfaColumn + m % rows / 32), 8 * (c.sfa_id + j), 8, data.sfa[m][j]);
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
          put_bits(image.cell(index % 32 + 32 * p, kSfbColumn + index / 32), 8 * (c.sfb_id + j), 8, data.sfb[n][j]);
        }
      }
    }
  }
}

// §6.3.
void place_metadata(const UmmaCase& c, const UmmaData& data, std::vector<TensorImage>& images) {
  const bool split = c.kind == "f16" || c.kind == "tf32", half = c.layout() == 'C' || c.layout() == 'F';
  const unsigned groups = lane_groups(c.layout()), rows = rows_per_cta(c), step = c.k() / meta_groups(c);
  for (unsigned copy = 0; copy < groups; ++copy) {
    for (unsigned m = 0; m < c.m; ++m) {
      const unsigned r = m % rows;
      for (unsigned g = 0; g < meta_groups(c); ++g) {
        const unsigned k = g * step, k_half = c.k() / 2;
        unsigned lane = r, column = k / k_half, nibble = k % k_half / step;
        if (half) lane = 32 * (r / 16) + r % 16;
        if (split) {
          lane = r % 8 + 8 * (k / k_half) + (half ? 32 : 16) * (r / 16);
          column = c.selector;
          nibble += 4 * (r / 8 % 2);
        }
        put_bits(images[m / rows].cell(lane + copy * (128 / groups) + c.d_lane, kMetaColumn + column), 4 * nibble, 4, data.meta[m][g]);
      }
    }
  }
}

}  // namespace

SmemOperands store_smem(const UmmaCase& c, const UmmaData& data, std::vector<TensorImage>& images, uint32_t a_start) {
  const unsigned a_rows = c.m / c.cta_group, b_rows = c.n / c.cta_group + column_shift(c);
  const SmemOperand a(c, c.a, c.a_type, a_rows, c.stored_k(), a_start), b(c, c.b, c.b_type, b_rows, c.k(), c.a_in_tmem ? a_start : a.end());
  Words words(c.seed + 17);
  for (unsigned i = 0; i < c.cta_group; ++i) {
    std::vector<uint8_t>& smem = images[i].smem;
    while (smem.size() < b.end()) smem.push_back(static_cast<uint8_t>(words.next() >> 9));
    for (unsigned r = 0; r < a_rows && !c.a_in_tmem; ++r) {
      for (unsigned k = 0; k < c.stored_k(); ++k) a.store(smem, r, k, data.a[i * a_rows + r][k]);
    }
    for (unsigned r = 0; r < b_rows; ++r) {
      for (unsigned k = 0; k < c.k(); ++k) b.store(smem, r, k, data.b[i * (c.n / c.cta_group) + r][k]);
    }
  }
  return {a.descriptor(), b.descriptor(), b.end()};
}

UmmaSetup place(const UmmaCase& c, const UmmaData& data) {
  UmmaSetup s;
  s.images.resize(c.cta_group);
  const SmemOperands operands = store_smem(c, data, s.images);
  Words words(c.seed + 18);
  for (TensorImage& image : s.images) {
    for (uint32_t& v : image.tmem) v = static_cast<uint32_t>(words.next() >> 9);
  }
  for (unsigned m = 0; m < c.m; ++m) {
    for (unsigned n = 0; n < c.n; ++n) {
      const Cell at = d_place(c, m, n);
      put_bits(s.images[at.cta].cell(at.lane + c.d_lane, at.column), 0, c.d_type == "f16" ? 16 : 32, data.c[m][n]);
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

std::vector<std::vector<uint32_t>> expected_d(const UmmaCase& c, const UmmaData& data) {
  const std::vector<bool> zeroed = zeroed_columns(c);
  const unsigned shift = column_shift(c);
  auto d = matrix(c.m, c.n);
  const auto sign = [&](const std::string& type) { return 1u << (c.bits(type) - 1); };
  FusedSum rule;
  rule.f16_result = c.d_type == "f16";
  if (rule.f16_result) rule.floor = c.kind == "f16" ? -21 : -500;
  if (packed_fp4(c)) rule = {16, 35, -139, false};
  for (unsigned m = 0; m < c.m; ++m) {
    for (unsigned n = 0; n < c.n; ++n) {
      std::vector<uint32_t> a = data.a[m], b(c.stored_k());
      for (unsigned i = 0; i < c.stored_k(); ++i) b[i] = zeroed[n] ? 0 : data.b[n + shift][c.sparse ? kept_k(c, data.meta[m], i) : i];
      const uint32_t old = c.accumulate ? data.c[m][n] : 0;
      if (c.kind == "i8") {
        int64_t sum = static_cast<int32_t>(old);
        for (unsigned i = 0; i < c.stored_k(); ++i) {
          const int va = c.a_type == "s8" ? static_cast<int8_t>(a[i]) : static_cast<int>(a[i]), vb = c.b_type == "s8" ? static_cast<int8_t>(b[i]) : static_cast<int>(b[i]);
          sum += va * vb;
        }
        if (c.saturate) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
        d[m][n] = static_cast<uint32_t>(sum);
        continue;
      }
      for (uint32_t& v : a) v ^= c.negate_a ? sign(c.a_type) : 0;
      for (uint32_t& v : b) v ^= c.negate_b ? sign(c.b_type) : 0;
      uint32_t scaled = old;
      if (c.scale_d != 0 && (old & 0x7FFFFFFF) != 0) scaled -= c.scale_d << 23;  // normal numbers: the exponent field
      d[m][n] = fused_sum(rule, {float_format(c.a_type), float_format(c.b_type), float_format(c.scaled() ? c.scale_type : "ue8m0"), a, b, data.sfa[m], data.sfb[n]}, scaled);
    }
  }
  return d;
}

std::vector<TensorImage> expected_images(const UmmaCase& c, const UmmaData& data, const UmmaSetup& setup) {
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
  if (c.ashift) {  // §4.5: row i of A := row i + 1, the last row of each partition stays
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

void emit_mma(const UmmaCase& c, const UmmaSetup& s, const TensorOperands& o) {
  using isa::Arg;
  std::string op = std::string("tcgen05.mma") + (c.ws ? ".ws" : "") + (c.sparse ? ".sp" : "") + ".cta_group::" + std::to_string(c.cta_group) + ".kind::" + c.kind;
  if (c.scaled()) op += std::string(".block_scale") + (c.factors == 1 ? ".block32" : c.factors == 2 ? ".scale_vec::2X" : ".block16");
  if (c.ashift) op += ".ashift";
  op += c.qualifiers;
  std::vector<Arg> args = {isa::mem(o.word(s.d))};
  if (c.a_in_tmem) {
    args.push_back(isa::mem(o.word(s.a_tmem)));
  } else {
    args.emplace_back(o.descriptor(s.a_desc));
  }
  args.emplace_back(o.descriptor(s.b_desc));
  if (c.sparse) args.push_back(isa::mem(o.word(s.meta)));
  args.emplace_back(o.word(c.idesc() ^ c.wrong_bits));
  if (c.scaled()) {
    args.push_back(isa::mem(o.word(s.sfa)));
    args.push_back(isa::mem(o.word(s.sfb)));
  }
  if (!c.disable.empty()) {
    Arg lanes({});
    lanes.kind = Arg::Kind::vec;
    for (uint32_t v : c.disable) lanes.parts.emplace_back(o.word(v));
    args.push_back(lanes);
  }
  args.emplace_back(o.predicate(c.accumulate));
  if (c.scale_d != 0) args.emplace_back(c.scale_d);
  if (c.has_zero_mask) args.emplace_back(o.k.def("mov.b64", c.zero_mask));
  o.k.emit(op, std::move(args));
}

TensorProgram program_of(const UmmaCase& c, const UmmaSetup& setup) {
  TensorProgram p;
  p.cta_group = c.cta_group;
  p.issuer = c.issuer;
  p.steps = {[c, setup](const TensorOperands& o) { emit_mma(c, setup, o); }};
  return p;
}

void check_case(const UmmaCase& c) {
  const UmmaData data = random_data(c);
  const UmmaSetup setup = place(c, data);
  expect_tensor(program_of(c, setup), setup.images, expected_images(c, data, setup));
}

}  // namespace drywell::test
