// Tensor copies through executed instructions. The expected bytes come from the rules of facts/tma-mbarrier.md §2
// written out one element at a time; nothing is shared with the simulator.
#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "support/async_run.h"
#include "support/smem_text.h"

namespace drywell::test {
namespace {

using isa::Swizzle;
using isa::TensorMapFields;
using isa::TensorMapMode;
using isa::TensorType;

using Coordinates = std::array<int64_t, 5>;

// facts §2.5, the table's middle column.
uint32_t swizzled(Swizzle s, uint32_t a) {
  switch (s) {
    case Swizzle::none: return a;
    case Swizzle::b32: return a ^ (((a >> 7) & 1) << 4);
    case Swizzle::b64: return a ^ (((a >> 7) & 3) << 4);
    case Swizzle::b128: return a ^ (((a >> 7) & 7) << 4);
    case Swizzle::b128_atom32: return a ^ (((a >> 7) & 3) << 5);
    case Swizzle::b128_atom32_flip8: a ^= ((a >> 7) & 3) << 5; return (a >> 7) % 2 == 1 ? a ^ 8 : a;
    case Swizzle::b128_atom64: return a ^ (((a >> 7) & 1) << 6);
  }
  return a;
}

uint32_t span_of(Swizzle s, uint32_t row_bytes) {
  switch (s) {
    case Swizzle::none: return row_bytes;
    case Swizzle::b32: return 32;
    case Swizzle::b64: return 64;
    default: return 128;
  }
}

uint32_t element_bytes(TensorType t) {
  switch (t) {
    case TensorType::u8: return 1;
    case TensorType::u16: case TensorType::f16: case TensorType::bf16: return 2;
    case TensorType::u64: case TensorType::s64: case TensorType::f64: return 8;
    default: return 4;
  }
}

// facts §2.2: TFLOAT32 maps round to 10 fraction bits, nearest even.
uint32_t loaded_tf32(uint32_t v) {
  if ((v & 0x7FFFFFFF) > 0x7F800000) return 0x7FFFE000;
  const uint32_t low = v & 0x1FFF, kept = v & ~0x1FFFu;
  if (low > 0x1000 || (low == 0x1000 && (kept & 0x2000) != 0)) return kept + 0x2000;
  return kept;
}

// Calls f(smem offset, global byte offset, inside) for every element of a tile, gather4 or scatter4 box.
template <class F>
void for_tile(const TensorMapFields& f, const Coordinates& start, bool store, bool four, F fn) {
  const int64_t es = element_bytes(f.type);
  std::array<int64_t, 5> n{1, 1, 1, 1, 1};
  n[0] = f.box[0];
  for (unsigned k = 1; k < f.rank; ++k) n[k] = (f.box[k] + f.element_stride[k] - 1) / f.element_stride[k];
  if (four) n[1] = 4;
  const int64_t pitch = span_of(f.swizzle, static_cast<uint32_t>(f.box[0] * es));
  for (int64_t i4 = 0; i4 < n[4]; ++i4)
    for (int64_t i3 = 0; i3 < n[3]; ++i3)
      for (int64_t i2 = 0; i2 < n[2]; ++i2)
        for (int64_t i1 = 0; i1 < n[1]; ++i1)
          for (int64_t i0 = 0; i0 < n[0]; ++i0) {
            const std::array<int64_t, 5> i{i0, i1, i2, i3, i4};
            int64_t offset = 0;
            bool inside = true;
            for (unsigned k = 0; k < f.rank; ++k) {
              const int64_t g = k == 0 ? start[0] + i0 : four ? start[1 + i1] : start[k] + i[k] * f.element_stride[k];
              const auto dim = static_cast<int64_t>(f.dim[k]);
              const bool ok = k == 0 && store ? g >= 0 && g * es < (dim * es + 15) / 16 * 16 : g >= 0 && g < dim;
              inside = inside && ok;
              offset += k == 0 ? g * es : g * static_cast<int64_t>(f.stride[k - 1]);
            }
            const int64_t row = ((i4 * n[3] + i3) * n[2] + i2) * n[1] + i1;
            fn(swizzled(f.swizzle, static_cast<uint32_t>(row * pitch + i0 * es)), static_cast<int64_t>(f.address) + offset, inside);
          }
}

uint32_t box_bytes(const TensorMapFields& f, bool four = false) {
  uint32_t bytes = 0;
  for_tile(f, {}, false, four, [&](uint32_t, int64_t, bool) { bytes += element_bytes(f.type); });
  return bytes;
}

void load_element(const TensorMapFields& f, const Bytes& global, uint8_t* to, int64_t from, bool inside) {
  const uint32_t es = element_bytes(f.type);
  for (uint32_t b = 0; b < es; ++b) to[b] = inside ? global.at(static_cast<size_t>(from + b)) : f.oob_fill == isa::OobFill::nan ? (b % 2 == 0 ? 0xF7 : 0x7F) : 0;
  if (inside && (f.type == TensorType::tf32 || f.type == TensorType::tf32_ftz)) {
    uint32_t v;
    std::memcpy(&v, to, 4);
    v = loaded_tf32(v);
    std::memcpy(to, &v, 4);
  }
}

Bytes random_bytes(size_t n, uint32_t seed) {
  std::mt19937 rng(seed);
  Bytes b(n);
  for (uint8_t& v : b) v = static_cast<uint8_t>(rng());
  return b;
}

std::string list(const Coordinates& c, size_t n) {
  std::string s;
  for (size_t k = 0; k < n; ++k) s += fmt::format("{}{}", k == 0 ? "" : ", ", c[k]);
  return s;
}

constexpr uint32_t kSmemBytes = 16384;

std::string tile_load_text(unsigned rank, const std::string& coordinates, uint32_t bytes, const std::string& mode = ".tile", const std::string& offsets = "") {
  return fill_smem(kSmemBytes) + init_bar() +
         fmt::format("  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {};\n"
                     "  @first cp.async.bulk.tensor.{}d.shared::cta.global{}.mbarrier::complete_tx::bytes [smem], [map0, {{{}}}], [bar]{};\n",
                     bytes, rank, mode, coordinates, offsets) +
         wait_for("[bar]", 0) + dump_smem("buf1", kSmemBytes);
}

// A random tiled map inside a buffer of its own, small enough for kSmemBytes.
class RandomMap {
 public:
  explicit RandomMap(uint32_t seed) : rng_(seed) {}
  int pick(int low, int high) { return low + static_cast<int>(rng_() % static_cast<unsigned>(high - low + 1)); }

