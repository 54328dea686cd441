// Tensor copies in the other modes (PTX ISA 5.5, 9.7.9.27): im2col, gathered and scattered rows; and their prefetches. The
// expected image is computed pixel by pixel and row by row from the definition.
#include <fmt/format.h>

#include <array>

#include "conformance/programs/async_text.h"
#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

using isa::TensorMapFields;

std::string coordinates(const std::vector<int>& v) {
  std::string s;
  for (const int x : v) s += (s.empty() ? "" : ", ") + std::to_string(x);
  return "{" + s + "}";
}

/// A prefetch of the map and of the box, then the load to the start of the area.
AsyncText loaded(const TensorMapFields& map, const std::string& form, const std::string& box, const std::string& offsets, uint32_t bytes, const Bytes& source, Bytes want) {
  const std::string rank = fmt::format("{}d", map.rank);
  return {fill_area() + init_bar() +
              fmt::format("@%first prefetch.tensormap [%map];\n@%first cp.async.bulk.prefetch.tensor.{}.L2.global{} [%map, {}]{};\n", rank, form, box, offsets) + expect_bytes(bytes) +
              fmt::format("@%first cp.async.bulk.tensor.{}.shared::cta.global{}.mbarrier::complete_tx::bytes [%area], [%map, {}], [%bar]{};\n", rank, form, box, offsets) + wait_bar() +
              dump_area("%b1"),
          {input(source), output(std::move(want))},
          {{map, 0, 0}}};
}

// ---- tiles of every rank: tests of their prefetch

void add_tiles(std::vector<ProgramSpec>& out) {
  for (uint32_t rank = 1; rank <= 5; ++rank) {
    TensorMapFields f;
    f.type = isa::TensorType::u32;
    f.rank = rank;
    uint64_t pitch = 64;
    std::vector<int> start(rank, 1);
    start[0] = 8;
    for (uint32_t d = 0; d < rank; ++d) {
      f.dim[d] = d == 0 ? 16 : 4;
      f.box[d] = d == 0 ? 8 : 2;
      if (d > 0) {
        f.stride[d - 1] = pitch;
        pitch *= 4;
      }
    }
    const Bytes source = random_bytes(pitch, 1500 + rank);
    Bytes want(kArea, kAreaFill);
    const uint32_t rows = 1u << (rank - 1);
    for (uint32_t row = 0; row < rows; ++row) {
      uint64_t at = 32;
      for (uint32_t d = 1; d < rank; ++d) at += (1 + (row >> (d - 1) & 1)) * f.stride[d - 1];
      for (uint32_t i = 0; i < 8; ++i) put_value(want, row * 8 + i, value_at<uint32_t>(source, at / 4 + i));
    }
    out.push_back(text_program("tma", fmt::format("tma.prefetch.{}d", rank), loaded(f, ".tile", coordinates(start), "", rows * 32, source, std::move(want))));
  }
}

// ---- im2col (docs/facts/tma-mbarrier.md §2.7)

struct Pixels {
  TensorMapFields map;
  std::vector<int> start;  // C, W, H, D…, N
  std::array<int, 3> offset{};
};

Pixels pixels(uint32_t spatial) {
  Pixels p;
  TensorMapFields& f = p.map;
  f.mode = isa::TensorMapMode::im2col;
  f.type = isa::TensorType::u32;
  f.rank = spatial + 2;
  f.dim = {8, 5, 4, 3, 1};
  f.dim[spatial + 1] = 2;
  uint64_t pitch = 32;
  for (uint32_t j = 0; j <= spatial; ++j) {
    f.stride[j] = pitch;
    pitch *= f.dim[j + 1];
  }
  f.channels_per_pixel = 4;
  f.pixels_per_column = 40;
  p.start.assign(f.rank, 0);
  p.start[0] = 4;
  for (uint32_t j = 0; j < spatial; ++j) {
    f.lower_corner[j] = -1;
    f.upper_corner[j] = j == 0 ? 0 : -1;
    p.start[j + 1] = static_cast<int>(j) - 1;
    p.offset[j] = 1 + static_cast<int>(j % 2);
  }
  f.element_stride[1] = 2;
  return p;
}

