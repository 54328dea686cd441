// Instructions, roles and shapes that the articles (docs/facts/articles.md) print for the kernels here, found in the kernels' code.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "drywell/isa/print.h"
#include "kernels/fused_rht/fused_rht.h"
#include "kernels/gemm/blockwise.h"
#include "kernels/gemm_sm90/sm90.h"
#include "kernels/nvfp4/nvfp4.h"
#include "kernels/reference/nvfp4_linear.h"
#include "sim/events/hub.h"
#include "sim/exec/exec.h"
#include "support/kernel_run.h"

namespace drywell::kernels {
namespace {

std::string ptx(const std::string& words, const char* arch = "sm_100a") {
  const test::KernelWords w(words);
  return isa::print_module(w.kernel->build(w.params, sim::load_arch(arch)));
}
size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}
/// From `what` to the end of its line.
std::string line(const std::string& text, const std::string& what) {
  const size_t at = text.find(what);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}
/// First and last warp of each role.
std::map<std::string, std::pair<uint32_t, uint32_t>> roles(const std::string& words, const char* arch) {
  const test::KernelWords w(words);
  const isa::Module m = w.kernel->build(w.params, sim::load_arch(arch));
  std::map<std::string, std::pair<uint32_t, uint32_t>> out;
  for (const isa::WarpRole& r : m.functions.at(0).roles) out[r.name] = {r.first, r.last};
  return out;
}
using Warps = std::pair<uint32_t, uint32_t>;

// ---- "NVFP4 training in TransformerEngine", section "Custom Kernels: FProp": HadamardAmaxTmaKernel

// "Each 64 x 64 stage is computed in 4 iterations, each iteration covering a 16 x 64 stripe, with each warp processing a 16 x 16 block";
// "loaded from shared memory to registers using a warp-wide ldmatrix and transposed"; "a 16 x 16 x 16 wmma": two of m16n8k16.
TEST(RhtAmaxListing, FourStripesOfFourStages) {
  const std::string text = ptx("rht-amax");
  EXPECT_EQ(count(text, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"), 4u * 4);
  EXPECT_EQ(count(text, "mma.sync.aligned.m16n8k16"), 2u * 4 * 4);
}

// "The random hadamard matrix is constructed on device, where 8 values of the 16 x 16 matrix are created (and reused) per thread".
TEST(RhtAmaxListing, EightValuesOfTheMatrixAThread) {
  const isa::Module m = nvfp4::build_rht_amax({}, isa::Target::sm_100a);
  std::set<std::string> fragments;
  const std::string text = isa::print_module(m);
  for (size_t at = text.find("mma.sync"); at != std::string::npos; at = text.find("mma.sync", at + 1)) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const size_t first = line.find('{', line.find('{', line.find('{') + 1) + 1);  // D, A, B
    fragments.insert(line.substr(first, line.find('}', first) - first + 1));
  }
  EXPECT_EQ(fragments.size(), 2u);  // of two registers of two values
}

// ---- "NVFP4 training in TransformerEngine", section "Custom Kernels: FProp": quantization; section "Distributed NVFP4"

// "cvt.rn.satfinite.e2m1x2.f32"; stochastic: "cvt.rs.satfinite.e2m1x4.f32".
TEST(QuantizeListing, Conversions) {
  for (const char* kernel : {"quantize-nvfp4", "quantize-nvfp4-2d", "fused-rht"}) EXPECT_GT(count(ptx(kernel), "cvt.rn.satfinite.e2m1x2.f32"), 0u) << kernel;
  for (const char* kernel : {"quantize-nvfp4", "fused-rht"}) {
    const std::string text = ptx(std::string(kernel) + " --rounding=stochastic");
    EXPECT_GT(count(text, "cvt.rs.satfinite.e2m1x4.f32"), 0u) << kernel;
    EXPECT_EQ(count(text, "cvt.rn.satfinite.e2m1x2.f32"), 0u) << kernel;
  }
}

/// Shared-memory loads of a launch: (thread, address) by width.
class Loads : public sim::Listener {
 public:
  void memory(const sim::Warp& w, const sim::DecodedOp& op, LaneMask mask, sim::Space space, uint32_t bytes, bool store) override {
    if (store || space != sim::Space::shared_cta) return;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((mask >> lane & 1) != 0) of[bytes].insert({w.index * kWarpSize + lane, sim::lane_address(w, op, lane)});
    }
  }
  std::map<uint32_t, std::set<std::pair<uint32_t, uint64_t>>> of;
};

// "128 threads across 128 columns, each thread calculating the columnwise max"; "Each thread is responsible for quantizing a column of the
// 32 x 128 tile".
TEST(Quantize2dListing, AThreadHasAColumn) {
  Loads seen;
  ASSERT_TRUE(test::run_kernel("quantize-nvfp4-2d --rows=32 --columns=128", {.listeners = {&seen}}).run.ok());
  const auto& loads = seen.of.at(2);
  uint64_t first = ~uint64_t{0};
  for (const auto& [thread, at] : loads) first = std::min(first, at);
  std::map<uint32_t, std::set<uint64_t>> rows;
  for (const auto& [thread, at] : loads) {
    EXPECT_EQ((at - first) % (2 * 128) / 2, thread);
    rows[thread].insert((at - first) / (2 * 128) % 32);
  }
  EXPECT_EQ(rows.size(), 128u);
  for (const auto& [thread, of_thread] : rows) EXPECT_EQ(of_thread.size(), 32u);
}

// "the 128 threads are arranged 16 x 8 … such that the entire 32 x 128 tile is processed across 2 iterations".
TEST(Quantize2dListing, RowwiseThreadsAre16x8) {
  Loads seen;
  ASSERT_TRUE(test::run_kernel("quantize-nvfp4-2d --rows=32 --columns=128 --columnwise=false", {.listeners = {&seen}}).run.ok());
  const auto& loads = seen.of.at(16);
  uint64_t first = ~uint64_t{0};
  for (const auto& [thread, at] : loads) first = std::min(first, at);
  for (const auto& [thread, at] : loads) {
    const uint64_t offset = (at - first) % (2 * 32 * 128);
    EXPECT_EQ(offset / (2 * 128) % 16, thread / 8);
    EXPECT_EQ(offset % (2 * 128) / 32, thread % 8);
  }
}

// "128 threads across 128 columns, each thread calculating the columnwise max. A half-warp reduction then reduces across 16": no exchange
// leaves a half warp.
TEST(Quantize2dListing, HalfWarpReduction) {
  const std::string text = ptx("quantize-nvfp4-2d");
  std::set<std::string> distances;
  for (size_t at = text.find("shfl.sync.bfly.b32"); at != std::string::npos; at = text.find("shfl.sync.bfly.b32", at + 1)) {
    const std::string exchange = text.substr(at, text.find('\n', at) - at);
    const size_t end = exchange.find(", 31, -1;"), first = exchange.rfind(' ', end) + 1;
    distances.insert(exchange.substr(first, end - first));
  }
  EXPECT_EQ(distances, (std::set<std::string>{"1", "2", "4", "8"}));
}

// "padded to be divisible by 4 along the quantization dim and 128 along the non-quant mode": "M must be divisible by 128 and K // 16 by 4
// under rowwise; K divisible by 128 and M // 16 by 4 under columnwise".
TEST(Nvfp4Listing, PaddingOfScaleFactors) {
  const nvfp4::Nvfp4Matrix rowwise{.rows = 200, .k = 96}, columnwise{.rows = 96, .k = 200 / 16 * 16};
  EXPECT_EQ(rowwise.padded_rows(), 256u);
  EXPECT_EQ(rowwise.scale_pitch(), 8u);
  EXPECT_EQ(columnwise.padded_rows(), 128u);
  EXPECT_EQ(columnwise.scale_pitch(), 12u);
  EXPECT_EQ(rowwise.code_bytes(), 200u * 96 / 2);  // "FP4E2M1 are 2x packed into an uint8_t"
}

// "rng_elts_per_thread = 1024".
TEST(Nvfp4Listing, RandomStateOfTheSecondKernel) { EXPECT_EQ(reference::kRngElements, 1024u); }

// "scale factors are first calculated – and padded – locally then all-gathered along dim 0, the gathered tensors would have incorrect
// padding"; "removes padding along dim 0 and gathers …, with padding only at the tail end of the entire gathered tensor".
TEST(Nvfp4Listing, PaddingOfGatheredScaleFactors) {
  constexpr uint64_t kWorldSize = 4, kLocalRows = 96;
  const nvfp4::Nvfp4Matrix local{.rows = kLocalRows, .k = 96}, gathered{.rows = kWorldSize * kLocalRows, .k = 96};
  EXPECT_EQ(local.padded_rows() * kWorldSize, 512u);  // "[padded_local_shape[0] * WORLD_SIZE, padded_local_shape[1]]" has room for all
  EXPECT_EQ(gathered.padded_rows(), 384u);            // the rows that the GEMM reads
  EXPECT_EQ(gathered.scale_pitch(), local.scale_pitch());
  const KernelReport r = test::run_kernel("linear-nvfp4 --parallel=column --ranks=2 --tokens=128 --in=96 --out=64", {.verify = true});  // 64 rows of 128 each
  EXPECT_TRUE(r.verify.passed()) << r.verify.first_mismatch;
}

// "the gathered tensor will be [WORLD_SIZE * K, M // 2], while what we want is a [K, WORLD_SIZE * (M // 2)] contiguous tensor".
TEST(InterleaveListing, ShapeAfterTheGather) {
  const KernelReport r = test::run_kernel("interleave-shards --rows=48 --width=16 --shards=4", {.verify = true});
  EXPECT_TRUE(r.verify.passed());
  ASSERT_EQ(r.outputs.size(), 1u);
  EXPECT_EQ(r.outputs[0].second.shape, (std::vector<uint64_t>{48, 4 * 16}));
}

// ---- "NVFP4 training in TransformerEngine", section "Kernel Deep Dive": hadamard_transform_cast_fusion

// "is_mma_warp = (warp_idx == 0)", "is_dma_warp = (warp_idx == 1)", "is_epilogue_warp = (warp_idx >= 4 && warp_idx <= 7)", "8 warps per CTA".
TEST(FusedRhtListing, WarpAssignments) {
  const auto r = roles("fused-rht", "sm_100a");
  EXPECT_EQ(r.at("mma"), (Warps{0, 0}));
  EXPECT_EQ(r.at("dma"), (Warps{1, 1}));
  EXPECT_EQ(r.at("epilogue"), (Warps{4, 7}));
}

// "tcgen05.mma.cta_group::1.kind::f16" four times; "tcgen05.ld.sync.aligned.32x32b.x64.b32"; "cvt.rn.satfinite.e4m3x2.f32";
// "cvt.rn.f16x2.e4m3x2"; "st.global.L1::no_allocate.v8.f32, which copies 8 floats".
TEST(FusedRhtListing, Instructions) {
  const std::string text = ptx("fused-rht");
  EXPECT_EQ(count(text, "tcgen05.mma.cta_group::1.kind::f16"), 4u);
  EXPECT_EQ(count(text, "tcgen05.ld.sync.aligned.32x32b.x64.b32"), 1u);
  EXPECT_GT(count(text, "cvt.rn.satfinite.e4m3x2.f32"), 0u);
  EXPECT_GT(count(text, "cvt.rn.f16x2.e4m3x2"), 0u);
  EXPECT_EQ(count(text, "st.global.L1::no_allocate.v8"), 1u);
}

// "if (m == 8192 && n == 5120) k_tile_size = 512 …": tiles = ceil_div(n, 128) * ceil_div(m, k_tile_size).
TEST(FusedRhtListing, TableOfTileSizes) {
  struct Row {
    uint64_t m, n, k_tile_size;
  };
  for (const Row& r : {Row{8192, 5120, 512}, {8192, 10240, 1024}, {8192, 2560, 1280}, {8192, 11328, 1024}, {8192, 512, 256}, {8192, 3584, 512}, {11328, 8192, 1024}, {4096, 4096, 1024}}) {
    FusedRhtOptions o;
    o.m = r.m;
    o.n = r.n;
    EXPECT_EQ(fused_rht_grid(o, 1 << 20), (r.n + 127) / 128 * ((r.m + r.k_tile_size - 1) / r.k_tile_size)) << r.m << " x " << r.n;
  }
}

// "blockDim.x = 256, so 8 warps per CTA", "cga_tile_shape is hardcoded as Shape<_1, _1, _1>, so no CGA"; "tiles_in_m = 40 and tiles_in_n = 128" of
// 8192 x 5120; "AccumulatorPipelineStageCount = 16", four of them a stage of the pipeline.
TEST(FusedRhtListing, LaunchAndTiles) {
  const isa::Module m = build_fused_rht({});
  EXPECT_EQ(m.functions.at(0).directives.maxntid, (std::array<uint32_t, 3>{256, 1, 1}));
  FusedRhtOptions o;
  o.k_tile_size = 64;
  EXPECT_EQ(fused_rht_grid(o, 1 << 20), 40u * 128);
  EXPECT_EQ(fused_rht::kAccumulatorStages, 16u / 4);
}

// "warp 2 is used only to initialize the barrier for loading the hadamard matrix", "warp 3 is not used"; "tmem_allocation_result_barrier(32 +
// 128, …)"; "reserves the maximum number of tmem columns (512)"; "casts the 4 FP8E4M3 elements to a single uint32_t and issues a single
// st.global".
TEST(FusedRhtListing, BarriersAndAllocation) {
  const std::string text = ptx("fused-rht");
  EXPECT_EQ(roles("fused-rht", "sm_100a").at("idle"), (Warps{2, 3}));
  const std::string hadamard = fmt::format("+{}], 1;", fused_rht::kHadamardBarrier);
  const std::string role = line(text.substr(text.rfind("setp.eq.u32", text.find(hadamard))), "setp");
  EXPECT_TRUE(role.ends_with(", 2;")) << role;
  EXPECT_EQ(count(text, "bar.arrive 6, 160;"), 1u);
  EXPECT_EQ(count(text, "bar.sync 6, 160;"), 1u);
  for (const char* what : {"tcgen05.alloc.", "tcgen05.dealloc."}) EXPECT_TRUE(line(text, what).ends_with(", 512;")) << line(text, what);
  EXPECT_EQ(count(text, "st.global"), 2u);
  EXPECT_EQ(count(text, "st.global.b32"), 1u);
}

// "rng_sequence = thread_idx + k_tile * 256 + linear_tile_idx * K_TILE_MAX * 256": where input and thread are the same, the number of the
// tile decides the random bits. Tile (1, k) of 256 columns has the sequence of tile (0, K_TILE_MAX + k) of 128.
TEST(FusedRhtListing, RandomSequence) {
  const std::vector<uint16_t> input(512 * 256, 0x3F9A);
  const auto codes = [&](uint64_t columns) {
    FusedRhtOptions o;
    o.m = 512;
    o.n = columns;
    o.stochastic = true;
    o.k_tile_size = 256;
    o.seed = 77;
    SimulatedDevice device({.sm_count = 1});
    return run_fused_rht(device, std::span(input).first(512 * columns), 20.0f, o, {}).codes;  // columns x 512 / 2
  };
  const std::vector<uint8_t> narrow = codes(128), wide = codes(256);
  const auto row = [](const std::vector<uint8_t>& of, uint64_t column, uint64_t k) { return std::vector<uint8_t>(of.begin() + column * 256 + k / 2, of.begin() + column * 256 + (k + 256) / 2); };
  for (uint64_t column = 0; column < 128; ++column) EXPECT_EQ(row(wide, 128 + column, 0), row(narrow, column, 256)) << column;
  EXPECT_NE(row(wide, 128, 0), row(narrow, 0, 0));
}

// ---- "SM90 Blockwise Scaling and Groupwise Scaling", sections "Warp specialization" and "mma"

// "enum class ProducerWarpRole { Mainloop = 0, Warp1 = 1, Epilogue = 2, MainloopAux = 3 }"; "Producer = 0, Consumer0 = 1, Consumer1 = 2".
TEST(GemmSm90Listing, WarpRoles) {
  const auto r = roles("gemm-sm90-blockwise", "sm_90a");
  EXPECT_EQ(r.at("mainloop"), (Warps{0, 0}));
  EXPECT_EQ(r.at("scales"), (Warps{3, 3}));
  EXPECT_EQ(r.at("mma"), (Warps{4, 11}));  // two warp groups
}

// "accum: ptr[32b] o ((_2,_2,_16),_1,_1)": 64 accumulators a thread; "SM80_CP_ASYNC_CACHEALWAYS<ElementBlockScale>": four bytes, .ca;
// "CUTE_ALIGNAS(128)" of both arrays.
TEST(GemmSm90Listing, FragmentsAndCopies) {
  const std::string text = ptx("gemm-sm90-blockwise --scale-m=128", "sm_90a");
  EXPECT_GT(count(text, "%sum_63"), 0u);
  EXPECT_EQ(count(text, "%sum_64"), 0u);
  EXPECT_EQ(count(text, "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3"), 4u);
  EXPECT_EQ(count(text, "cp.async.ca.shared.global"), 2u);  // SFA and SFB
  blockwise::Sm90Config c;
  c.scales = {1, 128, 128};
  for (const uint32_t stages : {3u, 4u}) {  // "_3" and "DispatchPolicy::Stages = 4"
    c.stages = stages;
    const blockwise::Sm90Plan p(c);
    EXPECT_EQ(p.smem_sfa % 128, 0u);
    EXPECT_EQ(p.smem_sfb - p.smem_sfa, stages * 128 * 4);
    EXPECT_EQ(p.smem_sfb % 128, 0u);
  }
}

// ---- "Blockwise and Groupwise GEMM and Grouped GEMM on Blackwell", sections "Integration with Other Frameworks"
// and "Performance Tips and Tricks"

// "Torch where SFA has shape (M / ScaleGranularityM, K / ScaleGranularityK) and SFB has a shape (K / …, N / …)": a K-major SFA, an
// N-major SFB ("Sm100BlockwiseScaleConfig<…, UMMA::Major::K, UMMA::Major::MN>").
TEST(GemmBlockwiseListing, ScalesOfTorch) {
  const auto a = blockwise::scale_shape(256, 512, 1, 128, isa::Major::k), b = blockwise::scale_shape(384, 512, 128, 128, isa::Major::mn);
  EXPECT_EQ(std::make_pair(a.row_stride, a.k_stride), std::make_pair(uint64_t{512 / 128}, uint64_t{1}));
  EXPECT_EQ(std::make_pair(b.row_stride, b.k_stride), std::make_pair(uint64_t{1}, uint64_t{384 / 128}));
}

// "If we have a 1 element scale granularity M and a 128 element scale granularity N, we must run a kernel with a 128 element scale
// granularity M and a 1 element scale granularity N."; "The left hand matrix as row-major, a right hand matrix as column-major, a
// column-major output".
TEST(GemmBlockwiseListing, SwappedProblemIsTheSame) {
  const blockwise::ScaleConfig scales = blockwise::swapped(blockwise::ScaleConfig{1, 128, 128});
  EXPECT_EQ(scales.m, 128u);
  EXPECT_EQ(scales.n, 1u);
  blockwise::ProblemSpec spec;
  spec.shape = {24, 144, 272};
  spec.scales = {1, 128, 128};
  const blockwise::Problem p = blockwise::make_problem(spec), q = blockwise::swapped(p);
  gemm::GemmConfig c;
  c.kind = isa::MmaKind::f8f6f4;
  c.a.element = c.b.element = isa::MmaElement::e4m3;  // K-major: A row-major, B column-major
  c.block = spec.scales;
  gemm::GemmConfig turned = c;
  turned.block = scales;
  turned.bn = 32;
  turned.d_major = isa::Major::mn;
  SimulatedDevice device;
  const BlockwiseResult straight = run_blockwise(device, gemm::GemmPlan(c), std::span(&p, 1), {}, {});
  const BlockwiseResult swapped = run_blockwise(device, gemm::GemmPlan(turned), std::span(&q, 1), {}, {});
  ASSERT_TRUE(straight.run.ok() && swapped.run.ok());
  EXPECT_EQ(straight.d[0], blockwise::transposed(swapped.d[0], 144, 24));
}

// "--scale_vec_size_m=1 --scale_vec_size_n=128 --scale_vec_size_k=128 for the problem size 8192x8192x8192": the kernel's defaults.
TEST(GemmBlockwiseListing, ProfilersGranularity) {
  const test::KernelWords w("gemm-blockwise --m=8192 --n=8192 --k=8192");
  EXPECT_EQ(w.params.integer("scale-m"), 1);
  EXPECT_EQ(w.params.integer("scale-n"), 128);
  EXPECT_EQ(w.params.integer("scale-k"), 128);
  EXPECT_NO_THROW(w.kernel->build(w.params, sim::load_arch("sm_100a")));
}

}  // namespace
}  // namespace drywell::kernels
