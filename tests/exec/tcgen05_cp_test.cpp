// tcgen05.cp in every shape, swizzle and decompression, and tcgen05.shift, against the text of facts/tcgen05.md §2.6 and §3.
#include <gtest/gtest.h>

#include "support/ptx_run.h"
#include "support/tensor_run.h"

namespace drywell::test {
namespace {

struct CopyCase {
  std::string shape;
  unsigned rows, columns;
  std::vector<unsigned> (*lanes)(unsigned row);  // "destination lanes of row r", §3
  unsigned swizzle = 0;                          // span; 0 = none
  unsigned bits = 8;                             // 4, 6: decompression
  unsigned cta_group = 1;
  unsigned base_lane = 0;
  unsigned start = 0;
};

uint32_t swizzled(unsigned span, uint32_t a) {
  return span == 128 ? a ^ (a >> 7 & 7) << 4 : span == 64 ? a ^ (a >> 7 & 3) << 4 : span == 32 ? a ^ (a >> 7 & 1) << 4 : a;
}

void check_copy(const CopyCase& c) {
  SCOPED_TRACE(c.shape + " swizzle " + std::to_string(c.swizzle) + " bits " + std::to_string(c.bits) + " group " + std::to_string(c.cta_group));
  const uint32_t sbo = c.swizzle != 0 ? 8 * c.swizzle : c.rows == 32 ? 128 : 160, lbo = c.swizzle != 0 ? 16 : sbo * 16 + 48;
  const uint64_t code = c.swizzle == 128 ? 2 : c.swizzle == 64 ? 4 : c.swizzle == 32 ? 6 : 0;
  const uint64_t desc = uint64_t{c.start >> 4} | uint64_t{lbo >> 4} << 16 | uint64_t{sbo >> 4} << 32 | uint64_t{1} << 46 | code << 61;
  Words words(c.rows + c.swizzle + c.bits);
  std::vector<TensorImage> images(c.cta_group);
  for (TensorImage& image : images) {
    image.smem.resize(24 * 1024);
    for (uint8_t& v : image.smem) v = static_cast<uint8_t>(words.next() >> 11);
    for (uint32_t& v : image.tmem) v = static_cast<uint32_t>(words.next() >> 11);
  }
  const unsigned column = 44;
  std::vector<TensorImage> expected = images;
  for (TensorImage& image : expected) {
    for (unsigned r = 0; r < c.rows; ++r) {
      for (unsigned u = 0; u < c.columns / 4; ++u) {
        const uint32_t at = c.start + (c.swizzle == 0 ? r % 8 * 16 + r / 8 * sbo + u * lbo : r % 8 * c.swizzle + r / 8 * sbo + u * 16);
        const uint8_t* in = image.smem.data() + swizzled(c.swizzle, at);
        uint8_t out[16];
        for (unsigned i = 0; i < 16; ++i) {  // §3: a nibble in bits 5..2, six bits in 5..0
          unsigned v = 0;
          for (unsigned b = 0; b < c.bits; ++b) v |= (in[(i * c.bits + b) / 8] >> (i * c.bits + b) % 8 & 1u) << b;
          out[i] = static_cast<uint8_t>(c.bits == 4 ? v << 2 : v);
        }
        for (unsigned w = 0; w < 4; ++w) {
          const uint32_t word = out[4 * w] | out[4 * w + 1] << 8 | out[4 * w + 2] << 16 | static_cast<uint32_t>(out[4 * w + 3]) << 24;
          for (const unsigned lane : c.lanes(r)) image.cell(c.base_lane + lane, column + 4 * u + w) = word;
        }
      }
    }
  }
  TensorProgram p;
  p.cta_group = c.cta_group;
  p.steps = {[=](const TensorOperands& o) {
    std::string op = "tcgen05.cp.cta_group::" + std::to_string(c.cta_group) + "." + c.shape;
    if (c.bits != 8) op += c.bits == 4 ? ".b8x16.b4x16_p64" : ".b8x16.b6x16_p32";
    o.k(op, isa::mem(o.word(c.base_lane << 16 | column)), o.descriptor(desc));
  }};
  expect_tensor(p, images, expected);
}

using Lanes = std::vector<unsigned>;
const CopyCase kShapes[] = {
    {"128x256b", 128, 8, [](unsigned r) { return Lanes{r}; }},
    {"4x256b", 4, 8, [](unsigned r) { return Lanes{32 * r}; }},
    {"128x128b", 128, 4, [](unsigned r) { return Lanes{r}; }},
    {"64x128b.warpx2::02_13", 64, 4, [](unsigned r) { return Lanes{r, r + 64}; }},
    {"64x128b.warpx2::01_23", 64, 4, [](unsigned r) { return Lanes{64 * (r / 32) + r % 32, 64 * (r / 32) + r % 32 + 32}; }},
    {"32x128b.warpx4", 32, 4, [](unsigned r) { return Lanes{r, r + 32, r + 64, r + 96}; }},
};

TEST(TmemCopy, EveryShapeSwizzleAndFormat) {
  for (const CopyCase& shape : kShapes) {
    for (const unsigned swizzle : {0u, 32u, 64u, 128u}) {
      for (const unsigned bits : {8u, 6u, 4u}) {
        CopyCase c = shape;
        c.swizzle = swizzle;
        c.bits = bits;
        c.cta_group = (swizzle / 32 + bits) % 3 == 0 ? 2 : 1;
        if (c.shape == "4x256b" && bits == 6) c.base_lane = 31;
        if (swizzle == 128) c.start = 64;
        check_copy(c);
      }
    }
  }
}

TEST(TmemCopy, ScaleFactorsTakeFiveHundredAndTwelveBytesInOrder) {
  CopyCase c = kShapes[5];  // §3: no swizzle, SBO 128: 512 contiguous bytes
  c.start = 512;
  check_copy(c);
}

TEST(TmemCopy, RefusesWhatLeavesTheTensorMemory) {
  const auto copy = [](const char* shape, uint32_t address, uint64_t desc) {
    TensorProgram p;
    p.steps = {[=](const TensorOperands& o) { o.k(std::string("tcgen05.cp.cta_group::1.") + shape, isa::mem(o.word(address)), o.descriptor(desc)); }};
    return p;
  };
  std::vector<TensorImage> images(1);
  images[0].smem.resize(8192);
  const uint64_t good = uint64_t{8} << 32 | uint64_t{1} << 46;
  expect_tensor_fault(copy("32x128b.warpx4", 509, good), images, "F3216");
  expect_tensor_fault(copy("32x128b.warpx4", 16 << 16, good), images, "F3216");
  expect_tensor_fault(copy("4x256b", 32 << 16, good), images, "F3216");
  expect_tensor_fault(copy("32x128b.warpx4", 0, good | uint64_t{3} << 61), images, "F3216");      // swizzle code 3
  expect_tensor_fault(copy("32x128b.warpx4", 0, good | uint64_t{1} << 14), images, "F3216");      // reserved bit
  expect_tensor_fault(copy("32x128b.warpx4", 0, uint64_t{0x2000} << 32 | good), images, "F3216");  // past the CTA's memory
  expect_tensor_fault(copy("32x128b.warpx4", 0, good | uint64_t{1} << 49), images, "U5401");      // base offset: not modelled
}

TEST(TmemShift, MovesRowsDownInEveryPartition) {
  for (const unsigned group : {1u, 2u}) {
    Words words(group);
    std::vector<TensorImage> images(group);
    for (TensorImage& image : images) {
      for (uint32_t& v : image.tmem) v = static_cast<uint32_t>(words.next() >> 11);
    }
    std::vector<TensorImage> expected = images;
    for (TensorImage& image : expected) {
      for (unsigned column = 100; column < 108; ++column) {
        for (unsigned lane = 0; lane < 128; ++lane) {
          if (lane % 32 != 31) image.cell(lane, column) = image.cell(lane + 1, column);
        }
      }
    }
    TensorProgram p;
    p.cta_group = group;
    p.steps = {[=](const TensorOperands& o) { o.k("tcgen05.shift.cta_group::" + std::to_string(group) + ".down", isa::mem(o.word(32 << 16 | 100))); }};
    expect_tensor(p, images, expected);
  }
}

TEST(TmemShift, NeedsTheFirstLaneOfAPartition) {
  std::vector<TensorImage> images(1);
  TensorProgram p;
  p.steps = {[](const TensorOperands& o) { o.k("tcgen05.shift.cta_group::1.down", isa::mem(o.word(16 << 16))); }};
  expect_tensor_fault(p, images, "F3215");
}

}  // namespace
}  // namespace drywell::test
