#include "drywell/isa/tensor_tile.h"

#include <algorithm>

#include "fmt/format.h"

namespace drywell::isa {
namespace {

void require_modelled(const TensorMapFields& f) {
  if (f.interleave != Interleave::none && f.mode != TensorMapMode::tile) {
    throw Unsupported("im2col copies through interleaved tensor maps");
  }
}

// Interleaved maps list their dimensions in memory order: W, H, …, channel slices, N. The unit of dimension 0
// is a slice of 16 or 32 bytes; a copy takes one slice of the channels for every box (measured on an
// H200).
uint32_t slice_bytes(const TensorMapFields& f) { return f.interleave == Interleave::bytes16 ? 16 : 32; }

uint32_t traversed(const TensorMapFields& f, unsigned k) {
  return static_cast<uint32_t>(ceil_div(f.box[k], f.element_stride[k]));
}

// Each slice is a row: with a traversal stride the slices need not be adjacent in GMEM.
TileGeometry interleaved_geometry(const TensorMapFields& f) {
  TileGeometry g;
  for (unsigned k = 0; k < f.rank; ++k) {
    g.n[k] = k + 2 == f.rank ? 1 : traversed(f, k);
    g.rows *= g.n[k];
  }
  g.row_bytes = g.row_pitch = g.global_row_bytes = slice_bytes(f);
  g.transaction_bytes = g.rows * g.row_bytes;
  return g;
}

TileRow interleaved_row(const TensorMapFields& f, const TileGeometry& g, const TensorCoordinates& start,
                        uint32_t row) {
  TileRow r;
  r.smem_offset = row * g.row_pitch;
  bool inside = true;
  for (unsigned k = 0; k < f.rank; ++k) {
    const int64_t at = int64_t{start[k]} + int64_t{row % g.n[k]} * f.element_stride[k];
    row /= g.n[k];
    inside = inside && at >= 0 && at < static_cast<int64_t>(f.dim[k]);
    r.global_offset += static_cast<uint64_t>(at) * (k == 0 ? slice_bytes(f) : f.stride[k - 1]);
  }
  r.last = inside ? g.row_bytes : 0;
  return r;
}

// im2col::w::128 loads 128 pixels, with the halo behind every 32 of them.
constexpr uint32_t kWidePixels = 128, kWideChunk = 32;

bool is_wide(const TensorMapFields& f) {
  return f.mode == TensorMapMode::im2col_w || f.mode == TensorMapMode::im2col_w128;
}

uint32_t pixels(const TensorMapFields& f, uint32_t halo) {
  switch (f.mode) {
    case TensorMapMode::im2col_w: return f.pixels_per_column + halo;
    case TensorMapMode::im2col_w128: return kWidePixels / kWideChunk * (kWideChunk + halo);
    default: return f.pixels_per_column;
  }
}

void set_row(const TensorMapFields& f, uint32_t elements, TileGeometry& g) {
  g.row_bytes = elements * smem_element_bits(f.type) / 8;
  g.global_row_bytes = elements * element_bits(f.type) / 8;
  g.row_pitch = f.swizzle == Swizzle::none ? g.row_bytes : swizzle_span(f.swizzle);
  // The padded types count their packed size in the transaction bytes (docs/facts/tma-mbarrier.md §2.4).
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

TileGeometry tile_geometry(const TensorMapFields& f, uint32_t halo) {
  require_modelled(f);
  if (f.interleave != Interleave::none) {
    return interleaved_geometry(f);
  }
  TileGeometry g;
  if (f.mode != TensorMapMode::tile) {
    g.rows = pixels(f, halo);
    g.n = {f.channels_per_pixel, g.rows, 1, 1, 1};
  } else {
    g.n[0] = f.box[0];  // the traversal stride of dimension 0 has no effect without interleave
    for (unsigned i = 1; i < f.rank; ++i) {
      g.n[i] = traversed(f, i);
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

namespace {

// Returned by value and built in place: a copy of the row would cost more than its arithmetic.
TileRow plain_row(const TensorMapFields& f, const TileGeometry& g, const TensorCoordinates& start, uint32_t row, TensorAccess access) {
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

}  // namespace

TileRow tile_row(const TensorMapFields& f, const TileGeometry& g, const TensorCoordinates& start,
                 uint32_t row, TensorAccess access) {
  return f.interleave != Interleave::none ? interleaved_row(f, g, start, row) : plain_row(f, g, start, row, access);
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
  const bool slices = f.interleave != Interleave::none;
  const int64_t step = slices ? 1 : is_padded(f.type) ? 128
                                                      : 128 / element_bits(f.type);
  if (start[0] % step != 0) {
    out.error(
        Code::E1475, where,
        fmt::format("tensor copy starts at element {} of dimension 0, not a multiple of {}", start[0], step),
        is_padded(f.type) ? "padded types start at multiples of 128 elements"
                          : "the innermost start must be a multiple of 16 bytes");
  }
  if (access == TensorAccess::load) {
    return;
  }
  for (unsigned i = 0; i < f.rank; ++i) {
    if (start[i] < 0) {
      out.error(Code::E1475, where, fmt::format("tensor store starts at {} in dimension {}", start[i], i),
                "store coordinates must not be negative");
    }
  }
}

Im2colWalk::Im2colWalk(const TensorMapFields& f, const Start& start, const std::array<uint32_t, 3>& offsets,
                       TensorAccess access)
    : f_(f), position_(start), offsets_(offsets), access_(access), moving_(f.spatial_dims()) {
  const TileGeometry g = tile_geometry(f);
  pitch_ = g.row_pitch;
  row_bytes_ = g.row_bytes;
  if (is_wide(f)) {
    // wOffset moves the whole box (PTX ISA 5.5.5.4).
    const auto shift = static_cast<int32_t>(offsets[1]);
    f_.lower_corner[0] += shift;
    f_.upper_corner[0] += shift;
    position_.spatial[0] += shift;
    offsets_ = {};
    moving_ = 1;
  }
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
    clip_row(f_, position_.channel, row_bytes_, access_, r);
  }
  return r;
}

void Im2colWalk::advance() {
  ++pixel_;
  for (unsigned j = 0; j < moving_; ++j) {
    position_.spatial[j] += static_cast<int32_t>(f_.element_stride[j + 1]);
    const int64_t bound = static_cast<int64_t>(f_.dim[j + 1]) + f_.upper_corner[j];
    if (position_.spatial[j] < bound) {
      return;
    }
    position_.spatial[j] = f_.lower_corner[j];  // restart at the corner itself, then carry
  }
  ++position_.image;
}

namespace {

Im2colWalk walk_of(const TensorMapFields& f, const TensorRequest& r) {
  const unsigned spatial = f.spatial_dims();
  Im2colWalk::Start start;
  start.channel = r.coord[0];
  for (unsigned j = 0; j < spatial; ++j) {
    start.spatial[j] = r.coord[j + 1];
  }
  start.image = r.coord[spatial + 1];
  return Im2colWalk(f, start, {r.offset[0], r.offset[1], r.offset[2]}, r.access);
}

void im2col_rows(const TensorMapFields& f, const TensorRequest& r, TensorRows& out) {
  const uint32_t halo = is_wide(f) ? r.offset[0] : 0;
  out.geometry = tile_geometry(f, halo);
  const uint32_t chunk = f.mode == TensorMapMode::im2col_w128 ? kWideChunk : out.geometry.rows - halo;
  std::vector<TileRow> walked;  // each pixel once
  Im2colWalk walk = walk_of(f, r);
  const uint32_t count = out.geometry.rows / (chunk + halo) * chunk + halo;
  for (uint32_t p = 0; p < count; ++p, walk.advance()) {
    walked.push_back(walk.row());
  }
  // The rows of a chunk's halo are the first rows of the next chunk.
  for (uint32_t row = 0; row < out.geometry.rows; ++row) {
    out.rows.push_back(walked[row / (chunk + halo) * chunk + row % (chunk + halo)]);
    out.rows.back().smem_offset = row * out.geometry.row_pitch;
  }
}

bool is_gather4(Mod mode) { return mode == Mod::tile_gather4 || mode == Mod::tile_scatter4; }

TensorMapMode map_mode(Mod mode) {
  switch (mode) {
    case Mod::im2col:
    case Mod::im2col_no_offs: return TensorMapMode::im2col;
    case Mod::im2col_w: return TensorMapMode::im2col_w;
    case Mod::im2col_w_128: return TensorMapMode::im2col_w128;
    default: return TensorMapMode::tile;
  }
}

void check_mode(const TensorMapFields& f, const TensorRequest& r, Diagnostics& out, const SourcePos& where) {
  if (map_mode(r.mode) != f.mode) {
    out.error(Code::E1478, where,
              fmt::format("a .{} copy through a map made for {}", mod_text(r.mode), to_string(f.mode)));
  }
  if (is_gather4(r.mode) && (f.rank != 2 || f.box[1] != 1 || f.interleave != Interleave::none)) {
    out.error(Code::E1478, where,
              fmt::format("a .{} copy through a map of rank {} with {} rows in its box", mod_text(r.mode),
                          f.rank, f.box[1]),
              "gather4 and scatter4 take maps of rank 2 whose box is {n, 1}");
  }
}

void check_direction(const TensorMapFields& f, const TensorRequest& r, Diagnostics& out,
                     const SourcePos& where) {
  const bool store = r.access == TensorAccess::store;
  if (store && f.type == TensorType::b4x16_p64) {
    out.error(Code::E1479, where, "b4x16_p64 maps cannot be stored to");
  }
  if (store && f.swizzle == Swizzle::b128_atom32_flip8) {
    out.error(Code::E1479, where, "maps with the 8-byte flip cannot be stored to");
  }
  if (!store && f.type == TensorType::b6x16_p32 && f.swizzle == Swizzle::b128_atom64) {
    out.error(Code::E1479, where, "6-bit maps with 64-byte atoms can only be stored to");
  }
}

// Limits of the im2col offsets: 16, 8 or 5 bits for 1, 2 or 3 spatial dimensions; wHalo and wOffset of the w
// modes.
void check_offsets(const TensorMapFields& f, const TensorRequest& r, Diagnostics& out,
                   const SourcePos& where) {
  static constexpr uint32_t kSpatialLimit[] = {0, 1 << 16, 1 << 8, 1 << 5};
  const auto check = [&](uint32_t value, uint32_t limit, std::string_view what) {
    if (value >= limit) {
      out.error(Code::E1475, where, fmt::format("{} {} is outside 0..{}", what, value, limit - 1));
    }
  };
  if (r.mode == Mod::im2col) {
    for (unsigned j = 0; j < f.spatial_dims(); ++j) {
      check(r.offset[j], kSpatialLimit[f.spatial_dims()], "im2col offset");
    }
  }
  if (is_wide(f)) {
    check(r.offset[0], f.mode == TensorMapMode::im2col_w ? 512 : 32, "wHalo");
    check(r.offset[1], 32, "wOffset");
    if (int64_t{r.coord[1]} >= static_cast<int64_t>(f.dim[1]) + f.upper_corner[0]) {
      out.error(Code::E1475, where, fmt::format("W starts at {}, right of the bounding box", r.coord[1]),
                "the first element may lie outside only on the left (PTX ISA 5.5.5.1)");
    }
  }
}

// Measured on an H200: a start right of the bounding box, in any spatial dimension, is error 715.
void check_im2col_start(const TensorMapFields& f, const TensorRequest& r, Diagnostics& out,
                        const SourcePos& where) {
  for (unsigned j = 0; j < f.spatial_dims(); ++j) {
    if (int64_t{r.coord[j + 1]} >= static_cast<int64_t>(f.dim[j + 1]) + f.upper_corner[j]) {
      out.error(Code::E1475, where,
                fmt::format("an im2col copy starts at {} in spatial dimension {}, beyond its bounding box",
                            r.coord[j + 1], j));
    }
  }
}

void check_im2col_store(const TensorMapFields& f, Diagnostics& out, const SourcePos& where) {
  for (unsigned j = 0; j < f.spatial_dims(); ++j) {
    if (f.lower_corner[j] < 0 || f.upper_corner[j] > 0) {
      out.error(Code::E1475, where,
                fmt::format(
                    "an im2col store whose bounding box ({} to {}) leaves the tensor in spatial dimension {}",
                    f.lower_corner[j], f.upper_corner[j], j));
    }
  }
}

// The encoder counts floor(box / traversal stride) elements (docs/facts/tma-mbarrier.md §2.2), a copy writes the ceiling: a map whose stride is
// larger than its box passes the encoder at any size. Counted in 64 bits before a row is made: four dimensions of 256 are 2^32 rows.
void check_size(const TensorMapFields& f, Diagnostics& out, const SourcePos& where) {
  if (f.mode != TensorMapMode::tile) return;
  uint64_t bytes = f.interleave != Interleave::none ? slice_bytes(f) * uint64_t{traversed(f, 0)} : uint64_t{f.box[0]} * smem_element_bits(f.type) / 8;
  for (unsigned i = 1; i < f.rank; ++i) bytes *= f.interleave != Interleave::none && i + 2 == f.rank ? 1 : traversed(f, i);
  if (bytes <= kLargestBox) return;
  out.error(Code::E1476, where, fmt::format("a tensor copy of {} bytes: no shared memory is larger than {}", bytes, kLargestBox), "use smaller boxes and several copies");
}

}  // namespace

namespace {

// tile_row() for every row of a map without interleave: rows differ in their position only, and positions are counted,
// not divided out of the row's number.
void plain_rows(const TensorMapFields& f, const TensorRequest& r, TensorRows& out) {
  const TileGeometry& g = out.geometry;
  TileRow row;
  clip_row(f, r.coord[0], g.row_bytes, r.access, row);
  const uint64_t first = element_offset(f, r.coord[0]);
  std::array<uint32_t, 5> step{};
  out.rows.resize(g.rows);
  for (TileRow& to : out.rows) {
    bool inside = true;
    row.global_offset = first;
    for (unsigned k = 1; k < f.rank; ++k) {
      const int64_t at = int64_t{r.coord[k]} + int64_t{step[k]} * f.element_stride[k];
      inside = inside && at >= 0 && at < static_cast<int64_t>(f.dim[k]);
      row.global_offset += static_cast<uint64_t>(at) * f.stride[k - 1];
    }
    to = row;
    if (!inside) to.first = to.last = 0;
    row.smem_offset += g.row_pitch;
    for (unsigned k = 1; k < f.rank && ++step[k] == g.n[k]; ++k) step[k] = 0;
  }
}

}  // namespace

TensorRows tensor_rows(const TensorMapFields& f, const TensorRequest& r) {
  TensorRows out;
  if (f.mode != TensorMapMode::tile) {
    im2col_rows(f, r, out);
    return out;
  }
  const bool four = is_gather4(r.mode);
  out.geometry = four ? gather4_geometry(f) : tile_geometry(f);
  if (!four && f.interleave == Interleave::none) {
    plain_rows(f, r, out);
    return out;
  }
  out.rows.reserve(out.geometry.rows);
  for (uint32_t row = 0; row < out.geometry.rows; ++row) {
    out.rows.push_back(four ? gather4_row(f, out.geometry, r.coord[0], {r.coord[1], r.coord[2], r.coord[3], r.coord[4]}, row, r.access)
                            : interleaved_row(f, out.geometry, r.coord, row));
  }
  return out;
}

void check_request(const TensorMapFields& f, const TensorRequest& r, Diagnostics& out,
                   const SourcePos& where) {
  check_mode(f, r, out, where);
  if (out.has_errors()) {
    return;
  }
  check_direction(f, r, out, where);
  check_size(f, out, where);
  check_offsets(f, r, out, where);
  if (is_gather4(r.mode)) {
    for (unsigned i = 1; i < 5; ++i) {
      check_coordinates(f, {r.coord[0], r.coord[i]}, r.access, out, where);
    }
    return;
  }
  check_coordinates(f, r.coord, r.access, out, where);
  if (f.mode == TensorMapMode::im2col) {
    check_im2col_start(f, r, out, where);
  }
  if (r.mode == Mod::im2col_no_offs) {
    check_im2col_store(f, out, where);
  }
}

}  // namespace drywell::isa
