#include "drywell/isa/smem_descriptor.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <string>

namespace drywell::isa {
namespace {

SmemDescriptor make(uint32_t start, uint32_t lbo, uint32_t sbo, Swizzle s,
                    SmemDescriptorFormat format = SmemDescriptorFormat::tcgen05) {
  return SmemDescriptor::make(start, lbo, sbo, s, format);
}

std::vector<Code> codes(const Diagnostics& d) {
  std::vector<Code> out;
  for (const Diagnostic& x : d.list()) {
    out.push_back(x.code);
  }
  return out;
}
using Codes = std::vector<Code>;

TEST(SmemDescriptor, EncodesTheWorkedValue) {  // docs/facts/tcgen05.md §10 row 6
  EXPECT_EQ(make(0x400, 16, 1024, Swizzle::b128).encode(), 0x4000404000010040u);
  const SmemDescriptor d = SmemDescriptor::decode(0x4000404000010040u);
  EXPECT_EQ(d, make(0x400, 16, 1024, Swizzle::b128));
}

TEST(SmemDescriptor, RoundTripsRandomWordsInBothFormats) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t w = rng();
    for (auto f : {SmemDescriptorFormat::tcgen05, SmemDescriptorFormat::wgmma}) {
      ASSERT_EQ(SmemDescriptor::decode(w, f).encode(), w);
    }
  }
}

TEST(SmemDescriptor, WgmmaFormatHasTwoSwizzleBitsAndNoVersion) {
  // PTX ISA, wgmma matrix descriptor: 0 none, 1 128B, 2 64B, 3 32B in bits 63..62.
  const auto f = SmemDescriptorFormat::wgmma;
  EXPECT_EQ(make(0x400, 16, 1024, Swizzle::b128, f).encode(), 0x4000004000010040u);
  EXPECT_EQ(SmemDescriptor::decode(uint64_t{0} << 62, f).swizzle(), Swizzle::none);
  EXPECT_EQ(SmemDescriptor::decode(uint64_t{1} << 62, f).swizzle(), Swizzle::b128);
  EXPECT_EQ(SmemDescriptor::decode(uint64_t{2} << 62, f).swizzle(), Swizzle::b64);
  EXPECT_EQ(SmemDescriptor::decode(uint64_t{3} << 62, f).swizzle(), Swizzle::b32);
  SmemDescriptor d = SmemDescriptor::decode(0, f);
  EXPECT_FALSE(d.set_swizzle(Swizzle::b128_atom32));
  EXPECT_THROW(make(0, 0, 0, Swizzle::b128_atom64), InputError);
  // PTX: bits 14-15, 30-31, 46-48 and 52-61 hold no field.
  for (unsigned bit : {14u, 15u, 30u, 31u, 46u, 47u, 48u, 52u, 60u, 61u}) {
    Diagnostics out;
    check(SmemDescriptor::decode(uint64_t{1} << bit, f), out);
    EXPECT_EQ(codes(out), Codes{Code::E1402}) << bit;
  }
}

TEST(SmemDescriptor, ArticleIteratorStepsMoveTheStartAddress) {
  // "NVFP4 training in TransformerEngine", section "UMMA Descriptors":
  // "tCrA: UMMA::DescriptorIterator o (_1,_1,_4,(_1,_13)):(_0,_0,_256,(_0,_1024))" and
  // "tCrB: UMMA::DescriptorIterator o (_1,_1,_1,(_1,_13)):(_0,_0,_0,(_0,_32))". The iterator adds these to
  // the low word, so they are start-address units of 16 bytes: the shared-memory layouts
  // "(((_64,_2),(_8,_2)),_1,_4,(_1,_13)):(((_1,_512),(_64,_1024)),_0,_2048,(_0,_8192))" (16-bit elements)
  // step by 2048 elements per MMA and 8192 per stage, B's stage by 256 elements.
  const uint64_t a = make(0x580, 1024, 2048, Swizzle::b128).encode();
  EXPECT_EQ(SmemDescriptor::decode(a + 256).start, 0x580u + 2048 * 2);
  EXPECT_EQ(SmemDescriptor::decode(a + 1024).start, 0x580u + 8192 * 2);
  EXPECT_EQ(SmemDescriptor::decode(a + 32).start, 0x580u + 256 * 2);
  EXPECT_EQ(SmemDescriptor::decode(a + 256).sbo, 2048u);
}

