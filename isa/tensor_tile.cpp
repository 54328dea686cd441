#include "drywell/isa/tensor_tile.h"

#include <algorithm>

#include "fmt/format.h"

namespace drywell::isa {
namespace {

void require_modelled(const TensorMapFields& f) {
  if (f.interleave != Interleave::none) {
    throw Unsupported("interleaved tensor maps");
  }
  if (f.mode == TensorMapMode::im2col_w || f.mode == TensorMapMode::im2col_w128) {
    throw Unsupported("tensor copies in im2col::w modes");
  }
}

void set_row(const TensorMapFields& f, uint32_t elements, TileGeometry& g) {
  g.row_bytes = elements * smem_element_bits(f.type) / 8;
  g.global_row_bytes = elements * element_bits(f.type) / 8;
  g.row_pitch = f.swizzle == Swizzle::none ? g.row_bytes : swizzle_span(f.swizzle);
  // The padded types count their packed size (facts §2.4).
  g.transaction_bytes = g.rows * g.global_row_bytes;
}

// In-bounds part of a row that starts at element `first_element` of dimension 0.
void clip_row(const TensorMapFields& f, int64_t first_element, uint32_t row_bytes, TensorAccess access,
              TileRow& r) {
  if (is_padded(f.type)) {
    // Start and size are multiples of 128 elements, so a row is inside or outside as a whole.
    const bool inside = first_element >= 0 && first_element < static_cast<int64_t>(f.dim[0]);
    r.last = inside ? row_bytes : 0;
    return;
  }
  const int64_t bits = element_bits(f.type);
  const int64_t begin = first_element * bits / 8;
  int64_t end = static_cast<int64_t>(f.dim[0]) * bits / 8;
  if (access == TensorAccess::store) {
    end = static_cast<int64_t>(round_up(static_cast<uint64_t>(end), 16));
  }
  const int64_t size = row_bytes;
  const int64_t low = std::clamp<int64_t>(-begin, 0, size), high = std::clamp<int64_t>(end - begin, 0, size);
  if (low < high) {
    r.first = static_cast<uint32_t>(low);
    r.last = static_cast<uint32_t>(high);
  }
}

uint64_t element_offset(const TensorMapFields& f, int64_t element) {
  return static_cast<uint64_t>(element * static_cast<int64_t>(element_bits(f.type)) / 8);
}

}  // namespace

TileGeometry tile_geometry(const TensorMapFields& f) {
  require_modelled(f);
  TileGeometry g;
  if (f.mode == TensorMapMode::im2col) {
    g.n = {f.channels_per_pixel, f.pixels_per_column, 1, 1, 1};
    g.rows = f.pixels_per_column;
  } else {
    g.n[0] = f.box[0];  // the traversal stride of dimension 0 has no effect without interleave
    for (unsigned i = 1; i < f.rank; ++i) {
      g.n[i] = static_cast<uint32_t>(ceil_div(f.box[i], f.element_stride[i]));
      g.rows *= g.n[i];
    }
  }
  set_row(f, g.n[0], g);
  return g;
}

TileGeometry gather4_geometry(const TensorMapFields& f) {
  require_modelled(f);
  TileGeometry g;
  g.n = {f.box[0], 4, 1, 1, 1};
  g.rows = 4;
  set_row(f, f.box[0], g);
  return g;
}

TileRow tile_row(const TensorMapFields& f, const TileGeometry& g, const TensorCoordinates& start,
                 uint32_t row, TensorAccess access) {
  TileRow r;
  r.smem_offset = row * g.row_pitch;
  r.global_offset = element_offset(f, start[0]);
  bool inside = true;
  for (unsigned k = 1; k < f.rank; ++k) {
    const int64_t at = int64_t{start[k]} + int64_t{row % g.n[k]} * f.element_stride[k];
    row /= g.n[k];
    inside = inside && at >= 0 && at < static_cast<int64_t>(f.dim[k]);
    r.global_offset += static_cast<uint64_t>(at) * f.stride[k - 1];
  }
  if (inside) {
    clip_row(f, start[0], g.row_bytes, access, r);
  }
  return r;
}

TileRow gather4_row(const TensorMapFields& f, const TileGeometry& g, int32_t column,
                    const std::array<int32_t, 4>& rows, unsigned i, TensorAccess access) {
  TileGeometry one = g;
  one.n[1] = 1;
  TileRow r = tile_row(f, one, {column, rows[i]}, 0, access);
  r.smem_offset = i * g.row_pitch;
  return r;
}

void check_coordinates(const TensorMapFields& f, const TensorCoordinates& start, TensorAccess access,
                       Diagnostics& out, const SourcePos& where) {
  const int64_t step = is_padded(f.type) ? 128 : 128 / element_bits(f.type);
  if (start[0] % step != 0) {
    out.error(
        "E1475", where,
        fmt::format("tensor copy starts at element {} of dimension 0, not a multiple of {}", start[0], step),
        is_padded(f.type) ? "padded types start at multiples of 128 elements"
                          : "the innermost start must be a multiple of 16 bytes");
  }
  if (access == TensorAccess::load) {
    return;
  }
  for (unsigned i = 0; i < f.rank; ++i) {
    if (start[i] < 0) {
      out.error("E1475", where, fmt::format("tensor store starts at {} in dimension {}", start[i], i),
                "store coordinates must not be negative");
    }
  }
}

Im2colWalk::Im2colWalk(const TensorMapFields& f, const Start& start, const std::array<uint32_t, 3>& offsets)
    : f_(f), position_(start), offsets_(offsets) {
  const TileGeometry g = tile_geometry(f);
  pitch_ = g.row_pitch;
  row_bytes_ = g.row_bytes;
}

TileRow Im2colWalk::row() const {
  const unsigned spatial = f_.spatial_dims();
  TileRow r;
  r.smem_offset = pixel_ * pitch_;
  r.global_offset = element_offset(f_, position_.channel);
  bool inside = true;
  for (unsigned j = 0; j < spatial; ++j) {
    // The offset is added once, not scaled by the traversal stride.
    const int64_t at = int64_t{position_.spatial[j]} + offsets_[j];
    inside = inside && at >= 0 && at < static_cast<int64_t>(f_.dim[j + 1]);
    r.global_offset += static_cast<uint64_t>(at) * f_.stride[j];
  }
  inside = inside && position_.image >= 0 && position_.image < static_cast<int64_t>(f_.dim[spatial + 1]);
  r.global_offset += static_cast<uint64_t>(int64_t{position_.image}) * f_.stride[spatial];
  if (inside) {
    clip_row(f_, position_.channel, row_bytes_, TensorAccess::load, r);
  }
  return r;
}

void Im2colWalk::advance() {
  ++pixel_;
  for (unsigned j = 0; j < f_.spatial_dims(); ++j) {
    position_.spatial[j] += static_cast<int32_t>(f_.element_stride[j + 1]);
    const int64_t bound = static_cast<int64_t>(f_.dim[j + 1]) + f_.upper_corner[j];
    if (position_.spatial[j] < bound) {
      return;
    }
    position_.spatial[j] = f_.lower_corner[j];  // restart at the corner itself, then carry
  }
  ++position_.image;
}

}  // namespace drywell::isa
