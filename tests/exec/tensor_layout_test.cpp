// Tensor copies of other layouts than plain tiles: im2col in its modes, interleaved maps.
#include <gtest/gtest.h>

#include <tuple>

#include "exec/tensor_copy_reference.h"

namespace drywell::test {
namespace {

// ---- im2col (docs/facts/tma-mbarrier.md §2.7)

struct Im2col {
  TensorMapFields f;
  Coordinates start{};  // C, W, H, D…, N
  std::array<int, 3> offset{};
  unsigned spatial() const { return f.rank - 2; }
};

// Calls fn(pixel, channel, global offset, inside) in the order of the facts' pseudo code.
template <class F>
void for_im2col(const Im2col& m, F fn) {
  const TensorMapFields& f = m.f;
  const unsigned ns = m.spatial();
  std::array<int64_t, 3> pos{};
  for (unsigned j = 0; j < ns; ++j) pos[j] = m.start[j + 1];
  int64_t n = m.start[ns + 1];
  for (uint32_t p = 0; p < f.pixels_per_column; ++p) {
    for (uint32_t i = 0; i < f.channels_per_pixel; ++i) {
      const int64_t ch = m.start[0] + i;
      bool inside =
          ch >= 0 && ch < static_cast<int64_t>(f.dim[0]) && n >= 0 && n < static_cast<int64_t>(f.dim[ns + 1]);
      int64_t at = ch * element_bytes(f.type) + n * static_cast<int64_t>(f.stride[ns]);
      for (unsigned j = 0; j < ns; ++j) {
        const int64_t g = pos[j] + m.offset[j];
        inside = inside && g >= 0 && g < static_cast<int64_t>(f.dim[j + 1]);
        at += g * static_cast<int64_t>(f.stride[j]);
      }
      fn(p, i, at, inside);
    }
    unsigned j = 0;
    while (true) {
      if (j == ns) {
        ++n;
        break;
      }
      pos[j] += f.element_stride[j + 1];
      if (pos[j] < static_cast<int64_t>(f.dim[j + 1]) + f.upper_corner[j]) break;
      pos[j] = f.lower_corner[j];
      ++j;
    }
  }
}

Im2col random_im2col(uint32_t seed, unsigned ns) {
  RandomMap r(seed);
  Im2col m;
  m.f.mode = TensorMapMode::im2col;
  m.f.rank = ns + 2;
  m.f.type = seed % 2 == 0 ? TensorType::f16 : TensorType::f32;
  const uint32_t granule = 16 / element_bytes(m.f.type);
  m.f.swizzle = static_cast<Swizzle>(seed % 4);
  m.f.dim[0] = static_cast<uint64_t>(r.pick(1, 5)) * granule;
  for (unsigned j = 0; j < ns; ++j) m.f.dim[j + 1] = static_cast<uint64_t>(r.pick(3, 6));
  m.f.dim[ns + 1] = static_cast<uint64_t>(r.pick(1, 3));
  uint64_t stride = m.f.dim[0] * element_bytes(m.f.type);
  for (unsigned j = 0; j <= ns; ++j) {
    m.f.stride[j] = stride;
    stride *= m.f.dim[j + 1];
  }
  for (unsigned j = 0; j < ns; ++j) {
    m.f.lower_corner[j] = r.pick(-2, 1);
    m.f.upper_corner[j] = r.pick(-1, 1);
    m.f.element_stride[j + 1] = static_cast<uint32_t>(r.pick(1, 2));
    m.start[j + 1] = r.pick(m.f.lower_corner[j], static_cast<int>(m.f.dim[j + 1]) + m.f.upper_corner[j] - 1);
    m.offset[j] = r.pick(0, 3);
  }
  m.start[ns + 1] = r.pick(0, 1);
  m.start[0] = r.pick(0, 2) * static_cast<int>(granule);
  const uint32_t span = m.f.swizzle == Swizzle::none ? 64 : span_of(m.f.swizzle, 0);
  m.f.channels_per_pixel = static_cast<uint32_t>(r.pick(1, static_cast<int>(span / 16))) * granule;
  m.f.pixels_per_column = static_cast<uint32_t>(r.pick(1, 60));
  return m;
}

uint64_t tensor_bytes(const TensorMapFields& f) { return f.stride[f.rank - 2] * f.dim[f.rank - 1]; }

class Im2colLoad : public testing::TestWithParam<int> {};

TEST_P(Im2colLoad, EqualsThePixelWalk) {
  const auto n = static_cast<uint32_t>(GetParam());
  const unsigned ns = n % 3 + 1;
  const Im2col m = random_im2col(n, ns);
  const uint32_t es = element_bytes(m.f.type), row = m.f.channels_per_pixel * es,
                 pitch = span_of(m.f.swizzle, row);
  std::string offsets = ", {";
  for (unsigned j = 0; j < ns; ++j) offsets += fmt::format("{}{}", j == 0 ? "" : ", ", m.offset[j]);
  AsyncCase c;
  c.buffers = {random_bytes(tensor_bytes(m.f), n), Bytes(kSmemBytes)};
  c.maps = {{m.f, 0}};
  c.body =
      tile_load_text(ns + 2, list(m.start, ns + 2), row * m.f.pixels_per_column, ".im2col", offsets + "}");
  Bytes want(kSmemBytes, kSmemFill);
  for_im2col(m, [&](uint32_t p, uint32_t i, int64_t from, bool inside) {
    load_element(m.f, c.buffers[0], want.data() + swizzled(m.f.swizzle, p * pitch + i * es), from, inside);
  });
  EXPECT_EQ(run_everywhere(c).at(1), want);
}
INSTANTIATE_TEST_SUITE_P(Random, Im2colLoad, testing::Range(0, 24));

TEST(Im2colNoOffs, StoresPixelsInTheBoundingBox) {
  Im2col m = random_im2col(4, 2);
  m.f.type = TensorType::f32;
  m.f.swizzle = Swizzle::none;
  m.f.dim = {8, 5, 4, 2, 1};
  m.f.stride = {32, 160, 640};
  m.f.lower_corner = {0, 0, 0};
  m.f.upper_corner = {-1, 0, 0};
  m.f.element_stride = {1, 1, 1, 1, 1};
  m.f.channels_per_pixel = 8;
  m.f.pixels_per_column = 20;
  m.start = {0, 1, 2, 0, 0};
  m.offset = {};
  AsyncCase c;
  c.buffers = {random_bytes(tensor_bytes(m.f), 1), random_bytes(kSmemBytes, 2)};
  c.maps = {{m.f, 0}};
  c.body = store_text(4, list(m.start, 4), "cp.async.bulk.tensor", ".im2col_no_offs");
  Bytes want = c.buffers[0];
  for_im2col(m, [&](uint32_t p, uint32_t i, int64_t to, bool inside) {
    for (uint32_t b = 0; inside && b < 4; ++b)
      want.at(static_cast<size_t>(to + b)) = c.buffers[1][p * 32 + i * 4 + b];
  });
  EXPECT_EQ(run_everywhere(c).at(0), want);
}

TEST(Im2colNoOffs, ReducesPixels) {
  Im2col m = random_im2col(4, 1);
  m.f.type = TensorType::u32;
  m.f.swizzle = Swizzle::none;
  m.f.dim = {8, 5, 3, 1, 1};
  m.f.stride = {32, 160};
  m.f.lower_corner = m.f.upper_corner = {};
  m.f.element_stride = {1, 1, 1, 1, 1};
  m.f.channels_per_pixel = 8;
  m.f.pixels_per_column = 9;
  m.start = {0, 2, 1};
  m.offset = {};
  AsyncCase c;
  c.buffers = {random_bytes(tensor_bytes(m.f), 1), random_bytes(kSmemBytes, 2)};
  c.maps = {{m.f, 0}};
  c.body = store_text(3, list(m.start, 3), "cp.reduce.async.bulk.tensor .max", ".im2col_no_offs");
  std::vector<uint32_t> want = from_bytes<uint32_t>(c.buffers[0]);
  const auto source = from_bytes<uint32_t>(c.buffers[1]);
  for_im2col(m, [&](uint32_t p, uint32_t i, int64_t to, bool inside) {
    if (inside)
      want.at(static_cast<size_t>(to / 4)) =
          std::max(want.at(static_cast<size_t>(to / 4)), source[p * 8 + i]);
  });
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), want);
}