TEST(SmemDescriptor, PlacesTheArticlesMnMajorTile) {
  // "NVFP4 training in TransformerEngine", section "UMMA Descriptors", one MMA of A:
  // "((_64,_2),(_8,_2)) ... ((_1,_512),(_64,_1024))" in bf16, "Sw<3,4,3>": 64 m
  // contiguous, next 64 m 512 elements on, 8 k rows of 64, next 8 k 1024 elements on. So LBO = 1024 B, SBO =
  // 2048 B.
  const SmemDescriptor d = make(0x400, 512 * 2, 1024 * 2, Swizzle::b128);
  for (unsigned m = 0; m < 128; ++m) {
    for (unsigned k = 0; k < 16; ++k) {
      const unsigned element = m % 64 + m / 64 * 512 + k % 8 * 64 + k / 8 * 1024;
      const OperandPlace want{swizzle_address(Swizzle::b128, 0x400 + 2 * element), 0};
      ASSERT_EQ(operand_address(d, Major::mn, SmemElement::half, m, k), want);
    }
  }
}

// --- Addressing against a slow reading of CUTLASS' canonical layouts ---

// CUTLASS mma_traits_sm100.hpp, in units of T: swizzle o ((8,m),(T,2k)) : ((1T,SBO),(1,LBO)) and friends; a
// nested coordinate is decomposed first index fastest.
struct Mode {
  unsigned extent, stride_bytes;
};
uint32_t layout_offset(std::vector<Mode> modes, unsigned index) {
  uint32_t offset = 0;
  for (const Mode& m : modes) {
    offset += index % m.extent * m.stride_bytes;
    index /= m.extent;
  }
  return offset;
}

struct AddressCase {
  const char* name;
  Swizzle swizzle;
  Major major;
  SmemElement element;
  unsigned bytes;  // stored bytes per element
};

class OperandAddress : public testing::TestWithParam<AddressCase> {};

TEST_P(OperandAddress, FollowsTheCanonicalLayout) {
  const AddressCase c = GetParam();
  constexpr uint32_t kStart = 0x2000, kLbo = 0x4800, kSbo = 0x1400;
  const SmemDescriptor d = make(kStart, kLbo, kSbo, c.swizzle);
  const unsigned span = swizzle_span(c.swizzle), e = c.bytes, t = 16 / e, all = 1u << 20;
  std::vector<Mode> mn, k;
  if (c.major == Major::k) {
    mn = {{8, span == 0 ? 16 : span}, {all, kSbo}};
    k = span == 0 ? std::vector<Mode>{{t, e}, {all, kLbo}} : std::vector<Mode>{{span / e, e}};
  } else if (span == 0) {
    mn = {{t, e}, {all, kSbo}};
    k = {{8, 16}, {all, kLbo}};
  } else {
    const unsigned rows = c.swizzle == Swizzle::b128_atom32 ? 4 : 8;
    mn = {{span / e, e}, {all, kLbo}};
    k = {{rows, span}, {all, kSbo}};
  }
  const unsigned count_k = 32 / e;
  for (unsigned i = 0; i < 128; ++i) {
    for (unsigned j = 0; j < count_k; ++j) {
      const uint32_t linear = (kStart + layout_offset(mn, i) + layout_offset(k, j)) & 0x3FFFF;
      const OperandPlace got = operand_address(d, c.major, c.element, i, j);
      ASSERT_EQ(got.byte, swizzle_address(c.swizzle, linear)) << i << "," << j;
      ASSERT_EQ(got.bit, 0);
    }
  }
}

TEST_P(OperandAddress, BulkChunksAgreeWithSingleElements) {
  const AddressCase c = GetParam();
  // Strides of whole swizzle patterns, others, and past the end of the addresses.
  const SmemDescriptor cases[] = {make(0x2000, 0x800, 0x1400, c.swizzle), make(0x2000, 0x890, 0x490, c.swizzle), make(0x3F000, 0x800, 0x1400, c.swizzle)};
  for (const SmemDescriptor& d : cases) {
    const OperandTile tile{c.major, c.element, 64, 32 / c.bytes};
    std::vector<uint32_t> chunks(tile.chunks());
    operand_row_chunks(d, tile, chunks);
    const unsigned per_chunk = 16 / c.bytes, per_line = tile.chunks_per_line();
    for (unsigned i = 0; i < tile.mn; ++i) {
      for (unsigned j = 0; j < tile.k; ++j) {
        const unsigned line = c.major == Major::k ? i : j, along = c.major == Major::k ? j : i;
        const uint32_t want = chunks[line * per_line + along / per_chunk] + along % per_chunk * c.bytes;
        ASSERT_EQ(operand_address(d, c.major, c.element, i, j).byte, want) << "start " << d.start << " stride " << d.sbo << ": " << i << ',' << j;
      }
    }
  }
}

