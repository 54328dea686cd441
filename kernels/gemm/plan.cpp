#include "kernels/gemm/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "drywell/core/bits.h"
#include "drywell/core/error.h"

namespace drywell::kernels::gemm {
namespace {

constexpr uint32_t kSmemLimit = 232448;  // 227 KiB, the limit of one CTA on sm_100
constexpr uint32_t kTmemLimit = 512;
constexpr uint32_t kRowBytes = 128;

isa::TensorType tensor_type(isa::MmaKind kind, isa::MmaElement e) {
  switch (e) {
    case isa::MmaElement::f16: return isa::TensorType::f16;
    case isa::MmaElement::bf16: return isa::TensorType::bf16;
    case isa::MmaElement::e2m1:
      return isa::is_packed_fp4(kind) ? isa::TensorType::b4x16 : isa::TensorType::b4x16_p64;
    case isa::MmaElement::e2m3:
    case isa::MmaElement::e3m2: return isa::TensorType::b6x16_p32;
    default: return isa::TensorType::u8;
  }
}

OperandPlan plan_operand(const GemmConfig& c, const OperandConfig& o, uint32_t rows, uint32_t mma_k) {
  OperandPlan p;
  p.type = tensor_type(c.kind, o.element);
  p.major = o.major;
  p.rows = rows;
  p.bytes = rows * kRowBytes;
  p.transaction_bytes = rows * 4 * mma_k * isa::element_bits(p.type) / 8;
  const uint32_t element = isa::element_bits(p.type) / 8;  // MN-major: 1 or 2
  if (o.major == isa::Major::k) {
    p.chunk_rows = rows;
    p.sbo = 8 * kRowBytes;
    p.lbo = 16;  // not used by a swizzled K-major operand
    p.k_step = 32;
    return p;
  }
  if (element == 0)
    throw InputError(Code::E2302,
                     fmt::format("{} MN-major: 4- and 6-bit operands are K-major only", to_string(o.element)),
                     "PTX ISA 9.7.16.4.1: they cannot be transposed");
  p.span = std::min(kRowBytes, 1u << std::countr_zero(rows * element));
  p.chunk_rows = p.span / element;
  p.chunks = rows / p.chunk_rows;
  p.sbo = 8 * p.span;
  p.lbo = 4 * mma_k * p.span;
  p.k_step = mma_k * p.span;
  return p;
}

}  // namespace

isa::Swizzle OperandPlan::swizzle() const {
  return span == 128 ? isa::Swizzle::b128 : span == 64 ? isa::Swizzle::b64
                                                       : isa::Swizzle::b32;
}

GemmPlan::GemmPlan(const GemmConfig& c) : config(c) {
  mma_k = isa::mma_k(c.kind, false);
  tile_k = 4 * mma_k;
  tile_m = c.bm * c.cta_group;
  cluster = c.cta_group * c.cluster_m * c.cluster_n;
  a = plan_operand(c, c.a, c.bm, mma_k);
  b = plan_operand(c, c.b, c.bn / c.cta_group, mma_k);
  if (c.scaled()) {
    scale_atoms_k = static_cast<uint32_t>(c.scale);  // four MMAs of 1, 2 or 4 factors, four factors an atom
    sfb_atoms = static_cast<uint32_t>(ceil_div(uint64_t{c.bn}, kAtomRows));
  }

  if (c.blockwise()) {
    block_a = {c.bm / c.block.m, tile_k / c.block.k, c.block.a_major, c.wide_sfa};
    block_b = {c.bn / c.block.n, tile_k / c.block.k, c.block.b_major, c.wide_sfb};
    if (c.bm == 64) {
      share = c.cta_group == 2 ? RowShare::warps : RowShare::lanes;
    } else if (c.bn > 128) {
      share = RowShare::warp_groups;
      epilogue_warps = 8;
    }
  }

  const uint32_t scale_columns = sfa_columns() + sfb_columns();
  accumulators = 2 * c.bn + scale_columns <= kTmemLimit ? 2 : 1;
  if (c.blockwise()) accumulators = std::min(kMaxBlockAccumulators, kTmemLimit / c.bn);
  scale_buffers = scale_columns == 0 ? 0 : std::min(2u, (kTmemLimit - accumulators * c.bn) / scale_columns);
  tmem_scales = accumulators * c.bn;
  tmem_columns = std::max(32u, std::bit_ceil(tmem_scales + scale_buffers * scale_columns));

  stage_bytes = a.bytes + b.bytes + sfa_bytes() + sfb_bytes();
  stage_transaction_bytes = a.transaction_bytes + b.transaction_bytes + sfa_bytes() + sfb_bytes();
  const uint32_t out_bytes = epilogue_warps * kOutBuffers * kOutBufferBytes, map_bytes = device_maps() * isa::kTensorMapBytes;
  const uint32_t fit = std::min(kMaxStages, (kSmemLimit - kHeaderBytes - out_bytes - block_ring_bytes() - map_bytes) / stage_bytes);
  stages = c.stages == 0 ? fit : c.stages;
  if (stages < 2 || stages > fit) {
    throw InputError(Code::E2301, fmt::format("gemm: {} stages of {} bytes do not fit", stages, stage_bytes),
                     fmt::format("2 to {}", fit));
  }
  smem_a = kHeaderBytes;
  smem_b = smem_a + stages * a.bytes;
  smem_out = smem_b + stages * b.bytes;
  smem_maps = smem_out + out_bytes;
  smem_sfa = smem_maps + map_bytes;
  smem_sfb = smem_sfa + stages * sfa_bytes();
  smem_bytes = smem_sfb + stages * sfb_bytes() + block_ring_bytes();
}

const char* GemmPlan::entry_name() const {
  if (config.scaled()) return "gemm_blockscaled";
  if (config.blockwise()) return config.grouped ? "gemm_blockwise_grouped" : "gemm_blockwise";
  return config.kind == isa::MmaKind::f8f6f4 ? "gemm_fp8" : "gemm_bf16";
}

}  // namespace drywell::kernels::gemm
