// wgmma.mma_async: products of small integers (exact in every format) over every type, shape class, operand place, swizzle
// and transposition, under every driver policy. Layouts are written here from the PTX ISA's text (9.7.15.5.1).
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <map>

#include "drywell/core/error.h"
#include "support/ptx_run.h"
#include "support/warp_run.h"
#include "unit/numeric_vectors.h"

namespace drywell::test {
namespace {

struct Form {
  unsigned n;
  const char* d;
  const char* a;
  const char* b;
  bool a_in_registers = false;
  unsigned swizzle = 0;  // bytes: 0, 32, 64, 128
  bool trans_a = false, trans_b = false;
  bool negate_a = false, negate_b = false;
  bool accumulate = true;
};

unsigned bits_of(const std::string& type) {
  static const std::map<std::string, unsigned> kBits = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"e4m3", 8}, {"e5m2", 8}, {"s8", 8}, {"u8", 8}, {"b1", 1}};
  return kBits.at(type);
}

/// The code of a small integer.
uint32_t code_of(const std::string& type, int v) {
  if (type == "s32" || type == "s8" || type == "u8") return static_cast<uint32_t>(v) & (type == "s32" ? ~0u : 0xFFu);
  if (type == "b1") return static_cast<uint32_t>(v & 1);
  struct Ieee {
    unsigned exponent, fraction;
  };
  static const std::map<std::string, Ieee> kFormats = {{"f16", {5, 10}}, {"bf16", {8, 7}}, {"tf32", {8, 23}}, {"f32", {8, 23}}, {"e4m3", {4, 3}}, {"e5m2", {5, 2}}};
  const Ieee f = kFormats.at(type);
  if (v == 0) return 0;
  const auto magnitude = static_cast<unsigned>(std::abs(v)), top = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
  const unsigned bias = (1u << (f.exponent - 1)) - 1;
  return (uint32_t{v < 0} << (f.exponent + f.fraction)) | ((bias + top) << f.fraction) | static_cast<uint32_t>(uint64_t{magnitude - (1u << top)} << f.fraction >> top);
}

/// One operand in shared memory: the address of each byte (mn, byte along k), and the descriptor.
class Operand {
 public:
  Operand(unsigned base, unsigned mn, unsigned element_bytes, unsigned swizzle, bool transposed)
      : base_(base), mn_(mn), element_(element_bytes), swizzle_(swizzle), transposed_(transposed) {}
  /// Bytes the operand spans.
  unsigned size() const {
    if (transposed_) return swizzle_ == 0 ? mn_ / 8 * 256 : (mn_ * 2 + swizzle_ - 1) / swizzle_ * swizzle_ * 16;
    return swizzle_ == 0 ? mn_ * 32 : mn_ * swizzle_;
  }
  unsigned place(unsigned mn, unsigned k_byte) const { return base_ + (transposed_ ? place_mn(mn, k_byte / element_) + k_byte % element_ : place_k(mn, k_byte)); }
  // Matrix descriptor: start, leading and stride byte offsets in 16-byte units, swizzle mode 0, 3, 2, 1 for 0, 32, 64, 128.
  uint64_t descriptor(unsigned address) const {
    const uint64_t lead = leading(), stride = strided();
    const uint64_t mode = swizzle_ == 0 ? 0 : swizzle_ == 128 ? 1
                                          : swizzle_ == 64    ? 2
                                                              : 3;
    return (uint64_t{(address + base_) & 0x3FFFF} >> 4) | (lead >> 4) << 16 | (stride >> 4) << 32 | mode << 62;
  }

 private:
  unsigned leading() const {
    if (!transposed_) return swizzle_ == 0 ? 128 : 16;     // between core matrices along k; not used with swizzle
    return swizzle_ == 0 ? mn_ / 8 * 128 : swizzle_ * 16;  // no swizzle: along k; otherwise between repeats along mn
  }
  unsigned strided() const {
    if (!transposed_) return swizzle_ == 0 ? 256 : 8 * swizzle_;
    return swizzle_ == 0 ? 128 : swizzle_ * 8;
  }
  unsigned xor_chunk(unsigned chunk, unsigned line) const {
    if (swizzle_ == 128) return chunk ^ (line % 8);
    if (swizzle_ == 64) return chunk ^ (line / 2 % 4);
    return chunk ^ (line / 4 % 2);
  }
  // K-major: core matrices of 8 rows by 16 bytes, or rows of the swizzle's width.
  unsigned place_k(unsigned row, unsigned byte) const {
    if (swizzle_ == 0) return row / 8 * strided() + byte / 16 * leading() + row % 8 * 16 + byte % 16;
    return row / 8 * strided() + row % 8 * swizzle_ + xor_chunk(byte / 16, row % 8) * 16 + byte % 16;
  }
  // MN-major, 16-bit elements: lines of mn for each k.
  unsigned place_mn(unsigned mn, unsigned k) const {
    const unsigned byte = 2 * mn;
    if (swizzle_ == 0) return mn / 8 * strided() + k / 8 * leading() + k % 8 * 16 + byte % 16;
    return byte / swizzle_ * leading() + k / 8 * strided() + k % 8 * swizzle_ + xor_chunk(byte % swizzle_ / 16, k % 8) * 16 + byte % 16;
  }
  unsigned base_, mn_, element_, swizzle_;
  bool transposed_;
};