// Pixels go through the bounding box, W first, then to the next image; the offsets move every pixel by the same amount.
Bytes expected(const Pixels& p, uint32_t spatial, const Bytes& source) {
  const TensorMapFields& f = p.map;
  Bytes want(kArea, kAreaFill);
  std::array<int64_t, 3> at{};
  for (uint32_t j = 0; j < spatial; ++j) at[j] = p.start[j + 1];
  int64_t image = p.start[spatial + 1];
  for (uint32_t pixel = 0; pixel < f.pixels_per_column; ++pixel) {
    bool inside = image < static_cast<int64_t>(f.dim[spatial + 1]);
    int64_t byte = image * static_cast<int64_t>(f.stride[spatial]);
    for (uint32_t j = 0; j < spatial; ++j) {
      const int64_t x = at[j] + p.offset[j];
      inside = inside && x >= 0 && x < static_cast<int64_t>(f.dim[j + 1]);
      byte += x * static_cast<int64_t>(f.stride[j]);
    }
    for (uint32_t c = 0; c < f.channels_per_pixel; ++c) {
      const int64_t channel = p.start[0] + c;
      put_value(want, pixel * f.channels_per_pixel + c, inside ? value_at<uint32_t>(source, static_cast<size_t>(byte / 4 + channel)) : 0u);
    }
    uint32_t j = 0;
    while (j < spatial && (at[j] += f.element_stride[j + 1]) >= static_cast<int64_t>(f.dim[j + 1]) + f.upper_corner[j]) {
      at[j] = f.lower_corner[j];
      ++j;
    }
    if (j == spatial) ++image;
  }
  return want;
}

void add_im2col(std::vector<ProgramSpec>& out) {
  for (uint32_t spatial = 1; spatial <= 3; ++spatial) {
    const Pixels p = pixels(spatial);
    const Bytes source = random_bytes(p.map.stride[spatial] * p.map.dim[spatial + 1], 1510 + spatial);
    const std::vector<int> offsets(p.offset.begin(), p.offset.begin() + spatial);
    out.push_back(text_program("tma", fmt::format("tma.im2col.{}d", spatial + 2),
                               loaded(p.map, ".im2col", coordinates(p.start), ", " + coordinates(offsets), p.map.pixels_per_column * p.map.channels_per_pixel * 4, source, expected(p, spatial, source))));
  }
}

// ---- four rows of a matrix, each with its own coordinate

void add_rows(std::vector<ProgramSpec>& out) {
  TensorMapFields f;
  f.type = isa::TensorType::u32;
  f.rank = 2;
  f.dim = {24, 9, 1, 1, 1};
  f.stride = {96};
  f.box = {16, 1, 1, 1, 1};
  const std::array<int, 4> rows = {7, 0, 12, 3};  // row 12 is outside
  const Bytes source = random_bytes(96 * 9, 1520), area = random_bytes(kArea, 1521);
  const std::string box = coordinates({8, rows[0], rows[1], rows[2], rows[3]});
  Bytes gathered(kArea, kAreaFill), scattered = source, added = source;
  for (uint32_t r = 0; r < 4; ++r) {
    for (uint32_t i = 0; i < 16; ++i) {
      const bool inside = rows[r] < 9;
      const auto at = static_cast<size_t>(rows[r] * 24 + 8) + i;
      put_value(gathered, 16 * r + i, inside ? value_at<uint32_t>(source, at) : 0u);
      if (!inside) continue;
      const auto v = value_at<uint32_t>(area, 16 * r + i);
      put_value(scattered, at, v);
      put_value(added, at, value_at<uint32_t>(source, at) + v);
    }
  }
  out.push_back(text_program("tma", "tma.gather4", loaded(f, ".tile::gather4", box, "", 256, source, gathered)));
  for (const bool add : {false, true}) {
    const std::string body = fill_area("%b1") + fmt::format("@%first cp.{}async.bulk.tensor.2d.global.shared::cta{}.tile::scatter4.bulk_group [%map, {}], [%area];\n", add ? "reduce." : "", add ? ".add" : "", box) +
                             "@%first cp.async.bulk.commit_group;\n@%first cp.async.bulk.wait_group 0;\n";
    out.push_back(text_program("tma", add ? "tma.scatter4.add" : "tma.scatter4", {body, {{.initial = source, .expected = add ? added : scattered}, input(area)}, {{f, 0, 0}}}));
  }
}

}  // namespace

void add_tma_modes(std::vector<ProgramSpec>& out) {
  add_tiles(out);
  add_im2col(out);
  add_rows(out);
}

}  // namespace drywell::kernels::conformance