std::vector<AddressCase> address_cases() {
  std::vector<AddressCase> v;
  for (auto s : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
    v.push_back({"KHalf", s, Major::k, SmemElement::half, 2});
    v.push_back({"KByte", s, Major::k, SmemElement::byte, 1});
    v.push_back({"KWord", s, Major::k, SmemElement::word, 4});
    v.push_back({"MnHalf", s, Major::mn, SmemElement::half, 2});
    v.push_back({"MnByte", s, Major::mn, SmemElement::byte, 1});
  }
  v.push_back({"MnWord", Swizzle::b128_atom32, Major::mn, SmemElement::word, 4});
  return v;
}

INSTANTIATE_TEST_SUITE_P(Layouts, OperandAddress, testing::ValuesIn(address_cases()), [](const auto& c) {
  return std::string(c.param.name) + "Swizzle" + std::to_string(static_cast<int>(c.param.swizzle));
});

TEST(OperandPlacement, PackedFourBitUsesBothNibbles) {
  const SmemDescriptor d = make(0, 16, 1024, Swizzle::b128);
  // mxf4: two per byte, even k in the low nibble (docs/facts/tcgen05.md §8); row 3 is the fourth 128-byte line.
  EXPECT_EQ(operand_address(d, Major::k, SmemElement::packed4, 3, 0),
            (OperandPlace{swizzle_address(Swizzle::b128, 384), 0}));
  EXPECT_EQ(operand_address(d, Major::k, SmemElement::packed4, 3, 33),
            (OperandPlace{swizzle_address(Swizzle::b128, 384 + 16), 4}));
}

TEST(OperandPlacement, ContainersKeepSixteenElementsInSixteenBytes) {
  const SmemDescriptor d = make(0x100, 128, 256, Swizzle::none);
  // Unit u = k/16; element k%16 at bit 4*(k%16) or 6*(k%16) (docs/facts/tcgen05.md §8).
  for (unsigned k = 0; k < 32; ++k) {
    const unsigned unit = 0x100 + 5 * 16 + k / 16 * 128;
    EXPECT_EQ(operand_address(d, Major::k, SmemElement::container4, 5, k),
              (OperandPlace{unit + 4 * (k % 16) / 8, static_cast<uint8_t>(4 * (k % 16) % 8)}));
    EXPECT_EQ(operand_address(d, Major::k, SmemElement::container6, 5, k),
              (OperandPlace{unit + 6 * (k % 16) / 8, static_cast<uint8_t>(6 * (k % 16) % 8)}));
  }
}

TEST(OperandPlacement, SteppingTheStartEqualsSteppingK) {
  // K-major 128B: +2 in the start field per 32 bytes of K (docs/facts/tcgen05.md §4.6, K stepping).
  const uint64_t w = make(0x4000, 16, 1024, Swizzle::b128).encode();
  for (unsigned step = 0; step < 4; ++step) {
    const SmemDescriptor stepped = SmemDescriptor::decode(w + 2 * step), base = SmemDescriptor::decode(w);
    for (unsigned m = 0; m < 128; ++m) {
      ASSERT_EQ(operand_address(stepped, Major::k, SmemElement::half, m, 3),
                operand_address(base, Major::k, SmemElement::half, m, 16 * step + 3));
    }
  }
}

