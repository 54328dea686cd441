// mma.sync: fragments as the PTX ISA's pictures place them, products of small integers (exact in every format), and the
// words an H200, H100 and B200 returned.
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

/// The parts of one form: "m16n8k16.row.col.f32.f16.f16.f32".
struct Form {
  unsigned m, n, k;
  const char* d;
  const char* a;
  const char* b;
  const char* c;
  const char* target = "sm_100a";
  const char* extra = "";  // .satfinite
};

unsigned bits_of(const std::string& type) {
  static const std::map<std::string, unsigned> kBits = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f32", 32}, {"s32", 32}, {"f64", 64}, {"e4m3", 8}, {"e5m2", 8}, {"s8", 8}, {"u8", 8}, {"s4", 4}, {"u4", 4}, {"b1", 1}};
  return kBits.at(type);
}

/// The code of a small integer in a type; written from the formats' definitions.
uint64_t code_of(const std::string& type, int v) {
  if (type == "f64") return std::bit_cast<uint64_t>(static_cast<double>(v));
  if (type[0] == 's' || type[0] == 'u') return static_cast<uint64_t>(v) & ((uint64_t{1} << bits_of(type)) - 1);
  if (type == "b1") return static_cast<uint64_t>(v & 1);
  struct Ieee {
    unsigned exponent, fraction;
  };
  static const std::map<std::string, Ieee> kFormats = {{"f16", {5, 10}}, {"bf16", {8, 7}}, {"tf32", {8, 23}}, {"f32", {8, 23}}, {"e4m3", {4, 3}}, {"e5m2", {5, 2}}};
  const Ieee f = kFormats.at(type);
  if (v == 0) return 0;
  const unsigned magnitude = static_cast<unsigned>(std::abs(v)), top = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
  const uint64_t bias = (uint64_t{1} << (f.exponent - 1)) - 1;
  return (uint64_t{v < 0} << (f.exponent + f.fraction)) | ((bias + top) << f.fraction) | (uint64_t{magnitude - (1u << top)} << f.fraction >> top);
}

/// Registers of one operand: `elements` per lane of `bits` each, in registers of `word` bits.
class Fragment {
 public:
  Fragment(unsigned elements, unsigned bits, unsigned word) : bits_(bits), word_(word), words_(32 * std::max(1u, elements * bits / word)) {}
  unsigned registers() const { return static_cast<unsigned>(words_.size() / 32); }
  void set(unsigned lane, unsigned i, uint64_t code) { words_[i * bits_ / word_ * 32 + lane] |= code << (i * bits_ % word_); }
  const std::vector<uint64_t>& words() const { return words_; }

 private:
  unsigned bits_, word_;
  std::vector<uint64_t> words_;
};

std::string list(const char* name, unsigned& next, unsigned count) {
  std::string s = "{";
  for (unsigned i = 0; i < count; ++i) s += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, next++);
  return s + "}";
}

class MmaForm : public testing::TestWithParam<Form> {};

