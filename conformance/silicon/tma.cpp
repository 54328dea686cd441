// Random tensor copies: every tile mode of sm_90a (types, ranks, boxes, traversal strides, swizzles, fills, starts inside
// and outside), stores, reductions, im2col loads and stores.
#include <fmt/format.h>

#include <array>

#include "conformance/silicon/probes.h"
#include "drywell/core/bits.h"

namespace drywell::kernels::silicon {
namespace {

using isa::TensorMapFields;
using isa::TensorType;

constexpr uint32_t kMaxBoxBytes = 4096, kSlack = 1024;  // of the box in shared memory; room for its offset

constexpr std::array kTypes = {TensorType::u8, TensorType::u16, TensorType::u32, TensorType::s32, TensorType::u64, TensorType::s64,
                               TensorType::f16, TensorType::f32, TensorType::f32_ftz, TensorType::bf16, TensorType::tf32, TensorType::f64};

uint32_t bytes_of(const TensorMapFields& f) { return isa::element_bits(f.type) / 8; }

struct Box {
  uint32_t rows = 1, pitch = 0, bytes = 0;  // pitch: from row to row in shared memory; bytes: of the data
  uint32_t smem() const { return static_cast<uint32_t>(round_up(rows * pitch + kSlack, 512)); }
};

Box tile_box(const TensorMapFields& f) {
  Box b;
  for (uint32_t k = 1; k < f.rank; ++k) b.rows *= ceil_div(f.box[k], f.element_stride[k]);
  const uint32_t inner = f.box[0] * bytes_of(f);
  b.pitch = f.swizzle == isa::Swizzle::none ? inner : isa::swizzle_span(f.swizzle);
  b.bytes = b.rows * inner;
  return b;
}

/// Sets strides of a tensor with gaps of a few times 16 bytes; returns the bytes that it covers.
uint64_t lay_out(TensorMapFields& f, Draw& d) {
  uint64_t pitch = round_up(f.dim[0] * bytes_of(f), 16) + 16 * d.below(3);
  for (uint32_t k = 0; k + 1 < f.rank; ++k) {
    f.stride[k] = pitch;
    pitch = pitch * f.dim[k + 1] + 16 * d.below(2);
  }
  return pitch;
}

isa::Swizzle draw_swizzle(Draw& d) {
  constexpr std::array kAll = {isa::Swizzle::none, isa::Swizzle::b32, isa::Swizzle::b64, isa::Swizzle::b128};
  return kAll[d.below(4)];
}

TensorMapFields draw_tile(Draw& d, TensorType type, bool traversal) {
  TensorMapFields f;
  f.type = type;
  f.rank = 1 + d.below(5);
  f.swizzle = draw_swizzle(d);
  const uint32_t span = f.swizzle == isa::Swizzle::none ? 256 : isa::swizzle_span(f.swizzle), unit = 16 / bytes_of(f);
  f.box[0] = unit * (1 + d.below(span / 16));
  f.dim[0] = 1 + d.below(2 * f.box[0]);
  for (uint32_t k = 1; k < f.rank; ++k) {
    f.box[k] = 1 + d.below(5);
    f.dim[k] = 1 + d.below(7);
    if (traversal && d.one_in(4)) f.element_stride[k] = 1 + d.below(3);
    while (tile_box(f).rows * tile_box(f).pitch > kMaxBoxBytes) f.box[k] = std::max(1u, f.box[k] / 2);
  }
  if (isa::is_floating(type) && d.one_in(2)) f.oob_fill = isa::OobFill::nan;
  return f;
}

/// "{8, -1, 3}": starts in and around the tensor. The innermost is a multiple of 16 bytes.
std::string draw_start(const TensorMapFields& f, Draw& d, bool negative) {
  const int32_t unit = static_cast<int32_t>(16 / bytes_of(f)), columns = static_cast<int32_t>(f.dim[0]) / unit;
  std::string out = fmt::format("{{{}", unit * d.between(negative ? -2 : 0, columns));
  for (uint32_t k = 1; k < f.rank; ++k) out += fmt::format(", {}", d.between(negative ? -3 : 0, static_cast<int32_t>(f.dim[k])));
  return out + "}";
}

std::string load_text(const TensorMapFields& f, const Box& b, const std::string& mode, const std::string& start, const std::string& offsets, uint32_t offset) {
  const std::string copy = fmt::format(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], {};\nadd.u32 %r10, %r1, {};\n"
      "cp.async.bulk.tensor.{}d.shared::cluster.global.{}.mbarrier::complete_tx::bytes [%r10], [%rd2, {}], [%r2]{};\n",
      b.bytes, offset, f.rank, mode, start, offsets);
  return kernel_head(b.smem(), true) + fill_area(b.smem(), false) + init_barrier(1) + by_first(copy, "ISSUED") + wait_parity(0, "WAIT") + dump_area(b.smem());
}

std::string store_text(const TensorMapFields& f, const Box& b, const std::string& instruction, const std::string& start, uint32_t offset) {
  const std::string copy = fmt::format(
      "add.u32 %r10, %r1, {};\n{} [%rd2, {}], [%r10];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n", offset,
      fmt::format(fmt::runtime(instruction), f.rank), start);
  return kernel_head(b.smem(), true) + fill_area(b.smem(), true) + by_first(copy, "STORED") + "ret;\n}\n";
}

void add_loads(std::vector<Probe>& out) {
  for (uint32_t i = 0; i < 96; ++i) {
    Draw d(1000 + i);
    TensorMapFields f = draw_tile(d, kTypes[i % kTypes.size()], true);
    const uint64_t size = lay_out(f, d);
    const Box b = tile_box(f);
    const std::string text = load_text(f, b, "tile", draw_start(f, d, true), "", 128 * d.below(kSlack / 128));
    out.push_back(probe("tma", fmt::format("tma.load.{}", i), {text, {{1}, {128}}, {d.bytes(size), std::vector<uint8_t>(b.smem())}, {{f, 0, 0}}}));
  }
}

// The tensor is the second buffer: the record shows its bytes before and after.
void add_store(std::vector<Probe>& out, const std::string& name, uint64_t seed, TensorType type, const std::string& instruction) {
  Draw d(seed);
  TensorMapFields f = draw_tile(d, type, false);
  f.oob_fill = isa::OobFill::zero;
  const uint64_t size = lay_out(f, d);
  const Box b = tile_box(f);
  const std::string text = store_text(f, b, instruction, draw_start(f, d, false), 128 * d.below(kSlack / 128));
  out.push_back(probe("tma", name, {text, {{1}, {128}}, {d.bytes(b.smem()), d.bytes(size)}, {{f, 1, 0}}}));
}

void add_reductions(std::vector<Probe>& out) {
  struct Operation {
    const char* name;
    std::vector<TensorType> types;
  };
  using enum TensorType;
  const Operation kOperations[] = {{"add", {u32, s32, u64, f32, f16, bf16}}, {"min", {u32, s32, u64, s64, f16, bf16}}, {"max", {u32, s32, u64, s64, f16, bf16}}, {"inc", {u32}}, {"dec", {u32}}, {"and", {u32, u64}}, {"or", {u32, u64}}, {"xor", {u32, u64}}};
  uint64_t seed = 3000;
  for (const Operation& o : kOperations) {
    for (const TensorType t : o.types) {
      add_store(out, fmt::format("tma.reduce.{}.{}", o.name, isa::to_string(t)), seed++, t,
                fmt::format("cp.reduce.async.bulk.tensor.{{}}d.global.shared::cta.{}.tile.bulk_group", o.name));
    }
  }
}

// Draws the map's corners and a start inside the walk's bounds; P pixels of C channels.
TensorMapFields draw_im2col(Draw& d, TensorType type, bool store) {
  TensorMapFields f;
  f.mode = isa::TensorMapMode::im2col;
  f.type = type;
  f.rank = 3 + d.below(3);
  f.swizzle = draw_swizzle(d);
  const uint32_t span = f.swizzle == isa::Swizzle::none ? 128 : isa::swizzle_span(f.swizzle), unit = 16 / bytes_of(f);
  f.channels_per_pixel = unit * (1 + d.below(span / 16));
  f.pixels_per_column = 1 + d.below(kMaxBoxBytes / 128 - 1);
  f.dim[0] = 1 + d.below(2 * f.channels_per_pixel);
  for (uint32_t k = 1; k < f.rank; ++k) f.dim[k] = 3 + d.below(4);
  for (uint32_t j = 0; j < f.spatial_dims(); ++j) {
    f.lower_corner[j] = store ? static_cast<int32_t>(d.below(2)) : d.between(-2, 1);
    f.upper_corner[j] = store ? 0 : d.between(-1, 1);
    if (!store && d.one_in(3)) f.element_stride[j + 1] = 2;
  }
  if (isa::is_floating(type) && !store && d.one_in(2)) f.oob_fill = isa::OobFill::nan;
  return f;
}

Box im2col_box(const TensorMapFields& f) {
  const uint32_t inner = f.channels_per_pixel * bytes_of(f);
  return {f.pixels_per_column, f.swizzle == isa::Swizzle::none ? inner : isa::swizzle_span(f.swizzle), f.pixels_per_column * inner};
}

std::string im2col_start(const TensorMapFields& f, Draw& d) {
  const uint32_t unit = 16 / bytes_of(f);
  std::string out = fmt::format("{{{}", unit * d.below(static_cast<uint32_t>(f.dim[0]) / unit + 1));
  for (uint32_t j = 0; j < f.spatial_dims(); ++j) {
    out += fmt::format(", {}", d.between(f.lower_corner[j], static_cast<int32_t>(f.dim[j + 1]) - 1 + f.upper_corner[j]));
  }
  return out + fmt::format(", {}}}", d.below(static_cast<uint32_t>(f.dim[f.rank - 1])));
}

void add_im2col(std::vector<Probe>& out) {
  constexpr std::array kSome = {TensorType::f16, TensorType::u8, TensorType::f32, TensorType::bf16, TensorType::tf32, TensorType::u32};
  for (uint32_t i = 0; i < 36; ++i) {
    Draw d(5000 + i);
    TensorMapFields f = draw_im2col(d, kSome[i % kSome.size()], false);
    const uint64_t size = lay_out(f, d);
    const Box b = im2col_box(f);
    std::string offsets = ", {";
    for (uint32_t j = 0; j < f.spatial_dims(); ++j) offsets += fmt::format("{}%rs{}", j == 0 ? "" : ", ", j);
    std::string values;
    for (uint32_t j = 0; j < f.spatial_dims(); ++j) values += fmt::format("mov.b16 %rs{}, {};\n", j, d.below(3));
    std::string text = load_text(f, b, "im2col", im2col_start(f, d), offsets + "}", 128 * d.below(kSlack / 128));
    text.insert(text.find("mov.u32 %r0"), values);
    out.push_back(probe("im2col", fmt::format("im2col.load.{}", i), {text, {{1}, {128}}, {d.bytes(size), std::vector<uint8_t>(b.smem())}, {{f, 0, 0}}}));
  }
  for (uint32_t i = 0; i < 24; ++i) {
    Draw d(5500 + i);
    TensorMapFields f = draw_im2col(d, kSome[i % 4], true);
    const uint64_t size = lay_out(f, d);
    const Box b = im2col_box(f);
    const std::string text = store_text(f, b, "cp.async.bulk.tensor.{}d.global.shared::cta.im2col_no_offs.bulk_group", im2col_start(f, d), 128 * d.below(kSlack / 128));
    out.push_back(probe("im2col", fmt::format("im2col.store.{}", i), {text, {{1}, {128}}, {d.bytes(b.smem()), d.bytes(size)}, {{f, 1, 0}}}));
  }
}

}  // namespace

void add_tma(std::vector<Probe>& out) {
  add_loads(out);
  for (uint32_t i = 0; i < 48; ++i)
    add_store(out, fmt::format("tma.store.{}", i), 2000 + i, kTypes[i % kTypes.size()], "cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group");
  add_reductions(out);
  add_im2col(out);
}

}  // namespace drywell::kernels::silicon
