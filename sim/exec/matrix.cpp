// Semantics of table/matrix.inc: fragments to and from shared memory. Lane l holds the address of the l-th 16-byte row; the rows form a
// tile of bytes, and a place function (fragment.h) returns the byte of the tile that each register holds.
#include <fmt/format.h>

#include <type_traits>

#include "drywell/isa/opcode.h"
#include "sim/events/hub.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/fragment.h"
#include "sim/exec/matrix.h"
#include "sim/exec/memory.h"
#include "sim/state/payload/matrix.h"

namespace drywell::sim {

Effect need_full_warp(Warp& w, LaneMask mask) {
  if (mask == kFullMask) return Effect::next;
  return fault(w, Code::F3406, fmt::format("lanes {:#010x} alone execute an instruction that all 32 lanes of the warp execute together", mask));
}

namespace {

constexpr uint32_t kRowBytes = 16;
using Rows = uint8_t[kWarpSize][kRowBytes];

using PlaceFn = RowByte (*)(uint32_t lane, uint32_t r, uint32_t b);

// A row of 16 elements of `bits` each, packed, becomes 16 bytes with the element in the low bits (docs/facts/tcgen05.md §3).
void unpack_row(uint8_t* row, uint32_t bits) {
  uint8_t packed[kRowBytes];
  std::memcpy(packed, row, kRowBytes);
  for (uint32_t e = 0; e < kRowBytes; ++e) {
    const uint32_t at = e * bits;
    const uint32_t pair = packed[at / 8] | (at / 8 + 1 < kRowBytes ? uint32_t{packed[at / 8 + 1]} << 8 : 0);
    row[e] = static_cast<uint8_t>(pair >> (at % 8) & ((1u << bits) - 1));
  }
}

LaneMask naming_lanes(const payload::MatrixRows& x) { return x.rows == kWarpSize ? kFullMask : (1u << x.rows) - 1; }

template <class F>
Effect for_rows(Warp& w, const DecodedOp& op, const payload::MatrixRows& x, bool store, F f) {
  if (auto* o = w.cta->cluster->launch->observers; o != nullptr) o->memory(w, op, naming_lanes(x), x.space, kRowBytes, store);
  const Gmem::Allocation* hint = nullptr;
  for (uint32_t lane = 0; lane < x.rows; ++lane) {
    const uint64_t address = lane_address(w, op, lane);
    uint8_t* p = resolve(w, x.space, address, kRowBytes, lane, hint);
    if (p == nullptr || address % kRowBytes != 0) return access_fault(w, x.space, address, kRowBytes, lane, store);
    f(lane, p);
  }
  return Effect::next;
}

uint16_t half_at(const uint8_t* p) {
  uint16_t v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

// Whether two place functions are one. As types: with the undefined-behaviour sanitizer g++ takes no comparison of their addresses for constant.
template <PlaceFn A, PlaceFn B>
inline constexpr bool kSame = std::is_same_v<std::integral_constant<PlaceFn, A>, std::integral_constant<PlaceFn, B>>;

// A register of all lanes; rows_plain has the bytes in their order.
template <PlaceFn At>
void to_register(const Rows& rows, uint32_t r, uint32_t* d) {
  if constexpr (kSame<At, rows_plain>) {
    std::memcpy(d, rows[8 * r], kWarpSize * sizeof(*d));
  } else {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const auto at = [&](uint32_t b) {
        const RowByte place = At(lane, r, b);
        return &rows[place.row][place.byte];
      };
      if constexpr (kSame<At, rows_transposed_b16>) {
        d[lane] = half_at(at(0)) | uint32_t{half_at(at(2))} << 16;
      } else {
        d[lane] = *at(0) | uint32_t{*at(1)} << 8 | uint32_t{*at(2)} << 16 | uint32_t{*at(3)} << 24;
      }
    }
  }
}

template <PlaceFn At>
Effect load_rows(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const auto& x = op.as<payload::MatrixRows>();
  Rows rows;
  const Effect e = for_rows(w, op, x, false, [&](uint32_t row, const uint8_t* p) {
    std::memcpy(rows[row], p, kRowBytes);
    if (x.packed_bits != 0) unpack_row(rows[row], x.packed_bits);
  });
  if (e != Effect::next) return e;
  const Src* slots = slots_at(w, x.first_slot);
  for (uint32_t r = 0; r < x.count; ++r) to_register<At>(rows, r, lanes<uint32_t>(w, slots[r].offset));
  return Effect::next;
}

// The rows that an stmatrix stores.
void gather_rows(const Warp& w, const payload::MatrixRows& x, PlaceFn place_of, Rows& rows) {
  const Src* slots = slots_at(w, x.first_slot);
  for (uint32_t r = 0; r < x.count; ++r) {
    const uint32_t* s = lanes<uint32_t>(w, slots[r]);
    if (place_of == rows_plain) {
      std::memcpy(rows[8 * r], s, kWarpSize * sizeof(*s));
      continue;
    }
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      for (uint32_t b = 0; b < 4; ++b) {
        const RowByte at = place_of(lane, r, b);
        rows[at.row][at.byte] = static_cast<uint8_t>(s[lane] >> (8 * b));
      }
    }
  }
}

template <PlaceFn At>
Effect store_rows(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const auto& x = op.as<payload::MatrixRows>();
  Rows rows;
  gather_rows(w, x, At, rows);
  return for_rows(w, op, x, true, [&](uint32_t row, uint8_t* p) { std::memcpy(p, rows[row], kRowBytes); });
}

Effect transpose_fragment(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const uint32_t* a = lanes<uint32_t>(w, op.src[0]);
  uint16_t tile[8][8];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    tile[lane / 4][lane % 4 * 2] = static_cast<uint16_t>(a[lane]);
    tile[lane / 4][lane % 4 * 2 + 1] = static_cast<uint16_t>(a[lane] >> 16);
  }
  uint32_t* d = lanes<uint32_t>(w, op.dst);
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) d[lane] = tile[lane % 4 * 2][lane / 4] | uint32_t{tile[lane % 4 * 2 + 1][lane / 4]} << 16;
  return Effect::next;
}