// PTX ISA 9.7.14.5.2-9.7.14.5.13: groupID = lane / 4, threadID_in_group = lane % 4; a register's elements are neighbours
// along k, the next register is 8 rows down, then 4 threads' worth of k on.
TEST_P(MmaForm, ProductsOfSmallIntegers) {
  const Form f = GetParam();
  const unsigned bits = bits_of(f.a), word = bits == 64 ? 64 : 32, per = std::max(1u, 32 / bits), rows = f.m / 8;
  Words random(f.m * 1000 + f.k * 10 + bits);
  const auto value = [&](const std::string& type) {
    const int v = static_cast<int>(random.next() % 7) - 3;
    return type[0] == 'u' || type[0] == 'b' ? std::abs(v) : v;
  };
  std::vector<int> a(f.m * f.k), b(f.n * f.k), c(f.m * f.n);
  for (int& v : a) v = value(f.a);
  for (int& v : b) v = value(f.b);
  for (int& v : c) v = value("s");
  Fragment fa(f.m * f.k / 32, bits, word), fb(f.n * f.k / 32, bits, word), fc(f.m * f.n / 32, bits_of(f.c), word);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group = lane / 4, thread = lane % 4;
    for (unsigned i = 0; i < f.m * f.k / 32; ++i) {
      const unsigned row = group + 8 * (i / per % rows), column = thread * per + i % per + i / (per * rows) * 4 * per;
      fa.set(lane, i, code_of(f.a, a[row * f.k + column]));
    }
    for (unsigned i = 0; i < f.n * f.k / 32; ++i) {
      const unsigned column = group, row = thread * per + i % per + i / per * 4 * per;
      fb.set(lane, i, code_of(f.b, b[column * f.k + row]));
    }
    for (unsigned i = 0; i < f.m * f.n / 32; ++i) {
      const unsigned row = group + (i < 2 ? 0 : 8), column = thread * 2 + i % 2;
      fc.set(lane, i, code_of(f.c, c[row * f.n + column]));
    }
  }
  WarpProgram p;
  p.bits = word;
  p.target = f.target;
  const Fragment fd(f.m * f.n / 32, bits_of(f.d), word);
  unsigned in = 0, out = 0;
  const std::string d = list("o", out, fd.registers()), ra = list("i", in, fa.registers()), rb = list("i", in, fb.registers()), rc = list("i", in, fc.registers());
  const bool single_bits = bits == 1;
  p.body = fmt::format("  mma.sync.aligned.m{}n{}k{}.row.col{}.{}.{}.{}.{}{} {}, {}, {}, {};", f.m, f.n, f.k, single_bits ? "" : f.extra, f.d, f.a, f.b, f.c,
                       single_bits ? f.extra : "", d, ra, rb, rc);
  p.inputs = in;
  p.outputs = out;
  std::vector<uint64_t> words = fa.words();
  words.insert(words.end(), fb.words().begin(), fb.words().end());
  words.insert(words.end(), fc.words().begin(), fc.words().end());
  const WarpResult r = run_warps(p, words);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < f.m * f.n / 32; ++i) {
      const unsigned row = lane / 4 + (i < 2 ? 0 : 8), column = lane % 4 * 2 + i % 2;
      int want = c[row * f.n + column];
      for (unsigned k = 0; k < f.k; ++k) {
        const int x = a[row * f.k + k], y = b[column * f.k + k];
        want += !single_bits ? x * y : std::string(f.extra) == ".xor.popc" ? (x ^ y) & 1
                                                                           : x & y & 1;
      }
      const unsigned d_bits = bits_of(f.d);
      const uint64_t got = r.registers[i * d_bits / word * 32 + lane] >> (i * d_bits % word);
      const uint64_t mask = d_bits == 64 ? ~uint64_t{0} : (uint64_t{1} << d_bits) - 1;
      EXPECT_EQ(got & mask, code_of(f.d, want) & mask) << "row " << row << " column " << column;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    , MmaForm,
    testing::Values(
        Form{16, 8, 8, "f32", "f16", "f16", "f32"}, Form{16, 8, 16, "f32", "f16", "f16", "f32"}, Form{16, 8, 8, "f16", "f16", "f16", "f16"},
        Form{16, 8, 16, "f16", "f16", "f16", "f16"}, Form{16, 8, 8, "f32", "bf16", "bf16", "f32"}, Form{16, 8, 16, "f32", "bf16", "bf16", "f32"},
        Form{16, 8, 16, "f32", "bf16", "bf16", "f32", "sm_90a"}, Form{16, 8, 4, "f32", "tf32", "tf32", "f32"}, Form{16, 8, 8, "f32", "tf32", "tf32", "f32"},
        Form{16, 8, 16, "f32", "e4m3", "e5m2", "f32"}, Form{16, 8, 32, "f32", "e5m2", "e4m3", "f32"}, Form{16, 8, 32, "f16", "e4m3", "e4m3", "f16"},
        Form{16, 8, 32, "f32", "e4m3", "e4m3", "f32", "sm_90a"}, Form{8, 8, 4, "f64", "f64", "f64", "f64"}, Form{16, 8, 4, "f64", "f64", "f64", "f64"},
        Form{16, 8, 8, "f64", "f64", "f64", "f64"}, Form{16, 8, 16, "f64", "f64", "f64", "f64"}, Form{8, 8, 16, "s32", "s8", "u8", "s32"},
        Form{16, 8, 16, "s32", "s8", "s8", "s32"}, Form{16, 8, 32, "s32", "u8", "s8", "s32", "sm_100a", ".satfinite"}, Form{8, 8, 32, "s32", "s4", "u4", "s32"},
        Form{16, 8, 32, "s32", "u4", "u4", "s32"}, Form{16, 8, 64, "s32", "s4", "s4", "s32"}, Form{8, 8, 128, "s32", "b1", "b1", "s32", "sm_100a", ".xor.popc"},
        Form{16, 8, 128, "s32", "b1", "b1", "s32", "sm_100a", ".and.popc"}, Form{16, 8, 256, "s32", "b1", "b1", "s32", "sm_100a", ".xor.popc"}),
    [](const auto& tested) {
      const Form& f = tested.param;
      std::string tail = f.extra;
      for (char& ch : tail) ch = ch == '.' ? '_' : ch;
      return fmt::format("m{}n{}k{}_{}_{}_{}_{}{}", f.m, f.n, f.k, f.d, f.a, f.b, f.target, tail);
    });