// PTX ISA 5.5.5: only W advances, then the image; the halo is the next pixels, once (w) or after every 32
// pixels (w::128).
class Im2colWide : public testing::TestWithParam<bool> {};

TEST_P(Im2colWide, WalksAlongWAndAddsTheHalo) {
  const bool w128 = GetParam();
  TensorMapFields f;
  f.mode = w128 ? TensorMapMode::im2col_w128 : TensorMapMode::im2col_w;
  f.type = TensorType::f16;
  f.rank = 4;
  f.dim = {32, 9, 7, 20, 1};
  f.stride = {64, 576, 4032};
  f.swizzle = Swizzle::b64;
  f.channels_per_pixel = 32;
  f.pixels_per_column = 50;
  f.lower_corner[0] = -1;
  f.element_stride[1] = 2;
  const int halo = 3, offset = 1;
  AsyncCase c;
  c.buffers = {random_bytes(tensor_bytes(f), 1), Bytes(kSmemBytes)};
  c.maps = {{f, 0}};
  const uint32_t main = w128 ? 128 : 50, chunk = w128 ? 32 : 50, rows = main / chunk * (chunk + halo);
  c.body = tile_load_text(4, "0, 3, 2, 1", rows * 64, w128 ? ".im2col::w::128" : ".im2col::w",
                          fmt::format(", {{{}, {}}}", halo, offset));
  std::vector<std::pair<int64_t, int64_t>> walk;  // W, N
  for (int64_t w = 3 + offset, n = 1; walk.size() < main + halo;) {
    walk.emplace_back(w, n);
    w += 2;
    if (w >= 9 + 0 + offset) {
      w = -1 + offset;
      ++n;
    }
  }
  Bytes want(kSmemBytes, kSmemFill);
  uint32_t row = 0;
  for (uint32_t first = 0; first < main; first += chunk) {
    for (uint32_t p = first; p < first + chunk + halo; ++p, ++row) {
      const auto [w, n] = walk[p];
      for (uint32_t i = 0; i < 32; ++i)
        load_element(f, c.buffers[0], want.data() + swizzled(f.swizzle, row * 64 + i * 2),
                     i * 2 + w * 64 + 2 * 576 + n * 4032, w >= 0 && w < 9 && n < 20);
    }
  }
  EXPECT_EQ(row, rows);
  EXPECT_EQ(run_everywhere(c).at(1), want);
}
INSTANTIATE_TEST_SUITE_P(Modes, Im2colWide, testing::Bool());

