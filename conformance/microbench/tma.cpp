// Tensor and bulk copies: one at a time (latency), a ring of four (throughput), stores.
#include <fmt/format.h>

#include "conformance/microbench/microbench.h"
#include "conformance/microbench/text.h"

namespace drywell::kernels::microbench {
namespace {

constexpr unsigned kRow = 128;    // bytes: the 128-byte swizzle's row
constexpr uint64_t kRows = 4096;  // of one CTA
constexpr uint64_t kMostCtas = 160;

isa::TensorMapFields rows_map(unsigned rows) {
  isa::TensorMapFields f;
  f.type = isa::TensorType::u8;
  f.rank = 2;
  f.dim[0] = kRow;
  f.dim[1] = kRows * kMostCtas;
  f.stride[0] = kRow;
  f.box[0] = kRow;
  f.box[1] = rows;
  f.swizzle = isa::Swizzle::b128;
  return f;
}

Microbench bench(std::string name, bool fitted, KernelText k, unsigned bytes, unsigned stages, Unit unit, double work, bool tensor) {
  k.has_map = tensor;
  k.setup = fmt::format("mov.u32 %r7, %ctaid.x;\nmul.lo.u32 %r8, %r7, {};\n", kRows) + k.setup;  // the CTA's first row
  k.dynamic_smem = true;
  Microbench b = microbench(std::move(name), "tma", fitted, unit, work, k);
  b.launch.dynamic_smem = bytes * stages;
  b.memory_bytes = kRow * kRows * kMostCtas;
  if (tensor) b.map = rows_map(bytes / kRow);
  return b;
}

std::string load(bool tensor, unsigned bytes, unsigned stage) {
  const unsigned offset = stage * bytes;
  return fmt::format("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3+{}], {};\n", 8 * stage, bytes) +
         (tensor ? fmt::format("add.u32 %r11, %r2, {};\nadd.u32 %r12, %r3, {};\nadd.u32 %r13, %r8, {};\n"
                               "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd2, {{0, %r13}}], [%r12];\n",
                               offset, 8 * stage, stage * (bytes / kRow))
                 : fmt::format("add.u32 %r11, %r2, {};\nadd.u32 %r12, %r3, {};\nadd.u64 %rd10, %rd1, {};\n"
                               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd10], {}, [%r12];\n",
                               offset, 8 * stage, offset, bytes));
}

std::string size_name(unsigned bytes) { return bytes % 1024 == 0 ? fmt::format("{}KiB", bytes / 1024) : fmt::format("{}B", bytes); }

// From the issue to the waiting thread's next instruction.
Microbench latency(bool tensor, unsigned bytes, bool fitted) {
  KernelText k;
  k.setup = init_barriers(1, 1) + "@%others bra DONE;\n";
  k.loop = load(tensor, bytes, 0) + wait("FULL0", "[%r3]", "0") + load(tensor, bytes, 0) + wait("FULL1", "[%r3]", "1");
  return bench(fmt::format("{}.latency.{}", tensor ? "tma" : "bulk", size_name(bytes)), fitted, k, bytes, 1, Unit::cycles, 2, tensor);
}

// Four copies in flight.
Microbench ring(bool tensor, unsigned bytes, bool fitted, bool all_sms = false) {
  constexpr unsigned kStages = 4;
  KernelText k;
  k.setup = init_barriers(kStages, 1) + "@%others bra DONE;\nmov.u32 %r9, 0;\n";
  for (unsigned s = 0; s < kStages; ++s) k.setup += load(tensor, bytes, s);
  for (unsigned s = 0; s < kStages; ++s) {
    k.loop += wait(fmt::format("FULL{}", s), fmt::format("[%r3+{}]", 8 * s), "%r9") + load(tensor, bytes, s);
    k.finish += wait(fmt::format("LAST{}", s), fmt::format("[%r3+{}]", 8 * s), "%r9");
  }
  k.loop += "xor.b32 %r9, %r9, 1;\n";
  Microbench b = bench(fmt::format("{}.ring.{}{}", tensor ? "tma" : "bulk", size_name(bytes), all_sms ? ".all" : ""), fitted, k, bytes, kStages,
                       Unit::bytes_per_cycle, kStages * bytes, tensor);
  if (all_sms) b.launch.grid.x = 0;
  b.per_cta = true;
  return b;
}

// Sixteen small loads on one barrier: the spacing of loads.
Microbench spacing(unsigned bytes, bool fitted) {
  constexpr unsigned kLoads = 16;
  KernelText k;
  k.setup = init_barriers(1, 1) + "@%others bra DONE;\nmov.u32 %r9, 0;\n";
  k.loop = fmt::format("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], {};\n", kLoads * bytes);
  for (unsigned i = 0; i < kLoads; ++i)
    k.loop += fmt::format("add.u32 %r11, %r2, {};\ncp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd2, {{0, {}}}], [%r3];\n",
                          i * bytes, i * (bytes / kRow));
  k.loop += wait("FULL", "[%r3]", "%r9") + "xor.b32 %r9, %r9, 1;\n";
  return bench(fmt::format("tma.sixteen.{}", size_name(bytes)), fitted, k, bytes, kLoads, Unit::cycles, kLoads, true);
}

Microbench store(const char* kind, unsigned bytes, bool fitted) {
  const std::string name = kind;
  KernelText k;
  k.setup = "@%others bra DONE;\n";
  const std::string copy =
      name == "bulk"     ? fmt::format("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], {};\n", bytes)
      : name == "reduce" ? "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd2, {0, 0}], [%r2];\n"
                         : "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {0, 0}], [%r2];\n";
  k.loop = repeat(2, copy + "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n");
  k.finish = "cp.async.bulk.wait_group 0;\n";
  Microbench b = bench(fmt::format("{}.store.{}", name == "tensor" ? "tma" : name, size_name(bytes)), fitted, k, bytes, 1, Unit::cycles, 2, name != "bulk");
  if (name == "reduce") b.map->type = isa::TensorType::u32, b.map->dim[0] = b.map->box[0] = kRow / 4;
  return b;
}

// One load at a time of lines that are in no cache: 64 rows of 128 bytes, `pitch` bytes apart, like tiles of a matrix of that
// width. Adjacent CTAs load adjacent tiles.
Microbench cold_tile(uint64_t pitch, bool all_sms, bool fitted) {
  constexpr unsigned kTileRows = 64, kBytes = kTileRows * kRow, kTiles = 24;
  const uint64_t across = pitch / kRow, rows = kTiles * kTileRows;
  KernelText k;
  k.nanoseconds = true;
  k.setup = fmt::format("rem.u32 %r12, %r7, {0};\nmul.lo.u32 %r12, %r12, {1};\ndiv.u32 %r13, %r7, {0};\nmul.lo.u32 %r13, %r13, {2};\nmov.u32 %r9, 0;\n", across, kRow, rows) +
            init_barriers(1, 1) + "@%others bra DONE;\n";
  k.loop = fmt::format(
               "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], {};\n"
               "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2, {{%r12, %r13}}], [%r3];\nadd.u32 %r13, %r13, {};\n",
               kBytes, kTileRows) +
           wait("FULL", "[%r3]", "%r9") + "xor.b32 %r9, %r9, 1;\n";
  Microbench b = bench(fmt::format("tma.cold.8KiB.pitch-{}{}", pitch, all_sms ? ".all" : ""), fitted, k, kBytes, 1, Unit::nanoseconds, 1, true);
  isa::TensorMapFields f = rows_map(kTileRows);
  f.dim[0] = f.stride[0] = pitch;
  f.dim[1] = rows * ((kMostCtas + across - 1) / across);
  b.map = f;
  b.memory_bytes = f.dim[1] * pitch;
  b.cold = true;
  b.few = kTiles / 3;
  b.many = kTiles;
  if (all_sms) b.launch.grid.x = 0;
  return b;
}

}  // namespace

