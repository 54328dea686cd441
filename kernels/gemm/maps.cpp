#include "kernels/gemm/maps.h"

namespace drywell::kernels::gemm {
namespace {

uint64_t pitch_bytes(const OperandPlan& p, uint64_t rows, uint64_t k) {
  return (p.major == isa::Major::k ? k : rows) * isa::element_bits(p.type) / 8;
}

}  // namespace

isa::TensorMap operand_map(Accelerator& device, const OperandPlan& p, GmemAddr at, uint64_t rows, uint64_t k, uint32_t tile_k,
                           uint32_t shares) {
  isa::TensorMapFields f;
  f.type = p.type;
  f.rank = 2;
  f.address = at.value();
  f.stride[0] = pitch_bytes(p, rows, k);
  f.swizzle = p.swizzle();
  if (p.major == isa::Major::k) {
    f.dim = {k, rows, 1, 1, 1};
    f.box = {tile_k, p.rows / shares, 1, 1, 1};
  } else {
    f.dim = {rows, k, 1, 1, 1};
    f.box = {p.chunk_rows, tile_k / shares, 1, 1, 1};
  }
  return device.encode(f);
}

isa::TensorMap scale_map(Accelerator& device, GmemAddr at, uint64_t atoms_k, uint64_t atoms_rows, uint32_t box_k) {
  isa::TensorMapFields f;
  f.type = isa::TensorType::u16;
  f.rank = 3;
  f.address = at.value();
  f.dim = {GemmPlan::kAtomBytes / 2, atoms_k, atoms_rows, 1, 1};
  f.stride = {GemmPlan::kAtomBytes, GemmPlan::kAtomBytes * atoms_k};
  f.box = {GemmPlan::kAtomBytes / 2, box_k, 1, 1, 1};
  return device.encode(f);
}

isa::TensorMap output_map(Accelerator& device, const GemmPlan& p, GmemAddr at, uint64_t m, uint64_t n) {
  isa::TensorMapFields f;
  f.type = p.config.output;
  f.rank = 2;
  f.address = at.value();
  f.dim = {n, m, 1, 1, 1};
  f.stride[0] = n * p.output_bytes();
  f.box = {p.subtile_columns(), 32, 1, 1, 1};
  f.swizzle = p.subtile_row_bytes() == 128 ? isa::Swizzle::b128 : p.subtile_row_bytes() == 64 ? isa::Swizzle::b64 : isa::Swizzle::b32;
  return device.encode(f);
}

}  // namespace drywell::kernels::gemm