  TensorMapFields make(unsigned rank, TensorType type, Swizzle swizzle) {
    TensorMapFields f;
    const auto es = static_cast<int>(element_bytes(type)), granule = 16 / es;
    f.type = type;
    f.rank = rank;
    f.swizzle = swizzle;
    const int span = swizzle == Swizzle::none ? 64 : static_cast<int>(span_of(swizzle, 0));
    uint64_t stride = 0;
    for (unsigned k = 0; k < rank; ++k) {
      f.dim[k] = static_cast<uint64_t>(pick(1, k == 0 ? 100 : 7));
      f.box[k] = static_cast<uint32_t>(k == 0 ? pick(1, span / 16) * granule : pick(1, rank > 3 ? 3 : 6));
      f.element_stride[k] = static_cast<uint32_t>(pick(1, 4) == 1 ? pick(2, 3) : 1);
      stride = k == 0 ? (f.dim[0] * static_cast<uint64_t>(es) + 15) / 16 * 16 + 16 * static_cast<uint64_t>(pick(0, 2)) : stride * f.dim[k] + 16 * static_cast<uint64_t>(pick(0, 1));
      if (k + 1 < rank) f.stride[k] = stride;
    }
    bytes_ = stride + 64;
    return f;
  }
  Coordinates start(const TensorMapFields& f, bool store) {
    const int granule = 16 / static_cast<int>(element_bytes(f.type));
    Coordinates c{};
    for (unsigned k = 0; k < f.rank; ++k) {
      const int high = static_cast<int>(f.dim[k]) + 1;
      c[k] = k == 0 ? pick(store ? 0 : -2, high / granule + 1) * granule : pick(store ? 0 : -3, high);
    }
    return c;
  }
  size_t bytes() const { return bytes_; }