// PTX ISA 9.7.14.5.1, written out: each quad pair computes a separate product.
/// A and B by rows or columns; C and D: both f32, f16 to f32, both f16.
class QuadMma : public testing::TestWithParam<std::tuple<bool, bool, int>> {};

TEST_P(QuadMma, FourProducts) {
  const auto [a_row, b_row, halves] = GetParam();
  const bool half_c = halves > 0, half_d = halves > 1;
  Words random(11);
  int a[4][8][4], b[4][4][8], c[4][8][8];
  for (auto& q : a)
    for (auto& row : q)
      for (int& v : row) v = static_cast<int>(random.next() % 7) - 3;
  for (auto& q : b)
    for (auto& row : q)
      for (int& v : row) v = static_cast<int>(random.next() % 7) - 3;
  for (auto& q : c)
    for (auto& row : q)
      for (int& v : row) v = static_cast<int>(random.next() % 7) - 3;
  const auto cd_place = [](bool half, unsigned lane, unsigned i) {
    const unsigned up = lane < 16 ? 0 : 4;
    return half ? std::pair{lane % 4 + up, i} : std::pair{(lane & 1) + (i & 2) + up, (i & 4) + (lane & 2) + (i & 1)};
  };
  Fragment fa(4, 16, 32), fb(4, 16, 32), fc(8, half_c ? 16 : 32, 32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned q = lane / 4 % 4, up = lane < 16 ? 0 : 4;
    for (unsigned i = 0; i < 4; ++i) {
      fa.set(lane, i, code_of("f16", a_row ? a[q][lane % 4 + up][i] : a[q][i + up][lane % 4]));
      fb.set(lane, i, code_of("f16", b_row ? b[q][lane % 4][i + up] : b[q][i][lane % 4 + up]));
    }
    for (unsigned i = 0; i < 8; ++i) {
      const auto [row, column] = cd_place(half_c, lane, i);
      fc.set(lane, i, code_of(half_c ? "f16" : "f32", c[q][row][column]));
    }
  }
  unsigned in = 0, out = 0;
  WarpProgram p;
  const std::string d = list("o", out, half_d ? 4 : 8), ra = list("i", in, 2), rb = list("i", in, 2), rc = list("i", in, fc.registers());
  p.body = fmt::format("  mma.sync.aligned.m8n8k4.{}.{}.{}.f16.f16.{} {}, {}, {}, {};", a_row ? "row" : "col", b_row ? "row" : "col", half_d ? "f16" : "f32",
                       half_c ? "f16" : "f32", d, ra, rb, rc);
  p.inputs = in;
  p.outputs = out;
  std::vector<uint64_t> words = fa.words();
  words.insert(words.end(), fb.words().begin(), fb.words().end());
  words.insert(words.end(), fc.words().begin(), fc.words().end());
  const WarpResult r = run_warps(p, words);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 8; ++i) {
      const auto [row, column] = cd_place(half_d, lane, i);
      int want = c[lane / 4 % 4][row][column];
      for (unsigned k = 0; k < 4; ++k) want += a[lane / 4 % 4][row][k] * b[lane / 4 % 4][k][column];
      const uint64_t got = half_d ? r.registers[i / 2 * 32 + lane] >> (16 * (i % 2)) & 0xFFFF : r.registers[i * 32 + lane];
      EXPECT_EQ(got, code_of(half_d ? "f16" : "f32", want)) << "lane " << lane << " element " << i;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, QuadMma, testing::Combine(testing::Bool(), testing::Bool(), testing::Values(0, 1, 2)));

