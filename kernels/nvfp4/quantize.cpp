// Quantization without a transform: 128 x 128 tiles of a bf16 tensor in four slices of 32 rows, through two shared-memory
// buffers by TMA; row-wise codes, column-wise (transposed) codes, or both from one read.
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "drywell/core/bits.h"
#include "drywell/isa/pipeline.h"
#include "drywell/isa/tensor_map.h"
#include "kernels/nvfp4/nvfp4.h"

namespace drywell::kernels::nvfp4 {
namespace {

using namespace isa;

constexpr uint32_t kTile = 128, kSlice = 32, kSlices = 4, kBuffers = 2, kThreads = 128;
constexpr uint32_t kInPitch = kTile * 2, kInBytes = kSlice * kInPitch;
constexpr uint32_t kRowPitch = kTile / 2, kRowBytes = kSlice * kRowPitch;           // codes of a slice, row-wise
constexpr uint32_t kColumnPitch = kSlice / 2, kColumnBytes = kTile * kColumnPitch;  // and transposed
constexpr uint32_t kIterations = kSlice / kBlockSize;                               // of sixteen rows
constexpr uint32_t kBlocksAcross = kTile / kBlockSize;

// Shared memory: barriers, block maxima, two input slices, two slices of codes in each orientation.
constexpr uint32_t kBarriers = 0, kMaxima = 64, kIn = 128, kRowOut = kIn + kBuffers * kInBytes, kColumnOut = kRowOut + kBuffers * kRowBytes,
                   kSmemBytes = kColumnOut + kBuffers * kColumnBytes;

using Block = std::array<Reg, kBlockSize>;

class TileQuantizer {
 public:
  TileQuantizer(const QuantizeOptions& o, Target target) : o_(o), a_(o.arithmetic), k_(o.square_blocks ? "quantize_nvfp4_2d" : "quantize_nvfp4", target) {}

  Module build() {
    parameters();
    prologue();
    for (uint32_t s = 0; s < kSlices; ++s) slice(s);
    return k_.finish();
  }

 private:
  struct Output {
    Symbol map, scales, amax, pitch;
    Reg map_address, scales_address;
    GlobalScales global;
  };

  void parameters();
  void prologue();
  void load(uint32_t s);
  void slice(uint32_t s);
  std::vector<Block> column_values(uint32_t s);
  void square_maxima(const std::vector<Block>& columns);
  void columnwise(uint32_t s, const std::vector<Block>& columns);
  void rowwise(uint32_t s);
  void store(uint32_t s);
  /// Returns the block's maximum: from shared memory for square blocks, else of its own values.
  Reg maximum(const Block& values, uint32_t iteration, Reg block);
  std::array<Reg, 2> codes(const Block& values, Reg multiplier);
  /// Stores one scale if its row and its block are inside the tensor.
  void store_scale(const Output& o, Reg row, Reg rows, Reg block, Reg blocks, Reg code);
  Reg smem_at(uint32_t offset) { return k_.def("add.u32", smem_, offset); }