 private:
  std::mt19937 rng_;
  size_t bytes_ = 0;
};

constexpr TensorType kPlainTypes[] = {TensorType::u8,  TensorType::u16, TensorType::u32,  TensorType::s32,     TensorType::u64,  TensorType::s64,    TensorType::f16,
                                      TensorType::f32, TensorType::f64, TensorType::bf16, TensorType::f32_ftz, TensorType::tf32, TensorType::tf32_ftz};

class TileLoad : public testing::TestWithParam<int> {};

TEST_P(TileLoad, EqualsTheElementRule) {
  const auto n = static_cast<unsigned>(GetParam());
  RandomMap random(n);
  const unsigned rank = n % 5 + 1;
  TensorMapFields f = random.make(rank, kPlainTypes[n % 13], static_cast<Swizzle>(n / 2 % 7));
  if (isa::is_floating(f.type) && n % 2 == 0) f.oob_fill = isa::OobFill::nan;
  const Coordinates start = random.start(f, false);
  AsyncCase c;
  c.buffers = {random_bytes(random.bytes(), n), Bytes(kSmemBytes)};
  c.maps = {{f, 0}};
  c.body = tile_load_text(rank, list(start, rank), box_bytes(f));
  Bytes want(kSmemBytes, kSmemFill);
  for_tile(f, start, false, false, [&](uint32_t at, int64_t from, bool inside) { load_element(f, c.buffers[0], want.data() + at, from, inside); });
  EXPECT_EQ(run_everywhere(c).at(1), want);
}
INSTANTIATE_TEST_SUITE_P(Random, TileLoad, testing::Range(0, 65));

std::string store_text(unsigned rank, const std::string& coordinates, const std::string& what, const std::string& mode = ".tile") {
  return load_smem("buf1", kSmemBytes) + fmt::format("  @first {}.{}d.global.shared::cta{}{}.bulk_group [map0, {{{}}}], [smem];\n", what.substr(0, what.find(' ')), rank,
                                                     what.find(' ') == std::string::npos ? "" : what.substr(what.find(' ') + 1), mode, coordinates) +
         "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n";
}

class TileStore : public testing::TestWithParam<int> {};

TEST_P(TileStore, EqualsTheElementRule) {
  const auto n = static_cast<unsigned>(GetParam());
  RandomMap random(1000 + n);
  const unsigned rank = n % 5 + 1;
  const Swizzle swizzles[] = {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128, Swizzle::b128_atom32, Swizzle::b128_atom64};
  const TensorMapFields f = random.make(rank, kPlainTypes[n % 13], swizzles[n % 6]);
  const Coordinates start = random.start(f, true);
  AsyncCase c;
  c.buffers = {random_bytes(random.bytes(), n), random_bytes(kSmemBytes, n + 7)};
  c.maps = {{f, 0}};
  c.body = store_text(rank, list(start, rank), "cp.async.bulk.tensor");
  Bytes want = c.buffers[0];
  for_tile(f, start, true, false, [&](uint32_t at, int64_t to, bool inside) {
    for (uint32_t b = 0; inside && b < element_bytes(f.type); ++b) want.at(static_cast<size_t>(to + b)) = c.buffers[1][at + b];
  });
  EXPECT_EQ(run_everywhere(c).at(0), want);
}
INSTANTIATE_TEST_SUITE_P(Random, TileStore, testing::Range(0, 40));

TEST(Gather4, LoadsFourRowsEachCheckedAlone) {
  for (const bool cluster : {false, true}) {
    RandomMap random(5);
    TensorMapFields f = random.make(2, TensorType::bf16, Swizzle::b128);
    f.dim = {90, 7, 1, 1, 1};
    f.stride[0] = 192;
    f.box = {64, 1, 1, 1, 1};
    f.element_stride = {1, 1, 1, 1, 1};
    const Coordinates start{32, 6, -1, 0, 7};
    AsyncCase c;
    c.buffers = {random_bytes(7 * 192, 3), Bytes(kSmemBytes)};
    c.maps = {{f, 0}};
    c.body = tile_load_text(2, list(start, 5), box_bytes(f, true), ".tile::gather4");
    if (cluster) c.body.replace(c.body.find(".shared::cta.global"), 19, ".shared::cluster.global");
    Bytes want(kSmemBytes, kSmemFill);
    for_tile(f, start, false, true, [&](uint32_t at, int64_t from, bool inside) { load_element(f, c.buffers[0], want.data() + at, from, inside); });
    EXPECT_EQ(run_everywhere(c).at(1), want);
  }
}

TEST(Scatter4, StoresFourRowsEachCheckedAlone) {
  TensorMapFields f;
  f.type = TensorType::f32;
  f.rank = 2;
  f.dim = {30, 7, 1, 1, 1};
  f.stride[0] = 128;
  f.box = {16, 1, 1, 1, 1};
  f.swizzle = Swizzle::b64;
  const Coordinates start{20, 6, 9, 0, 3};
  AsyncCase c;
  c.buffers = {random_bytes(7 * 128, 3), random_bytes(kSmemBytes, 4)};
  c.maps = {{f, 0}};
  c.body = store_text(2, list(start, 5), "cp.async.bulk.tensor", ".tile::scatter4");
  Bytes want = c.buffers[0];
  for_tile(f, start, true, true, [&](uint32_t at, int64_t to, bool inside) {
    for (uint32_t b = 0; inside && b < 4; ++b) want.at(static_cast<size_t>(to + b)) = c.buffers[1][at + b];
  });
  EXPECT_EQ(run_everywhere(c).at(0), want);
}

TEST(Scatter4, AddsFourRows) {
  TensorMapFields f;
  f.type = TensorType::u32;
  f.rank = 2;
  f.dim = {30, 7, 1, 1, 1};
  f.stride[0] = 128;
  f.box = {16, 1, 1, 1, 1};
  const Coordinates start{20, 6, 9, 0, 3};
  AsyncCase c;
  c.buffers = {random_bytes(7 * 128, 3), random_bytes(kSmemBytes, 4)};
  c.maps = {{f, 0}};
  c.body = store_text(2, list(start, 5), "cp.reduce.async.bulk.tensor .add", ".tile::scatter4");
  std::vector<uint32_t> want = from_bytes<uint32_t>(c.buffers[0]);
  const auto source = from_bytes<uint32_t>(c.buffers[1]);
  for_tile(f, start, true, true, [&](uint32_t at, int64_t to, bool inside) {
    if (inside) want.at(static_cast<size_t>(to / 4)) += source[at / 4];
  });
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), want);
}