std::string list(const char* name, unsigned first, unsigned count) {
  std::string s = "{";
  for (unsigned i = 0; i < count; ++i) s += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, first + i);
  return s + "}";
}

/// Everything one product needs, and its expectation.
struct Problem {
  Form f;
  unsigned k, bits;
  std::vector<int> a, b, c;  // 64 x k, n x k, 64 x n

  explicit Problem(const Form& form) : f(form), k(256 / bits_of(form.a)), bits(bits_of(form.a)), a(64 * k), b(form.n * k), c(64 * form.n) {
    Words random(form.n * 7 + bits + form.swizzle);
    const auto value = [&](const std::string& type) {
      const int v = static_cast<int>(random.next() % 7) - 3;
      return type[0] == 'u' || type == "b1" ? std::abs(v) : v;
    };
    for (int& v : a) v = value(f.a);
    for (int& v : b) v = value(f.b);
    for (int& v : c) v = value("s");
  }
  int product(unsigned row, unsigned column) const {
    int sum = f.accumulate ? c[row * f.n + column] : 0;
    for (unsigned i = 0; i < k; ++i) {
      const int x = a[row * k + i] * (f.negate_a ? -1 : 1), y = b[column * k + i] * (f.negate_b ? -1 : 1);
      sum += bits == 1 ? x & y & 1 : x * y;
    }
    return sum;
  }
};

void put(std::vector<uint8_t>& smem, const Operand& o, const std::string& type, const std::vector<int>& values, unsigned mn, unsigned k) {
  const unsigned bits = bits_of(type);
  for (unsigned r = 0; r < mn; ++r) {
    for (unsigned i = 0; i < k; ++i) {
      const uint32_t code = code_of(type, values[r * k + i]);
      const unsigned bit = i * bits;
      if (bits < 8) {
        smem[o.place(r, bit / 8)] = static_cast<uint8_t>(smem[o.place(r, bit / 8)] | code << (bit % 8));
      } else {
        for (unsigned byte = 0; byte < bits / 8; ++byte) smem[o.place(r, bit / 8 + byte)] = static_cast<uint8_t>(code >> (8 * byte));
      }
    }
  }
}

/// Row and column of accumulator element i of a thread (PTX ISA 9.7.15.5.1.1.3).
std::pair<unsigned, unsigned> d_place(unsigned thread, unsigned i) {
  return {thread / 32 * 16 + thread % 32 / 4 + (i / 2 % 2) * 8, i / 4 * 8 + thread % 4 * 2 + i % 2};
}

class Wgmma : public testing::TestWithParam<Form> {};

