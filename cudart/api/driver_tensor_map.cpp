// cuTensorMapEncode… and cuTensorMapReplaceAddress of the driver interface.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "cudart/properties.h"
#include "cudart/serve.h"
#include "drywell/core/terminal.h"
#include "drywell/isa/tensor_map.h"

using namespace drywell::cudart;
namespace isa = drywell::isa;

namespace {

// CUtensorMapSwizzle in cuda.h; drywell/isa/swizzle.h has the same numbers.
constexpr int kSwizzles = 7;
constexpr uint32_t kMaxRank = 5;

isa::TensorMapFields fields(int type, uint32_t rank, void* address, const uint64_t* dim, const uint64_t* stride, const uint32_t* element_stride) {
  require_value(type >= 0 && type < static_cast<int>(isa::kTensorTypeCount) && rank >= 1 && rank <= kMaxRank && dim != nullptr && element_stride != nullptr);
  require_value(rank == 1 || stride != nullptr);
  isa::TensorMapFields f;
  f.type = static_cast<isa::TensorType>(type);
  f.rank = rank;
  f.address = reinterpret_cast<uintptr_t>(address);
  for (uint32_t i = 0; i < rank; ++i) {
    f.dim[i] = dim[i];
    f.element_stride[i] = element_stride[i];
    if (i + 1 < rank) f.stride[i] = stride[i];
  }
  return f;
}

void add_modes(isa::TensorMapFields& f, int interleave, int swizzle, int promotion, int fill) {
  require_value(interleave >= 0 && interleave <= 2 && swizzle >= 0 && swizzle < kSwizzles && promotion >= 0 && promotion <= 3 && fill >= 0 && fill <= 1);
  f.interleave = static_cast<isa::Interleave>(interleave);
  f.swizzle = static_cast<isa::Swizzle>(swizzle);
  f.l2_promotion = static_cast<isa::L2Promotion>(promotion);
  f.oob_fill = static_cast<isa::OobFill>(fill);
}

/// A rejected map is an invalid value; standard error lists every violated rule.
void encode(Context& c, const isa::TensorMapFields& f, void* out) {
  require_value(out != nullptr);
  if (reinterpret_cast<uintptr_t>(out) % isa::kTensorMapAlignment != 0) {
    drywell::print_error(fmt::format("drywell: tensor map refused: its own address, {}, is no multiple of {} (g++ may not align a temporary CUtensorMap without -O)\n", out,
                                     isa::kTensorMapAlignment));
    throw CallFailed{CudaError::invalid_value};
  }
  try {
    const isa::TensorMap m = isa::encode(f, static_cast<unsigned>(compute_capability(c.device())));
    std::memcpy(out, m.bytes.data(), m.bytes.size());
  } catch (const drywell::InputError& e) {
    drywell::print_error(fmt::format("drywell: tensor map refused: {}\n", e.what()));
    throw CallFailed{CudaError::invalid_value};
  }
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cuTensorMapEncodeTiled(void* out, int type, uint32_t rank, void* address, const uint64_t* dim, const uint64_t* stride, const uint32_t* box,
                                 const uint32_t* element_stride, int interleave, int swizzle, int promotion, int fill) {
  return serve_always("cuTensorMapEncodeTiled", [&](Context& c) {
    isa::TensorMapFields f = fields(type, rank, address, dim, stride, element_stride);
    require_value(box != nullptr);
    std::memcpy(f.box.data(), box, rank * sizeof *box);
    add_modes(f, interleave, swizzle, promotion, fill);
    encode(c, f, out);
  });
}

CudaError cuTensorMapEncodeIm2col(void* out, int type, uint32_t rank, void* address, const uint64_t* dim, const uint64_t* stride, const int* lower,
                                  const int* upper, uint32_t channels, uint32_t pixels, const uint32_t* element_stride, int interleave, int swizzle,
                                  int promotion, int fill) {
  return serve_always("cuTensorMapEncodeIm2col", [&](Context& c) {
    isa::TensorMapFields f = fields(type, rank, address, dim, stride, element_stride);
    require_value(lower != nullptr && upper != nullptr && rank >= 3);
    f.mode = isa::TensorMapMode::im2col;
    for (unsigned i = 0; i < f.spatial_dims(); ++i) {
      f.lower_corner[i] = lower[i];
      f.upper_corner[i] = upper[i];
    }
    f.channels_per_pixel = channels;
    f.pixels_per_column = pixels;
    add_modes(f, interleave, swizzle, promotion, fill);
    encode(c, f, out);
  });
}

CudaError cuTensorMapEncodeIm2colWide(void* out, int type, uint32_t rank, void* address, const uint64_t* dim, const uint64_t* stride, int lower_width,
                                      int upper_width, uint32_t channels, uint32_t pixels, const uint32_t* element_stride, int interleave, int mode,
                                      int swizzle, int promotion, int fill) {
  return serve_always("cuTensorMapEncodeIm2colWide", [&](Context& c) {
    isa::TensorMapFields f = fields(type, rank, address, dim, stride, element_stride);
    require_value(mode == 0 || mode == 1);  // CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, _W128
    f.mode = mode == 0 ? isa::TensorMapMode::im2col_w : isa::TensorMapMode::im2col_w128;
    f.lower_corner[0] = lower_width;
    f.upper_corner[0] = upper_width;
    f.channels_per_pixel = channels;
    f.pixels_per_column = pixels;
    add_modes(f, interleave, swizzle, promotion, fill);
    encode(c, f, out);
  });
}

CudaError cuTensorMapReplaceAddress(void* map, void* address) {
  return serve_always("cuTensorMapReplaceAddress", [&](Context& c) {
    require_value(map != nullptr);
    isa::TensorMap m;
    std::memcpy(m.bytes.data(), map, m.bytes.size());
    drywell::Diagnostics problems;
    isa::TensorMapFields f = isa::decode(m, problems);
    require_value(!problems.has_errors());
    f.address = reinterpret_cast<uintptr_t>(address);
    encode(c, f, map);
  });
}

#pragma GCC visibility pop
}