// ---- interleaved maps: what an H200 does. Dimension 0 counts slices of 16 or 32 bytes, the last but one the slices of the
// channels, of which a copy takes one; rows of slices follow each other.

struct Interleaved {
  TensorMapFields f;
  Coordinates start{};
  uint32_t slice() const { return f.interleave == isa::Interleave::bytes16 ? 16 : 32; }
};

template <class F>
uint32_t for_slices(const Interleaved& m, F fn) {
  const TensorMapFields& f = m.f;
  std::array<uint32_t, 5> n{1, 1, 1, 1, 1}, i{};
  for (unsigned k = 0; k < f.rank; ++k) n[k] = k + 2 == f.rank ? 1 : (f.box[k] + f.element_stride[k] - 1) / f.element_stride[k];
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
    for (uint32_t b = 0; b < m.slice(); ++b) want[swizzled(swizzle, s * m.slice() + b)] = inside ? c.buffers[0].at(static_cast<size_t>(from) + b) : 0;
  });
  c.body = tile_load_text(m.f.rank, list(m.start, m.f.rank), slices * m.slice());
  EXPECT_EQ(run_everywhere(c).at(1), want);
  Interleaved stored = m;
  for (int64_t& v : stored.start) v = std::max<int64_t>(v, 0);
  c.buffers[1] = random_bytes(kSmemBytes, 2);
  c.body = store_text(m.f.rank, list(stored.start, m.f.rank), "cp.async.bulk.tensor");
  want = c.buffers[0];
  for_slices(stored, [&](uint32_t s, int64_t to, bool inside) {
    for (uint32_t b = 0; inside && b < m.slice(); ++b) want.at(static_cast<size_t>(to) + b) = c.buffers[1][swizzled(swizzle, s * m.slice() + b)];
  });
  EXPECT_EQ(run_everywhere(c).at(0), want);
}
INSTANTIATE_TEST_SUITE_P(Layouts, InterleavedMaps,
                         testing::Values(std::tuple{3, 1, Swizzle::none}, std::tuple{4, 1, Swizzle::none}, std::tuple{5, 1, Swizzle::b64}, std::tuple{4, 1, Swizzle::b128},
                                         std::tuple{3, 2, Swizzle::b32}, std::tuple{5, 2, Swizzle::b32}, std::tuple{4, 2, Swizzle::none}));

// ---- im2col (facts §2.7)

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
      bool inside = ch >= 0 && ch < static_cast<int64_t>(f.dim[0]) && n >= 0 && n < static_cast<int64_t>(f.dim[ns + 1]);
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
  const uint32_t es = element_bytes(m.f.type), row = m.f.channels_per_pixel * es, pitch = span_of(m.f.swizzle, row);
  std::string offsets = ", {";
  for (unsigned j = 0; j < ns; ++j) offsets += fmt::format("{}{}", j == 0 ? "" : ", ", m.offset[j]);
  AsyncCase c;
  c.buffers = {random_bytes(tensor_bytes(m.f), n), Bytes(kSmemBytes)};
  c.maps = {{m.f, 0}};
  c.body = tile_load_text(ns + 2, list(m.start, ns + 2), row * m.f.pixels_per_column, ".im2col", offsets + "}");
  Bytes want(kSmemBytes, kSmemFill);
  for_im2col(m, [&](uint32_t p, uint32_t i, int64_t from, bool inside) { load_element(m.f, c.buffers[0], want.data() + swizzled(m.f.swizzle, p * pitch + i * es), from, inside); });
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
    for (uint32_t b = 0; inside && b < 4; ++b) want.at(static_cast<size_t>(to + b)) = c.buffers[1][p * 32 + i * 4 + b];
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
    if (inside) want.at(static_cast<size_t>(to / 4)) = std::max(want.at(static_cast<size_t>(to / 4)), source[p * 8 + i]);
  });
  EXPECT_EQ(from_bytes<uint32_t>(run_everywhere(c).at(0)), want);
}

