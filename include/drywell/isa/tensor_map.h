// The TMA tensor map (CUtensorMap): its fields, the checks of the driver's encode functions, the 128 opaque bytes and
// the edits of tensormap.replace. Source: docs/facts/tma-mbarrier.md §2.1, §2.2 (CUDA driver API "Tensor Map Object
// Management", PTX ISA 9.7.9.27 tensormap.replace; acceptance measured on an H200 where the page marks it). Functions
// depend on their arguments only and may be called at the same time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/isa/swizzle.h"

namespace drywell::isa {

/// Numbered as CUtensorMapDataType.
enum class TensorType : uint8_t {
  u8 = 0,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  b4x16,      // 16U4_ALIGN8B
  b4x16_p64,  // 16U4_ALIGN16B: 8 bytes of GMEM become 16 of SMEM; load only
  b6x16_p32,  // 16U6_ALIGN16B: 12 bytes of GMEM become 16 of SMEM
};
inline constexpr unsigned kTensorTypeCount = 16;  // of TensorType

/// Numbered as CUtensorMapInterleave.
enum class Interleave : uint8_t {
  none = 0,
  bytes16 = 1,
  bytes32 = 2
};
/// Numbered as CUtensorMapL2promotion; a hint.
enum class L2Promotion : uint8_t {
  none = 0,
  bytes64 = 1,
  bytes128 = 2,
  bytes256 = 3
};
/// Value of elements outside the tensor, numbered as CUtensorMapFloatOOBfill.
enum class OobFill : uint8_t {
  zero = 0,
  nan = 1
};
/// Which encode function makes the map.
enum class TensorMapMode : uint8_t {
  tile = 0,
  im2col = 1,
  im2col_w = 2,
  im2col_w128 = 3
};

/// "bf16", "b4x16_p64", …
std::string_view to_string(TensorType t);
/// "tile", "im2col", …
std::string_view to_string(TensorMapMode m);

/// Bits of one element in GMEM.
constexpr unsigned element_bits(TensorType t) {
  switch (t) {
    case TensorType::u8: return 8;
    case TensorType::u16:
    case TensorType::f16:
    case TensorType::bf16: return 16;
    case TensorType::u64:
    case TensorType::s64:
    case TensorType::f64: return 64;
    case TensorType::b4x16:
    case TensorType::b4x16_p64: return 4;
    case TensorType::b6x16_p32: return 6;
    default: return 32;
  }
}
/// The padded types keep 16 elements in each 16 bytes of SMEM.
constexpr bool is_padded(TensorType t) { return t == TensorType::b4x16_p64 || t == TensorType::b6x16_p32; }
/// Bits of one element in SMEM.
constexpr unsigned smem_element_bits(TensorType t) { return is_padded(t) ? 8 : element_bits(t); }
/// True for the types that can be filled with NaN.
constexpr bool is_floating(TensorType t) { return t >= TensorType::f16 && t <= TensorType::tf32_ftz; }

/// The numbers of `tensormap.replace.elemtype`: f32.ftz, f64 and bf16 differ from the driver's (docs/facts/tma-mbarrier.md §2.1).
uint8_t to_ptx_number(TensorType t);
/// The type of a number of `tensormap.replace.elemtype`.
TensorType from_ptx_number(uint8_t number);

/// The fields of a tensor map. Dimension 0 is contiguous; entries at and beyond `rank` are ignored.
struct TensorMapFields {
  TensorMapMode mode = TensorMapMode::tile;               // decides which fields count
  TensorType type = TensorType::u8;                       // of an element
  uint32_t rank = 1;                                      // 1 to 5
  uint64_t address = 0;                                   // GMEM byte address
  std::array<uint64_t, 5> dim{1, 1, 1, 1, 1};             // elements
  std::array<uint64_t, 4> stride{};                       // stride[i]: bytes from one element of dimension i + 1 to the next
  std::array<uint32_t, 5> box{1, 1, 1, 1, 1};             // elements, tile mode
  std::array<uint32_t, 5> element_stride{1, 1, 1, 1, 1};  // traversal strides
  Interleave interleave = Interleave::none;               // of channels
  Swizzle swizzle = Swizzle::none;                        // of shared memory
  L2Promotion l2_promotion = L2Promotion::none;           // size of requests
  OobFill oob_fill = OobFill::zero;                       // outside the tensor
  // Im2col modes; spatial dimensions in the order W, H, D. The w modes use index 0 only.
  std::array<int32_t, 3> lower_corner{}, upper_corner{};   // of the bounding box
  uint32_t channels_per_pixel = 0, pixels_per_column = 0;  // of a load

