// Parameter rules of cuTensorMapEncode* (docs/facts/tma-mbarrier.md §2.2).
#include "drywell/core/bits.h"
#include "drywell/isa/tensor_map.h"

#include <algorithm>
#include "fmt/format.h"

namespace drywell::isa {
namespace {

constexpr uint64_t kMaxDim = uint64_t{1} << 32;
constexpr uint64_t kMaxStride = uint64_t{1} << 40;

class Checker {
 public:
  Checker(const TensorMapFields& f, unsigned cc, Diagnostics& out, const SourcePos& where)
      : f_(f), cc_(cc), out_(out), where_(where) {}

  void run() {
    if (!rank()) {
      return;
    }
    target();
    address();
    dims();
    strides();
    element_strides();
    if (f_.mode == TensorMapMode::tile) {
      box();
    } else {
      im2col();
    }
    swizzle();
    packed_types();
    fill();
  }

 private:
  void error(Code code, std::string message, std::string hint = {}) {
    out_.error(code, where_, "tensor map: " + std::move(message), std::move(hint));
  }
  bool tile() const { return f_.mode == TensorMapMode::tile; }
  bool wide() const { return f_.mode == TensorMapMode::im2col_w || f_.mode == TensorMapMode::im2col_w128; }
  bool needs_32_byte_alignment() const { return f_.interleave == Interleave::bytes32 || is_padded(f_.type); }
  uint64_t inner_elements() const { return tile() ? f_.box[0] : f_.channels_per_pixel; }
  uint64_t inner_bits() const { return inner_elements() * smem_element_bits(f_.type); }

  bool rank() {
    const unsigned low = tile() && f_.interleave == Interleave::none ? 1 : 3;
    if (f_.rank >= low && f_.rank <= 5) {
      return true;
    }
    error(Code::E1461, fmt::format("rank {} is outside {}..5", f_.rank, low),
          low == 3 ? "im2col and interleaved maps need rank 3 or more" : "");
    return f_.rank >= 1 && f_.rank <= 5;
  }

  void target() {
    if (cc_ < 90) {
      error(Code::E1471, fmt::format("compute capability {}.{} has no TMA", cc_ / 10, cc_ % 10));
    }
    if (cc_ >= 100) {
      return;
    }
    if (f_.type >= TensorType::b4x16) {
      error(Code::E1471, fmt::format("type {} needs compute capability 10.0", to_string(f_.type)));
    }
    if (f_.swizzle >= Swizzle::b128_atom32) {
      error(Code::E1471, fmt::format("swizzle {} needs compute capability 10.0", to_string(f_.swizzle)));
    }
    if (wide()) {
      error(Code::E1471, "im2col-wide maps need compute capability 10.0");
    }
  }

  void address() {
    const unsigned align = needs_32_byte_alignment() ? 32 : 16;
    if (f_.address % align != 0) {
      error(Code::E1462, fmt::format("global address {:#x} is not a multiple of {}", f_.address, align));
    }
  }

  void dims() {
    for (unsigned i = 0; i < f_.rank; ++i) {
      if (f_.dim[i] < 1 || f_.dim[i] > kMaxDim) {
        error(Code::E1463, fmt::format("dimension {} has size {}, outside 1..2^32", i, f_.dim[i]));
      }
    }
    const unsigned multiple = is_padded(f_.type) ? 128 : f_.type == TensorType::b4x16 ? 2
                                                                                      : 1;
    if (f_.dim[0] % multiple != 0) {
      error(Code::E1463, fmt::format("dimension 0 has size {}, type {} needs a multiple of {}", f_.dim[0],
                                     to_string(f_.type), multiple));
    }
  }

  // Strides below the row size, even 0, are accepted: the driver does not enforce the documented assertion.
  void strides() {
    const unsigned align = needs_32_byte_alignment() ? 32 : 16;
    for (unsigned i = 0; i + 1 < f_.rank; ++i) {
      if (f_.stride[i] % align != 0 || f_.stride[i] >= kMaxStride) {
        error(Code::E1464,
              fmt::format("stride of dimension {} is {} bytes; it must be a multiple of {} below 2^40", i + 1,
                          f_.stride[i], align));
      }
    }
  }

  // Entry 0 has no effect on a copy without interleave, but 0 and 9 are rejected there too.
  void element_strides() {
    for (unsigned i = 0; i < f_.rank; ++i) {
      if (f_.element_stride[i] < 1 || f_.element_stride[i] > 8) {
        error(Code::E1466,
              fmt::format("element stride {} of dimension {} is outside 1..8", f_.element_stride[i], i));
      }
    }
  }

  void inner_multiple_of_16_bytes(Code code, std::string_view what) {
    if (inner_bits() % 128 != 0) {
      error(code, fmt::format("{} {} of type {} is not a multiple of 16 bytes", what, inner_elements(),
                              to_string(f_.type)));
    }
  }

  void box() {
    bool sized = true;
    for (unsigned i = 0; i < f_.rank; ++i) {
      if (f_.box[i] < 1 || f_.box[i] > 256) {
        error(Code::E1465, fmt::format("box size {} of dimension {} is outside 1..256", f_.box[i], i));
        sized = false;
      }
    }
    if (is_padded(f_.type) && f_.box[0] != 128) {
      error(Code::E1465, fmt::format("box size {} of dimension 0; type {} needs exactly 128", f_.box[0],
                                     to_string(f_.type)));
    }
    inner_multiple_of_16_bytes(Code::E1465, "inner box size");
    if (sized) box_bytes();
  }