// PTX ISA 5.5.5: only W moves, then the image; the halo is what follows, once (w) or behind every 32 pixels (w::128).
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
  c.body = tile_load_text(4, "0, 3, 2, 1", rows * 64, w128 ? ".im2col::w::128" : ".im2col::w", fmt::format(", {{{}, {}}}", halo, offset));
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
      for (uint32_t i = 0; i < 32; ++i) load_element(f, c.buffers[0], want.data() + swizzled(f.swizzle, row * 64 + i * 2), i * 2 + w * 64 + 2 * 576 + n * 4032, w >= 0 && w < 9 && n < 20);
    }
  }
  EXPECT_EQ(row, rows);
  EXPECT_EQ(run_everywhere(c).at(1), want);
}
INSTANTIATE_TEST_SUITE_P(Modes, Im2colWide, testing::Bool());

// ---- 4- and 6-bit formats (facts §2.6)

TEST(PackedTypes, FourBitsWithoutGapsAreCopiedAsTheyAre) {
  TensorMapFields f;
  f.type = TensorType::b4x16;
  f.rank = 2;
  f.dim = {256, 8, 1, 1, 1};
  f.stride[0] = 128;
  f.box = {128, 4, 1, 1, 1};
  AsyncCase c;
  c.buffers = {random_bytes(1024, 9), Bytes(kSmemBytes)};
  c.maps = {{f, 0}};
  c.body = tile_load_text(2, "128, 2", 4 * 64);
  Bytes want(kSmemBytes, kSmemFill);
  for (int r = 0; r < 4; ++r) std::memcpy(want.data() + 64 * r, c.buffers[0].data() + 128 * (r + 2) + 64, 64);
  EXPECT_EQ(run_everywhere(c).at(1), want);
}

TEST(PackedTypes, PaddedLoadsLeaveDataInEachSixteenBytes) {
  for (const auto& [type, packed] : {std::pair{TensorType::b4x16_p64, 8}, {TensorType::b6x16_p32, 12}}) {
    TensorMapFields f;
    f.type = type;
    f.rank = 2;
    f.dim = {256, 3, 1, 1, 1};
    f.stride[0] = static_cast<uint64_t>(packed) * 16;
    f.box = {128, 4, 1, 1, 1};
    f.swizzle = Swizzle::b128;
    AsyncCase c;
    c.buffers = {random_bytes(static_cast<size_t>(packed) * 16 * 3, 9), Bytes(kSmemBytes)};
    c.maps = {{f, 0}};
    c.body = tile_load_text(2, "128, 1", static_cast<uint32_t>(packed) * 8 * 4);  // the packed size is counted
    const Bytes got = run_everywhere(c).at(1);
    for (int r = 0; r < 4; ++r) {
      for (int g = 0; g < 8; ++g) {
        for (int b = 0; b < packed; ++b) {
          const uint8_t want = r < 2 ? c.buffers[0][static_cast<size_t>(packed * 16 * (r + 1) + packed * 8 + packed * g + b)] : 0;
          ASSERT_EQ(got[swizzled(f.swizzle, static_cast<uint32_t>(128 * r + 16 * g + b))], want) << r << " " << g << " " << b;
        }
      }
    }
  }
}

TEST(PackedTypes, SixBitStoresRepackTheLowBitsOfEachByte) {
  TensorMapFields f;
  f.type = TensorType::b6x16_p32;
  f.rank = 2;
  f.dim = {128, 4, 1, 1, 1};
  f.stride[0] = 96;
  f.box = {128, 2, 1, 1, 1};
  AsyncCase c;
  c.buffers = {Bytes(4 * 96, 0x55), random_bytes(kSmemBytes, 1)};
  c.maps = {{f, 0}};
  c.body = store_text(2, "0, 1", "cp.async.bulk.tensor");
  Bytes want = c.buffers[0];
  for (uint32_t r = 0; r < 2; ++r) {
    for (uint32_t bit = 0; bit < 768; ++bit) {
      const uint32_t value = c.buffers[1][128 * r + bit / 6];
      uint8_t& to = want[96 * (r + 1) + bit / 8];
      to = static_cast<uint8_t>((to & ~(1u << bit % 8)) | ((value >> bit % 6 & 1) << bit % 8));
    }
  }
  EXPECT_EQ(run_everywhere(c).at(0), want);
}

// ---- multicast and cta_group (facts §2.8)