// K = 96 of sm_103: the 48 bytes of a row that begin at byte 96 (or 112) of the 128-byte span have their rest in another buffer, whose
// rows lie in the same order (CUTLASS: sm103_blockscaled_mma_warpspecialized.hpp, "Next A buffer").
TEST(OperandPlacement, RowsGoOnAtAnAbsoluteAddress) {
  const OperandTile tile{Major::k, SmemElement::packed4, 40, 96};
  for (const uint32_t offset : {0u, 48u, 80u, 96u, 112u}) {
    SmemDescriptor d = SmemDescriptor::make(0x4000 + offset, 0x9000, 1024, Swizzle::b128);
    d.lbo_absolute = true;
    std::vector<uint32_t> all(tile.chunks());
    operand_row_chunks(d, tile, all);
    for (uint32_t row = 0; row < tile.mn; ++row) {
      for (uint32_t chunk = 0; chunk < 3; ++chunk) {
        const uint32_t byte = offset + 16 * chunk, in_buffer = (byte < 128 ? 0x4000 : 0x9000) + row * 128 + byte % 128;
        EXPECT_EQ(all[row * 3 + chunk], in_buffer ^ row % 8 * 16) << row << " " << chunk << " " << offset;
        EXPECT_EQ(operand_chunk_address(d, Major::k, row, chunk), all[row * 3 + chunk]);
      }
    }
    Diagnostics out;
    check(d, out, {}, true);
    check_operand(d, tile, 0x9000 + 40 * 128, out);
    EXPECT_TRUE(out.empty()) << out.to_string();
    check_operand(d, tile, 0x9000 + 39 * 128, out);
    EXPECT_EQ(out.has_errors(), offset > 80) << out.to_string();
  }
}

TEST(OperandCheck, AbsoluteAddressesAreForRowsOfK96Only) {
  const auto errors = [](Swizzle swizzle, uint8_t base, Major major, uint32_t k) {
    SmemDescriptor d = SmemDescriptor::make(0x4000, 0x9000, 1024, swizzle);
    d.lbo_absolute = true;
    d.base_offset = base;
    Diagnostics out;
    check_operand(d, {major, SmemElement::packed4, 128, k}, 0x38000, out);
    return out.empty() ? Code::E1000 : out.list().front().code;
  };
  EXPECT_EQ(errors(Swizzle::b128, 0, Major::k, 96), Code::E1000);
  EXPECT_EQ(errors(Swizzle::b128, 1, Major::k, 96), Code::E1405);
  EXPECT_EQ(errors(Swizzle::b128, 0, Major::k, 64), Code::E1405);
  EXPECT_EQ(errors(Swizzle::b64, 0, Major::k, 96), Code::E1405);
  EXPECT_EQ(errors(Swizzle::none, 0, Major::k, 96), Code::E1405);
}

TEST(OperandPlacement, WrapsAt256KiB) {
  const SmemDescriptor d = make(0x3FF00, 0x400, 0x100, Swizzle::none);
  EXPECT_EQ(operand_address(d, Major::k, SmemElement::half, 8, 0).byte, 0u);
  EXPECT_EQ(operand_address(d, Major::k, SmemElement::half, 9, 8).byte, 0x410u);
}

TEST(OperandPlacement, EveryModeReadsEachByteOnce) {
  for (auto s : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
    // Densely packed K-major operand of 128 rows.
    const uint32_t span = swizzle_span(s);
    const SmemDescriptor d = make(0, span == 0 ? 128 * 16 : 16, span == 0 ? 128 : 8 * span, s);
    std::set<uint32_t> bytes;
    for (unsigned m = 0; m < 128; ++m) {
      for (unsigned k = 0; k < 32; ++k) {
        bytes.insert(operand_address(d, Major::k, SmemElement::byte, m, k).byte);
      }
    }
    EXPECT_EQ(bytes.size(), 128u * 32);
  }
}