// Words an H200 returned (f32 C and D): it adds C last, after fused multiply-adds in k order.
TEST(QuadMmaWords, MeasuredOnSilicon) {
  struct Word {
    uint32_t a[4], b[4], c, d;
  };
  static constexpr Word kWords[] = {
      {{0x967E, 0xBFDC, 0xEF60, 0xC3A0}, {0xC42B, 0xC0C6, 0x4248, 0x4217}, 0xC17664A0, 0xC6B978A1},
      {{0x3FB7, 0xB9D3, 0x86CF, 0x3ABD}, {0x5B86, 0x3D0D, 0x39BC, 0x5FA0}, 0x43142600, 0x447FA67E},
      {{0x3FB7, 0xB9D3, 0x86CF, 0x3ABD}, {0xC42B, 0xC0C6, 0x4248, 0x4217}, 0x443E7FB0, 0x443D9088},
      {{0x3FB7, 0xB9D3, 0x86CF, 0x3ABD}, {0xBC75, 0x678A, 0x28C7, 0xA09C}, 0x44986950, 0xC33BF558},
      {{0x466A, 0xF90B, 0x2357, 0xA8B8}, {0xC42B, 0xC0C6, 0x4248, 0x4217}, 0xC69B39E0, 0x4799B832},
      {{0x04D7, 0xC7DE, 0x9AF8, 0x46E7}, {0xBC75, 0x678A, 0x28C7, 0xA09C}, 0x3F4DDFF0, 0xC66D3BB9},
  };
  // Row 0 of A (by rows), column 0 of B (by columns) and element (0, 0) of C are in lane 0.
  for (const Word& w : kWords) {
    WarpProgram p;
    p.inputs = 5;
    p.outputs = 8;
    p.body =
        "  mov.b32 %t1, 0;\n  mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7}, {%i0, %i1}, {%i2, %i3}, "
        "{%i4, %t1, %t1, %t1, %t1, %t1, %t1, %t1};";
    std::vector<uint64_t> in(5 * 32);
    in[0] = w.a[0] | w.a[1] << 16;
    in[32] = w.a[2] | w.a[3] << 16;
    in[64] = w.b[0] | w.b[1] << 16;
    in[96] = w.b[2] | w.b[3] << 16;
    in[128] = w.c;
    EXPECT_EQ(run_warps(p, in).registers[0], w.d);
  }
}

// 2:4 sparse A. The place of the metadata was measured on an H100, nibble by nibble: 16- and 32-bit types keep rows r and r + 8
// in the halves of one word; narrower types keep 8 groups of one row in a word, rows r and r + 8 in neighbouring lanes.
struct SparseForm {
  unsigned k;
  const char* d;
  const char* a;
  const char* b;
  unsigned selector;
  const char* variant = "sp";
};

class SparseMma : public testing::TestWithParam<SparseForm> {};