// Four CTAs; each waits for `expected` bytes on its own barrier unless that is 0, then all meet and dump.
AsyncCase cluster_case(const std::string& copy, std::array<uint32_t, 4> expected) {
  TensorMapFields f;
  f.type = TensorType::u32;
  f.rank = 2;
  f.dim = {32, 16, 1, 1, 1};
  f.stride[0] = 128;
  f.box = {32, 2, 1, 1, 1};
  AsyncCase c;
  c.cluster = c.ctas = 4;
  c.buffers = {random_bytes(2048, 12), Bytes(4 * 1024)};
  c.maps = {{f, 0}};
  c.body = fill_smem(1024) + init_bar() + "  mov.u32 %r1, 0;\n";
  for (uint32_t r = 0; r < 4; ++r) c.body += fmt::format("  setp.eq.u32 %p1, rank, {};\n  @%p1 mov.u32 %r1, {};\n", r, expected[r]);
  c.body += "  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r1;\n" + cluster_sync() + copy + wait_for("[bar]", 0) + cluster_sync() + dump_smem("buf1", 1024);
  return c;
}

Bytes cluster_image(const AsyncCase& c, std::array<int, 4> first_row) {  // -1: untouched
  Bytes want(4 * 1024, kSmemFill);
  for (size_t r = 0; r < 4; ++r) {
    if (first_row[r] >= 0) std::memcpy(want.data() + 1024 * r, c.buffers[0].data() + 128 * first_row[r], 256);
  }
  return want;
}

TEST(Multicast, EverySelectedCtaGetsDataAndSignal) {
  for (const auto& [mask, rank] : {std::pair{0b0111, 0}, {0b1101, 2}, {0b1010, 0}, {0b1111, 3}}) {
    std::array<uint32_t, 4> expected{};
    std::array<int, 4> rows{-1, -1, -1, -1};
    for (size_t r = 0; r < 4; ++r) {
      if ((mask >> r & 1) == 0) continue;
      expected[r] = 256;
      rows[r] = 6;
    }
    const AsyncCase c = cluster_case(fmt::format("  setp.eq.u32 %p2, rank, {};\n  and.pred %p2, %p2, first;\n  mov.b16 %h1, {};\n"
                                                 "  @%p2 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [smem], [map0, {{0, 6}}], [bar], %h1, 0x14F0000000000000;\n",
                                                 rank, mask),
                                     expected);
    EXPECT_EQ(run_everywhere(c).at(1), cluster_image(c, rows)) << mask;
  }
}

// 2-SM loads: each CTA loads its own part, the even CTA's barrier counts both (CUTLASS clears bit 24 of the address).
TEST(CtaGroup2, TheLeadersBarrierHearsOfBothCtas) {
  const AsyncCase c = cluster_case("  mov.u32 %r2, bar;\n  and.b32 %r2, %r2, 0xFEFFFFFF;\n  mov.u32 %r3, smem;\n  shl.b32 %r4, rank, 1;\n"
                                   "  @first cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [map0, {0, %r4}], [%r2];\n",
                                   {512, 0, 512, 0});
  EXPECT_EQ(run_everywhere(c).at(1), cluster_image(c, {0, 2, 4, 6}));
}

TEST(CtaGroup2, MulticastSignalsTheCtaOfEachPairWithTheBarriersParity) {
  const auto text = [](uint32_t parity) {
    return fmt::format("  mapa.shared::cluster.u32 %r2, bar, {};\n  mov.u32 %r3, smem;\n  mov.b16 %h1, 0xB;\n"
                       "  @leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2 [%r3], [map0, {{0, 3}}], [%r2], %h1;\n",
                       parity);
  };
  // CTAs 0, 1 and 3 receive: two boxes for the first pair, one for the second.
  const AsyncCase even = cluster_case(text(0), {512, 0, 256, 0}), odd = cluster_case(text(1), {0, 512, 0, 256});
  EXPECT_EQ(run_everywhere(even).at(1), cluster_image(even, {3, 3, -1, 3}));
  EXPECT_EQ(run_everywhere(odd).at(1), cluster_image(odd, {3, 3, -1, 3}));
}

TEST(TensorLoad, LandsInAnotherCtaWithItsBarrier) {
  const AsyncCase c = cluster_case("  mapa.shared::cluster.u32 %r2, bar, 2;\n  mapa.shared::cluster.u32 %r3, smem, 2;\n"
                                   "  @leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [map0, {0, 3}], [%r2];\n",
                                   {0, 0, 256, 0});
  EXPECT_EQ(run_everywhere(c).at(1), cluster_image(c, {-1, -1, 3, -1}));
}

// ---- bulk groups

