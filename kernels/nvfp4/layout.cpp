// Small kernels that move bytes: scale factors to the tensor core's layout, shards of an all-gather next to each other,
// the GEMM's alpha.
#include <algorithm>

#include "drywell/core/bits.h"
#include "kernels/nvfp4/nvfp4.h"

namespace drywell::kernels::nvfp4 {
namespace {

using namespace isa;

constexpr uint32_t kAtomRows = 128, kAtomColumns = 4, kAtomBytes = 512;
constexpr uint32_t kCopyThreads = 256;

}  // namespace

uint64_t swizzled_sf_bytes(uint64_t rows, uint64_t columns) { return ceil_div(rows, kAtomRows) * ceil_div(columns, kAtomColumns) * kAtomBytes; }

// A CTA makes one atom: thread r packs the four factors of row r and stores them at (r % 32) * 16 + (r / 32) * 4, the "32 x
// 16 contiguous subtensor" ("NVFP4 training in TransformerEngine", section "Custom Kernels: FProp").
Module build_swizzle_sf(Target target) {
  KernelBuilder k("swizzle_sf", target);
  const Symbol in = k.param(Mod::u64, "in"), out = k.param(Mod::u64, "out"), rows = k.param(Mod::u32, "rows"), columns = k.param(Mod::u32, "columns"),
               pitch = k.param(Mod::u32, "pitch");
  k.directives().maxntid = {kAtomRows, 1, 1};
  const Reg tid = k.def("mov.u32", SpecialReg::tid_x), bx = k.def("mov.u32", SpecialReg::ctaid_x), by = k.def("mov.u32", SpecialReg::ctaid_y);
  const Reg row = k.def("mad.lo.u32", by, kAtomRows, tid), column = k.def("mul.lo.u32", bx, kAtomColumns);
  const Reg wide_column = k.def("cvt.u64.u32", column), base = k.load_param(in, Mod::u64), row_pitch = k.load_param(pitch, Mod::u32);
  const Reg from = k.def("add.s64", k.def("mad.wide.u32", row, row_pitch, base), wide_column);
  const Reg row_exists = k.reg(Mod::pred), limit = k.load_param(columns, Mod::u32), word = k.def("mov.b32", 0);
  k("setp.lt.u32", row_exists, row, k.load_param(rows, Mod::u32));
  for (uint32_t i = 0; i < kAtomColumns; ++i) {
    const Reg exists = k.reg(Mod::pred), byte = k.def("mov.b32", 0);
    k("setp.lt.and.u32", exists, k.def("add.u32", column, i), limit, row_exists);
    k.when(exists)("ld.global.u8", byte, mem(from, i));
    k("or.b32", word, word, k.def("shl.b32", byte, 8 * i));
  }
  const Reg atom = k.def("mad.lo.u32", by, k.def("mov.u32", SpecialReg::nctaid_x), bx);
  const Reg word_of_warp = k.def("shl.b32", k.def("shr.u32", tid, 5), 2), lane = k.def("and.b32", tid, 31);
  const Reg inside = k.def("mad.lo.u32", lane, 16, word_of_warp);
  const Reg to = k.def("mad.wide.u32", atom, kAtomBytes, k.load_param(out, Mod::u64));
  k("st.global.b32", mem(k.def("add.s64", to, k.def("cvt.u64.u32", inside))), word);
  return k.finish();
}

sim::LaunchConfig swizzle_sf_launch(uint64_t rows, uint64_t columns) {
  return {.grid = {static_cast<uint32_t>(ceil_div(columns, kAtomColumns)), static_cast<uint32_t>(ceil_div(rows, kAtomRows))}, .block = {kAtomRows}};
}

sim::RunResult launch_swizzle_sf(Accelerator& device, GmemAddr in, uint64_t rows, uint64_t columns, uint64_t pitch, GmemAddr out, const sim::RunOptions& run) {
  device.load(build_swizzle_sf(device.arch().target));
  sim::Args args;
  args.add(in).add(out).add(static_cast<uint32_t>(rows)).add(static_cast<uint32_t>(columns)).add(static_cast<uint32_t>(pitch));
  return device.launch("swizzle_sf", swizzle_sf_launch(rows, columns), args, run);
}

Module build_alpha(Target target) {
  KernelBuilder k("nvfp4_alpha", target);
  const Symbol a = k.param(Mod::u64, "amax_a"), b = k.param(Mod::u64, "amax_b"), out = k.param(Mod::u64, "alpha");
  k.directives().maxntid = {1, 1, 1};
  const Reg amax_b = k.def("ld.global.f32", mem(k.load_param(b, Mod::u64))), amax_a = k.def("ld.global.f32", mem(k.load_param(a, Mod::u64)));
  const Reg both = k.def("mul.f32", amax_a, amax_b), alpha = k.def("mul.f32", both, 1.0f / (6.0f * 6.0f * 448.0f * 448.0f));
  k("st.global.f32", mem(k.load_param(out, Mod::u64)), alpha);
  return k.finish();
}

sim::RunResult launch_alpha(Accelerator& device, GmemAddr amax_a, GmemAddr amax_b, GmemAddr out, const sim::RunOptions& run) {
  device.load(build_alpha(device.arch().target));
  sim::Args args;
  args.add(amax_a).add(amax_b).add(out);
  return device.launch("nvfp4_alpha", {.grid = {1}, .block = {1}}, args, run);
}

uint32_t shard_copy_unit(const ShardCopy& c) {
  for (const uint32_t unit : {16u, 4u}) {
    const auto whole = [&](uint64_t v) { return v % unit == 0; };
    if (whole(c.width) && whole(c.in_pitch) && whole(c.in_shard) && whole(c.out_width) && whole(c.out_pitch)) return unit;
  }
  return 1;
}

// A thread moves one unit of the output: row blockIdx.y, units blockIdx.x * 256 + thread.
Module build_interleave_shards(uint32_t unit, Target target) {
  KernelBuilder k("interleave_shards", target);
  const Symbol in = k.param(Mod::u64, "in"), out = k.param(Mod::u64, "out");
  const auto number = [&](const char* name) { return k.param(Mod::u32, name); };
  const Symbol shards = number("shards"), rows = number("rows"), width = number("width"), in_pitch = number("in_pitch"), in_shard = number("in_shard"),
               out_width = number("out_width"), out_pitch = number("out_pitch");
  k.directives().maxntid = {kCopyThreads, 1, 1};
  const auto value = [&](Symbol s) { return k.load_param(s, Mod::u32); };
  const Reg tid = k.def("mov.u32", SpecialReg::tid_x), row = k.def("mov.u32", SpecialReg::ctaid_y);
  const Reg first = k.def("mad.lo.u32", k.def("mov.u32", SpecialReg::ctaid_x), kCopyThreads, tid), at = k.def("mul.lo.u32", first, unit);
  const Reg inside = k.reg(Mod::pred);
  k("setp.lt.u32", inside, at, value(out_width));
  k.if_(inside, [&] {
    const Reg w = value(width), shard = k.def("div.u32", at, w), offset = k.def("rem.u32", at, w);
    const Reg row_exists = k.reg(Mod::pred), exists = k.reg(Mod::pred);
    k("setp.lt.u32", row_exists, row, value(rows));
    k("setp.lt.and.u32", exists, shard, value(shards), row_exists);
    const Reg input = k.load_param(in, Mod::u64), shard_bytes = value(in_shard), shard_base = k.def("mad.wide.u32", shard, shard_bytes, input);
    const Reg wide_offset = k.def("cvt.u64.u32", offset), from = k.def("add.s64", k.def("mad.wide.u32", row, value(in_pitch), shard_base), wide_offset);
    const Reg wide_at = k.def("cvt.u64.u32", at), output = k.load_param(out, Mod::u64), pitch = value(out_pitch);
    const Reg to = k.def("add.s64", k.def("mad.wide.u32", row, pitch, output), wide_at);
    const uint32_t words = unit == 16 ? 4 : 1;
    const RegArray data = k.regs(Mod::b32, words, "data");
    for (const Reg d : data) k("mov.b32", d, 0);
    const char* access = unit == 16 ? "v4.b32" : unit == 4 ? "b32"
                                                           : "b8";
    const Arg payload = words == 1 ? Arg(data[0]) : Arg(data);
    k.when(exists).emit(OpText(std::string("ld.global.") + access), {payload, mem(from)});
    k.emit(OpText(std::string("st.global.") + access), {mem(to), payload});
  });
  return k.finish();
}

sim::LaunchConfig interleave_shards_launch(const ShardCopy& c) {
  return {.grid = {static_cast<uint32_t>(ceil_div(c.out_width, uint64_t{kCopyThreads} * shard_copy_unit(c))), static_cast<uint32_t>(c.out_rows)},
          .block = {kCopyThreads}};
}

sim::RunResult launch_interleave_shards(Accelerator& device, const ShardCopy& c, GmemAddr in, GmemAddr out, const sim::RunOptions& run) {
  device.load(build_interleave_shards(shard_copy_unit(c), device.arch().target));
  sim::Args args;
  args.add(in).add(out);
  for (const uint64_t v : {c.shards, c.rows, c.width, c.in_pitch, c.in_shard, c.out_width, c.out_pitch}) args.add(static_cast<uint32_t>(v));
  return device.launch("interleave_shards", interleave_shards_launch(c), args, run);
}

}  // namespace drywell::kernels::nvfp4
