#include "drywell/isa/instr_descriptor.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace drywell::isa {
namespace {

using Codes = std::vector<Code>;
Codes codes(const Diagnostics& d) {
  Codes out;
  for (const Diagnostic& x : d.list()) {
    out.push_back(x.code);
  }
  return out;
}

InstrDescriptor make(MmaKind kind, MmaElement a, MmaElement b, MmaAccumulator d, unsigned m, unsigned n) {
  InstrDescriptor i;
  i.kind = kind;
  i.a_type = code_of(kind, a);
  i.b_type = code_of(kind, b);
  i.d_type = static_cast<uint8_t>(d);
  i.m = static_cast<uint16_t>(m);
  i.n = static_cast<uint16_t>(n);
  i.scale_ue8m0 = kind == MmaKind::mxf8f6f4 || kind == MmaKind::mxf4;
  return i;
}

// A valid descriptor of each kind.
InstrDescriptor plain(MmaKind kind, unsigned m = 128, unsigned n = 128) {
  switch (kind) {
    case MmaKind::f16: return make(kind, MmaElement::bf16, MmaElement::bf16, MmaAccumulator::f32, m, n);
    case MmaKind::tf32: return make(kind, MmaElement::tf32, MmaElement::tf32, MmaAccumulator::f32, m, n);
    case MmaKind::i8: return make(kind, MmaElement::s8, MmaElement::u8, MmaAccumulator::s32, m, n);
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4: return make(kind, MmaElement::e2m1, MmaElement::e2m1, MmaAccumulator::f32, m, n);
    default: return make(kind, MmaElement::e4m3, MmaElement::e5m2, MmaAccumulator::f32, m, n);
  }
}

MmaForm form_of(MmaKind kind) {
  MmaForm f;
  f.kind = kind;
  if (kind == MmaKind::mxf8f6f4) {
    f.scale = ScaleVector::x1;
  }
  if (kind == MmaKind::mxf4) {
    f.scale = ScaleVector::x2;
  }
  if (kind == MmaKind::mxf4nvf4) {
    f.scale = ScaleVector::x4;
  }
  return f;
}

TEST(InstrDescriptor, EncodesTheWorkedValues) {  // docs/facts/tcgen05.md §10 rows 1..5
  const auto f32 = MmaAccumulator::f32;
  const auto bf16 = MmaElement::bf16, e4m3 = MmaElement::e4m3, e2m1 = MmaElement::e2m1;
  EXPECT_EQ(make(MmaKind::f16, bf16, bf16, f32, 128, 256).encode(), 0x08400490u);
  EXPECT_EQ(make(MmaKind::f16, bf16, bf16, f32, 256, 256).encode(), 0x10400490u);
  EXPECT_EQ(make(MmaKind::f8f6f4, e4m3, e4m3, f32, 128, 128).encode(), 0x08200010u);
  EXPECT_EQ(make(MmaKind::mxf8f6f4, e4m3, e4m3, f32, 128, 128).encode(), 0x08A00000u);
  EXPECT_EQ(make(MmaKind::mxf4nvf4, e2m1, e2m1, f32, 128, 128).encode(), 0x08200480u);
}

TEST(InstrDescriptor, RoundTripsRandomWordsOfEveryKind) {
  std::mt19937 rng(2);
  for (unsigned kind = 0; kind < kMmaKindCount; ++kind) {
    for (int i = 0; i < 5000; ++i) {
      const uint32_t w = rng();
      ASSERT_EQ(InstrDescriptor::decode(static_cast<MmaKind>(kind), w).encode(), w);
    }
  }
}

TEST(InstrDescriptor, DecodesTheFieldsOfEachLayout) {
  // (a): sparsity selector 1, sparse, saturate, D s32, A s8, B u8, negate B, transpose A, N=24, M=64, shift
  // code 2.
  const uint32_t a =
      1 | 1 << 2 | 1 << 3 | 2 << 4 | 1 << 7 | 0 << 10 | 1 << 14 | 1 << 15 | 3 << 17 | 4 << 24 | 2u << 30;
  const InstrDescriptor i8 = InstrDescriptor::decode(MmaKind::i8, a);
  EXPECT_EQ(i8.sparsity_selector, 1);
  EXPECT_TRUE(i8.sparse && i8.saturate && i8.negate_b && i8.transpose_a);
  EXPECT_FALSE(i8.negate_a || i8.transpose_b);
  EXPECT_EQ(i8.accumulator(), MmaAccumulator::s32);
  EXPECT_EQ(i8.a_element(), MmaElement::s8);
  EXPECT_EQ(i8.b_element(), MmaElement::u8);
  EXPECT_EQ(i8.n, 24);
  EXPECT_EQ(i8.m, 64);
  EXPECT_EQ(i8.max_shift, 2);
  EXPECT_EQ(i8.reserved, 0u);
  // (b): SFB id 3, A e3m2, B e2m1, N=8, ue8m0, M=256, SFA id 1.
  const uint32_t b = 3 << 4 | 4 << 7 | 5 << 10 | 1 << 17 | 1 << 23 | 2 << 27 | 1 << 29;
  const InstrDescriptor mx = InstrDescriptor::decode(MmaKind::mxf8f6f4, b);
  EXPECT_EQ(mx.sfb_id, 3);
  EXPECT_EQ(mx.sfa_id, 1);
  EXPECT_EQ(mx.a_element(), MmaElement::e3m2);
  EXPECT_EQ(mx.b_element(), MmaElement::e2m1);
  EXPECT_EQ(mx.m, 256);
  EXPECT_TRUE(mx.scale_ue8m0);
  EXPECT_EQ(mx.accumulator(), MmaAccumulator::f32);
  EXPECT_EQ(mx.reserved, 0u);
  // (c): B type has two bits; bit 12 and the transpose bits are reserved; bit 31 is K=96.
  const InstrDescriptor fp4 =
      InstrDescriptor::decode(MmaKind::mxf4, 1u << 31 | 1 << 12 | 1 << 15 | 1 << 16 | 1 << 10);
  EXPECT_TRUE(fp4.k96);
  EXPECT_EQ(fp4.k(), 96u);
  EXPECT_EQ(fp4.b_type, 1);
  EXPECT_EQ(fp4.reserved, 1u << 12 | 1u << 15 | 1u << 16);
}

TEST(InstrDescriptor, EncodesTheArticlesHadamardMma) {
  // "NVFP4 training in TransformerEngine", section "UMMA Instruction Descriptor":
  // "SM100_MMA_F16BF16_SS<TA, TB, float, 128, 16, UMMA::Major::MN, UMMA::Major::MN>", bf16
  // operands; make_instr_desc sets m_dim_ = M >> 4 (bit 24), n_dim_ = N >> 3 (bit 17), majors at bits 15 and
  // 16, formats 1.
  InstrDescriptor d = make(MmaKind::f16, MmaElement::bf16, MmaElement::bf16, MmaAccumulator::f32, 128, 16);
  d.transpose_a = d.transpose_b = true;
  EXPECT_EQ(d.encode(),
            (128u >> 4) << 24 | (16u >> 3) << 17 | 1u << 16 | 1u << 15 | 1u << 10 | 1u << 7 | 1u << 4);
  Diagnostics out;
  check(d, form_of(MmaKind::f16), out);
  EXPECT_TRUE(out.empty()) << out.to_string();
}

TEST(InstrDescriptor, GivesKOfEveryKind) {  // docs/facts/tcgen05.md §4.2
  const unsigned dense[] = {16, 8, 32, 32, 32, 64, 64};
  for (unsigned k = 0; k < kMmaKindCount; ++k) {
    EXPECT_EQ(mma_k(static_cast<MmaKind>(k), false), dense[k]);
    EXPECT_EQ(mma_k(static_cast<MmaKind>(k), true), 2 * dense[k]);
  }
  EXPECT_EQ(mma_k(MmaKind::mxf4, false, true), 96u);
}

TEST(InstrDescriptor, OperandRowsAreThirtyTwoBytesOfStoredDenseK) {
  for (unsigned k = 0; k < kMmaKindCount; ++k) {
    InstrDescriptor d = plain(static_cast<MmaKind>(k), 256, 64);
    const OperandTile a = operand_tile_a(d, 2), b = operand_tile_b(d, 2);
    EXPECT_EQ(a.mn, 128u);
    EXPECT_EQ(b.mn, 32u);
    EXPECT_EQ(a.chunks_per_line(), 2u);
    EXPECT_EQ(b.chunks_per_line(), 2u);
    d.sparse = true;
    EXPECT_EQ(operand_tile_a(d, 1).chunks_per_line(), 2u) << "compressed";
    EXPECT_EQ(operand_tile_b(d, 1).chunks_per_line(), 4u);
  }
}

TEST(InstrDescriptor, TypeCodesAreThoseOfPtx) {
  const auto all = {MmaElement::f16, MmaElement::bf16, MmaElement::tf32, MmaElement::e4m3, MmaElement::e5m2,
                    MmaElement::e2m3, MmaElement::e3m2, MmaElement::e2m1, MmaElement::u8, MmaElement::s8};
  for (unsigned k = 0; k < kMmaKindCount; ++k) {
    const auto kind = static_cast<MmaKind>(k);
    for (MmaElement e : all) {
      if (code_of(kind, e) != 0xFF) {
        EXPECT_EQ(element_of(kind, code_of(kind, e)), e);
      }
    }
  }
  EXPECT_EQ(code_of(MmaKind::f8f6f4, MmaElement::e2m3), 3);
  EXPECT_EQ(code_of(MmaKind::f8f6f4, MmaElement::e3m2), 4);
  EXPECT_EQ(code_of(MmaKind::f8f6f4, MmaElement::e2m1), 5);
  EXPECT_EQ(code_of(MmaKind::mxf4, MmaElement::e2m1), 1);
  EXPECT_EQ(code_of(MmaKind::tf32, MmaElement::tf32), 2);
  EXPECT_EQ(code_of(MmaKind::f16, MmaElement::e4m3), 0xFF);
  EXPECT_EQ(element_of(MmaKind::f8f6f4, 2), MmaElement::invalid);
}

// --- Shapes (docs/facts/tcgen05.md §4.3), each row of the table written out as sets ---

std::set<unsigned> steps(unsigned first, unsigned step, unsigned last = 256) {
  std::set<unsigned> s;
  for (unsigned v = first; v <= last; v += step) {
    s.insert(v);
  }
  return s;
}
std::set<unsigned> i8_list() {
  std::set<unsigned> s = {8, 16, 24, 32};
  s.merge(steps(48, 16));
  return s;
}

struct ShapeCase {
  const char* name;
  MmaForm form;
  bool wide_b;
  std::set<unsigned> m, n;
};

MmaForm shape_form(MmaKind kind, uint8_t group, bool ws, bool sparse) {
  MmaForm f = form_of(kind);
  f.cta_group = group;
  f.ws = ws;
  f.sparse = sparse;
  return f;
}

std::vector<ShapeCase> shape_cases() {
  using K = MmaKind;
  std::vector<ShapeCase> v;
  for (bool sp : {false, true}) {
    for (K k : {K::f16, K::tf32, K::f8f6f4}) {
      v.push_back({"plain1", shape_form(k, 1, false, sp), false, {64, 128}, steps(8, 8)});
      v.push_back({"plain2", shape_form(k, 2, false, sp), false, {128, 256}, steps(16, 16)});
    }
    v.push_back({"i8one", shape_form(K::i8, 1, false, sp), false, {64, 128}, i8_list()});
    v.push_back({"i8two", shape_form(K::i8, 2, false, sp), false, {128, 256}, steps(32, 32)});
    for (K k : {K::f16, K::tf32, K::f8f6f4, K::i8}) {
      v.push_back({"ws",
                   shape_form(k, 1, true, sp),
                   false,
                   {32, 64, 128},
                   sp ? std::set<unsigned>{64, 128} : std::set<unsigned>{64, 128, 256}});
      v.push_back({"wstwo", shape_form(k, 2, true, sp), false, {}, {}});
    }
    for (K k : {K::mxf8f6f4, K::mxf4, K::mxf4nvf4}) {
      v.push_back({"mx1", shape_form(k, 1, false, sp), false, {128}, steps(8, 8)});
      v.push_back({"mx2", shape_form(k, 2, false, sp), false,
                   sp ? std::set<unsigned>{256} : std::set<unsigned>{128, 256}, steps(16, 16)});
      v.push_back({"mxws", shape_form(k, 1, true, sp), false, {}, {}});
    }
  }
  v.push_back({"wide1", shape_form(K::f8f6f4, 1, false, false), true, {64, 128}, steps(16, 16)});
  v.push_back({"wide2", shape_form(K::mxf8f6f4, 2, false, false), true, {128, 256}, steps(32, 32)});
  return v;
}

TEST(MmaShape, EqualsTheTableOfPtx) {
  for (const ShapeCase& c : shape_cases()) {
    for (unsigned m = 0; m <= 512; m += 16) {
      for (unsigned n = 0; n <= 520; n += 4) {
        const bool want = c.m.count(m) != 0 && c.n.count(n) != 0;
        ASSERT_EQ(is_valid_shape(c.form, m, n, c.wide_b), want)
            << c.name << " " << to_string(c.form.kind) << " sparse " << c.form.sparse << " M" << m << " N"
            << n;
      }
    }
  }
}

// --- Rules ---

TEST(InstrDescriptorCheck, AcceptsAPlainDescriptorOfEveryKind) {
  for (unsigned k = 0; k < kMmaKindCount; ++k) {
    Diagnostics out;
    const auto kind = static_cast<MmaKind>(k);
    check(plain(kind), form_of(kind), out);
    EXPECT_TRUE(out.empty()) << to_string(kind) << "\n"
                             << out.to_string();
  }
}

struct RuleCase {
  Code code;
  MmaKind kind;
  void (*change)(InstrDescriptor&, MmaForm&);
};

class InstrDescriptorRule : public testing::TestWithParam<RuleCase> {};

TEST_P(InstrDescriptorRule, IsReported) {
  const RuleCase c = GetParam();
  InstrDescriptor d = plain(c.kind);
  MmaForm f = form_of(c.kind);
  c.change(d, f);
  Diagnostics out;
  check(d, f, out);
  EXPECT_EQ(codes(out), Codes{c.code}) << out.to_string();
  EXPECT_TRUE(out.has_errors());
}

using D = InstrDescriptor;
INSTANTIATE_TEST_SUITE_P(
    Rules, InstrDescriptorRule,
    testing::Values(
        RuleCase{Code::E1421, MmaKind::f16, [](D& d, MmaForm&) { d.reserved = 1 << 6; }},
        RuleCase{Code::E1421, MmaKind::mxf4, [](D& d, MmaForm&) { d.reserved = 1 << 16; }},
        RuleCase{Code::E1421, MmaKind::mxf8f6f4, [](D& d, MmaForm&) { d.reserved = 1 << 3; }},
        RuleCase{Code::E1422, MmaKind::f16, [](D& d, MmaForm&) { d.m = 32; }},
        RuleCase{Code::E1422, MmaKind::f16, [](D& d, MmaForm&) { d.n = 0; }},
        RuleCase{Code::E1422, MmaKind::f16, [](D&, MmaForm& f) { f.ws = true, f.cta_group = 2; }},
        RuleCase{Code::E1422, MmaKind::f8f6f4, [](D& d, MmaForm&) { d.transpose_b = true, d.n = 24; }},
        RuleCase{Code::E1422, MmaKind::mxf4,
                 [](D& d, MmaForm& f) { d.sparse = f.sparse = true, f.cta_group = 2; }},
        RuleCase{Code::E1423, MmaKind::tf32, [](D& d, MmaForm&) { d.a_type = 1; }},
        RuleCase{Code::E1423, MmaKind::f8f6f4, [](D& d, MmaForm&) { d.b_type = 2; }},
        RuleCase{Code::E1423, MmaKind::f16, [](D& d, MmaForm&) { d.d_type = 0; }},
        RuleCase{Code::E1423, MmaKind::i8, [](D& d, MmaForm&) { d.d_type = 1; }},
        RuleCase{Code::E1423, MmaKind::f8f6f4, [](D& d, MmaForm&) { d.d_type = 2; }},
        RuleCase{Code::E1424, MmaKind::f16, [](D& d, MmaForm&) { d.sparse = true; }},
        RuleCase{Code::E1424, MmaKind::mxf8f6f4, [](D&, MmaForm& f) { f.sparse = true; }},
        RuleCase{Code::E1425, MmaKind::f16, [](D& d, MmaForm&) { d.saturate = true; }},
        RuleCase{Code::E1426, MmaKind::i8, [](D& d, MmaForm&) { d.negate_b = true; }},
        RuleCase{Code::E1426, MmaKind::f8f6f4, [](D& d, MmaForm&) { d.a_type = 5, d.transpose_a = true; }},
        RuleCase{Code::E1426, MmaKind::f8f6f4, [](D& d, MmaForm&) { d.b_type = 3, d.transpose_b = true; }},
        RuleCase{Code::E1426, MmaKind::f16, [](D& d, MmaForm& f) { d.transpose_a = true, f.a_in_tmem = true; }},
        RuleCase{Code::E1427, MmaKind::f16, [](D& d, MmaForm&) { d.sparsity_selector = 1; }},
        RuleCase{Code::E1427, MmaKind::i8,
                 [](D& d, MmaForm& f) { d.sparse = f.sparse = true, d.sparsity_selector = 1; }},
        RuleCase{Code::E1427, MmaKind::f16,
                 [](D& d, MmaForm& f) { d.sparse = f.sparse = true, d.sparsity_selector = 2; }},
        RuleCase{Code::E1428, MmaKind::mxf4nvf4, [](D& d, MmaForm&) { d.sfa_id = 2; }},
        RuleCase{Code::E1428, MmaKind::mxf4, [](D& d, MmaForm&) { d.sfb_id = 1; }},
        RuleCase{Code::E1429, MmaKind::mxf8f6f4, [](D& d, MmaForm&) { d.scale_ue8m0 = false; }},
        RuleCase{Code::E1429, MmaKind::mxf4, [](D& d, MmaForm&) { d.scale_ue8m0 = false; }},
        RuleCase{Code::E1429, MmaKind::mxf4nvf4, [](D&, MmaForm& f) { f.scale = ScaleVector::x2; }},
        RuleCase{Code::E1431, MmaKind::f16, [](D& d, MmaForm& f) { f.ws = true, d.m = 32, d.max_shift = 3; }},
        RuleCase{Code::E1434, MmaKind::mxf4, [](D& d, MmaForm&) { d.k96 = true; }},
        RuleCase{Code::E1434, MmaKind::mxf4, [](D& d, MmaForm& f) { f.sm103 = d.k96 = d.sparse = f.sparse = true; }},
        RuleCase{Code::E1428, MmaKind::mxf4nvf4, [](D& d, MmaForm& f) { f.sm103 = d.k96 = true, d.sfa_id = 1; }}));

TEST(InstrDescriptorCheck, AcceptsTheEdgesOfTheRules) {
  const auto ok = [](InstrDescriptor d, MmaForm f) {
    Diagnostics out;
    check(d, f, out);
    EXPECT_TRUE(out.empty()) << out.to_string();
  };
  InstrDescriptor d = plain(MmaKind::mxf4nvf4);
  MmaForm f = form_of(MmaKind::mxf4nvf4);
  d.scale_ue8m0 = true;
  ok(d, f);
  d.reserved = 1u << 12;  // the version of sparsity, which CuTe DSL's builder sets
  ok(d, f);
  f.scale = ScaleVector::x2;
  d.sfa_id = d.sfb_id = 2;
  ok(d, f);
  f.sm103 = d.k96 = true;
  d.sfa_id = 3, d.sfb_id = 1;
  ok(d, f);
  f.scale = ScaleVector::x4;
  d.sfa_id = 2, d.sfb_id = 0;
  ok(d, f);
  d = plain(MmaKind::mxf8f6f4);
  d.sfa_id = 3, d.sfb_id = 1, d.transpose_a = d.transpose_b = d.negate_a = true;
  ok(d, form_of(MmaKind::mxf8f6f4));
  d = plain(MmaKind::tf32, 64, 8);
  d.sparse = true, d.sparsity_selector = 1;
  f = form_of(MmaKind::tf32);
  f.sparse = true;
  ok(d, f);
  d = make(MmaKind::f16, MmaElement::f16, MmaElement::f16, MmaAccumulator::f16, 32, 64);
  d.max_shift = 2;
  f = form_of(MmaKind::f16);
  f.ws = true;
  ok(d, f);
}

TEST(InstrDescriptorCheck, MaximumShiftOutsideWsIsAWarning) {
  InstrDescriptor d = plain(MmaKind::f16);
  d.max_shift = 1;
  Diagnostics out;
  check(d, form_of(MmaKind::f16), out);
  EXPECT_EQ(codes(out), Codes{Code::E1431});
  EXPECT_FALSE(out.has_errors());
}

TEST(InstrDescriptorCheck, ScaleInputDIsForF16AndTf32Only) {
  const auto count = [](MmaKind k, int64_t v) {
    Diagnostics out;
    check_scale_input_d(k, v, out);
    return out.error_count();
  };
  EXPECT_EQ(count(MmaKind::f16, 0) + count(MmaKind::tf32, 15), 0u);
  EXPECT_EQ(count(MmaKind::f16, 16), 1u);
  EXPECT_EQ(count(MmaKind::tf32, -1), 1u);
  EXPECT_EQ(count(MmaKind::i8, 1), 1u);
  EXPECT_EQ(count(MmaKind::f8f6f4, 1), 1u);
}

TEST(InstrDescriptorExplain, NamesTypesShapeAndMajor) {
  std::string text;
  for (const std::string& l : to_lines(explain(InstrDescriptor::decode(MmaKind::f16, 0x08400490)))) {
    text += l + "\n";
  }
  for (const char* part : {"bf16", "f32", "N = 256", "M = 128", "K-major", "28..24"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n"
                                                  << text;
  }
}

// --- Zero-column mask ---

std::string pattern(const ZeroColumnMask& z, unsigned m, unsigned n) {
  std::vector<uint8_t> v(n);
  zeroed_columns(z, m, v);
  std::string s;
  for (uint8_t b : v) {
    s += b ? '.' : 'U';
  }
  return s;
}

TEST(ZeroColumnMask, RoundTripsRandomWords) {
  std::mt19937_64 rng(3);
  for (int i = 0; i < 5000; ++i) {
    const uint64_t w = rng();
    ASSERT_EQ(ZeroColumnMask::decode(w).encode(), w);
  }
}

TEST(ZeroColumnMask, AlternatesUsedAndZeroedRuns) {
  ZeroColumnMask z;
  z.use_span = 2;   // runs of 3 used columns
  z.skip_span = 1;  // and 2 zeroed ones
  EXPECT_EQ(pattern(z, 128, 12), "UUUUUUUUUUUU") << "bit 39 clear: no column is zeroed";
  z.generate = true;
  EXPECT_EQ(pattern(z, 128, 12), "UUU..UUU..UU");
  z.start_count[0] = 1;
  EXPECT_EQ(pattern(z, 128, 12), "UU..UUU..UUU");
  z.start_count[0] = 200;  // saturates: one column of the first run remains
  EXPECT_EQ(pattern(z, 128, 12), "U..UUU..UUU.");
  z.first_zeroed[0] = true;
  EXPECT_EQ(pattern(z, 128, 12), ".UUU..UUU..U");
  z.start_count[0] = 0;
  EXPECT_EQ(pattern(z, 128, 12), "..UUU..UUU..");
}

TEST(ZeroColumnMask, SmallerMHasOneSubMaskPerColumnGroup) {
  ZeroColumnMask z;
  z.generate = true;
  z.use_span = z.skip_span = 1;
  z.first_zeroed = {false, true, false, true};
  z.start_count = {0, 0, 1, 1};
  EXPECT_EQ(pattern(z, 64, 8), "UU....UU");
  EXPECT_EQ(pattern(z, 32, 16), "UU....UUU..U.UU.");
}

// PTX ISA 9.7.16.4.3, examples 1 to 4; the page prints masks with column 0 at the right and 1 = zeroed. Its
// field table swaps the names of the spans; the examples decide (docs/facts/tcgen05.md §4.8).
std::string mask_text(const ZeroColumnMask& z, unsigned m, unsigned part, unsigned columns) {
  std::vector<uint8_t> v(zero_mask_parts(m) * 64);
  zeroed_columns(z, m, v);
  std::string s;
  for (unsigned c = columns; c-- > 0;) {
    s += v[part * 64 + c] ? '1' : '0';
  }
  return s;
}

TEST(ZeroColumnMask, GeneratesTheExamplesOfPtx) {
  ZeroColumnMask z;
  z.skip_span = 4;
  z.use_span = 3;
  EXPECT_EQ(mask_text(z, 128, 0, 14), "00000000000000");
  z.generate = true;
  z.skip_span = 2;
  EXPECT_EQ(mask_text(z, 128, 0, 14), "11100001110000");
  z.first_zeroed = {true, false};
  EXPECT_EQ(mask_text(z, 64, 0, 17), "11100001110000111");
  EXPECT_EQ(mask_text(z, 64, 1, 18), "000011100001110000");
  z.first_zeroed = {true, true, false, false};
  z.start_count = {0, 1, 2, 1};
  EXPECT_EQ(mask_text(z, 32, 0, 14), "00001110000111");
  EXPECT_EQ(mask_text(z, 32, 1, 13), "0000111000011");
  EXPECT_EQ(mask_text(z, 32, 2, 12), "111000011100");
  EXPECT_EQ(mask_text(z, 32, 3, 13), "1110000111000");
}

TEST(ZeroColumnMask, ShiftStaysBelowShapeAndDescriptorLimits) {
  const auto count = [](unsigned m, uint8_t code, uint8_t shift) {
    InstrDescriptor d = plain(MmaKind::f16, m, 64);
    d.max_shift = code;
    ZeroColumnMask z;
    z.column_shift = shift;
    Diagnostics out;
    check(z, d, out);
    return out.error_count();
  };
  EXPECT_EQ(count(64, 3, 32), 0u);
  EXPECT_EQ(count(64, 3, 33), 1u);
  EXPECT_EQ(count(64, 1, 9), 1u);
  EXPECT_EQ(count(32, 2, 16), 0u);
  EXPECT_EQ(count(32, 3, 17), 1u);
  EXPECT_EQ(count(64, 0, 1), 1u);
}

}  // namespace
}  // namespace drywell::isa