// ---- interleaved maps, as on an H200. Dimension 0 counts slices of 16 or 32 bytes, the last but one counts
// slices of the channels, of which a copy takes one; rows of slices are consecutive.

struct Interleaved {
  TensorMapFields f;
  Coordinates start{};
  uint32_t slice() const { return f.interleave == isa::Interleave::bytes16 ? 16 : 32; }
};

template <class F>
uint32_t for_slices(const Interleaved& m, F fn) {
  const TensorMapFields& f = m.f;
  std::array<uint32_t, 5> n{1, 1, 1, 1, 1}, i{};
  for (unsigned k = 0; k < f.rank; ++k)
    n[k] = k + 2 == f.rank ? 1 : (f.box[k] + f.element_stride[k] - 1) / f.element_stride[k];
  uint32_t slices = 0;
  for (i[4] = 0; i[4] < n[4]; ++i[4])
    for (i[3] = 0; i[3] < n[3]; ++i[3])
      for (i[2] = 0; i[2] < n[2]; ++i[2])
        for (i[1] = 0; i[1] < n[1]; ++i[1])
          for (i[0] = 0; i[0] < n[0]; ++i[0]) {
            int64_t at = 0;
            bool inside = true;
            for (unsigned k = 0; k < f.rank; ++k) {
              const int64_t g = m.start[k] + int64_t{i[k]} * f.element_stride[k];
              inside = inside && g >= 0 && g < static_cast<int64_t>(f.dim[k]);
              at += g * (k == 0 ? m.slice() : static_cast<int64_t>(f.stride[k - 1]));
            }
            fn(slices++, at, inside);
          }
  return slices;
}

