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
  if (p.column_major_d()) {
    f.dim = {m, n, 1, 1, 1};
    f.stride[0] = m * p.output_bytes();
    f.box = {p.warp_rows(), p.subtile_columns(), 1, 1, 1};
    return device.encode(f);
  }
  f.dim = {n, m, 1, 1, 1};
  f.stride[0] = n * p.output_bytes();
  f.box = {p.subtile_columns(), p.warp_rows(), 1, 1, 1};
  switch (p.subtile_row_bytes()) {
    case 128: f.swizzle = isa::Swizzle::b128; break;
    case 64: f.swizzle = isa::Swizzle::b64; break;
    case 32: f.swizzle = isa::Swizzle::b32; break;
    default: break;
  }
  return device.encode(f);
}

}  // namespace drywell::kernels::gemm