TEST_P(Wgmma, ProductsOfSmallIntegers) {
  const Problem q(GetParam());
  const Form& f = q.f;
  const bool half = std::string(f.d) == "f16";
  const unsigned d_regs = half ? f.n / 4 : f.n / 2, element = std::max(1u, q.bits / 8), a_regs = f.a_in_registers ? 4 : 0;
  const Operand oa(0, 64, element, f.swizzle, f.trans_a);
  const Operand ob((oa.size() + 1023) / 1024 * 1024, f.n, element, f.swizzle, f.trans_b);
  WarpProgram p;
  p.target = "sm_90a";
  p.threads = 128;
  p.smem.assign(((oa.size() + 1023) / 1024 * 1024 + ob.size() + 1023) / 1024 * 1024, 0);
  p.smem_bytes = p.smem.size();
  put(p.smem, oa, f.a, q.a, 64, q.k);
  put(p.smem, ob, f.b, q.b, f.n, q.k);
  p.inputs = d_regs + a_regs;
  p.outputs = d_regs;
  std::vector<uint64_t> in(p.inputs * 128);
  for (unsigned t = 0; t < 128; ++t) {
    for (unsigned i = 0; i < f.n / 2; ++i) {
      const auto [row, column] = d_place(t, i);
      in[(half ? i / 2 : i) * 128 + t] |= uint64_t{code_of(f.d, q.c[row * f.n + column])} << (half ? 16 * (i % 2) : 0);
    }
    // A fragment (9.7.15.5.1.1.1): 4 bytes along k a register, 8 rows down, then 16 bytes on.
    for (unsigned r = 0; r < a_regs; ++r) {
      const unsigned row = t / 32 * 16 + t % 32 / 4 + (r % 2) * 8, first_bit = (t % 4 * 4 + r / 2 * 16) * 8;
      for (unsigned e = 0; e < 32 / q.bits; ++e) in[(d_regs + r) * 128 + t] |= uint64_t{code_of(f.a, q.a[row * q.k + first_bit / q.bits + e])} << (e * q.bits);
    }
  }
  const bool is_float = std::string(f.d) != "s32", sixteen = q.bits == 16;
  std::string tail = f.accumulate ? "1" : "0";
  if (is_float) tail += fmt::format(", {}, {}", f.negate_a ? -1 : 1, f.negate_b ? -1 : 1);
  if (sixteen && !f.a_in_registers) tail += f.trans_a ? ", 1" : ", 0";
  if (sixteen) tail += f.trans_b ? ", 1" : ", 0";
  // Descriptors: everything but the address is a constant; the shared address is added at run time.
  p.body = "  fence.proxy.async;\n  bar.sync 0;\n  cvt.u64.u32 %d0, %s;\n  and.b64 %d0, %d0, 0x3FFFF;\n  shr.u64 %d0, %d0, 4;\n";
  p.body += fmt::format("  add.s64 %d1, %d0, {};\n  add.s64 %d2, %d0, {};\n", static_cast<int64_t>(oa.descriptor(0)), static_cast<int64_t>(ob.descriptor(0)));
  for (unsigned r = 0; r < d_regs; ++r) p.body += fmt::format("  mov.b32 %o{0}, %i{0};\n", r);
  p.body += fmt::format("  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{}{} {}, {}, %d2, {};\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;",
                        f.n, q.k, f.d, f.a, f.b, q.bits == 1 ? ".and.popc" : "", list("o", 0, d_regs), f.a_in_registers ? list("i", d_regs, 4) : "%d1", tail);
  for (const auto& [driver, seed] : {std::pair{sim::DriverKind::eager, 0}, {sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 1}, {sim::DriverKind::shuffled, 2}, {sim::DriverKind::timed, 0}}) {
    const WarpResult r = run_warps(p, in, 1, driver, static_cast<uint64_t>(seed));
    unsigned wrong = 0;
    for (unsigned t = 0; t < 128; ++t) {
      for (unsigned i = 0; i < f.n / 2; ++i) {
        const auto [row, column] = d_place(t, i);
        const uint64_t got = half ? r.registers[i / 2 * 128 + t] >> (16 * (i % 2)) & 0xFFFF : r.registers[i * 128 + t];
        if (got != code_of(f.d, q.product(row, column)) && ++wrong < 4) {
          ADD_FAILURE() << "row " << row << " column " << column << ": " << std::hex << got << ", not " << code_of(f.d, q.product(row, column));
        }
      }
    }
    EXPECT_EQ(wrong, 0u) << "policy " << static_cast<int>(driver);
  }
}

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const unsigned n : {8u, 24u, 64u, 136u, 256u}) all.push_back({n, "f32", "f16", "f16"});
  for (const unsigned swizzle : {0u, 32u, 64u, 128u}) {
    for (const bool registers : {false, true}) {
      all.push_back({64, "f32", "bf16", "bf16", registers, swizzle});
      all.push_back({64, "f32", "bf16", "bf16", registers, swizzle, false, true});
      all.push_back({32, "f32", "tf32", "tf32", registers, swizzle});
      all.push_back({48, "s32", "s8", "u8", registers, swizzle});
    }
    all.push_back({64, "f16", "f16", "f16", false, swizzle, true, false});
    all.push_back({128, "f32", "f16", "f16", false, swizzle, true, true});
    all.push_back({96, "f32", "e4m3", "e5m2", false, swizzle});
  }
  all.push_back({128, "f16", "f16", "f16", true});
  all.push_back({16, "f16", "e5m2", "e4m3", true});
  all.push_back({16, "f32", "e4m3", "e4m3", true, 128});
  all.push_back({32, "s32", "u8", "u8"});
  all.push_back({8, "s32", "b1", "b1"});
  all.push_back({64, "s32", "b1", "b1", true, 64});
  all.push_back({32, "f32", "f16", "f16", false, 128, false, false, true, false});
  all.push_back({32, "f32", "bf16", "bf16", true, 128, false, false, true, true});
  all.push_back({32, "f32", "e5m2", "e5m2", false, 128, false, false, false, true});
  all.push_back({32, "f32", "tf32", "tf32", false, 128, false, false, false, false, false});
  return all;
}
INSTANTIATE_TEST_SUITE_P(, Wgmma, testing::ValuesIn(forms()), [](const auto& tested) {
  const Form& f = tested.param;
  return fmt::format("n{}_{}_{}_{}_{}_sw{}{}{}{}{}{}", f.n, f.d, f.a, f.b, f.a_in_registers ? "RS" : "SS", f.swizzle, f.trans_a ? "_ta" : "", f.trans_b ? "_tb" : "",
                     f.negate_a ? "_na" : "", f.negate_b ? "_nb" : "", f.accumulate ? "" : "_zero");
});