void add_tma(std::vector<Microbench>& out) {
  constexpr unsigned KiB = 1024;
  for (const unsigned bytes : {1 * KiB, 2 * KiB, 4 * KiB, 8 * KiB, 16 * KiB, 32 * KiB}) {
    const bool fitted = bytes == 1 * KiB || bytes == 4 * KiB || bytes == 16 * KiB;
    out.push_back(latency(true, bytes, fitted));
    out.push_back(latency(false, bytes, fitted));
    out.push_back(ring(true, bytes, fitted));
    out.push_back(ring(false, bytes, fitted));
    out.push_back(store("tensor", bytes, fitted));
    out.push_back(store("bulk", bytes, fitted));
  }
  out.push_back(ring(true, 8 * KiB, true, true));
  out.push_back(ring(true, 32 * KiB, false, true));
  out.push_back(store("reduce", 4 * KiB, true));
  out.push_back(store("reduce", 16 * KiB, false));
  for (const bool all_sms : {false, true}) {
    out.push_back(cold_tile(128, all_sms, true));
    out.push_back(cold_tile(4096, all_sms, false));
    out.push_back(cold_tile(32768, all_sms, !all_sms));
  }
  out.push_back(spacing(512, true));
  out.push_back(spacing(1024, false));
}

}  // namespace drywell::kernels::microbench
