#include "drywell/isa/tensor_map.h"

#include <algorithm>
#include <cstring>

#include "drywell/core/bits.h"
#include "fmt/format.h"

namespace drywell::isa {
namespace {

// Positions of the tiled fields are from the code that ptxas emits for tensormap.replace (docs/facts/tma-mbarrier.md §2.1), of
// the other fields from the bytes that an H200's driver makes (tests/data/tensor_map/h200.txt).
constexpr unsigned kAddress = 0x00, kModes = 0x08, kStrideLow = 0x0c, kStrideHigh = 0x1c, kDim = 0x20,
                   kTraversal = 0x34, kBox = 0x38, kLowerCorner = 0x38, kUpperCorner = 0x3a, kPixels = 0x3c,
                   kBoxBytes = 0x40, kSwizzlePeriod = 0x48;
using Im2colBit = BitField<0, 1>;
using WideBits = BitField<1, 2>;  // im2col::w and w::128: Drywell's own encoding, because only devices of capability
                                  // 10.0 make such maps
using RankBits = BitField<4, 3>;
using TypeBits = BitField<7, 4>;
using InterleaveBits = BitField<11, 2>;
using SwizzleBits = BitField<13, 2>;
using FillBits = BitField<15, 1>;
using Tf32Bit = BitField<16, 1>;  // with type f32 or f32.ftz
using L2Bits = BitField<17, 2>;
using AtomicityBits = BitField<19, 2>;    // bit 21 is not part of it: CuTe sets it, Triton clears it, copies do not change
using SwizzleExtraBit = BitField<22, 1>;  // cleared by every replacement of the swizzle mode; meaning unpublished
using Box0Bits = BitField<24, 8>;         // of the word at kTraversal; im2col: channels per pixel
using PixelBits = BitField<0, 10>;

template <class T>
T load(const TensorMap& m, unsigned at) {
  T v;
  std::memcpy(&v, m.bytes.data() + at, sizeof v);
  return v;
}

template <class T>
void store(TensorMap& m, unsigned at, T v) {
  std::memcpy(m.bytes.data() + at, &v, sizeof v);
}

template <class Field>
void insert(TensorMap& m, unsigned at, uint64_t v) {
  store<uint32_t>(m, at, static_cast<uint32_t>(Field::set(load<uint32_t>(m, at), v)));
}

void store_stride(TensorMap& m, unsigned i, uint64_t bytes) {
  const uint64_t units = bytes >> 4;
  store<uint32_t>(m, kStrideLow + 4 * i, static_cast<uint32_t>(units));
  const uint32_t high = load<uint32_t>(m, kStrideHigh);
  const unsigned shift = 4 * i;
  store<uint32_t>(m, kStrideHigh,
                  (high & ~(0xFu << shift)) | static_cast<uint32_t>(units >> 32 & 0xF) << shift);
}

uint64_t load_stride(const TensorMap& m, unsigned i) {
  const uint64_t high = load<uint32_t>(m, kStrideHigh) >> (4 * i) & 0xF;
  return (high << 32 | load<uint32_t>(m, kStrideLow + 4 * i)) << 4;
}

void store_box(TensorMap& m, unsigned i, uint64_t size) {
  if (i == 0) {
    insert<Box0Bits>(m, kTraversal, size - 1);
  } else {
    store<uint8_t>(m, kBox + i - 1, static_cast<uint8_t>(size - 1));
  }
}

uint32_t load_box(const TensorMap& m, unsigned i) {
  return i == 0 ? static_cast<uint32_t>(Box0Bits::get(load<uint32_t>(m, kTraversal))) + 1
                : uint32_t{load<uint8_t>(m, kBox + i - 1)} + 1;
}

void store_element_stride(TensorMap& m, unsigned i, uint64_t v) {
  const uint32_t word = load<uint32_t>(m, kTraversal), shift = 3 * i;
  store<uint32_t>(m, kTraversal, (word & ~(7u << shift)) | static_cast<uint32_t>((v - 1) & 7) << shift);
}

uint32_t load_element_stride(const TensorMap& m, unsigned i) {
  return (load<uint32_t>(m, kTraversal) >> (3 * i) & 7) + 1;
}

// Swizzle as tensormap.replace splits it: mode none, 32B, 64B, 128B and atomicity 16B, 32B, 32B with 8B flip,
// 64B.
struct SwizzlePair {
  uint8_t mode, atomicity;
};

SwizzlePair split(Swizzle s) {
  const auto v = static_cast<uint8_t>(s);
  return v <= 3 ? SwizzlePair{v, 0} : SwizzlePair{3, static_cast<uint8_t>(v - 3)};
}

std::optional<Swizzle> join(uint64_t mode, uint64_t atomicity) {
  if (atomicity == 0) return static_cast<Swizzle>(mode);
  if (mode != 3) return std::nullopt;
  return static_cast<Swizzle>(3 + atomicity);
}

/// The four bits of a map that name its type; nothing for the codes that no type has. tf32 is f32 with a bit of its own. ptxas
/// translates what PTX calls 13, 14 and 15 to 11, 12 and 13 (docs/facts/tma-mbarrier.md §2.1).
uint8_t to_device_code(TensorType t) {
  switch (t) {
    case TensorType::tf32: return to_ptx_number(TensorType::f32);
    case TensorType::tf32_ftz: return to_ptx_number(TensorType::f32_ftz);
    case TensorType::b4x16: return 11;
    case TensorType::b4x16_p64: return 12;
    case TensorType::b6x16_p32: return 13;
    default: return to_ptx_number(t);
  }
}
bool is_tf32(TensorType t) { return t == TensorType::tf32 || t == TensorType::tf32_ftz; }

std::optional<TensorType> from_device_code(uint64_t code, bool tf32) {
  for (unsigned i = 0; i < kTensorTypeCount; ++i) {
    const auto t = static_cast<TensorType>(i);
    const bool has_tf32_form = t == TensorType::f32 || t == TensorType::f32_ftz;
    if (to_device_code(t) == code && (is_tf32(t) == tf32 || !(is_tf32(t) || has_tf32_form))) return t;
  }
  return std::nullopt;
}

/// Corners share 16 bits: the bits of one spatial dimension.
unsigned corner_bits(const TensorMapFields& f) {
  return f.mode != TensorMapMode::im2col || f.spatial_dims() == 1 ? 16 : f.spatial_dims() == 2 ? 8
                                                                                               : 5;
}

unsigned corners(const TensorMapFields& f) { return f.mode == TensorMapMode::im2col ? f.spatial_dims() : 1; }

uint16_t pack_corner(const TensorMapFields& f, const std::array<int32_t, 3>& corner) {
  const unsigned bits = corner_bits(f);
  uint32_t out = 0;
  for (unsigned j = 0; j < corners(f); ++j) out |= (static_cast<uint32_t>(corner[j]) & ((1u << bits) - 1)) << (bits * j);
  return static_cast<uint16_t>(out);
}

void unpack_corner(const TensorMapFields& f, uint16_t word, std::array<int32_t, 3>& corner) {
  const unsigned bits = corner_bits(f);
  for (unsigned j = 0; j < corners(f); ++j) {
    const uint32_t field = static_cast<uint32_t>(word) >> (bits * j) << (32 - bits);
    corner[j] = static_cast<int32_t>(field) >> (32 - bits);
  }
}

/// Bytes of one box or column as copied, without the padding of the swizzle.
uint32_t box_bytes(const TensorMapFields& f) {
  uint64_t elements = f.mode == TensorMapMode::tile ? 1 : uint64_t{f.channels_per_pixel} * f.pixels_per_column;
  for (unsigned i = 0; f.mode == TensorMapMode::tile && i < f.rank; ++i) elements *= ceil_div(f.box[i], i == 0 ? 1 : f.element_stride[i]);
  return static_cast<uint32_t>(elements * element_bits(f.type) / 8);
}

TensorMap pack(const TensorMapFields& f) {
  TensorMap m;
  store<uint64_t>(m, kAddress, f.address);
  insert<RankBits>(m, kModes, f.rank - 1);
  insert<TypeBits>(m, kModes, to_device_code(f.type));
  insert<Tf32Bit>(m, kModes, is_tf32(f.type));
  insert<L2Bits>(m, kModes, static_cast<uint64_t>(f.l2_promotion));
  insert<Im2colBit>(m, kModes, f.mode != TensorMapMode::tile);
  insert<WideBits>(m, kModes, f.mode < TensorMapMode::im2col_w ? 0 : static_cast<uint64_t>(f.mode) - 1);
  insert<InterleaveBits>(m, kModes, static_cast<uint64_t>(f.interleave));
  insert<SwizzleBits>(m, kModes, split(f.swizzle).mode);
  insert<AtomicityBits>(m, kModes, split(f.swizzle).atomicity);
  insert<FillBits>(m, kModes, static_cast<uint64_t>(f.oob_fill));
  for (unsigned i = 0; i < f.rank; ++i) {
    store<uint32_t>(m, kDim + 4 * i, static_cast<uint32_t>(f.dim[i] - 1));
    store_element_stride(m, i, f.element_stride[i]);
    if (i + 1 < f.rank) {
      store_stride(m, i, f.stride[i]);
    }
    if (f.mode == TensorMapMode::tile) {
      store_box(m, i, f.box[i]);
    }
  }
  if (f.mode != TensorMapMode::tile) {
    store<uint16_t>(m, kLowerCorner, pack_corner(f, f.lower_corner));
    store<uint16_t>(m, kUpperCorner, pack_corner(f, f.upper_corner));
    insert<Box0Bits>(m, kTraversal, f.channels_per_pixel - 1);
    insert<PixelBits>(m, kPixels, f.pixels_per_column - 1);
  }
  store<uint32_t>(m, kBoxBytes, box_bytes(f));
  store<uint32_t>(m, kSwizzlePeriod, f.swizzle == Swizzle::none ? 16 : swizzle_period(f.swizzle));
  return m;
}

std::optional<TensorMap> checked(const TensorMapFields& f, Diagnostics& out, unsigned cc,
                                 const SourcePos& where) {
  Diagnostics found;
  check(f, cc, found, where);
  out.append(found);
  if (found.has_errors()) {
    return std::nullopt;
  }
  return pack(f);
}

unsigned ordinals(TensorMapField field) {
  switch (field) {
    case TensorMapField::box_dim:
    case TensorMapField::global_dim:
    case TensorMapField::element_stride: return 5;
    case TensorMapField::global_stride: return 4;
    default: return 1;
  }
}

}  // namespace

std::string_view to_string(TensorType t) {
  static constexpr std::string_view kNames[] = {
      "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32",
      "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz", "b4x16", "b4x16_p64", "b6x16_p32"};
  return kNames[static_cast<unsigned>(t) & 15];
}

std::string_view to_string(TensorMapMode m) {
  static constexpr std::string_view kNames[] = {"tile", "im2col", "im2col::w", "im2col::w::128"};
  return kNames[static_cast<unsigned>(m) & 3];
}

uint8_t to_ptx_number(TensorType t) {
  switch (t) {
    case TensorType::f32_ftz: return 8;
    case TensorType::f64: return 9;
    case TensorType::bf16: return 10;
    default: return static_cast<uint8_t>(t);
  }
}

TensorType from_ptx_number(uint8_t number) {
  switch (number) {
    case 8: return TensorType::f32_ftz;
    case 9: return TensorType::f64;
    case 10: return TensorType::bf16;
    default: return static_cast<TensorType>(number & 15);
  }
}

std::optional<TensorMap> encode_tiled(const TensorMapFields& f, Diagnostics& out, unsigned cc,
                                      const SourcePos& where) {
  DRYWELL_CHECK(f.mode == TensorMapMode::tile, "encode_tiled: mode must be tile");
  return checked(f, out, cc, where);
}

std::optional<TensorMap> encode_im2col(const TensorMapFields& f, Diagnostics& out, unsigned cc,
                                       const SourcePos& where) {
  DRYWELL_CHECK(f.mode == TensorMapMode::im2col, "encode_im2col: mode must be im2col");
  return checked(f, out, cc, where);
}

std::optional<TensorMap> encode_im2col_wide(const TensorMapFields& f, Diagnostics& out, unsigned cc,
                                            const SourcePos& where) {
  DRYWELL_CHECK(f.mode >= TensorMapMode::im2col_w,
                "encode_im2col_wide: mode must be im2col_w or im2col_w128");
  return checked(f, out, cc, where);
}

TensorMap encode(const TensorMapFields& f, unsigned compute_capability) {
  Diagnostics found;
  const std::optional<TensorMap> m = checked(f, found, compute_capability, {});
  if (!m) {
    throw InputError(found);
  }
  return *m;
}

TensorMapFields decode(const TensorMap& m, Diagnostics& out, const SourcePos& where) {
  TensorMapFields f;
  const uint32_t modes = load<uint32_t>(m, kModes);
  const auto bad = [&](std::string_view what, uint64_t v) {
    out.error(Code::E1474, where, fmt::format("tensor map: {} bits {} have no meaning", what, v),
              "the bytes come from cuTensorMapEncode*, from tensormap.replace of every field, or from a program that packs them itself");
  };
  f.address = load<uint64_t>(m, kAddress);
  if (const auto t = from_device_code(TypeBits::get(modes), Tf32Bit::get(modes) != 0)) {
    f.type = *t;
  } else {
    bad("type", TypeBits::get(modes));
  }
  f.oob_fill = static_cast<OobFill>(FillBits::get(modes));
  if (RankBits::get(modes) < 5) {
    f.rank = static_cast<uint32_t>(RankBits::get(modes)) + 1;
  } else {
    bad("rank", RankBits::get(modes));
  }
  if (InterleaveBits::get(modes) < 3) {
    f.interleave = static_cast<Interleave>(InterleaveBits::get(modes));
  } else {
    bad("interleave", InterleaveBits::get(modes));
  }
  if (const auto s = join(SwizzleBits::get(modes), AtomicityBits::get(modes))) {
    f.swizzle = *s;
  } else {
    bad("swizzle atomicity", AtomicityBits::get(modes));
  }
  f.l2_promotion = static_cast<L2Promotion>(L2Bits::get(modes));
  if (Im2colBit::get(modes) != 0) f.mode = static_cast<TensorMapMode>(1 + WideBits::get(modes) % 3);
  for (unsigned i = 0; i < f.rank; ++i) {
    f.dim[i] = uint64_t{load<uint32_t>(m, kDim + 4 * i)} + 1;
    f.element_stride[i] = load_element_stride(m, i);
    if (i + 1 < f.rank) {
      f.stride[i] = load_stride(m, i);
    }
    if (f.mode == TensorMapMode::tile) {
      f.box[i] = load_box(m, i);
    }
  }
  if (f.mode != TensorMapMode::tile) {
    unpack_corner(f, load<uint16_t>(m, kLowerCorner), f.lower_corner);
    unpack_corner(f, load<uint16_t>(m, kUpperCorner), f.upper_corner);
    f.channels_per_pixel = load_box(m, 0);
    f.pixels_per_column = static_cast<uint32_t>(PixelBits::get(load<uint32_t>(m, kPixels))) + 1;
  }
  return f;
}

bool is_by_driver(const TensorMap& m) {
  const uint32_t period = load<uint32_t>(m, kSwizzlePeriod);
  const bool plausible = period == 16 || period == 256 || period == 512 || period == 1024;
  const auto zero = [](uint8_t b) { return b == 0; };
  return plausible && load<uint32_t>(m, kBoxBytes) != 0 && std::all_of(m.bytes.begin() + kSwizzlePeriod + 4, m.bytes.end(), zero);
}

void replace_field(TensorMap& m, TensorMapField field, unsigned ordinal, uint64_t value) {
  if (ordinal >= ordinals(field)) {
    throw InputError(
        Code::E1477, fmt::format("tensormap.replace: ordinal {} is outside 0..{}", ordinal, ordinals(field) - 1));
  }
  switch (field) {
    case TensorMapField::global_address: store<uint64_t>(m, kAddress, value); break;
    case TensorMapField::rank: insert<RankBits>(m, kModes, value); break;
    case TensorMapField::box_dim: store_box(m, ordinal, value); break;
    case TensorMapField::global_dim:
      store<uint32_t>(m, kDim + 4 * ordinal, static_cast<uint32_t>(value - 1));
      break;
    case TensorMapField::global_stride: store_stride(m, ordinal, value); break;
    case TensorMapField::element_stride: store_element_stride(m, ordinal, value); break;
    case TensorMapField::elemtype: {
      const TensorType type = from_ptx_number(static_cast<uint8_t>(value));
      insert<TypeBits>(m, kModes, to_device_code(type));
      if (is_tf32(type)) insert<Tf32Bit>(m, kModes, 1);  // ptxas clears it for no other type
      break;
    }
    case TensorMapField::interleave_layout: insert<InterleaveBits>(m, kModes, value); break;
    case TensorMapField::swizzle_mode:
      insert<SwizzleBits>(m, kModes, value);
      insert<SwizzleExtraBit>(m, kModes, 0);
      break;
    case TensorMapField::fill_mode: insert<FillBits>(m, kModes, value); break;
    case TensorMapField::swizzle_atomicity: insert<AtomicityBits>(m, kModes, value); break;
  }
}

std::vector<std::string> describe(const TensorMapFields& f) {
  static constexpr std::string_view kInterleave[] = {"none", "16B", "32B"},
                                    kL2[] = {"none", "64B", "128B", "256B"};
  std::vector<std::string> lines;
  const auto list = [&](std::string_view name, const auto& values, unsigned count) {
    std::string text;
    for (unsigned i = 0; i < count; ++i) {
      text += fmt::format("{}{}", i == 0 ? "" : ", ", values[i]);
    }
    lines.push_back(fmt::format("{:<16}{}", name, text));
  };
  lines.push_back(fmt::format("{:<16}{}, rank {}", "mode", to_string(f.mode), f.rank));
  lines.push_back(fmt::format("{:<16}{} ({} bits in GMEM, {} in SMEM)", "type", to_string(f.type),
                              element_bits(f.type), smem_element_bits(f.type)));
  lines.push_back(fmt::format("{:<16}{:#x}", "global address", f.address));
  list("dimensions", f.dim, f.rank);
  list("strides", f.stride, f.rank - 1);
  if (f.mode == TensorMapMode::tile) {
    list("box", f.box, f.rank);
  }
  list("element strides", f.element_stride, f.rank);
  lines.push_back(fmt::format("{:<16}{}", "swizzle", to_string(f.swizzle)));
  lines.push_back(
      fmt::format("{:<16}{}", "interleave", kInterleave[static_cast<unsigned>(f.interleave) % 3]));
  lines.push_back(fmt::format("{:<16}{}", "L2 promotion", kL2[static_cast<unsigned>(f.l2_promotion) & 3]));
  lines.push_back(fmt::format("{:<16}{}", "OOB fill", f.oob_fill == OobFill::nan ? "NaN" : "zero"));
  if (f.mode != TensorMapMode::tile) {
    const unsigned corners = f.mode == TensorMapMode::im2col ? f.spatial_dims() : 1;
    list("lower corner", f.lower_corner, corners);
    list("upper corner", f.upper_corner, corners);
    lines.push_back(fmt::format("{:<16}{}", "channels/pixel", f.channels_per_pixel));
    lines.push_back(fmt::format("{:<16}{}", "pixels/column", f.pixels_per_column));
  }
  return lines;
}

}  // namespace drywell::isa