  /// Dimensions but channels and images.
  unsigned spatial_dims() const { return rank >= 3 ? rank - 2 : 0; }
  bool operator==(const TensorMapFields&) const = default;
};

inline constexpr size_t kTensorMapBytes = 128;       // of a map
inline constexpr uint64_t kTensorMapAlignment = 64;  // alignment of a tensor map in bytes (driver API; PTX ISA 9.7.9.27)

/// The opaque object, byte for byte as a driver for compute capability 9.0 makes it (measured on an H200), so that
/// Drywell reads the maps of such a driver. Only the encoding of im2col::w, which compute capability 9.0 does not have,
/// is Drywell's own.
struct alignas(64) TensorMap {
  std::array<uint8_t, kTensorMapBytes> bytes{};  // as a kernel gets them
  bool operator==(const TensorMap&) const = default;
};
static_assert(sizeof(TensorMap) == kTensorMapBytes);

/// Bytes of the largest box: all of an SM's shared memory (35,688 maps on an H200: 233,472 bytes accepted, 233,600 rejected).
inline constexpr uint64_t kLargestBox = 228 * 1024;

/// cuTensorMapEncodeTiled. Reports every violated rule of docs/facts/tma-mbarrier.md §2.2 for a device of `compute_capability` (90, 100),
/// and then returns nothing: E1461 rank, E1462 address, E1463 dimension, E1464 stride, E1465 box, E1466 element stride,
/// E1467 inner box against swizzle, E1468 interleave, E1469 packed type, E1470 fill, E1471 target, E1476 box too large.
std::optional<TensorMap> encode_tiled(const TensorMapFields& f, Diagnostics& out,
                                      unsigned compute_capability = 100, const SourcePos& where = {});
/// cuTensorMapEncodeIm2col: reports the codes of encode_tiled, and E1472 corners, E1473 channels and pixels.
std::optional<TensorMap> encode_im2col(const TensorMapFields& f, Diagnostics& out,
                                       unsigned compute_capability = 100, const SourcePos& where = {});
/// cuTensorMapEncodeIm2colWide: compute capability 10.0 and newer.
std::optional<TensorMap> encode_im2col_wide(const TensorMapFields& f, Diagnostics& out,
                                            unsigned compute_capability = 100, const SourcePos& where = {});
/// Encodes by `f.mode`; throws InputError with all reports.
TensorMap encode(const TensorMapFields& f, unsigned compute_capability = 100);

/// Reports the rules of the encode function of `f.mode`, for maps edited by tensormap.replace.
void check(const TensorMapFields& f, unsigned compute_capability, Diagnostics& out,
           const SourcePos& where = {});

/// Fields of a map, as a copy reads them: the first 64 bytes count, whatever has written them. E1474 when rank, type, interleave or swizzle
/// bits have no meaning (the field then keeps its default).
TensorMapFields decode(const TensorMap& map, Diagnostics& out, const SourcePos& where = {});
/// True if the bytes behind the fields are those that the driver's encode functions write: size of the box, period of the swizzle,
/// zeros. Copies do not need them.
bool is_by_driver(const TensorMap& map);

/// `.field` of tensormap.replace.
enum class TensorMapField : uint8_t {
  global_address,
  rank,  // operand is rank - 1
  box_dim,
  global_dim,
  global_stride,  // bytes (PTX ISA 8.5 and newer; older modules pass stride >> 4)
  element_stride,
  elemtype,  // PTX numbering
  interleave_layout,
  swizzle_mode,
  fill_mode,
  swizzle_atomicity,
};

/// Replaces a field as the device does: without a check of `value`, extra bits dropped. `ordinal` is the dimension (of
/// global_stride: index in `stride`) and 0 for fields without one. Throws InputError E1477 for an `ordinal` out of
/// range.
void replace_field(TensorMap& map, TensorMapField field, unsigned ordinal, uint64_t value);

/// Returns the fields as text, one line each.
std::vector<std::string> describe(const TensorMapFields& f);

}  // namespace drywell::isa