  // Every dimension counts by its element stride, dimension 0 and interleaved maps too (docs/facts/tma-mbarrier.md §2.2).
  void box_bytes() {
    uint64_t bits = smem_element_bits(f_.type);
    for (unsigned i = 0; i < f_.rank; ++i) bits *= f_.box[i] / std::max(1u, f_.element_stride[i]);
    if (bits / 8 <= kLargestBox) return;
    error(Code::E1476, fmt::format("a box of {} bytes is larger than {}", bits / 8, kLargestBox), "use smaller boxes and several copies");
  }

  void im2col() {
    if (!wide()) {
      // 16, 8 or 5 bits per corner for 1, 2 or 3 spatial dimensions.
      static constexpr int32_t kLimit[] = {0, 1 << 15, 1 << 7, 1 << 4};
      corners(f_.spatial_dims(), kLimit[f_.spatial_dims()]);
    } else {
      corners(1, 1 << 15);
    }
    if (f_.channels_per_pixel < 1 || f_.channels_per_pixel > 256) {
      error(Code::E1473, fmt::format("{} channels per pixel, outside 1..256", f_.channels_per_pixel));
    } else if (is_padded(f_.type) && f_.channels_per_pixel != 128) {
      error(Code::E1473, fmt::format("{} channels per pixel; type {} needs exactly 128", f_.channels_per_pixel,
                                     to_string(f_.type)));
    }
    if (f_.mode != TensorMapMode::im2col_w128 && (f_.pixels_per_column < 1 || f_.pixels_per_column > 1024)) {
      error(Code::E1473, fmt::format("{} pixels per column, outside 1..1024", f_.pixels_per_column));
    }
    inner_multiple_of_16_bytes(Code::E1473, "channel count");
    if (wide() && f_.interleave != Interleave::none) {
      error(Code::E1468, "im2col-wide maps cannot be interleaved", "use interleave none");
    }
    const bool wide_swizzle =
        f_.swizzle == Swizzle::b64 || f_.swizzle == Swizzle::b128 || f_.swizzle == Swizzle::b128_atom32;
    if (wide() && !wide_swizzle) {
      error(Code::E1467, fmt::format("im2col-wide maps cannot use swizzle {}", to_string(f_.swizzle)),
            "use 64B, 128B or 128B with 32-byte atoms");
    }
  }

  void corners(unsigned count, int32_t limit) {
    for (unsigned j = 0; j < count; ++j) {
      for (int32_t v : {f_.lower_corner[j], f_.upper_corner[j]}) {
        if (v < -limit || v > limit - 1) {
          error(Code::E1472,
                fmt::format("corner {} of spatial dimension {} is outside {}..{}", v, j, -limit, limit - 1));
        }
      }
      const int64_t extent = static_cast<int64_t>(f_.dim[j + 1]) + f_.upper_corner[j] - f_.lower_corner[j];
      if (extent <= 0) {
        error(Code::E1472,
              fmt::format("the bounding box of spatial dimension {} is empty ({} pixels)", j, extent));
      }
    }
  }

  void swizzle() {
    if (f_.interleave == Interleave::bytes32 && f_.swizzle != Swizzle::b32 && f_.swizzle != Swizzle::none) {
      // Documented as "32B only"; a map with swizzle none passed on an H200.
      error(Code::E1468, fmt::format("interleave 32B with swizzle {}", to_string(f_.swizzle)), "use swizzle 32B");
    }
    if (f_.interleave != Interleave::none || f_.swizzle == Swizzle::none) {
      return;
    }
    if (inner_bits() / 8 > swizzle_span(f_.swizzle)) {
      error(Code::E1467,
            fmt::format("inner size {} bytes exceeds the {}-byte span of swizzle {}", inner_bits() / 8,
                        swizzle_span(f_.swizzle), to_string(f_.swizzle)),
            "split the inner dimension into boxes of one span");
    }
  }

  void packed_types() {
    if (!is_padded(f_.type)) {
      return;
    }
    if (f_.interleave != Interleave::none) {
      error(Code::E1469, fmt::format("type {} cannot be interleaved", to_string(f_.type)));
    }
    const bool both =
        f_.swizzle == Swizzle::none || f_.swizzle == Swizzle::b128 || f_.swizzle == Swizzle::b128_atom32;
    const bool store_only = f_.type == TensorType::b6x16_p32 && f_.swizzle == Swizzle::b128_atom64;
    if (!both && !store_only) {
      error(Code::E1469, fmt::format("type {} cannot use swizzle {}", to_string(f_.type), to_string(f_.swizzle)),
            "use none, 128B or 128B with 32-byte atoms");
    }
  }

  void fill() {
    if (f_.oob_fill == OobFill::nan && !is_floating(f_.type)) {
      error(Code::E1470, fmt::format("NaN fill with type {}", to_string(f_.type)), "only floating types take it");
    }
  }

  const TensorMapFields& f_;
  const unsigned cc_;
  Diagnostics& out_;
  const SourcePos& where_;
};

}  // namespace

void check(const TensorMapFields& f, unsigned compute_capability, Diagnostics& out, const SourcePos& where) {
  Checker(f, compute_capability, out, where).run();
}

}  // namespace drywell::isa
