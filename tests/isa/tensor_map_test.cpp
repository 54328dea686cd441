#include "drywell/isa/tensor_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

namespace drywell::isa {
namespace {

using Codes = std::vector<Code>;

// A valid rank-3 bf16 map.
TensorMapFields tiled() {
  TensorMapFields f;
  f.type = TensorType::bf16;
  f.rank = 3;
  f.address = 0x7F0000001000;
  f.dim = {4096, 128, 8, 1, 1};
  f.stride = {8192, 8192 * 128, 0, 0};
  f.box = {64, 128, 1, 1, 1};
  f.swizzle = Swizzle::b128;
  return f;
}

TensorMapFields im2col() {
  TensorMapFields f;
  f.mode = TensorMapMode::im2col;
  f.type = TensorType::f16;
  f.rank = 4;
  f.address = 0x10000;
  f.dim = {64, 16, 12, 4, 1};
  f.stride = {128, 128 * 16, 128 * 16 * 12, 0};
  f.lower_corner = {-1, -1, 0};
  f.upper_corner = {-1, -1, 0};
  f.channels_per_pixel = 64;
  f.pixels_per_column = 128;
  f.swizzle = Swizzle::b128;
  return f;
}

Codes check_codes(const TensorMapFields& f, unsigned cc = 100) {
  Diagnostics d;
  check(f, cc, d);
  Codes out;
  for (const Diagnostic& x : d.list()) {
    out.push_back(x.code);
  }
  return out;
}

uint32_t word(const TensorMap& m, unsigned at) {
  uint32_t v;
  std::memcpy(&v, m.bytes.data() + at, 4);
  return v;
}

TensorMapFields decoded(const TensorMap& m) {
  Diagnostics d;
  const TensorMapFields f = decode(m, d);
  EXPECT_TRUE(d.empty()) << d.to_string();
  return f;
}

TEST(TensorMap, EnumsAreNumberedAsCudaNumbersThem) {
  // cuda.h: U8 0, U16 1, U32 2, S32 3, U64 4, S64 5, F16 6, F32 7, F64 8, BF16 9, F32_FTZ 10, TF32 11,
  // TF32_FTZ 12, 16U4_ALIGN8B 13, 16U4_ALIGN16B 14, 16U6_ALIGN16B 15.
  EXPECT_EQ(static_cast<int>(TensorType::f16), 6);
  EXPECT_EQ(static_cast<int>(TensorType::f64), 8);
  EXPECT_EQ(static_cast<int>(TensorType::bf16), 9);
  EXPECT_EQ(static_cast<int>(TensorType::f32_ftz), 10);
  EXPECT_EQ(static_cast<int>(TensorType::tf32_ftz), 12);
  EXPECT_EQ(static_cast<int>(TensorType::b4x16), 13);
  EXPECT_EQ(static_cast<int>(TensorType::b6x16_p32), 15);
  // PTX: f32.ftz 8, f64 9, bf16 10, all others alike.
  EXPECT_EQ(to_ptx_number(TensorType::f32_ftz), 8);
  EXPECT_EQ(to_ptx_number(TensorType::f64), 9);
  EXPECT_EQ(to_ptx_number(TensorType::bf16), 10);
  EXPECT_EQ(to_ptx_number(TensorType::tf32), 11);
  for (uint8_t i = 0; i < kTensorTypeCount; ++i) {
    EXPECT_EQ(to_ptx_number(from_ptx_number(i)), i);
  }
}

TEST(TensorMap,
     PutsTiledFieldsWhereTheReplaceCodePutsThem) {  // docs/facts/tma-mbarrier.md §2.1, table of positions
  TensorMapFields f;
  f.type = TensorType::f64;
  f.rank = 5;
  f.address = 0x123456789ABCDEF0;
  f.dim = {uint64_t{1} << 32, 2, 3, 4, 5};
  f.stride = {0xABCDE12340, 16, 0x10, 0xFFFFFFFFF0};
  f.box = {2, 3, 4, 5, 6};
  f.element_stride = {1, 2, 3, 4, 8};
  f.oob_fill = OobFill::nan;
  const TensorMap m = encode(f);
  EXPECT_EQ(word(m, 0x00), 0x9ABCDEF0u);
  EXPECT_EQ(word(m, 0x04), 0x12345678u);
  EXPECT_EQ(word(m, 0x08), 4u << 4 | 9u << 7 | 1u << 15);
  EXPECT_EQ(word(m, 0x0c), 0xBCDE1234u);
  EXPECT_EQ(word(m, 0x10), 1u);
  EXPECT_EQ(word(m, 0x18), 0xFFFFFFFFu);
  EXPECT_EQ(word(m, 0x1c) & 0xFFFF, 0xF00Au);
  EXPECT_EQ(word(m, 0x20), 0xFFFFFFFFu);
  EXPECT_EQ(word(m, 0x30), 4u);
  EXPECT_EQ(word(m, 0x34), 0u | 1u << 3 | 2u << 6 | 3u << 9 | 7u << 12 | 1u << 24);
  EXPECT_EQ(word(m, 0x38), 0x05040302u);
}

TEST(TensorMap, SplitsSwizzleIntoModeAndAtomicity) {
  const unsigned mode[] = {0, 1, 2, 3, 3, 3, 3}, atom[] = {0, 0, 0, 0, 1, 2, 3};
  for (unsigned s = 0; s < kSwizzleCount; ++s) {
    TensorMapFields f = tiled();
    f.box[0] = 16;
    f.swizzle = static_cast<Swizzle>(s);
    const uint32_t w = word(encode(f), 8);
    EXPECT_EQ(w >> 13 & 3, mode[s]);
    EXPECT_EQ(w >> 19 & 7, atom[s]);
  }
}

TEST(TensorMap, DecodesWhatItEncodes) {
  std::mt19937_64 rng(4);
  const auto pick = [&](uint64_t low, uint64_t high) { return low + rng() % (high - low + 1); };
  unsigned accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    TensorMapFields f;
    f.type = static_cast<TensorType>(pick(0, 15));
    f.rank = static_cast<uint32_t>(pick(1, 5));
    f.address = pick(0, uint64_t{1} << 40) * 32;
    for (unsigned k = 0; k < f.rank; ++k) {
      f.dim[k] = k == 0 ? pick(1, 1 << 20) * 128 : pick(1, uint64_t{1} << 32);
      f.box[k] = static_cast<uint32_t>(k == 0 ? 128 : pick(1, 8));
      f.element_stride[k] = static_cast<uint32_t>(pick(1, 8));
      if (k + 1 < f.rank) {
        f.stride[k] = pick(0, (uint64_t{1} << 35) - 1) * 32;
      }
    }
    if (f.type < TensorType::b4x16_p64 && pick(0, 1) == 1) {
      f.box[0] = 32;
    }
    f.swizzle = static_cast<Swizzle>(pick(0, 6));
    f.l2_promotion = static_cast<L2Promotion>(pick(0, 3));
    f.oob_fill = static_cast<OobFill>(pick(0, 1));
    Diagnostics d;
    const auto m = encode_tiled(f, d);
    EXPECT_EQ(m.has_value(), !d.has_errors());
    if (!m) {
      continue;
    }
    ++accepted;
    ASSERT_EQ(decoded(*m), f);
    EXPECT_TRUE(is_by_driver(*m));
  }
  EXPECT_GT(accepted, 500u);
}

TEST(TensorMap, KeepsIm2colFields) {
  EXPECT_EQ(decoded(encode(im2col())), im2col());
  TensorMapFields w = im2col();
  w.mode = TensorMapMode::im2col_w128;
  w.lower_corner = {-32768, 0, 0};
  w.upper_corner = {32767, 0, 0};
  EXPECT_EQ(decoded(encode(w)), w);
}

TEST(TensorMap, BytesBehindTheFieldsTellWhoMadeAMap) {
  TensorMap zeros, text = encode(tiled());
  text.bytes[0x70] = 'x';
  EXPECT_TRUE(is_by_driver(encode(tiled())));
  EXPECT_FALSE(is_by_driver(zeros));
  EXPECT_FALSE(is_by_driver(text));
}

// What Triton does: zeroed bytes, then tensormap.replace of every field. An H200 copies through such a map.
TEST(TensorMap, ZerosAndEveryFieldReplacedAreAMap) {
  const TensorMapFields f = tiled();
  TensorMap m;
  replace_field(m, TensorMapField::global_address, 0, f.address);
  replace_field(m, TensorMapField::rank, 0, f.rank - 1);
  for (unsigned i = 0; i < f.rank; ++i) {
    replace_field(m, TensorMapField::box_dim, i, f.box[i]);
    replace_field(m, TensorMapField::global_dim, i, f.dim[i]);
    replace_field(m, TensorMapField::element_stride, i, f.element_stride[i]);
    if (i + 1 < f.rank) replace_field(m, TensorMapField::global_stride, i, f.stride[i]);
  }
  replace_field(m, TensorMapField::elemtype, 0, to_ptx_number(f.type));
  replace_field(m, TensorMapField::interleave_layout, 0, static_cast<uint64_t>(f.interleave));
  replace_field(m, TensorMapField::swizzle_mode, 0, std::min<uint64_t>(3, static_cast<uint64_t>(f.swizzle)));
  replace_field(m, TensorMapField::fill_mode, 0, static_cast<uint64_t>(f.oob_fill));
  TensorMapFields want = f;
  want.l2_promotion = L2Promotion::none;  // no instruction replaces it
  EXPECT_EQ(decoded(m), want);
}

// What the CuTe DSL does: it packs the fields itself, with bits 1 and 21 of the word at 8 set, and leaves garbage behind 64 bytes.
TEST(TensorMap, TheFirst64BytesAreTheMap) {
  TensorMap m = encode(tiled());
  m.bytes[0x08] |= 0x02;
  m.bytes[0x0a] |= 0x20;
  std::fill(m.bytes.begin() + 64, m.bytes.end(), uint8_t{0xA5});
  EXPECT_EQ(decoded(m), tiled());
}

// What ptxas 13.0 inserts into bits 7..10 of the word at 8 for each immediate of tensormap.replace.elemtype (read from its cubins);
// 11 and 12 (tf32, tf32.ftz) set bit 16 too.
TEST(TensorMap, TypesHaveTheCodesThatPtxasInserts) {
  const uint32_t inserted[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 7, 8, 11, 12, 13};
  for (uint8_t i = 0; i < 16; ++i) {
    SCOPED_TRACE(static_cast<int>(i));
    TensorMap m;
    replace_field(m, TensorMapField::elemtype, 0, i);
    uint32_t modes;
    std::memcpy(&modes, m.bytes.data() + 8, 4);
    EXPECT_EQ(modes, inserted[i] << 7 | (i == 11 || i == 12 ? 1u << 16 : 0));
    Diagnostics d;
    EXPECT_EQ(decode(m, d).type, from_ptx_number(i));
  }
}

TEST(TensorMap, BytesThatAreNoMapSayWhichFieldAndWhy) {
  TensorMap poison;
  poison.bytes.fill(0xFF);
  Diagnostics d;
  decode(poison, d);
  EXPECT_THAT(d.to_string(), testing::AllOf(testing::HasSubstr("rank bits 7"), testing::HasSubstr("type bits 15")));
}

TEST(TensorMap, MeaninglessBitsAreReported) {
  TensorMap rank = encode(tiled()), interleave = rank, swizzle = rank;
  replace_field(rank, TensorMapField::rank, 0, 5);
  replace_field(interleave, TensorMapField::interleave_layout, 0, 3);
  replace_field(swizzle, TensorMapField::swizzle_mode, 0, 1);
  replace_field(swizzle, TensorMapField::swizzle_atomicity, 0, 2);
  for (const TensorMap& m : {rank, interleave, swizzle}) {
    Diagnostics d;
    decode(m, d);
    ASSERT_EQ(d.error_count(), 1u);
    EXPECT_EQ(d.list()[0].code, Code::E1474);
  }
}

// --- tensormap.replace ---

TEST(TensorMapReplace, ChangesExactlyOneField) {
  using F = TensorMapField;
  struct Case {
    F field;
    unsigned ordinal;
    uint64_t value;
    void (*want)(TensorMapFields&);
  };
  const Case cases[] = {
      {F::global_address, 0, 0xABC0, [](TensorMapFields& f) { f.address = 0xABC0; }},
      {F::rank, 0, 1, [](TensorMapFields& f) { f.rank = 2, f.dim[2] = 1, f.stride[1] = 0; }},
      {F::box_dim, 0, 32, [](TensorMapFields& f) { f.box[0] = 32; }},
      {F::box_dim, 2, 256, [](TensorMapFields& f) { f.box[2] = 256; }},
      {F::global_dim, 1, 77, [](TensorMapFields& f) { f.dim[1] = 77; }},
      {F::global_dim, 2, 0, [](TensorMapFields& f) { f.dim[2] = uint64_t{1} << 32; }},
      {F::global_stride, 1, 0xFFFFFFFFF0, [](TensorMapFields& f) { f.stride[1] = 0xFFFFFFFFF0; }},
      {F::element_stride, 1, 8, [](TensorMapFields& f) { f.element_stride[1] = 8; }},
      {F::elemtype, 0, 9, [](TensorMapFields& f) { f.type = TensorType::f64; }},
      {F::interleave_layout, 0, 2, [](TensorMapFields& f) { f.interleave = Interleave::bytes32; }},
      {F::swizzle_mode, 0, 1, [](TensorMapFields& f) { f.swizzle = Swizzle::b32; }},
      {F::fill_mode, 0, 1, [](TensorMapFields& f) { f.oob_fill = OobFill::nan; }},
      {F::swizzle_atomicity, 0, 3, [](TensorMapFields& f) { f.swizzle = Swizzle::b128_atom64; }},
  };
  for (const Case& c : cases) {
    TensorMap m = encode(tiled());
    TensorMapFields want = tiled();
    replace_field(m, c.field, c.ordinal, c.value);
    c.want(want);
    EXPECT_EQ(decoded(m), want) << static_cast<int>(c.field);
  }
}

TEST(TensorMapReplace, ReplacedFieldsEqualEncodedOnes) {
  // An edited template has the same bytes as an encoding of the final parameters.
  TensorMapFields f = tiled();
  TensorMap m = encode(f);
  replace_field(m, TensorMapField::global_address, 0, 0x40);
  replace_field(m, TensorMapField::global_dim, 0, 640);
  replace_field(m, TensorMapField::global_stride, 0, 1280);
  f.address = 0x40;
  f.dim[0] = 640;
  f.stride[0] = 1280;
  EXPECT_EQ(m, encode(f));
}

TEST(TensorMapReplace, RefusesOrdinalsOutsideTheField) {
  TensorMap m = encode(tiled());
  EXPECT_THROW(replace_field(m, TensorMapField::global_stride, 4, 16), InputError);
  EXPECT_THROW(replace_field(m, TensorMapField::box_dim, 5, 16), InputError);
  EXPECT_THROW(replace_field(m, TensorMapField::rank, 1, 1), InputError);
  replace_field(m, TensorMapField::global_stride, 3, 16);
  replace_field(m, TensorMapField::box_dim, 4, 16);
}

TEST(TensorMapReplace, SwizzleModeClearsItsCompanionBit) {
  TensorMap m = encode(tiled());
  m.bytes[0x0a] |= 1 << 6;  // bit 22 of the word at 0x08
  replace_field(m, TensorMapField::swizzle_mode, 0, 3);
  EXPECT_EQ(m, encode(tiled()));
}

// --- Encode rules (docs/facts/tma-mbarrier.md §2.2) ---

struct RuleCase {
  std::optional<Code> code;  // nothing: accepted
  void (*change)(TensorMapFields&);
  unsigned cc = 100;
};

class TiledRule : public testing::TestWithParam<RuleCase> {};

TEST_P(TiledRule, DecidesAsTheDriver) {
  TensorMapFields f = tiled();
  GetParam().change(f);
  EXPECT_EQ(check_codes(f, GetParam().cc), GetParam().code ? Codes{*GetParam().code} : Codes{});
  Diagnostics d;
  EXPECT_EQ(encode_tiled(f, d, GetParam().cc).has_value(), !GetParam().code.has_value());
}

using T = TensorMapFields;
void padded(T& f, TensorType t) {
  f.type = t;
  f.dim[0] = 1280;
  f.box = {128, 64, 1, 1, 1};
}

INSTANTIATE_TEST_SUITE_P(
    Shape, TiledRule,
    testing::Values(
        RuleCase{std::nullopt, [](T&) {}}, RuleCase{std::nullopt, [](T&) {}, 90}, RuleCase{Code::E1471, [](T&) {}, 89},
        RuleCase{Code::E1461, [](T& f) { f.rank = 0; }}, RuleCase{Code::E1461, [](T& f) { f.rank = 6; }},
        RuleCase{std::nullopt, [](T& f) { f.rank = 1; }}, RuleCase{std::nullopt, [](T& f) { f.rank = 5; }},
        RuleCase{Code::E1461, [](T& f) { f.rank = 2, f.interleave = Interleave::bytes16; }},
        RuleCase{std::nullopt, [](T& f) { f.interleave = Interleave::bytes16; }},
        RuleCase{std::nullopt, [](T& f) { f.address = 0; }}, RuleCase{std::nullopt, [](T& f) { f.address = 16; }},
        RuleCase{Code::E1462, [](T& f) { f.address = 8; }},
        RuleCase{Code::E1462,
                 [](T& f) { f.address = 16, f.interleave = Interleave::bytes32, f.swizzle = Swizzle::b32; }},
        RuleCase{Code::E1463, [](T& f) { f.dim[1] = 0; }},
        RuleCase{std::nullopt, [](T& f) { f.dim[1] = uint64_t{1} << 32; }},
        RuleCase{Code::E1463, [](T& f) { f.dim[1] = (uint64_t{1} << 32) + 1; }},
        RuleCase{Code::E1464, [](T& f) { f.stride[0] = 8200; }},
        RuleCase{std::nullopt, [](T& f) { f.stride[0] = 16; }},  // below the row size: accepted on an H200
        RuleCase{std::nullopt, [](T& f) { f.stride[0] = 0; }},   // even 0
        RuleCase{std::nullopt, [](T& f) { f.stride[1] = (uint64_t{1} << 40) - 16; }},
        RuleCase{Code::E1464, [](T& f) { f.stride[1] = uint64_t{1} << 40; }},
        RuleCase{
            Code::E1464,
            [](T& f) { f.stride[0] = 16, f.interleave = Interleave::bytes32, f.swizzle = Swizzle::b32; }},
        RuleCase{Code::E1465, [](T& f) { f.box[1] = 0; }}, RuleCase{Code::E1465, [](T& f) { f.box[1] = 257; }},
        RuleCase{std::nullopt, [](T& f) { f.box[1] = 256; }},
        RuleCase{std::nullopt, [](T& f) { f.dim[1] = 4; }},  // box larger than the tensor
        RuleCase{Code::E1465, [](T& f) { f.box[0] = 4; }},   // 8 bytes
        RuleCase{Code::E1465, [](T& f) { f.box[0] = 4, f.interleave = Interleave::bytes16; }},
        RuleCase{Code::E1466, [](T& f) { f.element_stride[0] = 0; }},
        RuleCase{Code::E1466, [](T& f) { f.element_stride[0] = 9; }},
        RuleCase{Code::E1466, [](T& f) { f.element_stride[2] = 9; }},
        RuleCase{std::nullopt,
                 [](T& f) {
                   f.element_stride = {8, 8, 8, 1, 1};
                 }},
        // 221,184 bytes pass (the largest measured), 262,144 do not.
        RuleCase{std::nullopt,
                 [](T& f) {
                   f.box = {64, 216, 8, 1, 1};
                 }},
        RuleCase{Code::E1476,
                 [](T& f) {
                   f.box = {64, 256, 8, 1, 1};
                 }},
        RuleCase{std::nullopt, [](T& f) {
                   f.box = {64, 256, 8, 1, 1}, f.element_stride[1] = 2;
                 }}));

INSTANTIATE_TEST_SUITE_P(
    Swizzle, TiledRule,
    testing::Values(
        RuleCase{Code::E1467, [](T& f) { f.box[0] = 72; }},  // 144 bytes in a 128-byte span
        RuleCase{std::nullopt, [](T& f) { f.box[0] = 32, f.swizzle = Swizzle::b64; }},
        RuleCase{Code::E1467, [](T& f) { f.box[0] = 40, f.swizzle = Swizzle::b64; }},
        RuleCase{std::nullopt, [](T& f) { f.box[0] = 16, f.swizzle = Swizzle::b32; }},
        RuleCase{Code::E1467, [](T& f) { f.box[0] = 24, f.swizzle = Swizzle::b32; }},
        RuleCase{std::nullopt, [](T& f) { f.box[0] = 256, f.swizzle = Swizzle::none; }},
        RuleCase{std::nullopt, [](T& f) { f.box[0] = 8; }},  // narrower than the span
        RuleCase{std::nullopt, [](T& f) { f.swizzle = Swizzle::b128_atom32; }},
        RuleCase{std::nullopt, [](T& f) { f.swizzle = Swizzle::b128_atom32_flip8; }},
        RuleCase{std::nullopt, [](T& f) { f.swizzle = Swizzle::b128_atom64; }},
        RuleCase{Code::E1471, [](T& f) { f.swizzle = Swizzle::b128_atom32; }, 90},
        RuleCase{Code::E1471, [](T& f) { f.swizzle = Swizzle::b128_atom64; }, 90},
        RuleCase{std::nullopt, [](T& f) { f.interleave = Interleave::bytes32, f.swizzle = Swizzle::b32; }},
        RuleCase{std::nullopt,
                 [](T& f) { f.interleave = Interleave::bytes32, f.swizzle = Swizzle::none; }},  // H200
        RuleCase{Code::E1468, [](T& f) { f.interleave = Interleave::bytes32; }}));

INSTANTIATE_TEST_SUITE_P(
    Types, TiledRule,
    testing::Values(
        RuleCase{std::nullopt, [](T& f) { f.oob_fill = OobFill::nan; }},
        RuleCase{std::nullopt, [](T& f) { f.oob_fill = OobFill::nan, f.type = TensorType::f64, f.box[0] = 16; }},
        RuleCase{std::nullopt, [](T& f) { f.oob_fill = OobFill::nan, f.type = TensorType::tf32, f.box[0] = 32; }},
        RuleCase{Code::E1470, [](T& f) { f.oob_fill = OobFill::nan, f.type = TensorType::u16; }},
        RuleCase{Code::E1470, [](T& f) { padded(f, TensorType::b4x16_p64), f.oob_fill = OobFill::nan; }},
        RuleCase{std::nullopt, [](T& f) { f.type = TensorType::b4x16, f.box[0] = 256; }},
        RuleCase{Code::E1463, [](T& f) { f.type = TensorType::b4x16, f.box[0] = 256, f.dim[0] = 4095; }},
        RuleCase{Code::E1465, [](T& f) { f.type = TensorType::b4x16, f.box[0] = 16; }},
        RuleCase{Code::E1471, [](T& f) { f.type = TensorType::b4x16, f.box[0] = 256; }, 90},
        RuleCase{std::nullopt, [](T& f) { padded(f, TensorType::b4x16_p64); }},
        RuleCase{std::nullopt, [](T& f) { padded(f, TensorType::b6x16_p32); }},
        RuleCase{Code::E1471, [](T& f) { padded(f, TensorType::b6x16_p32); }, 90},
        RuleCase{Code::E1463, [](T& f) { padded(f, TensorType::b4x16_p64), f.dim[0] = 1300; }},
        RuleCase{Code::E1465, [](T& f) { padded(f, TensorType::b4x16_p64), f.box[0] = 64; }},
        RuleCase{Code::E1462, [](T& f) { padded(f, TensorType::b6x16_p32), f.address = 16; }},
        RuleCase{Code::E1464, [](T& f) { padded(f, TensorType::b6x16_p32), f.stride[0] = 48; }},
        RuleCase{std::nullopt, [](T& f) { padded(f, TensorType::b4x16_p64), f.swizzle = Swizzle::none; }},
        RuleCase{std::nullopt, [](T& f) { padded(f, TensorType::b4x16_p64), f.swizzle = Swizzle::b128_atom32; }},
        RuleCase{Code::E1469, [](T& f) { padded(f, TensorType::b4x16_p64), f.swizzle = Swizzle::b128_atom64; }},
        RuleCase{std::nullopt, [](T& f) { padded(f, TensorType::b6x16_p32), f.swizzle = Swizzle::b128_atom64; }},
        RuleCase{Code::E1469,
                 [](T& f) { padded(f, TensorType::b6x16_p32), f.swizzle = Swizzle::b128_atom32_flip8; }},
        RuleCase{Code::E1469,
                 [](T& f) { padded(f, TensorType::b6x16_p32), f.interleave = Interleave::bytes16; }}));

class Im2colRule : public testing::TestWithParam<RuleCase> {};

TEST_P(Im2colRule, DecidesAsTheDriver) {
  TensorMapFields f = im2col();
  GetParam().change(f);
  EXPECT_EQ(check_codes(f, GetParam().cc), GetParam().code ? Codes{*GetParam().code} : Codes{});
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Im2colRule,
    testing::Values(RuleCase{std::nullopt, [](T&) {}}, RuleCase{std::nullopt, [](T&) {}, 90},
                    RuleCase{Code::E1461, [](T& f) { f.rank = 2; }},
                    RuleCase{std::nullopt, [](T& f) { f.lower_corner[0] = -128; }},
                    RuleCase{Code::E1472, [](T& f) { f.lower_corner[0] = -129; }},
                    RuleCase{Code::E1472, [](T& f) { f.upper_corner[1] = 128; }},
                    RuleCase{std::nullopt, [](T& f) { f.rank = 3, f.lower_corner[0] = -32768; }},
                    RuleCase{std::nullopt, [](T& f) { f.rank = 5, f.lower_corner[2] = -16; }},
                    RuleCase{Code::E1472, [](T& f) { f.rank = 5, f.dim[3] = 40, f.upper_corner[2] = 16; }},
                    RuleCase{Code::E1472, [](T& f) { f.upper_corner[0] = -17; }},  // 16 - 17 + 1 = 0 pixels
                    RuleCase{std::nullopt, [](T& f) { f.upper_corner[0] = -16; }},
                    RuleCase{Code::E1473, [](T& f) { f.pixels_per_column = 0; }},
                    RuleCase{std::nullopt, [](T& f) { f.pixels_per_column = 1024; }},
                    RuleCase{Code::E1473, [](T& f) { f.pixels_per_column = 1025; }},
                    RuleCase{std::nullopt, [](T& f) { f.channels_per_pixel = 256, f.swizzle = Swizzle::none; }},
                    RuleCase{Code::E1473, [](T& f) { f.channels_per_pixel = 4; }},
                    RuleCase{Code::E1473, [](T& f) { f.channels_per_pixel = 264, f.swizzle = Swizzle::none; }},
                    RuleCase{Code::E1467, [](T& f) { f.channels_per_pixel = 72; }},
                    RuleCase{Code::E1466, [](T& f) { f.element_stride[1] = 9; }},
                    RuleCase{Code::E1470, [](T& f) { f.type = TensorType::u16, f.oob_fill = OobFill::nan; }}));

INSTANTIATE_TEST_SUITE_P(
    Wide, Im2colRule,
    testing::Values(
        RuleCase{std::nullopt, [](T& f) { f.mode = TensorMapMode::im2col_w; }},
        RuleCase{Code::E1471, [](T& f) { f.mode = TensorMapMode::im2col_w; }, 90},
        RuleCase{std::nullopt, [](T& f) { f.mode = TensorMapMode::im2col_w128, f.pixels_per_column = 0; }},
        RuleCase{std::nullopt, [](T& f) { f.mode = TensorMapMode::im2col_w, f.lower_corner[0] = -32768; }},
        RuleCase{Code::E1472, [](T& f) { f.mode = TensorMapMode::im2col_w, f.upper_corner[0] = 32768; }},
        RuleCase{Code::E1467, [](T& f) { f.mode = TensorMapMode::im2col_w, f.swizzle = Swizzle::none; }},
        RuleCase{Code::E1468,
                 [](T& f) { f.mode = TensorMapMode::im2col_w, f.interleave = Interleave::bytes16; }}));

TEST(TensorMapEncode, ThrowsEveryFindingAtOnce) {
  TensorMapFields f = tiled();
  f.address = 1;
  f.box[1] = 0;
  try {
    encode(f);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics().error_count(), 2u);
  }
}

TEST(TensorMapDescribe, ListsFieldsInWords) {
  std::string text;
  for (const std::string& l : describe(im2col())) {
    text += l + "\n";
  }
  for (const char* part :
       {"im2col, rank 4", "f16", "64, 16, 12, 4", "128B", "-1, -1", "pixels/column   128"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n"
                                                  << text;
  }
}

}  // namespace
}  // namespace drywell::isa