/// Where the metadata of a group of a row is (9.7.15.6): for 16 and 32 bits in the two lanes the selector names, rows r and r + 8 in
/// the halves of a word; for 8 bits in all four lanes, rows r and r + 8 in neighbours.
struct MetadataBits {
  unsigned thread, shift;
};
MetadataBits metadata_bits(unsigned bits, unsigned selector, unsigned row, unsigned group) {
  const unsigned quad = row / 16 * 32 + row % 8 * 4, lower = row % 16 / 8;
  if (bits == 8) return {quad + lower + 2 * (group / 8), 4 * (group % 8)};
  return {quad + 2 * selector + group / 4, 16 * lower + 4 * (group % 4)};
}
/// Two increasing places in a group of four; the first two serve 32-bit types too (both halves of one element).
constexpr std::pair<unsigned, unsigned> kPairs[] = {{0, 1}, {2, 3}, {0, 2}, {0, 3}, {1, 2}, {1, 3}};

// Result words of H100s and H200s: row i of A times column i of B, 64 dot products per instruction. The f16, bf16 and tf32
// words are from mma.sync, whose arithmetic is the same; the fp8 words are wgmma's 13-bit ones (docs/facts/numerics.md §3.2).
// Sparse: the places of A's elements change from group to group, and B is NaN at all other places, which must not affect the result.
class WgmmaWords : public testing::TestWithParam<bool> {};