payload::MatrixRows& bind_rows(Decoder& d, DecodedOp& op, const isa::Operand& regs, const isa::Operand& address) {
  d.set_address(op, address);
  const uint32_t matrices = 1u << (static_cast<unsigned>(d.mod(isa::Slot::num)) - static_cast<unsigned>(isa::Mod::x1));
  const uint32_t rows = matrices * (d.mod(isa::Slot::shape) == isa::Mod::m16n16 ? 16 : 8);
  return op.emplace<payload::MatrixRows>({.first_slot = d.vector(regs, 32), .count = regs.count, .rows = rows, .space = d.access_space(address)});
}

// Place functions of stmatrix, in the order of MatrixRows::places.
constexpr PlaceFn kStorePlaces[] = {rows_plain, rows_transposed_b16, rows_transposed_store_b8};

}  // namespace

bool matrix_is_there(const Warp& w, const DecodedOp& op) {
  const payload::MatrixRows* x = op.get_if<payload::MatrixRows>();
  if (x == nullptr) return false;
  Rows rows;
  gather_rows(w, *x, kStorePlaces[x->places], rows);
  const Gmem::Allocation* hint = nullptr;
  for (uint32_t lane = 0; lane < x->rows; ++lane) {
    // resolve returns memory that may be written; this only reads it.
    const uint8_t* p = resolve(const_cast<Warp&>(w), x->space, lane_address(w, op, lane), kRowBytes, lane, hint);
    if (p == nullptr || std::memcmp(p, rows[lane], kRowBytes) != 0) return false;
  }
  return true;
}

template <> ExecFn bind<isa::row::ldmatrix>(Decoder& d, DecodedOp& op) {
  bind_rows(d, op, *d.operand(0), *d.operand(1));
  return d.has(isa::Mod::trans) ? load_rows<rows_transposed_b16> : load_rows<rows_plain>;
}
template <> ExecFn bind<isa::row::ldmatrix_b8>(Decoder& d, DecodedOp& op) {
  bind_rows(d, op, *d.operand(0), *d.operand(1));
  return load_rows<rows_transposed_load_b8>;
}
template <> ExecFn bind<isa::row::ldmatrix_unpack>(Decoder& d, DecodedOp& op) {
  bind_rows(d, op, *d.operand(0), *d.operand(1)).packed_bits = d.has(isa::Mod::b4x16_p64) ? 4 : 6;
  return d.has(isa::Mod::trans) ? load_rows<rows_transposed_load_b8> : load_rows<rows_plain>;
}
template <> ExecFn bind<isa::row::stmatrix>(Decoder& d, DecodedOp& op) {
  bind_rows(d, op, *d.operand(1), *d.operand(0)).places = d.has(isa::Mod::trans) ? 1 : 0;
  return d.has(isa::Mod::trans) ? store_rows<rows_transposed_b16> : store_rows<rows_plain>;
}
template <> ExecFn bind<isa::row::stmatrix_b8>(Decoder& d, DecodedOp& op) {
  bind_rows(d, op, *d.operand(1), *d.operand(0)).places = 2;
  return store_rows<rows_transposed_store_b8>;
}
template <> ExecFn bind<isa::row::movmatrix>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), 32);
  return transpose_fragment;
}

}  // namespace drywell::sim