// Measured with wgmma on an H200 (driver 13.0, 2026-11-21): K-major f16 operands that start `phase` rows inside the swizzle
// pattern, with every base offset; each 16-byte chunk of shared memory contained its number. All 448 combinations follow
// (row - base offset) & mask; these are the words of some. chunks[row][half], start 0x800 + phase * span.
struct BaseOffsetCase {
  Swizzle swizzle;
  uint32_t phase, base_offset;
  std::array<uint32_t, 20> chunks;
};
constexpr BaseOffsetCase kH200[] = {
    {Swizzle::b128, 0, 0, {128, 129, 137, 136, 146, 147, 155, 154, 164, 165, 173, 172, 182, 183, 191, 190, 192, 193, 201, 200}},
    {Swizzle::b128, 0, 1, {135, 134, 136, 137, 145, 144, 154, 155, 163, 162, 172, 173, 181, 180, 190, 191, 199, 198, 200, 201}},
    {Swizzle::b128, 1, 1, {136, 137, 145, 144, 154, 155, 163, 162, 172, 173, 181, 180, 190, 191, 199, 198, 200, 201, 209, 208}},
    {Swizzle::b128, 1, 2, {143, 142, 144, 145, 153, 152, 162, 163, 171, 170, 180, 181, 189, 188, 198, 199, 207, 206, 208, 209}},
    {Swizzle::b128, 2, 2, {144, 145, 153, 152, 162, 163, 171, 170, 180, 181, 189, 188, 198, 199, 207, 206, 208, 209, 217, 216}},
    {Swizzle::b64, 0, 1, {131, 130, 135, 134, 136, 137, 140, 141, 145, 144, 149, 148, 154, 155, 158, 159, 163, 162, 167, 166}},
    {Swizzle::b64, 1, 2, {134, 135, 139, 138, 143, 142, 144, 145, 148, 149, 153, 152, 157, 156, 162, 163, 166, 167, 171, 170}},
    {Swizzle::b64, 2, 1, {136, 137, 140, 141, 145, 144, 149, 148, 154, 155, 158, 159, 163, 162, 167, 166, 168, 169, 172, 173}},
    {Swizzle::b32, 0, 1, {129, 128, 131, 130, 133, 132, 135, 134, 136, 137, 138, 139, 140, 141, 142, 143, 145, 144, 147, 146}},
    {Swizzle::b32, 1, 0, {130, 131, 132, 133, 134, 135, 137, 136, 139, 138, 141, 140, 143, 142, 144, 145, 146, 147, 148, 149}},
};

TEST(SmemDescriptor, BaseOffsetMovesThePatternAsOnAnH200) {
  for (const BaseOffsetCase& c : kH200) {
    const uint32_t span = swizzle_span(c.swizzle);
    SmemDescriptor d = make(0x800 + c.phase * span, 16, 8 * span, c.swizzle, SmemDescriptorFormat::wgmma);
    d.base_offset = static_cast<uint8_t>(c.base_offset);
    const OperandTile tile{Major::k, SmemElement::half, 64, 16};
    std::vector<uint32_t> all(tile.chunks());
    operand_row_chunks(d, tile, all);
    for (uint32_t i = 0; i < c.chunks.size(); ++i) {
      EXPECT_EQ(operand_chunk_address(d, Major::k, i / 2, i % 2) / 16, c.chunks[i]) << to_string(c.swizzle) << " base " << c.base_offset << " chunk " << i;
      EXPECT_EQ(all[i] / 16, c.chunks[i]);
    }
  }
}

// --- Checks ---

TEST(SmemDescriptorCheck, AcceptsAPlainDescriptor) {
  Diagnostics out;
  const SmemDescriptor d = SmemDescriptor::decode(0x4000404000010040u);
  check(d, out);
  check_operand(d, {Major::k, SmemElement::half, 128, 16}, 227 * 1024, out);
  EXPECT_TRUE(out.empty()) << out.to_string();
}

struct WordCase {
  uint64_t flip;
  Code code;
  bool error;
};

class SmemDescriptorRule : public testing::TestWithParam<WordCase> {};