TEST_P(WgmmaWords, MeasuredOnSilicon) {
  using numeric::test::VectorRow;
  const bool sparse = GetParam();
  std::map<std::string, std::vector<VectorRow>> groups;
  for (const char* file : {"mma_h200_adversarial.csv", "mma_measured_hw.csv"}) {
    for (const VectorRow& v : numeric::test::read_vectors(file)) {
      const bool legacy = v.kind.rfind("mma.sync", 0) == 0 && v.a_type[0] == 'e';
      if (v.arch != "b200" && !legacy) groups[v.a_type + " " + v.b_type + " " + v.d_type].push_back(v);
    }
  }
  ASSERT_GE(groups.size(), 6u);
  for (const auto& [key, rows] : groups) {
    const VectorRow& v0 = rows[0];
    const unsigned bits = bits_of(v0.a_type), k = 256 / bits;
    const bool half = v0.d_type == "f16";
    ASSERT_EQ(v0.a.size(), k) << key;
    for (size_t first = 0; first < rows.size(); first += 64) {
      const size_t count = std::min<size_t>(64, rows.size() - first);
      const Operand oa(0, 64, bits / 8, 128, false), ob(8192, 64, bits / 8, 128, false);
      WarpProgram p;
      p.target = "sm_90a";
      p.threads = 128;
      p.smem.assign(16384, 0);
      p.smem_bytes = p.smem.size();
      const unsigned regs = half ? 16 : 32;
      p.inputs = p.outputs = regs;
      if (sparse) ++p.inputs;
      std::vector<uint64_t> in(p.inputs * 128);
      const unsigned dense = bits == 32 ? 2 : 4, kept = dense / 2;
      for (size_t i = 0; i < count; ++i) {
        const auto row = static_cast<unsigned>(i);
        if (sparse) std::fill_n(p.smem.begin() + 8192 + 128 * row, 128, uint8_t{0xFF});
        for (unsigned g = 0; sparse && g < k / kept; ++g) {
          const auto [low, high] = kPairs[(row + g) % (bits == 32 ? 2 : 6)];
          const MetadataBits at = metadata_bits(bits, 0, row, g);
          in[regs * 128 + at.thread] |= uint64_t{low | high << 2} << at.shift;
        }
        for (unsigned byte = 0; byte < 32; ++byte) {
          const unsigned e = byte * 8 / bits, shift = byte * 8 % bits, g = e / kept;
          const auto [low, high] = kPairs[(row + g) % (bits == 32 ? 2 : 6)];
          const unsigned place = !sparse ? e : g * dense + (bits == 32 ? low / 2 : e % 2 == 0 ? low
                                                                                              : high);
          p.smem[oa.place(row, byte)] = static_cast<uint8_t>(rows[first + i].a[e] >> shift);
          p.smem[ob.place(row, place * bits / 8 + shift / 8)] = static_cast<uint8_t>(rows[first + i].b[e] >> shift);
        }
      }
      for (unsigned t = 0; t < 128; ++t) {
        for (unsigned i = 0; i < 32; ++i) {
          const auto [row, column] = d_place(t, i);
          if (row == column && row < count) in[(half ? i / 2 : i) * 128 + t] |= uint64_t{rows[first + row].c} << (half ? 16 * (i % 2) : 0);
        }
      }
      p.body = "  fence.proxy.async;\n  bar.sync 0;\n  cvt.u64.u32 %d0, %s;\n  and.b64 %d0, %d0, 0x3FFFF;\n  shr.u64 %d0, %d0, 4;\n";
      p.body += fmt::format("  add.s64 %d1, %d0, {};\n  add.s64 %d2, %d0, {};\n", static_cast<int64_t>(oa.descriptor(0)), static_cast<int64_t>(ob.descriptor(0)));
      for (unsigned r = 0; r < regs; ++r) p.body += fmt::format("  mov.b32 %o{0}, %i{0};\n", r);
      p.body += fmt::format(
          "  wgmma.fence.sync.aligned;\n  wgmma.mma_async{}.sync.aligned.m64n64k{}.{}.{}.{} {}, %d1, %d2{}, 1, 1, 1{};\n  wgmma.commit_group.sync.aligned;\n"
          "  wgmma.wait_group.sync.aligned 0;",
          sparse ? ".sp" : "", sparse ? 2 * k : k, v0.d_type, v0.a_type, v0.b_type, list("o", 0, regs),
          sparse ? fmt::format(", %i{}, 0", regs) : "", bits == 16 ? ", 0, 0" : "");
      const WarpResult r = run_warps(p, in);
      for (unsigned t = 0; t < 128; ++t) {
        for (unsigned i = 0; i < 32; ++i) {
          const auto [row, column] = d_place(t, i);
          if (row != column || row >= count) continue;
          const uint64_t got = half ? r.registers[i / 2 * 128 + t] >> (16 * (i % 2)) & 0xFFFF : r.registers[i * 128 + t];
          EXPECT_EQ(got, rows[first + row].d) << key << ", line " << rows[first + row].line;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, WgmmaWords, testing::Bool(), [](const auto& tested) { return tested.param ? "sparse" : "dense"; });

/// 2:4 sparse A: 32 of 64 bytes of K are stored. The metadata has the layout of mma.sp for each warp's 16 rows.
struct SparseForm {
  const char* type;
  unsigned selector;
  bool a_in_registers;
  unsigned swizzle;              // of A and B; 0 or at least 64
  const char* type_b = nullptr;  // if not A's
  const char* d = "f32";
};

class SparseWgmma : public testing::TestWithParam<SparseForm> {};

TEST_P(SparseWgmma, ProductsOfSmallIntegers) {
  const SparseForm f = GetParam();
  constexpr unsigned kN = 16;
  const std::string type_b = f.type_b == nullptr ? f.type : f.type_b, d_type = f.d;
  const bool half = d_type == "f16", integers = d_type == "s32";
  const unsigned bits = bits_of(f.type), stored = 256 / bits, k = 2 * stored, dense = bits == 32 ? 2 : 4, kept = dense / 2, groups = k / dense;
  Words random(bits + f.selector);
  const auto fill = [&](size_t count, const std::string& type) {
    std::vector<int> v(count);
    for (int& x : v) x = static_cast<int>(random.next() % 7) - (type[0] == 'u' ? 0 : 3);
    return v;
  };
  const std::vector<int> a = fill(64 * stored, f.type), b = fill(kN * k, type_b);
  std::vector<unsigned> position(64 * stored);  // dense k of each stored element
  std::vector<uint64_t> metadata(128);
  for (unsigned row = 0; row < 64; ++row) {
    for (unsigned g = 0; g < groups; ++g) {
      const auto [first, second] = kPairs[random.next() % (bits == 32 ? 2 : 6)];
      position[row * stored + g * kept] = g * dense + (bits == 32 ? first / 2 : first);
      if (bits != 32) position[row * stored + g * kept + 1] = g * dense + second;
      const MetadataBits at = metadata_bits(bits, f.selector, row, g);
      metadata[at.thread] |= uint64_t{first | second << 2} << at.shift;
    }
  }
  WarpProgram p;
  p.target = "sm_90a";
  p.threads = 128;
  p.smem.assign(16384, 0);
  p.smem_bytes = p.smem.size();
  const unsigned element = bits / 8, span = f.swizzle == 0 ? 16 : f.swizzle;
  // B has four 16-byte columns of core matrices without a swizzle: 512 bytes for 8 rows.
  const auto place = [&](unsigned base, unsigned row, unsigned byte, unsigned row_bytes) {
    if (f.swizzle == 0) return base + row / 8 * 8 * row_bytes + byte / 16 * 128 + row % 8 * 16 + byte % 16;
    const unsigned chunk = f.swizzle == 128 ? byte / 16 ^ row % 8 : byte / 16 ^ (row / 2 % 4);
    return base + row * span + chunk * 16 + byte % 16;
  };
  const auto store = [&](unsigned base, unsigned row, unsigned i, unsigned row_bytes, const std::string& type, int v) {
    const uint32_t code = code_of(type, v);
    for (unsigned byte = 0; byte < element; ++byte) p.smem[place(base, row, i * element + byte, row_bytes)] = static_cast<uint8_t>(code >> (8 * byte));
  };
  for (unsigned r = 0; r < 64; ++r)
    for (unsigned i = 0; i < stored; ++i) store(0, r, i, 32, f.type, a[r * stored + i]);
  for (unsigned r = 0; r < kN; ++r)
    for (unsigned i = 0; i < k; ++i) store(8192, r, i, 64, type_b, b[r * k + i]);
  const auto descriptor = [&](unsigned base, unsigned row_bytes) {
    const uint64_t lead = 128, stride = f.swizzle == 0 ? 8 * row_bytes : 8 * f.swizzle, mode = f.swizzle == 128 ? 1 : f.swizzle == 64 ? 2
                                                                                                                                      : 0;
    return static_cast<int64_t>((uint64_t{base} >> 4) | (lead >> 4) << 16 | (stride >> 4) << 32 | mode << 62);
  };
  p.inputs = 5;
  p.outputs = half ? kN / 4 : kN / 2;
  std::vector<uint64_t> in(5 * 128);
  for (unsigned t = 0; t < 128; ++t) {
    for (unsigned r = 0; r < 4; ++r) {
      const unsigned row = t / 32 * 16 + t % 32 / 4 + (r % 2) * 8, first = (t % 4 * 4 + r / 2 * 16) * 8 / bits;
      for (unsigned e = 0; e < 32 / bits; ++e) in[r * 128 + t] |= uint64_t{code_of(f.type, a[row * stored + first + e])} << (e * bits);
    }
    in[4 * 128 + t] = metadata[t];
  }
  p.body = "  fence.proxy.async;\n  bar.sync 0;\n  cvt.u64.u32 %d0, %s;\n  and.b64 %d0, %d0, 0x3FFFF;\n  shr.u64 %d0, %d0, 4;\n";
  p.body += fmt::format("  add.s64 %d1, %d0, {};\n  add.s64 %d2, %d0, {};\n", descriptor(0, 32), descriptor(8192, 64));
  p.body += fmt::format(
      "  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sp.sync.aligned.m64n{}k{}.{}.{}.{} {}, {}, %d2, %i4, {}, 0{}{};\n  wgmma.commit_group.sync.aligned;\n"
      "  wgmma.wait_group.sync.aligned 0;",
      kN, k, f.d, f.type, type_b, list("o", 0, p.outputs), f.a_in_registers ? list("i", 0, 4) : "%d1",
      f.selector, integers ? "" : ", 1, 1", bits != 16 ? "" : f.a_in_registers ? ", 0"
                                                                               : ", 0, 0");
  for (const auto driver : {sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::shuffled}) {
    const WarpResult r = run_warps(p, in, 1, driver, 5);
    for (unsigned t = 0; t < 128; ++t) {
      for (unsigned i = 0; i < kN / 2; ++i) {
        const auto [row, column] = d_place(t, i);
        int want = 0;
        for (unsigned s = 0; s < stored; ++s) want += a[row * stored + s] * b[column * k + position[row * stored + s]];
        const uint64_t got = half ? r.registers[i / 2 * 128 + t] >> (16 * (i % 2)) & 0xFFFF : r.registers[i * 128 + t];
        EXPECT_EQ(got, code_of(f.d, want)) << "row " << row << " column " << column;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, SparseWgmma,
                         testing::Values(SparseForm{"f16", 0, false, 0}, SparseForm{"f16", 1, true, 64}, SparseForm{"bf16", 0, true, 128}, SparseForm{"tf32", 0, false, 128},
                                         SparseForm{"tf32", 1, true, 0}, SparseForm{"bf16", 1, false, 64}, SparseForm{"f16", 0, true, 0, nullptr, "f16"},
                                         SparseForm{"e4m3", 0, false, 0}, SparseForm{"e5m2", 0, true, 64, "e4m3"}, SparseForm{"e4m3", 0, true, 128, "e5m2", "f16"},
                                         SparseForm{"s8", 0, false, 128, "u8", "s32"}, SparseForm{"u8", 0, true, 0, "s8", "s32"}, SparseForm{"s8", 0, true, 64, nullptr, "s32"}));

// .satfinite clamps the sum at the ends of s32; without it the sum wraps (9.7.15.5.2); dense and sparse.
TEST(WgmmaSaturation, ClampsTheSum) {
  for (const bool sparse : {false, true}) {
    for (const bool saturate : {false, true}) {
      WarpProgram p;
      p.target = "sm_90a";
      p.threads = 128;
      p.inputs = 2;
      p.outputs = 4;
      const Operand oa(0, 64, 1, 128, false), ob(8192, 8, 1, 128, false);
      p.smem.assign(16384, 1);  // every element is 1: a row's product is 32
      p.smem_bytes = p.smem.size();
      std::vector<uint64_t> in(256, 0x44444444);
      std::fill_n(in.begin(), 128, uint64_t{0x7FFFFFF0});
      p.body = "  fence.proxy.async;\n  bar.sync 0;\n  cvt.u64.u32 %d0, %s;\n  and.b64 %d0, %d0, 0x3FFFF;\n  shr.u64 %d0, %d0, 4;\n";
      p.body += fmt::format("  add.s64 %d1, %d0, {};\n  add.s64 %d2, %d0, {};\n", static_cast<int64_t>(oa.descriptor(0)), static_cast<int64_t>(ob.descriptor(0)));
      for (unsigned r = 0; r < 4; ++r) p.body += fmt::format("  mov.b32 %o{}, %i0;\n", r);
      p.body += fmt::format(
          "  wgmma.fence.sync.aligned;\n  wgmma.mma_async{}.sync.aligned.m64n8k{}{}.s32.s8.u8 {}, %d1, %d2{}, 1;\n  wgmma.commit_group.sync.aligned;\n"
          "  wgmma.wait_group.sync.aligned 0;",
          sparse ? ".sp" : "", sparse ? 64 : 32, saturate ? ".satfinite" : "", list("o", 0, 4), sparse ? ", %i1, 0" : "");
      for (const uint64_t d : run_warps(p, in).registers) ASSERT_EQ(d, saturate ? 0x7FFFFFFFu : 0x80000010u) << "sparse " << sparse;
    }
  }
}

// A chain of products in two groups: the accumulator of the first group can be read while the second is in flight.
TEST(WgmmaGroups, CompleteInOrder) {
  WarpProgram p;
  p.target = "sm_90a";
  p.threads = 128;
  p.outputs = 8;
  const Operand oa(0, 64, 2, 0, false), ob(4096, 8, 2, 0, false);
  p.smem.assign(8192, 0);
  const std::vector<int> ones(64 * 16, 1);
  put(p.smem, oa, "f16", ones, 64, 16);
  put(p.smem, ob, "f16", ones, 8, 16);
  p.body = "  fence.proxy.async;\n  bar.sync 0;\n  cvt.u64.u32 %d0, %s;\n  and.b64 %d0, %d0, 0x3FFFF;\n  shr.u64 %d0, %d0, 4;\n";
  p.body += fmt::format("  add.s64 %d1, %d0, {};\n  add.s64 %d2, %d0, {};\n  wgmma.fence.sync.aligned;\n", static_cast<int64_t>(oa.descriptor(0)), static_cast<int64_t>(ob.descriptor(0)));
  const auto product = [](unsigned first, int accumulate) {
    return fmt::format("  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {}, %d1, %d2, {}, 1, 1, 0, 0;\n", list("o", first, 4), accumulate);
  };
  p.body += product(0, 0) + product(0, 1) + "  wgmma.commit_group.sync.aligned;\n" + product(4, 0) + product(4, 1) + product(4, 1) +
            "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 1;\n";
  for (unsigned r = 0; r < 4; ++r) p.body += fmt::format("  mov.b32 %t{}, %o{};\n", r, r);
  p.body += "  wgmma.wait_group.sync.aligned 0;\n";
  for (unsigned r = 0; r < 4; ++r) p.body += fmt::format("  mov.b32 %o{}, %t{};\n", r, r);
  for (const auto& [driver, seed] : {std::pair{sim::DriverKind::eager, 0}, {sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 3}, {sim::DriverKind::timed, 0}}) {
    const WarpResult r = run_warps(p, {}, 1, driver, static_cast<uint64_t>(seed));
    for (size_t i = 0; i < r.registers.size(); ++i) EXPECT_EQ(r.registers[i], std::bit_cast<uint32_t>(i < 512 ? 32.0f : 48.0f)) << i;
  }
}

// A group is the warpgroup's: the first warp, which waits for it and then overwrites the operands, waits for the others' parts,
// which are issued later (CUTLASS lets one thread of the warpgroup release a stage).
TEST(WgmmaGroups, AreCompleteWhenAllFourWarpsAre) {
  WarpProgram p;
  p.target = "sm_90a";
  p.threads = 128;
  p.smem.assign(4096, 0);
  for (size_t i = 1; i < p.smem.size(); i += 2) p.smem[i] = 0x3C;  // halves of value 1: A of 64 x 16, B of 8 x 16
  p.smem_bytes = p.smem.size();
  p.inputs = 1;
  p.outputs = 4;
  const Operand oa(0, 64, 2, 0, false), ob(2048, 8, 2, 0, false);
  p.body = "  fence.proxy.async;\n  bar.sync 0;\n  cvt.u64.u32 %d0, %s;\n  and.b64 %d0, %d0, 0x3FFFF;\n  shr.u64 %d0, %d0, 4;\n";
  p.body += fmt::format("  add.s64 %d1, %d0, {};\n  add.s64 %d2, %d0, {};\n", static_cast<int64_t>(oa.descriptor(0)), static_cast<int64_t>(ob.descriptor(0)));
  p.body += "LATE:\n  setp.eq.b32 %p1, %i0, 0;\n  @%p1 bra READY;\n  sub.u32 %i0, %i0, 1;\n  bra LATE;\nREADY:\n";
  p.body += "  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%o0, %o1, %o2, %o3}, %d1, %d2, 0, 1, 1, 0, 0;\n";
  p.body += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  p.body += "  mov.u32 %i0, %tid.x;\n  setp.ge.u32 %p1, %i0, 32;\n  @%p1 bra DONE;\n  mov.b32 %i0, 0;\nCLEAR:\n";
  p.body += "  add.u32 %i0, %i0, 16;\n  add.u32 %t0, %s, %i0;\n  st.shared.v4.b32 [%t0+-16], {0, 0, 0, 0};\n  setp.lt.u32 %p1, %i0, 2304;\n  @%p1 bra CLEAR;\nDONE:";
  std::vector<uint64_t> in(128, 0);
  for (unsigned t = 32; t < 128; ++t) in[t] = 100 * (t / 32);
  for (const auto& [driver, seed] : {std::pair{sim::DriverKind::eager, 0}, {sim::DriverKind::lazy, 0}, {sim::DriverKind::shuffled, 1}, {sim::DriverKind::timed, 0}}) {
    const WarpResult r = run_warps(p, in, 1, driver, static_cast<uint64_t>(seed));
    for (const uint64_t word : r.registers) ASSERT_EQ(word, code_of("f32", 16)) << "policy " << static_cast<int>(driver);
  }
}

TEST(WgmmaFaults, AWarpgroupHasFourWarps) {
  WarpProgram p;
  p.target = "sm_90a";
  p.threads = 64;
  p.body = "  wgmma.fence.sync.aligned;";
  try {
    run_warps(p, {});
    FAIL() << "no fault";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(code_name(Code::F3220)), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace drywell::test
