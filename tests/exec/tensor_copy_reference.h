// Reference for tensor copies, from docs/facts/tma-mbarrier.md §2, one element at a time, and the kernels
// that test it. It shares no code with the simulator.
#pragma once

#include <array>
#include <random>
#include <string>

#include "support/async_run.h"
#include "support/smem_text.h"

namespace drywell::test {

using isa::Swizzle;
using isa::TensorMapFields;
using isa::TensorMapMode;
using isa::TensorType;

using Coordinates = std::array<int64_t, 5>;

// docs/facts/tma-mbarrier.md §2.5, the table's middle column.
inline uint32_t swizzled(Swizzle s, uint32_t a) {
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

inline uint32_t span_of(Swizzle s, uint32_t row_bytes) {
  switch (s) {
    case Swizzle::none: return row_bytes;
    case Swizzle::b32: return 32;
    case Swizzle::b64: return 64;
    default: return 128;
  }
}

inline uint32_t element_bytes(TensorType t) {
  switch (t) {
    case TensorType::u8: return 1;
    case TensorType::u16:
    case TensorType::f16:
    case TensorType::bf16: return 2;
    case TensorType::u64:
    case TensorType::s64:
    case TensorType::f64: return 8;
    default: return 4;
  }
}

// docs/facts/tma-mbarrier.md §2.2: TFLOAT32 maps round to 10 fraction bits, nearest even.
inline uint32_t loaded_tf32(uint32_t v) {
  if ((v & 0x7FFFFFFF) > 0x7F800000) return 0x7FFFE000;
  const uint32_t low = v & 0x1FFF, kept = v & ~0x1FFFu;
  if (low > 0x1000 || (low == 0x1000 && (kept & 0x2000) != 0)) return kept + 0x2000;
  return kept;
}

// Calls f(smem offset, global byte offset, inside) for every element of a tile, gather4 or scatter4 box.
template <class F>
inline void for_tile(const TensorMapFields& f, const Coordinates& start, bool store, bool four, F fn) {
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
              const int64_t g = k == 0 ? start[0] + i0
                                : four ? start[1 + i1]
                                       : start[k] + i[k] * f.element_stride[k];
              const auto dim = static_cast<int64_t>(f.dim[k]);
              const bool ok =
                  k == 0 && store ? g >= 0 && g * es < (dim * es + 15) / 16 * 16 : g >= 0 && g < dim;
              inside = inside && ok;
              offset += k == 0 ? g * es : g * static_cast<int64_t>(f.stride[k - 1]);
            }
            const int64_t row = ((i4 * n[3] + i3) * n[2] + i2) * n[1] + i1;
            fn(swizzled(f.swizzle, static_cast<uint32_t>(row * pitch + i0 * es)),
               static_cast<int64_t>(f.address) + offset, inside);
          }
}

inline uint32_t box_bytes(const TensorMapFields& f, bool four = false) {
  uint32_t bytes = 0;
  for_tile(f, {}, false, four, [&](uint32_t, int64_t, bool) { bytes += element_bytes(f.type); });
  return bytes;
}

inline void load_element(const TensorMapFields& f, const Bytes& global, uint8_t* to, int64_t from,
                         bool inside) {
  const uint32_t es = element_bytes(f.type);
  for (uint32_t b = 0; b < es; ++b)
    to[b] = inside                            ? global.at(static_cast<size_t>(from + b))
            : f.oob_fill == isa::OobFill::nan ? (b % 2 == 0 ? 0xF7 : 0x7F)
                                              : 0;
  if (inside && (f.type == TensorType::tf32 || f.type == TensorType::tf32_ftz)) {
    uint32_t v;
    std::memcpy(&v, to, 4);
    v = loaded_tf32(v);
    std::memcpy(to, &v, 4);
  }
}

inline Bytes random_bytes(size_t n, uint32_t seed) {
  std::mt19937 rng(seed);
  Bytes b(n);
  for (uint8_t& v : b) v = static_cast<uint8_t>(rng());
  return b;
}

inline std::string list(const Coordinates& c, size_t n) {
  std::string s;
  for (size_t k = 0; k < n; ++k) s += fmt::format("{}{}", k == 0 ? "" : ", ", c[k]);
  return s;
}

inline constexpr uint32_t kSmemBytes = 16384;

inline std::string tile_load_text(unsigned rank, const std::string& coordinates, uint32_t bytes,
                                  const std::string& mode = ".tile", const std::string& offsets = "") {
  return fill_smem(kSmemBytes) + init_bar() +
         fmt::format(R"(
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {};
  @first cp.async.bulk.tensor.{}d.shared::cta.global{}.mbarrier::complete_tx::bytes [smem], [map0, {{{}}}], [bar]{};
)",
                     bytes, rank, mode, coordinates, offsets) +
         wait_for("[bar]", 0) + dump_smem("buf1", kSmemBytes);
}

// A random tiled map with its own buffer, small enough for kSmemBytes.
class RandomMap {
 public:
  explicit RandomMap(uint32_t seed) : rng_(seed) {}
  int pick(int low, int high) {
    return low + static_cast<int>(rng_() % static_cast<unsigned>(high - low + 1));
  }

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
      stride = k == 0 ? (f.dim[0] * static_cast<uint64_t>(es) + 15) / 16 * 16 +
                            16 * static_cast<uint64_t>(pick(0, 2))
                      : stride * f.dim[k] + 16 * static_cast<uint64_t>(pick(0, 1));
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

inline constexpr TensorType kPlainTypes[] = {
    TensorType::u8, TensorType::u16, TensorType::u32, TensorType::s32, TensorType::u64,
    TensorType::s64, TensorType::f16, TensorType::f32, TensorType::f64, TensorType::bf16,
    TensorType::f32_ftz, TensorType::tf32, TensorType::tf32_ftz};

inline std::string store_text(unsigned rank, const std::string& coordinates, const std::string& what,
                              const std::string& mode = ".tile") {
  return load_smem("buf1", kSmemBytes) +
         fmt::format("  @first {}.{}d.global.shared::cta{}{}.bulk_group [map0, {{{}}}], [smem];\n",
                     what.substr(0, what.find(' ')), rank,
                     what.find(' ') == std::string::npos ? "" : what.substr(what.find(' ') + 1), mode,
                     coordinates) +
         R"(
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
)";
}

inline AsyncCase bad_load(const TensorMapFields& f, const std::string& coordinates,
                          const std::string& mode = ".tile", const std::string& offsets = "", int rank = 0) {
  AsyncCase c;
  c.buffers = {Bytes(4096), Bytes(kSmemBytes)};
  c.maps = {{f, 0}};
  c.body = tile_load_text(rank != 0 ? static_cast<unsigned>(rank) : f.rank, coordinates, 64, mode, offsets);
  return c;
}

inline TensorMapFields plain_map() {
  TensorMapFields f;
  f.type = TensorType::u32;
  f.rank = 2;
  f.dim = {16, 16, 1, 1, 1};
  f.stride[0] = 64;
  f.box = {16, 1, 1, 1, 1};
  return f;
}

}  // namespace drywell::test
