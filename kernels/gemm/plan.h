// Compile-time configuration of a GEMM kernel, and its consequences: tiles, shared memory, tensor memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "drywell/isa/instr_descriptor.h"
#include "drywell/isa/smem_descriptor.h"
#include "drywell/isa/tensor_map.h"
#include "kernels/blockwise/scales.h"

namespace drywell::kernels::gemm {

inline constexpr uint32_t kBlockRing = 4;  // stages of software scales

struct OperandConfig {
  isa::MmaElement element = isa::MmaElement::bf16;
  isa::Major major = isa::Major::k;
};

struct GemmConfig {
  isa::MmaKind kind = isa::MmaKind::f16;
  OperandConfig a, b;
  isa::ScaleVector scale = isa::ScaleVector::none;  // factors of one row per MMA
  bool ue8m0 = true;                                // of the scale factors; else ue4m3
  blockwise::ScaleConfig block;                     // factors in f32; the epilogue applies them to every block of K
  bool grouped = false;                             // several problems, each with its own shape and pointers (with
                                                    // block)
  uint32_t cta_group = 1;                           // CTAs that share one MMA: tiles are bm * cta_group rows
  uint32_t cluster_n = 1;                           // adjacent tiles along N that share A by multicast
  uint32_t cluster_m = 1;                           // with block: adjacent tiles along M that share B by multicast
  uint32_t bm = 128;                                // rows of a CTA's tile: 128, with block also 64
  uint32_t bn = 128;                                // columns of a tile: 64, 128, 192 or 256; with block powers of two from 8
  uint32_t stages = 0;                              // of the mainloop ring; 0: as many as fit
  isa::TensorType output = isa::TensorType::bf16;   // bf16, f16 or f32, also C's
  isa::Major d_major = isa::Major::k;               // of C and D: k row-major, mn (with block) column-major
  bool reads_c = false;
  bool alpha_in_memory = false;             // alpha is an f32 in device memory, written by earlier kernels
  bool wide_sfa = false, wide_sfb = false;  // software scales copied four at a time: the host checked that all quadruples
                                            // are whole
  uint32_t ctas = 0;                        // largest grid; 0: one CTA for every SM

  bool scaled() const { return scale != isa::ScaleVector::none; }
  bool blockwise() const { return block.present(); }
};

/// One operand of one CTA and one stage in shared memory. K-major: rows of 128 bytes, swizzled over 128.
/// MN-major: chunks of `span` bytes along M or N, each a box of tile_k lines.
struct OperandPlan {
  isa::TensorType type = isa::TensorType::bf16;
  isa::Major major = isa::Major::k;
  uint32_t rows = 0;               // M or N extent in this CTA
  uint32_t bytes = 0;              // in shared memory
  uint32_t transaction_bytes = 0;  // bytes that complete-tx counts: packed size for padded types
  uint32_t span = 128;             // swizzle span
  uint32_t chunks = 1, chunk_rows = 0;
  uint32_t sbo = 0, lbo = 0;  // of the MMA's descriptor
  uint32_t k_step = 0;        // from one MMA to the next inside the stage, bytes
  isa::Swizzle swizzle() const;
};

/// Distribution of a tile's rows over the epilogue's threads. If two threads share a row, the second has the right half
/// of the columns.
enum class RowShare : uint8_t {
  whole,       // each thread has a row
  lanes,       // an MMA of M = 64: a warp has 16 rows, lanes 16 to 31 the right halves (.16x32bx2)
  warps,       // M = 128 over two CTAs: 64 rows of each, the right halves in tensor memory's lanes 64 to 127 (layout B)
  warp_groups  // more columns than registers: four more warps
};

struct GemmPlan {
  explicit GemmPlan(const GemmConfig& config);

  GemmConfig config;
  OperandPlan a, b;
  uint32_t mma_k = 0, tile_m = 0, tile_k = 0;  // tile_k: four MMAs, 128 bytes of a row
  uint32_t cluster = 1;                        // CTAs

  // Scale factors, in atoms of 128 rows x 4 factors = 512 bytes. A tile of N needs whole atoms (bN = 64
  // and 192): both tiles next to a boundary inside an atom load that atom.
  uint32_t scale_atoms_k = 0;  // of one stage along K
  uint32_t sfb_atoms = 0;      // along N

  RowShare share = RowShare::whole;
  uint32_t epilogue_warps = 4;

  // Shared memory, bytes from its start.
  uint32_t stages = 0;
  uint32_t smem_a = 0, smem_b = 0, smem_out = 0, smem_sfa = 0, smem_sfb = 0, smem_maps = 0, smem_bytes = 0;
  blockwise::StageScales block_a, block_b;                // f32 factors of a stage; their ring starts at smem_sfa
  uint32_t stage_bytes = 0, stage_transaction_bytes = 0;  // of one CTA