TEST(BulkGroups, ReadWaitsFreeTheSourceAndFullWaitsShowTheData) {
  TensorMapFields f;
  f.type = TensorType::u32;
  f.rank = 1;
  f.dim = {64, 1, 1, 1, 1};
  f.box = {32, 1, 1, 1, 1};
  AsyncCase c;
  c.buffers = {Bytes(256), random_bytes(kSmemBytes, 5), Bytes(128)};
  c.maps = {{f, 0}};
  // The staging buffer is used twice; the second group is read back through global memory.
  c.body = load_smem("buf1", 1024) +
           "  @!first bra END;\n  cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [map0, {0}], [smem];\n  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group.read 0;\n"
           "  mov.u32 %r1, 0xABCD;\n  st.shared.b32 [smem], %r1;\n  fence.proxy.async.shared::cta;\n"
           "  cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [map0, {32}], [smem];\n  cp.async.bulk.commit_group;\n  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 1;\n"
           "  ld.global.b32 %r2, [buf0];\n  st.global.b32 [buf2], %r2;\n  cp.async.bulk.wait_group 0;\n  ld.global.b32 %r3, [buf0+128];\n  st.global.b32 [buf2+4], %r3;\nEND:\n";
  const auto memory = run_everywhere(c);
  Bytes want(256);
  std::memcpy(want.data(), c.buffers[1].data(), 128);
  std::memcpy(want.data() + 128, c.buffers[1].data(), 128);
  const uint32_t word = 0xABCD;
  std::memcpy(want.data() + 128, &word, 4);
  EXPECT_EQ(memory[0], want);
  const auto seen = from_bytes<uint32_t>(memory[2]);
  EXPECT_EQ(seen[0], from_bytes<uint32_t>(c.buffers[1])[0]);
  EXPECT_EQ(seen[1], word);
}

// ---- reports

AsyncCase bad_load(const TensorMapFields& f, const std::string& coordinates, const std::string& mode = ".tile", const std::string& offsets = "", int rank = 0) {
  AsyncCase c;
  c.buffers = {Bytes(4096), Bytes(kSmemBytes)};
  c.maps = {{f, 0}};
  c.body = tile_load_text(rank != 0 ? static_cast<unsigned>(rank) : f.rank, coordinates, 64, mode, offsets);
  return c;
}

TensorMapFields plain_map() {
  TensorMapFields f;
  f.type = TensorType::u32;
  f.rank = 2;
  f.dim = {16, 16, 1, 1, 1};
  f.stride[0] = 64;
  f.box = {16, 1, 1, 1, 1};
  return f;
}

TEST(TensorFaults, AreReportedUnderEveryDriver) {
  TensorMapFields f = plain_map();
  expect_fault(bad_load(f, "0, 0, 0", ".tile", "", 3), "F3303");                  // rank
  expect_fault(bad_load(f, "1, 0"), "F3304");                                     // innermost start
  AsyncCase off = bad_load(f, "0, 0");
  off.body.replace(off.body.find("[smem], [map0"), 6, "[smem+64]");
  expect_fault(off, "F3305");                                                     // SMEM alignment
  TensorMapFields far = f;
  far.dim[1] = 1000;
  expect_fault(bad_load(far, "0, 500"), "F3306");                                 // outside the allocation
  AsyncCase end = bad_load(f, "0, 0");
  end.dynamic_smem = kSmemBytes;
  end.body.replace(end.body.find("[smem], [map0"), 6, fmt::format("[smem+{}]", kSmemBytes + 128));
  expect_fault(end, "F3307");                                                     // outside shared memory
  TensorMapFields box = f;
  box.box[1] = 2;
  expect_fault(bad_load(box, "0, 0, 1, 2, 3", ".tile::gather4", "", 2), "F3304");  // gather4 needs {n, 1}
  TensorMapFields negative = f;
  AsyncCase store = bad_load(negative, "0, 0");
  store.body = store_text(2, "0, -1", "cp.async.bulk.tensor");
  expect_fault(store, "F3304");                                                   // negative store
  AsyncCase junk = bad_load(f, "0, 0");
  junk.body = "  mov.b64 map0, buf0;\n" + junk.body;
  expect_fault(junk, "F3302");                                                    // no map
  AsyncCase nobody = bad_load(f, "0, 0");
  nobody.body.replace(nobody.body.find("mbarrier.init.shared::cta.b64 [bar], 1"), 38, "mbarrier.init.shared::cta.b64 [bar+8], 1");
  expect_fault(nobody, "F3102");                                                  // no barrier
}