  QuantizeOptions o_;
  Arithmetic a_;
  KernelBuilder k_;
  Symbol map_in_{}, rng_{}, rows_param_{}, columns_param_{};
  Output row_, column_;
  Reg smem_, tid_, leader_, x_, y_, rows_, columns_;
  std::optional<PhiloxStream> random_;
};

void TileQuantizer::parameters() {
  map_in_ = k_.param_bytes("map_in", kTensorMapBytes, 64);
  const auto output = [&](Output& o, const std::string& suffix) {
    o.map = k_.param_bytes("map_codes" + suffix, kTensorMapBytes, 64);
    o.scales = k_.param(Mod::u64, "scales" + suffix);
    o.pitch = k_.param(Mod::u32, "scale_pitch" + suffix);
    o.amax = k_.param(Mod::u64, "amax" + suffix);
  };
  if (o_.rowwise) output(row_, "");
  if (o_.columnwise) output(column_, "_t");
  rows_param_ = k_.param(Mod::u32, "rows");
  columns_param_ = k_.param(Mod::u32, "columns");
  rng_ = k_.param(Mod::u64, "rng_state");
  k_.directives().maxntid = {kThreads, 1, 1};
}

void TileQuantizer::prologue() {
  smem_ = k_.def("mov.u32", k_.shared("shared_memory", kSmemBytes, 128));
  tid_ = k_.def("mov.u32", SpecialReg::tid_x);
  const Reg bx = k_.def("mov.u32", SpecialReg::ctaid_x), by = k_.def("mov.u32", SpecialReg::ctaid_y);
  x_ = k_.def("mul.lo.u32", bx, kTile);
  y_ = k_.def("mul.lo.u32", by, kTile);
  rows_ = k_.load_param(rows_param_, Mod::u32);
  columns_ = k_.load_param(columns_param_, Mod::u32);
  leader_ = k_.reg(Mod::pred);
  k_("setp.eq.u32", leader_, tid_, 0);
  k_.if_(leader_, [&] {
    for (uint32_t s = 0; s < kSlices; ++s) k_("mbarrier.init.shared::cta.b64", mem(smem_, kBarriers + 8 * s), 1);
    k_("fence.mbarrier_init.release.cluster");
    k_("fence.proxy.async.shared::cta");
  });
  k_("bar.sync", 0);
  load(0);
  for (Output* o : {o_.rowwise ? &row_ : nullptr, o_.columnwise ? &column_ : nullptr}) {
    if (o == nullptr) continue;
    o->map_address = k_.def("cvta.param.u64", o->map);
    o->scales_address = k_.load_param(o->scales, Mod::u64);
    o->global = global_scales(k_, a_, k_.load_param(o->amax, Mod::u64));
  }
  if (!a_.stochastic) return;
  // TransformerEngine's rng_sequence: threadIdx.x + blockIdx.x * THREADS + blockIdx.y * gridDim.x * THREADS.
  const Reg cta = k_.def("mad.lo.u32", by, k_.def("mov.u32", SpecialReg::nctaid_x), bx);
  const Reg sequence = k_.def("mad.lo.u32", cta, kThreads, tid_);
  random_.emplace(k_, load_seed(k_, k_.load_param(rng_, Mod::u64)), sequence);
}

void TileQuantizer::load(uint32_t s) {
  k_.if_(leader_, [&] {
    k_("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(smem_, kBarriers + 8 * s), kInBytes);
    const Reg y = k_.def("add.u32", y_, s * kSlice), map = k_.def("cvta.param.u64", map_in_);
    k_("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", mem(smem_, kIn + s % kBuffers * kInBytes), tensor(map, {x_, y}),
       mem(smem_, kBarriers + 8 * s));
  });
}

void TileQuantizer::slice(uint32_t s) {
  if (s + 1 < kSlices) load(s + 1);
  // The store of the slice before last must have read the buffer that this slice writes.
  if (s >= kBuffers) {
    k_.if_(leader_, [&] { k_("cp.async.bulk.wait_group.read", 1); });
    k_("bar.sync", 0);
  }
  mbarrier_wait(k_, smem_at(kBarriers + 8 * s), 0);
  std::vector<Block> columns;
  if (o_.columnwise || o_.square_blocks) columns = column_values(s);
  if (o_.square_blocks) square_maxima(columns);
  if (o_.columnwise) columnwise(s, columns);
  if (o_.rowwise) rowwise(s);
  store(s);
}

// Loads a thread's column of the slice.
std::vector<Block> TileQuantizer::column_values(uint32_t s) {
  const Reg from = k_.def("mad.lo.u32", tid_, 2, smem_at(kIn + s % kBuffers * kInBytes));
  std::vector<Block> out(kIterations);
  for (uint32_t i = 0; i < kIterations; ++i) {
    for (uint32_t r = 0; r < kBlockSize; ++r) {
      const Reg bits = k_.reg(Mod::b16);
      k_("ld.shared.b16", bits, mem(from, (i * kBlockSize + r) * kInPitch));
      out[i][r] = k_.def("cvt.f32.bf16", bits);
    }
  }
  return out;
}

// "A half-warp reduction then reduces across 16 … Lanes 0 and 16 write the resulting 8 blockwise amaxes to shared memory
// (per iteration)."
void TileQuantizer::square_maxima(const std::vector<Block>& columns) {
  const Reg first = k_.reg(Mod::pred);
  k_("setp.eq.u32", first, k_.def("and.b32", tid_, 15), 0);
  const Reg maxima = smem_at(kMaxima), half_warp = k_.def("shr.u32", tid_, 4);
  const Reg to = k_.def("mad.lo.u32", half_warp, 4, maxima);
  for (uint32_t i = 0; i < kIterations; ++i) {
    const Reg m = block_amax(k_, a_, columns[i]);
    for (const int distance : {8, 4, 2, 1}) {
      const Reg bits = k_.reg(Mod::b32), other = k_.reg(Mod::f32);
      k_("mov.b32", bits, m);
      k_("mov.b32", other, k_.def("shfl.sync.bfly.b32", bits, distance, 31, -1));
      k_("max.f32", m, m, other);
    }
    k_.when(first)("st.shared.f32", mem(to, 4 * kBlocksAcross * i), m);
  }
  k_("bar.sync", 0);
}

Reg TileQuantizer::maximum(const Block& values, uint32_t iteration, Reg block) {
  if (!o_.square_blocks) return block_amax(k_, a_, values);
  return k_.def("ld.shared.f32", mem(k_.def("mad.lo.u32", block, 4, smem_at(kMaxima + 4 * kBlocksAcross * iteration))));
}

std::array<Reg, 2> TileQuantizer::codes(const Block& values, Reg multiplier) {
  if (!a_.stochastic) return encode_block(k_, values, multiplier, nullptr);
  const auto random = random_->next();
  return encode_block(k_, values, multiplier, &random);
}

void TileQuantizer::store_scale(const Output& o, Reg row, Reg rows, Reg block, Reg blocks, Reg code) {
  const Reg row_exists = k_.reg(Mod::pred), exists = k_.reg(Mod::pred);
  k_("setp.lt.u32", row_exists, row, rows);
  k_("setp.lt.and.u32", exists, block, blocks, row_exists);
  const Reg wide_block = k_.def("cvt.u64.u32", block);
  const Reg at = k_.def("add.s64", k_.def("mad.wide.u32", row, k_.load_param(o.pitch, Mod::u32), o.scales_address), wide_block);
  k_.when(exists)("st.global.b8", mem(at), code);
}

void TileQuantizer::columnwise(uint32_t s, const std::vector<Block>& columns) {
  const Reg column = k_.def("add.u32", x_, tid_), blocks = k_.def("shr.u32", rows_, 4);
  const Reg out = k_.def("mad.lo.u32", tid_, kColumnPitch, smem_at(kColumnOut + s % kBuffers * kColumnBytes));
  const Reg square = k_.def("shr.u32", tid_, 4);
  for (uint32_t i = 0; i < kIterations; ++i) {
    const BlockScale scale = block_scale(k_, a_, maximum(columns[i], i, square), column_.global);
    const auto words = codes(columns[i], scale.multiplier);
    k_("st.shared.v2.b32", mem(out, 8 * i), vec(words[0], words[1]));
    const Reg block = k_.def("add.u32", k_.def("shr.u32", y_, 4), s * kIterations + i);
    store_scale(column_, column, columns_, block, blocks, scale.code);
  }
}

void TileQuantizer::rowwise(uint32_t s) {
  // Blocks along a row: "2 threads per warp * 4 warps * 16 elements" in the 1-D kernel, "128 threads arranged 16 x 8" in the
  // 2-D one.
  const Reg lane = k_.def("and.b32", tid_, 31), warp = k_.def("shr.u32", tid_, 5);
  const Reg row16 = o_.square_blocks ? k_.def("shr.u32", tid_, 3) : k_.def("shr.u32", lane, 1);
  const Reg across = o_.square_blocks ? k_.def("and.b32", tid_, 7) : k_.def("mad.lo.u32", warp, 2, k_.def("and.b32", lane, 1));
  const Reg block = k_.def("add.u32", k_.def("shr.u32", x_, 4), across), blocks = k_.def("shr.u32", columns_, 4);
  for (uint32_t i = 0; i < kIterations; ++i) {
    const Reg row = k_.def("add.u32", row16, i * kBlockSize);
    const Reg from = k_.def("mad.lo.u32", row, kInPitch, k_.def("mad.lo.u32", across, 2 * kBlockSize, smem_at(kIn + s % kBuffers * kInBytes)));
    Block values;
    for (uint32_t half = 0; half < 2; ++half) {
      const RegArray words = k_.regs(Mod::b32, 4, "x");
      k_("ld.shared.v4.b32", words, mem(from, 16 * half));
      for (uint32_t w = 0; w < 4; ++w) {
        const auto pair = widen_bf16(k_, words[w]);
        values[8 * half + 2 * w] = pair[0];
        values[8 * half + 2 * w + 1] = pair[1];
      }
    }
    const BlockScale scale = block_scale(k_, a_, maximum(values, i, across), row_.global);
    const auto words = codes(values, scale.multiplier);
    const Reg out = k_.def("mad.lo.u32", row, kRowPitch, k_.def("mad.lo.u32", across, 8, smem_at(kRowOut + s % kBuffers * kRowBytes)));
    k_("st.shared.v2.b32", mem(out), vec(words[0], words[1]));
    store_scale(row_, k_.def("add.u32", k_.def("add.u32", y_, s * kSlice), row), rows_, block, blocks, scale.code);
  }
}

void TileQuantizer::store(uint32_t s) {
  k_("fence.proxy.async.shared::cta");
  k_("bar.sync", 0);
  const Reg y = k_.def("add.u32", y_, s * kSlice);
  k_.if_(leader_, [&] {
    constexpr const char* op = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group";
    if (o_.rowwise) k_(op, tensor(row_.map_address, {k_.def("shr.u32", x_, 1), y}), mem(smem_, kRowOut + s % kBuffers * kRowBytes));
    if (o_.columnwise) k_(op, tensor(column_.map_address, {k_.def("shr.u32", y, 1), x_}), mem(smem_, kColumnOut + s % kBuffers * kColumnBytes));
    k_("cp.async.bulk.commit_group");
    if (s + 1 == kSlices) k_("cp.async.bulk.wait_group", 0);
  });
}

TensorMap matrix_map(Accelerator& device, TensorType type, GmemAddr at, uint64_t rows, uint64_t columns, uint32_t box_rows, uint32_t box_columns) {
  TensorMapFields f;
  f.type = type;
  f.rank = 2;
  f.address = at.value();
  f.dim = {columns, rows, 1, 1, 1};
  f.stride[0] = columns * element_bits(type) / 8;
  f.box = {box_columns, box_rows, 1, 1, 1};
  return device.encode(f);
}

}  // namespace

Module build_quantize(const QuantizeOptions& o, Target target) { return TileQuantizer(o, target).build(); }

void check_quantize(const QuantizeOptions& o, uint64_t rows, uint64_t columns) {
  Diagnostics problems;
  const auto need = [&](const char* name, uint64_t value, uint64_t of, const char* why) {
    if (value == 0 || value % of != 0 || value > 0xFFFFFFFFu)
      problems.error(Code::E2110, {}, fmt::format("{} = {}: must be a positive multiple of {}", name, value, of), why);
  };
  const char* stride = "rows of packed codes are multiples of 16 bytes, TMA's stride";
  need("columns", columns, o.rowwise ? 32 : 8, o.rowwise ? stride : "rows of bf16 are multiples of 16 bytes, TMA's stride");
  need("rows", rows, o.columnwise ? 32 : o.square_blocks ? 16
                                                         : 1,
       o.columnwise ? stride : "whole blocks of 16 x 16");
  if (o.square_blocks && columns % 16 != 0) need("columns", columns, 16, "whole blocks of 16 x 16");
  if (!o.rowwise && !o.columnwise) problems.error(Code::E2110, {}, "neither row-wise nor column-wise output is asked for");
  if (problems.has_errors()) throw InputError(std::move(problems));
}

sim::LaunchConfig quantize_launch(uint64_t rows, uint64_t columns) {
  return {.grid = {static_cast<uint32_t>(ceil_div(columns, kTile)), static_cast<uint32_t>(ceil_div(rows, kTile))}, .block = {kThreads}};
}

sim::RunResult launch_quantize(Accelerator& device, const Bf16Matrix& x, const QuantizeOptions& o, const Nvfp4Matrix& row, const Nvfp4Matrix& column,
                               GmemAddr rng, const sim::RunOptions& run) {
  check_quantize(o, x.rows, x.columns);
  sim::Args args;
  args.add(matrix_map(device, TensorType::bf16, x.at, x.rows, x.columns, kSlice, kTile));
  const auto output = [&](const Nvfp4Matrix& m, uint32_t box_rows, uint32_t box_bytes) {
    args.add(matrix_map(device, TensorType::u8, m.codes, m.rows, m.k / 2, box_rows, box_bytes));
    args.add(m.scales).add(static_cast<uint32_t>(m.scale_pitch())).add(m.amax);
  };
  if (o.rowwise) output(row, kSlice, kRowPitch);
  if (o.columnwise) output(column, kTile, kColumnPitch);
  args.add(static_cast<uint32_t>(x.rows)).add(static_cast<uint32_t>(x.columns)).add(rng);
  device.load(build_quantize(o, device.arch().target));
  return device.launch(o.square_blocks ? "quantize_nvfp4_2d" : "quantize_nvfp4", quantize_launch(x.rows, x.columns), args, run);
}

}  // namespace drywell::kernels::nvfp4