  // Tensor memory, columns.
  uint32_t accumulators = 1;   // stages of bn columns, from column 0
  uint32_t scale_buffers = 0;  // of SFA then SFB, after them
  uint32_t tmem_scales = 0, tmem_columns = 0;

  /// Number of tiles whose MMAs read the data that one CTA loads: those of its row of the cluster and of its column.
  uint32_t readers() const { return config.cluster_m + config.cluster_n - 1; }
  /// Returns the name of the kernel in its module.
  const char* entry_name() const;
  uint32_t sfa_bytes() const { return kAtomBytes * scale_atoms_k; }
  uint32_t sfb_bytes() const { return kAtomBytes * scale_atoms_k * sfb_atoms; }
  /// Columns of one buffer: four per atom.
  uint32_t sfa_columns() const { return 4 * scale_atoms_k; }
  uint32_t sfb_columns() const { return 4 * scale_atoms_k * sfb_atoms; }
  uint32_t output_bytes() const { return isa::element_bits(config.output) / 8; }
  /// Columns of a row in one thread.
  uint32_t thread_columns() const { return share == RowShare::whole ? config.bn : config.bn / 2; }
  /// Number of rows of a warp.
  uint32_t warp_rows() const { return share == RowShare::lanes ? 16 : 32; }
  bool column_major_d() const { return config.d_major == isa::Major::mn; }
  /// Columns of the epilogue's subtile: 128 bytes of output, or the whole of a narrower thread's part.
  uint32_t subtile_columns() const { return std::gcd(128 / output_bytes(), thread_columns()); }
  uint32_t subtile_row_bytes() const { return subtile_columns() * output_bytes(); }
  /// Parts of a stage along K with their own factors.
  uint32_t blocks_of_stage() const { return config.blockwise() ? tile_k / config.block.k : 1; }
  /// Offset of SFB in a stage of software scales, in bytes.
  uint32_t block_b_offset() const { return (block_a.bytes() + 15) / 16 * 16; }
  uint32_t block_bytes() const { return (block_b_offset() + block_b.bytes() + 15) / 16 * 16; }
  uint32_t block_ring_bytes() const { return config.blockwise() ? kBlockRing * block_bytes() : 0; }
  uint32_t threads() const { return 32 * (epilogue_warps + (config.blockwise() ? 3 : 2)); }
  /// Grouped: number of tensor maps made on the device; one warp makes those of A and B, each epilogue warp its own of
  /// C and D.
  uint32_t device_maps() const { return config.grouped ? 2 + 2 * epilogue_warps : 0; }

  static constexpr uint32_t kAtomRows = 128, kAtomBytes = 512;
};

// Shared memory before the operands, bytes: barriers and the address of the tensor memory.
inline constexpr uint32_t kMaxStages = 16;
inline constexpr uint32_t kMainloopBarriers = 0;
inline constexpr uint32_t kAccumulatorBarriers = 16 * kMaxStages;
inline constexpr uint32_t kSourceBarriers = kAccumulatorBarriers + 32;  // per epilogue warp and buffer
inline constexpr uint32_t kTmemBase = kSourceBarriers + 64;
inline constexpr uint32_t kBlockBarriers = kTmemBase + 16;                         // of the ring of f32 factors
inline constexpr uint32_t kWideSourceBarriers = kBlockBarriers + 16 * kBlockRing;  // of eight epilogue warps
inline constexpr uint32_t kMaxBlockAccumulators = 4;                               // of software scales: one for each block of K
inline constexpr uint32_t kBlockAccumulatorBarriers = kWideSourceBarriers + 128;
inline constexpr uint32_t kHeaderBytes = 1024;
// The epilogue's staging: each warp has two buffers of 32 rows x 128 bytes.
inline constexpr uint32_t kOutBuffers = 2, kOutBufferBytes = 32 * 128;

/// Tensor maps of a blockwise kernel. One problem: its own maps. Several: patterns, from which the kernel makes each
/// problem's maps.
struct DeviceMaps {
  isa::TensorMap a, b, c, d;
};

/// One problem of a blockwise kernel: a parameter, or an element of an array in memory.
struct DeviceProblem {
  blockwise::DeviceScales sfa, sfb;
  uint32_t tiles_m = 0, tiles = 0, k_tiles = 0;
  uint32_t m = 0, n = 0, k = 0;
  uint64_t a = 0, b = 0, c = 0, d = 0;
  uint64_t pad[3] = {};
};
static_assert(sizeof(DeviceProblem) == 128);

}  // namespace drywell::kernels::gemm