TEST(TensorFaults, ModesMustFitTheMap) {
  TensorMapFields f = random_im2col(2, 2).f;
  expect_fault(bad_load(f, "0, 0, 0, 0"), "F3304");
  TensorMapFields tile = plain_map();
  tile.rank = 3;
  tile.dim[2] = 2;
  tile.stride[1] = 1024;
  expect_fault(bad_load(tile, "0, 0, 0", ".im2col", ", {0}"), "F3304");
  f.upper_corner = f.lower_corner = {};
  expect_fault(bad_load(f, "0, 0, 0, 0", ".im2col", ", {0, 256}"), "F3304");  // offsets have 8 bits in 4D
  f.upper_corner[1] = -1;
  expect_fault(bad_load(f, fmt::format("0, 0, {}, 0", f.dim[2] - 1), ".im2col", ", {0, 0}"), "F3304");  // right of the box (measured)
}

TEST(TensorFaults, TheBarrierMustBeWhereTheDataLands) {
  expect_fault(cluster_case("  mapa.shared::cluster.u32 %r2, bar, 1;\n  mov.u32 %r3, smem;\n"
                            "  @leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [map0, {0, 3}], [%r2];\n",
                            {0, 0, 0, 0}),
               "F3309");
  expect_fault(cluster_case("  mov.b16 %h1, 0x10;\n"
                            "  @leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [smem], [map0, {0, 3}], [bar], %h1;\n",
                            {0, 0, 0, 0}),
               "F3503");
}

TEST(TensorPrefetch, ChecksTheMapAndChangesNothing) {
  AsyncCase c;
  c.buffers = {random_bytes(1024, 1)};
  c.maps = {{plain_map(), 0}};
  c.body = "  cp.async.bulk.prefetch.tensor.2d.L2.global.tile [map0, {0, 3}];\n  cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [map0, {0, 3, 4, 5, 6}];\n";
  EXPECT_EQ(run_everywhere(c).at(0), c.buffers[0]);
  c.body = "  cp.async.bulk.prefetch.tensor.1d.L2.global [map0, {0}];\n";
  expect_fault(c, "F3303");
  c.body = "  cp.async.bulk.prefetch.tensor.2d.L2.global [map0, {2, 0}];\n";
  expect_fault(c, "F3304");
}

TEST(TensorLegality, AgreesWithPtxas) {
  const std::string load = "cp.async.bulk.tensor.{}.mbarrier::complete_tx::bytes{} [%r1], [%rd1, {{{}}}], [%r7]{}";
  const auto form = [&](const char* a, const char* b, const char* c, const char* d) { return fmt::format(fmt::runtime(load), a, b, c, d); };
  expect_legal(form("3d.shared::cta.global.im2col::w", "", "%r2, %r3, %r4", ", {%h1, %h2}"), "sm_100");
  expect_legal(form("2d.shared::cta.global.tile::gather4", "", "%r2, %r3, %r4, %r5, %r6", ""), "sm_100");
  expect_legal(form("2d.shared::cluster.global.tile::gather4", ".multicast::cluster.cta_group::2.L2::cache_hint", "%r2, %r3, %r4, %r5, %r6", ", %h1, %rd2"));
  expect_legal("cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.tile::scatter4.bulk_group.L2::cache_hint [%rd1, {%r1, %r2, %r3, %r4, %r5}], [%r6], %rd2");
  expect_illegal(form("2d.shared::cluster.global.tile::gather4", "", "%r2, %r3, %r4, %r5, %r6", ""), "E1210", "sm_100");
  expect_illegal(form("3d.shared::cluster.global.im2col::w", "", "%r2, %r3, %r4", ", {%h1, %h2}"), "E1210", "sm_100");
  expect_illegal(form("3d.shared::cta.global.im2col::w::128", "", "%r2, %r3, %r4", ", {%h1, %h2}"), "E1210", "sm_100");
  expect_illegal(form("2d.shared::cta.global", ".cta_group::2", "%r2, %r3", ""), "E1210", "sm_100");
  expect_illegal(form("3d.shared::cluster.global.tile::gather4", "", "%r2, %r3, %r4, %r5, %r6", ""), "E1360");
  expect_illegal(form("2d.shared::cluster.global.im2col", "", "%r2, %r3", ", {%h1}"), "E1361");
  expect_illegal(form("2d.shared::cluster.global", "", "%r2, %r3, %r4", ""), "E1362");
  expect_illegal(form("2d.shared::cta.global", ".multicast::cluster", "%r2, %r3", ", %h1"), "E1363");
  expect_illegal(form("4d.shared::cta.global.im2col", "", "%r2, %r3, %r4, %r5", ", {%h1}"), "E1364");
  expect_illegal("cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%rd1, {%r1, %r2, %r3, %r4, %r5}]", "E1210", "sm_100");
  expect_illegal("cp.reduce.async.bulk.tensor.2d.global.shared::cta.exch.tile.bulk_group [%rd1, {%r1, %r2}], [%r3]", "E1101");
}

}  // namespace
}  // namespace drywell::test
