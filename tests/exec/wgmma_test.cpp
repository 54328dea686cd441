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
  struct Ieee { unsigned exponent, fraction; };
  static const std::map<std::string, Ieee> kFormats = {{"f16", {5, 10}}, {"bf16", {8, 7}}, {"tf32", {8, 23}}, {"f32", {8, 23}}, {"e4m3", {4, 3}}, {"e5m2", {5, 2}}};
  const Ieee f = kFormats.at(type);
  if (v == 0) return 0;
  const auto magnitude = static_cast<unsigned>(std::abs(v)), top = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
  const unsigned bias = (1u << (f.exponent - 1)) - 1;
  return (uint32_t{v < 0} << (f.exponent + f.fraction)) | ((bias + top) << f.fraction) | static_cast<uint32_t>(uint64_t{magnitude - (1u << top)} << f.fraction >> top);
}

/// One operand in shared memory: where each byte of (mn, byte along k) lies, and the descriptor.
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
    const uint64_t mode = swizzle_ == 0 ? 0 : swizzle_ == 128 ? 1 : swizzle_ == 64 ? 2 : 3;
    return (uint64_t{(address + base_) & 0x3FFFF} >> 4) | (lead >> 4) << 16 | (stride >> 4) << 32 | mode << 62;
  }

 private:
  unsigned leading() const {
    if (!transposed_) return swizzle_ == 0 ? 128 : 16;   // between core matrices along k; not used with swizzle
    return swizzle_ == 0 ? mn_ / 8 * 128 : swizzle_ * 16;  // no swizzle: along k; else between repeats along mn
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

}  // namespace
}  // namespace drywell::test