TEST_P(SparseMma, ProductsOfSmallIntegers) {
  const SparseForm f = GetParam();
  const unsigned bits = bits_of(f.a), per = 32 / bits, dense = bits == 32 ? 2 : bits == 4 ? 8
                                                                                          : 4,
                 kept = dense / 2, groups = f.k / dense, stored = f.k / 2;
  Words random(f.k + bits + f.selector);
  const auto value = [&](const std::string& type) {
    const int v = static_cast<int>(random.next() % 7) - 3;
    return type[0] == 'u' ? std::abs(v) : v;
  };
  std::vector<int> a(16 * stored), b(8 * f.k), c(16 * 8);
  for (int& v : a) v = value(f.a);
  for (int& v : b) v = value(f.b);
  for (int& v : c) v = value("s");
  // Per row and group two increasing indices of 0 … 3 (for tf32: both halves of element 0 or 1).
  std::vector<std::pair<unsigned, unsigned>> choice(16 * groups);
  std::vector<uint64_t> metadata(32);
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned g = 0; g < groups; ++g) {
      static constexpr std::pair<unsigned, unsigned> kPairs[] = {{0, 1}, {2, 3}, {0, 2}, {0, 3}, {1, 2}, {1, 3}};
      const auto pick = choice[row * groups + g] = kPairs[random.next() % (bits == 32 ? 2 : 6)];
      const uint64_t nibble = pick.first | pick.second << 2;
      const bool few = f.k * bits == 256;
      if (bits >= 16) {
        metadata[row % 8 * 4 + (few ? f.selector : 2 * f.selector + g / 4)] |= nibble << (16 * (row / 8) + 4 * (g % 4));
      } else {
        metadata[row % 8 * 4 + row / 8 + 2 * (few ? f.selector : g / 8)] |= nibble << (4 * (g % 8));
      }
    }
  }
  Fragment fa(16 * stored / 32, bits, 32), fb(8 * f.k / 32, bits, 32), fc(4, 32, 32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 16 * stored / 32; ++i) {
      fa.set(lane, i, code_of(f.a, a[(lane / 4 + 8 * (i / per % 2)) * stored + lane % 4 * per + i % per + i / (2 * per) * 4 * per]));
    }
    for (unsigned i = 0; i < 8 * f.k / 32; ++i) fb.set(lane, i, code_of(f.b, b[lane / 4 * f.k + lane % 4 * per + i % per + i / per * 4 * per]));
    for (unsigned i = 0; i < 4; ++i) fc.set(lane, i, code_of(f.d, c[(lane / 4 + 8 * (i / 2)) * 8 + lane % 4 * 2 + i % 2]));
  }
  unsigned in = 0, out = 0;
  WarpProgram p;
  p.target = "sm_90a";
  const std::string d = list("o", out, 4), ra = list("i", in, fa.registers()), rb = list("i", in, fb.registers()), rc = list("i", in, 4);
  p.body = fmt::format("  mma.{}.sync.aligned.m16n8k{}.row.col.{}.{}.{}.{} {}, {}, {}, {}, %i{}, {};", f.variant, f.k, f.d, f.a, f.b, f.d, d, ra, rb, rc, in, f.selector);
  p.inputs = in + 1;
  p.outputs = out;
  std::vector<uint64_t> words = fa.words();
  words.insert(words.end(), fb.words().begin(), fb.words().end());
  words.insert(words.end(), fc.words().begin(), fc.words().end());
  words.insert(words.end(), metadata.begin(), metadata.end());
  const WarpResult r = run_warps(p, words);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      int want = c[row * 8 + column];
      for (unsigned s = 0; s < stored; ++s) {
        const auto [first, second] = choice[row * groups + s / kept];
        const unsigned at = bits == 32 ? first / 2 : bits == 4 ? 2 * (s % 4 < 2 ? first : second) + s % 2
                                                 : s % 2 == 0  ? first
                                                               : second;
        want += a[row * stored + s] * b[column * f.k + s / kept * dense + at];
      }
      EXPECT_EQ(r.registers[i * 32 + lane] & 0xFFFFFFFF, code_of(f.d, want) & 0xFFFFFFFF) << "row " << row << " column " << column;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, SparseMma,
                         testing::Values(SparseForm{16, "f32", "f16", "f16", 0}, SparseForm{16, "f32", "bf16", "bf16", 1}, SparseForm{16, "f32", "f16", "f16", 2},
                                         SparseForm{16, "f32", "f16", "f16", 3, "sp::ordered_metadata"}, SparseForm{32, "f32", "f16", "f16", 0},
                                         SparseForm{32, "f32", "bf16", "bf16", 1}, SparseForm{8, "f32", "tf32", "tf32", 3}, SparseForm{16, "f32", "tf32", "tf32", 1},
                                         SparseForm{64, "f32", "e4m3", "e5m2", 0}, SparseForm{32, "s32", "s8", "u8", 1}, SparseForm{64, "s32", "u8", "s8", 0},
                                         SparseForm{64, "s32", "s4", "s4", 1}, SparseForm{128, "s32", "u4", "s4", 0}));

