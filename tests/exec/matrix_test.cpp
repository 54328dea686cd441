// ldmatrix, stmatrix, movmatrix: the row and byte of each lane's data, from the PTX ISA's pictures.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "drywell/core/error.h"
#include "support/ptx_run.h"
#include "support/warp_run.h"

namespace drywell::test {
namespace {

std::vector<uint8_t> random_bytes(size_t count, uint64_t seed) {
  Words words(seed);
  std::vector<uint8_t> v(count);
  for (uint8_t& b : v) b = static_cast<uint8_t>(words.next());
  return v;
}

std::string registers(const char* name, unsigned count) {
  std::string s = "{";
  for (unsigned i = 0; i < count; ++i) s += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  return s + "}";
}

// Row l of the tile is stored at l * 48 so that a wrong row shows; lane l names row l.
constexpr const char* kRowAddress = "  mad.lo.u32 %t0, %lane, 48, %s;\n";

uint32_t half_at(const std::vector<uint8_t>& smem, unsigned row, unsigned column) {
  return smem[row * 48 + 2 * column] | uint32_t{smem[row * 48 + 2 * column + 1]} << 8;
}

class Ldmatrix : public testing::TestWithParam<std::tuple<unsigned, bool>> {};

// PTX ISA 9.7.14.5.15: thread l has elements 2*(l%4) and 2*(l%4)+1 of row l/4, with .trans of the transposed matrix.
TEST_P(Ldmatrix, EightByEight) {
  const auto [count, trans] = GetParam();
  WarpProgram p;
  p.body = kRowAddress + fmt::format("  ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {}, [%t0];", count, trans ? ".trans" : "", registers("o", count));
  p.outputs = count;
  p.smem = random_bytes(32 * 48, 7 + count);
  const WarpResult r = run_warps(p, {});
  for (unsigned m = 0; m < count; ++m) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned line = lane / 4, first = 2 * (lane % 4);
      const uint32_t want = trans ? half_at(p.smem, 8 * m + first, line) | half_at(p.smem, 8 * m + first + 1, line) << 16
                                  : half_at(p.smem, 8 * m + line, first) | half_at(p.smem, 8 * m + line, first + 1) << 16;
      EXPECT_EQ(r.registers[m * 32 + lane], want) << "matrix " << m << " lane " << lane;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, Ldmatrix, testing::Combine(testing::Values(1u, 2u, 4u), testing::Bool()));

// stmatrix is the inverse: ldmatrix of the same form reads its bytes back, and the bytes have the expected addresses.
class Stmatrix : public testing::TestWithParam<std::tuple<unsigned, bool>> {};

TEST_P(Stmatrix, EightByEight) {
  const auto [count, trans] = GetParam();
  WarpProgram p;
  p.body = kRowAddress + fmt::format("  stmatrix.sync.aligned.m8n8.x{}{}.shared.b16 [%t0], {};", count, trans ? ".trans" : "", registers("i", count));
  p.inputs = count;
  p.smem.assign(32 * 48, 0xEE);
  p.store_smem = 32 * 48;
  std::vector<uint64_t> in(count * 32);
  Words words(3);
  for (uint64_t& v : in) v = static_cast<uint32_t>(words.next());
  const WarpResult r = run_warps(p, in);
  std::vector<uint8_t> want(32 * 48, 0xEE);
  for (unsigned m = 0; m < count; ++m) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned h = 0; h < 2; ++h) {
        const unsigned line = lane / 4, along = 2 * (lane % 4) + h;
        const unsigned at = trans ? (8 * m + along) * 48 + 2 * line : (8 * m + line) * 48 + 2 * along;
        want[at] = static_cast<uint8_t>(in[m * 32 + lane] >> (16 * h));
        want[at + 1] = static_cast<uint8_t>(in[m * 32 + lane] >> (16 * h + 8));
      }
    }
  }
  EXPECT_EQ(r.smem, want);
}
INSTANTIATE_TEST_SUITE_P(, Stmatrix, testing::Combine(testing::Values(1u, 2u, 4u), testing::Bool()));

