// cuTensorMapEncode… and cuTensorMapReplaceAddress, looked up as in programs, compared with the results of an H200's driver.
#include <gtest/gtest.h>

#include <cstring>

#include "cudart_program.h"
#include "support/h200_tensor_maps.h"

namespace drywell::test {
namespace {

using cudart::CudaError;
constexpr CudaError kOk = CudaError::success;

/// cudaGetDriverEntryPointByVersion's answer, as the function's type.
template <class F>
F entry(const char* name) {
  void* found = nullptr;
  int status = -1;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &found, 12000, 0, &status), kOk);
  EXPECT_EQ(status, 0) << name;
  return reinterpret_cast<F>(found);
}

using EncodeTiled = CudaError (*)(void*, int, uint32_t, void*, const uint64_t*, const uint64_t*, const uint32_t*, const uint32_t*, int, int, int, int);
using EncodeIm2col = CudaError (*)(void*, int, uint32_t, void*, const uint64_t*, const uint64_t*, const int*, const int*, uint32_t, uint32_t, const uint32_t*, int,
                                   int, int, int);
using EncodeIm2colWide = CudaError (*)(void*, int, uint32_t, void*, const uint64_t*, const uint64_t*, int, int, uint32_t, uint32_t, const uint32_t*, int, int, int,
                                       int, int);
using ReplaceAddress = CudaError (*)(void*, void*);

/// The call that asks for `f` at `address`.
CudaError encode_tiled(isa::TensorMap& out, const isa::TensorMapFields& f, uint64_t address) {
  return entry<EncodeTiled>("cuTensorMapEncodeTiled")(out.bytes.data(), static_cast<int>(f.type), f.rank, reinterpret_cast<void*>(address), f.dim.data(),
                                                      f.stride.data(), f.box.data(), f.element_stride.data(), static_cast<int>(f.interleave),
                                                      static_cast<int>(f.swizzle), static_cast<int>(f.l2_promotion), static_cast<int>(f.oob_fill));
}
CudaError encode_im2col(isa::TensorMap& out, const isa::TensorMapFields& f, uint64_t address) {
  return entry<EncodeIm2col>("cuTensorMapEncodeIm2col")(out.bytes.data(), static_cast<int>(f.type), f.rank, reinterpret_cast<void*>(address), f.dim.data(),
                                                        f.stride.data(), f.lower_corner.data(), f.upper_corner.data(), f.channels_per_pixel,
                                                        f.pixels_per_column, f.element_stride.data(), static_cast<int>(f.interleave),
                                                        static_cast<int>(f.swizzle), static_cast<int>(f.l2_promotion), static_cast<int>(f.oob_fill));
}

TEST(TensorMaps, AreThoseOfAnH200) {
  size_t tiled = 0, im2col = 0;
  for (const DriverTensorMap& m : h200_tensor_maps()) {
    SCOPED_TRACE(m.line);
    const bool is_tiled = m.fields.mode == isa::TensorMapMode::tile;
    const auto encode = is_tiled ? encode_tiled : encode_im2col;
    ++(is_tiled ? tiled : im2col);
    isa::TensorMap out{};
    ASSERT_EQ(encode(out, m.fields, m.fields.address), kOk);
    EXPECT_EQ(out.bytes, m.bytes.bytes);
    // The same map made for another address, then moved.
    isa::TensorMap moved{};
    ASSERT_EQ(encode(moved, m.fields, m.fields.address + 4096), kOk);
    EXPECT_NE(moved.bytes, m.bytes.bytes);
    ASSERT_EQ(entry<ReplaceAddress>("cuTensorMapReplaceAddress")(moved.bytes.data(), reinterpret_cast<void*>(m.fields.address)), kOk);
    EXPECT_EQ(moved.bytes, m.bytes.bytes);
  }
  EXPECT_GE(tiled, 30u);
  EXPECT_GE(im2col, 50u);
}

// Not measured on a device that has them: the map's fields must equal the arguments.
TEST(TensorMaps, OfTheWideIm2colModesKeepWhatWasAsked) {
  const uint64_t dim[] = {64, 40, 16, 8}, stride[] = {128, 128 * 40, 128 * 40 * 16};
  const uint32_t step[] = {1, 1, 1, 1};
  for (int mode : {0, 1}) {
    isa::TensorMap m{};
    ASSERT_EQ(entry<EncodeIm2colWide>("cuTensorMapEncodeIm2colWide")(m.bytes.data(), 6, 4, reinterpret_cast<void*>(0x1000), dim, stride, -1, 1, 64, 32, step, 0, mode, 3,
                                                                     0, 0),
              kOk);
    Diagnostics problems;
    const isa::TensorMapFields f = isa::decode(m, problems);
    EXPECT_TRUE(problems.empty()) << problems.to_string();
    EXPECT_EQ(f.mode, mode == 0 ? isa::TensorMapMode::im2col_w : isa::TensorMapMode::im2col_w128);
    EXPECT_EQ(f.lower_corner[0], -1);
    EXPECT_EQ(f.upper_corner[0], 1);
    EXPECT_EQ(f.channels_per_pixel, 64u);
    EXPECT_EQ(f.pixels_per_column, 32u);
    EXPECT_EQ(f.dim[1], 40u);
  }
}

}  // namespace
}  // namespace drywell::test