// Words measured on silicon (tests/data/numerics), eight dot products to an instruction: row i of A, column i of B.
class MeasuredMma : public testing::TestWithParam<const char*> {};

TEST_P(MeasuredMma, EveryWordThroughTheInstruction) {
  using numeric::test::VectorRow;
  std::map<std::string, std::vector<VectorRow>> groups;
  for (const VectorRow& v : numeric::test::read_vectors(GetParam())) {
    if (v.kind.rfind("mma.sync", 0) == 0) groups[(v.arch == "b200" ? "sm_100a " : "sm_90a ") + v.a_type + " " + v.b_type + " " + v.d_type].push_back(v);
  }
  EXPECT_FALSE(groups.empty());
  for (const auto& [key, rows] : groups) {
    const VectorRow& v0 = rows[0];
    const auto k = static_cast<unsigned>(v0.a.size());
    const unsigned bits = bits_of(v0.a_type), per = 32 / bits, a_regs = 16 * k / 32 / per, b_regs = 8 * k / 32 / per, c_regs = v0.d_type == "f16" ? 2 : 4;
    unsigned in = 0, out = 0;
    WarpProgram p;
    p.target = key.substr(0, key.find(' '));
    const std::string d = list("o", out, c_regs), ra = list("i", in, a_regs), rb = list("i", in, b_regs), rc = list("i", in, c_regs);
    p.body = fmt::format("  mma.sync.aligned.m16n8k{}.row.col.{}.{}.{}.{} {}, {}, {}, {};", k, v0.d_type, v0.a_type, v0.b_type, v0.d_type, d, ra, rb, rc);
    p.inputs = in;
    p.outputs = out;
    const size_t warps = (rows.size() + 7) / 8;
    std::vector<uint64_t> words(warps * in * 32);
    // Element (i, i) of C and D: lane i * 4 + i / 2, element i % 2.
    const auto place = [&](size_t i) { return std::pair{i * 4 + i / 2, i % 2}; };
    for (size_t n = 0; n < rows.size(); ++n) {
      const size_t base = n / 8 * in * 32, i = n % 8;
      for (unsigned kk = 0; kk < k; ++kk) {
        const size_t lane = i * 4 + kk / per % 4, shift = kk % per * bits, step = kk / (4 * per);
        words[base + (2 * step) * 32 + lane] |= uint64_t{rows[n].a[kk]} << shift;
        words[base + (a_regs + step) * 32 + lane] |= uint64_t{rows[n].b[kk]} << shift;
      }
      const auto [lane, e] = place(i);
      const size_t reg = a_regs + b_regs + (c_regs == 2 ? 0 : e);
      words[base + reg * 32 + lane] |= uint64_t{rows[n].c} << (c_regs == 2 ? 16 * e : 0);
    }
    const WarpResult r = run_warps(p, words, warps);
    for (size_t n = 0; n < rows.size(); ++n) {
      const auto [lane, e] = place(n % 8);
      const uint64_t word = r.registers[(n / 8 * out + (c_regs == 2 ? 0 : e)) * 32 + lane];
      EXPECT_EQ(c_regs == 2 ? word >> (16 * e) & 0xFFFF : word, rows[n].d) << key << ", line " << rows[n].line;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, MeasuredMma, testing::Values("mma_h200_adversarial.csv", "mma_measured_hw.csv"),
                         [](const auto& tested) { return tested.index == 0 ? "Adversarial" : "Measured"; });

}  // namespace
}  // namespace drywell::test