TEST(Movmatrix, Transposes) {
  WarpProgram p;
  p.body = "  movmatrix.sync.aligned.m8n8.trans.b16 %o0, %i0;";
  p.inputs = p.outputs = 1;
  std::vector<uint64_t> in(32);
  for (unsigned l = 0; l < 32; ++l) in[l] = (l / 4 * 8 + l % 4 * 2) | (l / 4 * 8 + l % 4 * 2 + 1) << 16;  // element = its row-major index
  const WarpResult r = run_warps(p, in);
  for (unsigned l = 0; l < 32; ++l) {
    const unsigned row = l / 4, column = l % 4 * 2;  // of the result
    EXPECT_EQ(r.registers[l], (column * 8 + row) | ((column + 1) * 8 + row) << 16);
  }
}

// docs/facts/tcgen05.md §3: 16 elements of 4 or 6 bits, packed from the bottom, and padding.
TEST(LdmatrixBytes, UnpacksPaddedRows) {
  for (const unsigned bits : {4u, 6u}) {
    WarpProgram p;
    p.body = kRowAddress + fmt::format("  ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.{} {}, [%t0];", bits == 4 ? "b4x16_p64" : "b6x16_p32", registers("o", 4));
    p.outputs = 4;
    p.smem = random_bytes(32 * 48, bits);
    const WarpResult r = run_warps(p, {});
    for (unsigned m = 0; m < 4; ++m) {
      for (unsigned lane = 0; lane < 32; ++lane) {
        uint32_t want = 0;
        for (unsigned e = 0; e < 4; ++e) {
          uint32_t code = 0;
          for (unsigned b = 0; b < bits; ++b) {
            const unsigned bit = (lane % 4 * 4 + e) * bits + b;
            code |= (uint32_t{p.smem[(8 * m + lane / 4) * 48 + bit / 8]} >> (bit % 8) & 1) << b;
          }
          want |= code << (8 * e);
        }
        EXPECT_EQ(r.registers[m * 32 + lane], want) << bits << " bits, matrix " << m << " lane " << lane;
      }
    }
  }
}

// Transposed bytes: every byte of the 16 rows arrives once, as A of mma.m16n8k32 takes it where rows are k: row l / 4 (and 8 later), four neighbours of k.
TEST(LdmatrixBytes, TransposedBytes) {
  WarpProgram p;
  p.body = kRowAddress + fmt::format("  ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {}, [%t0];", registers("o", 4));
  p.outputs = 4;
  p.smem.resize(32 * 48);
  for (unsigned row = 0; row < 32; ++row) {
    for (unsigned c = 0; c < 16; ++c) p.smem[row * 48 + c] = static_cast<uint8_t>(row % 16 * 16 + c);
  }
  const WarpResult r = run_warps(p, {});
  for (unsigned matrix = 0; matrix < 2; ++matrix) {
    std::vector<unsigned> seen(256);
    for (unsigned reg = 0; reg < 2; ++reg) {
      for (unsigned lane = 0; lane < 32; ++lane) {
        const auto word = static_cast<uint32_t>(r.registers[(2 * matrix + reg) * 32 + lane]);
        for (unsigned b = 0; b < 4; ++b) ++seen[word >> (8 * b) & 0xFF];
        for (unsigned b = 0; b < 4; ++b) {
          EXPECT_EQ(word >> (8 * b) & 0xF, lane / 4 + 8 * reg);
          EXPECT_EQ(word >> (8 * b + 4) & 0xF, lane % 4 * 4 + b);
        }
      }
    }
    EXPECT_EQ(seen, std::vector<unsigned>(256, 1));
  }
}

TEST(LdmatrixBytes, MisalignedRowFaults) {
  WarpProgram p;
  p.body = "  mad.lo.u32 %t0, %lane, 16, %s;\n  add.u32 %t0, %t0, 8;\n  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%o0}, [%t0];";
  p.outputs = 1;
  try {
    run_warps(p, {});
    FAIL() << "no fault";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(code_name(Code::F3002)), std::string::npos) << e.what();
  }
}

TEST(LdmatrixBytes, PartOfAWarpFaults) {
  WarpProgram p;
  p.body = kRowAddress + std::string("  setp.lt.u32 %p0, %lane, 16;\n  @%p0 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%o0}, [%t0];");
  p.outputs = 1;
  try {
    run_warps(p, {});
    FAIL() << "no fault";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(code_name(Code::F3406)), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace drywell::test