TEST_P(SmemDescriptorRule, NamesTheBrokenField) {
  Diagnostics out;
  check(SmemDescriptor::decode(0x4000404000010040u ^ GetParam().flip), out);
  EXPECT_EQ(codes(out), Codes{GetParam().code});
  EXPECT_EQ(out.has_errors(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Bits, SmemDescriptorRule,
    testing::Values(WordCase{uint64_t{1} << 61, Code::E1401, true}, WordCase{uint64_t{1} << 14, Code::E1402, true},
                    WordCase{uint64_t{1} << 31, Code::E1402, true}, WordCase{uint64_t{1} << 53, Code::E1402, true},
                    WordCase{uint64_t{1} << 60, Code::E1402, true}, WordCase{uint64_t{1} << 46, Code::E1403, false},
                    WordCase{uint64_t{1} << 52, Code::E1405, true}));

TEST(SmemDescriptorCheck, SwizzleCodes357AreUndefined) {
  for (uint64_t code = 0; code < 8; ++code) {
    Diagnostics out;
    check(SmemDescriptor::decode(uint64_t{1} << 46 | code << 61), out);
    EXPECT_EQ(out.has_errors(), code == 3 || code == 5 || code == 7) << code;
  }
}

TEST(SmemDescriptorCheck, RefusesValuesThatDoNotFitTheFields) {
  Diagnostics out;
  check(make(0x408, 8, 0x40000, Swizzle::none), out);
  EXPECT_EQ(codes(out), (Codes{Code::E1404, Code::E1404, Code::E1404}));
}

struct LegalCase {
  Major major;
  SmemElement element;
  Swizzle swizzle;
  std::optional<Code> code;  // nothing: legal
};

class OperandRule : public testing::TestWithParam<LegalCase> {};

TEST_P(OperandRule, FollowsTheTableOfTypeMajorAndSwizzle) {
  const LegalCase c = GetParam();
  Diagnostics out;
  check_operand(make(0x400, 1024, 1024, c.swizzle), {c.major, c.element, 64, 8}, 200 * 1024, out);
  EXPECT_EQ(codes(out), c.code ? Codes{*c.code} : Codes{});
}

INSTANTIATE_TEST_SUITE_P(
    Table, OperandRule,
    testing::Values(LegalCase{Major::k, SmemElement::container4, Swizzle::b32, std::nullopt},
                    LegalCase{Major::k, SmemElement::container6, Swizzle::none, std::nullopt},
                    LegalCase{Major::k, SmemElement::word, Swizzle::b64, std::nullopt},
                    LegalCase{Major::k, SmemElement::byte, Swizzle::b128_atom32, Code::U5402},
                    LegalCase{Major::mn, SmemElement::container4, Swizzle::b128, Code::E1408},
                    LegalCase{Major::mn, SmemElement::container6, Swizzle::none, Code::E1408},
                    LegalCase{Major::mn, SmemElement::packed4, Swizzle::none, Code::E1408},
                    LegalCase{Major::mn, SmemElement::byte, Swizzle::b128, std::nullopt},
                    LegalCase{Major::mn, SmemElement::half, Swizzle::none, std::nullopt},
                    LegalCase{Major::mn, SmemElement::half, Swizzle::b128_atom32, Code::E1408},
                    LegalCase{Major::mn, SmemElement::word, Swizzle::b128, Code::E1408},
                    LegalCase{Major::mn, SmemElement::word, Swizzle::b128_atom32, std::nullopt}));

TEST(OperandCheck, ReportsReadsOutsideSharedMemory) {
  Diagnostics out;
  const SmemDescriptor d = make(0x400, 16, 1024, Swizzle::b128);
  const OperandTile tile{Major::k, SmemElement::half, 128, 16};
  check_operand(d, tile, 0x400 + 16 * 1024, out);
  EXPECT_TRUE(out.empty());
  check_operand(d, tile, 0x400 + 15 * 1024, out);
  EXPECT_EQ(codes(out), Codes{Code::E1407});
}

TEST(OperandCheck, WarnsOfMisalignedPatternsCrossedSpansAndWrap) {
  const OperandTile tile{Major::k, SmemElement::half, 8, 16};
  Diagnostics phase, span, wrap;
  check_operand(make(0x480, 16, 1024, Swizzle::b128), tile, 200 * 1024, phase);
  EXPECT_EQ(codes(phase), Codes{Code::E1406});
  check_operand(make(0x400 + 112, 16, 1024, Swizzle::b128), tile, 200 * 1024, span);
  EXPECT_EQ(codes(span), Codes{Code::E1410});
  check_operand(make(0x3FC00, 0x400, 1024, Swizzle::none), tile, 256 * 1024, wrap);
  EXPECT_EQ(codes(wrap), Codes{Code::E1409});
  EXPECT_FALSE(phase.has_errors() || span.has_errors() || wrap.has_errors());
}

TEST(SmemDescriptorExplain, NamesEveryField) {
  const auto lines = to_lines(explain(SmemDescriptor::decode(0x4000404000010040u)));
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_NE(lines[0].find("byte address 0x400"), std::string::npos);
  EXPECT_NE(lines[2].find("1024 bytes"), std::string::npos);
  EXPECT_NE(lines[6].find("128B"), std::string::npos);
  EXPECT_EQ(explain(SmemDescriptor::decode(0, SmemDescriptorFormat::wgmma)).size(), 5u);
}

}  // namespace
}  // namespace drywell::isa