Interleaved interleaved_map(unsigned rank, int interleave, Swizzle swizzle) {
  Interleaved m;
  m.f.type = TensorType::u32;
  m.f.rank = rank;
  m.f.interleave = static_cast<isa::Interleave>(interleave);
  m.f.swizzle = swizzle;
  uint64_t stride = 0;
  for (unsigned k = 0; k < rank; ++k) {
    m.f.dim[k] = std::array<uint64_t, 5>{8, 4, 3, 6, 2}[k];
    m.f.box[k] = std::array<uint32_t, 5>{8, 3, 2, 4, 2}[k];
    stride = k == 0 ? m.f.dim[0] * m.slice() : stride * m.f.dim[k];
    if (k + 1 < rank) m.f.stride[k] = stride;
    m.start[k] = std::array<int64_t, 5>{2, -1, 1, 2, 0}[k];
  }
  if (rank > 3) m.f.element_stride = {2, 2, 1, 1, 1};
  return m;
}

class InterleavedMaps : public testing::TestWithParam<std::tuple<int, int, Swizzle>> {};

TEST_P(InterleavedMaps, LoadAndStoreSlices) {
  const auto [rank, interleave, swizzle] = GetParam();
  const Interleaved m = interleaved_map(static_cast<unsigned>(rank), interleave, swizzle);
  const size_t bytes = m.f.stride[m.f.rank - 2] * m.f.dim[m.f.rank - 1];
  AsyncCase c;
  c.buffers = {random_bytes(bytes, 1), Bytes(kSmemBytes)};
  c.maps = {{m.f, 0}};
  Bytes want(kSmemBytes, kSmemFill);
  const uint32_t slices = for_slices(m, [&](uint32_t s, int64_t from, bool inside) {
    for (uint32_t b = 0; b < m.slice(); ++b)
      want[swizzled(swizzle, s * m.slice() + b)] =
          inside ? c.buffers[0].at(static_cast<size_t>(from) + b) : 0;
  });
  c.body = tile_load_text(m.f.rank, list(m.start, m.f.rank), slices * m.slice());
  EXPECT_EQ(run_everywhere(c).at(1), want);
  Interleaved stored = m;
  for (int64_t& v : stored.start) v = std::max<int64_t>(v, 0);
  c.buffers[1] = random_bytes(kSmemBytes, 2);
  c.body = store_text(m.f.rank, list(stored.start, m.f.rank), "cp.async.bulk.tensor");
  want = c.buffers[0];
  for_slices(stored, [&](uint32_t s, int64_t to, bool inside) {
    for (uint32_t b = 0; inside && b < m.slice(); ++b)
      want.at(static_cast<size_t>(to) + b) = c.buffers[1][swizzled(swizzle, s * m.slice() + b)];
  });
  EXPECT_EQ(run_everywhere(c).at(0), want);
}
INSTANTIATE_TEST_SUITE_P(Layouts, InterleavedMaps,
                         testing::Values(std::tuple{3, 1, Swizzle::none}, std::tuple{4, 1, Swizzle::none},
                                         std::tuple{5, 1, Swizzle::b64}, std::tuple{4, 1, Swizzle::b128},
                                         std::tuple{3, 2, Swizzle::b32}, std::tuple{5, 2, Swizzle::b32},
                                         std::tuple{4, 2, Swizzle::none}));

TEST(TensorModes, ModesMustFitTheMap) {
  TensorMapFields f = random_im2col(2, 2).f;
  expect_fault(bad_load(f, "0, 0, 0, 0"), Code::F3304);
  TensorMapFields tile = plain_map();
  tile.rank = 3;
  tile.dim[2] = 2;
  tile.stride[1] = 1024;
  expect_fault(bad_load(tile, "0, 0, 0", ".im2col", ", {0}"), Code::F3304);
  f.upper_corner = f.lower_corner = {};
  expect_fault(bad_load(f, "0, 0, 0, 0", ".im2col", ", {0, 256}"), Code::F3304);  // offsets have 8 bits in 4D
  f.upper_corner[1] = -1;
  expect_fault(bad_load(f, fmt::format("0, 0, {}, 0", f.dim[2] - 1), ".im2col", ", {0, 0}"),
               Code::F3304);  // right of the box (measured)
}

}  // namespace
}  // namespace drywell::test
