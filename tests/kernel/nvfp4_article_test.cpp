// Statements about the kernels around the GEMM in the article "NVFP4 training in TransformerEngine", section "Custom Kernels",
// compared with the running kernels.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kernels/nvfp4/nvfp4.h"
#include "kernels/reference/nvfp4.h"
#include "sim/events/hub.h"
#include "sim/exec/exec.h"
#include "support/kernel_run.h"

namespace drywell::kernels {
namespace {

/// Counts the operations of one launch, by kind.
class Recorder : public sim::Listener {
 public:
  void async(const sim::Cluster&, const sim::AsyncOp& op, sim::AsyncMoment moment) override {
    if (moment != sim::AsyncMoment::read) return;
    if (const auto* t = std::get_if<sim::TensorCopy>(&op.payload)) copies.push_back(*t);
  }
  void mbarrier(const sim::Cta&, uint32_t, const sim::Mbarrier&, sim::MbarrierEvent e, int64_t amount) override {
    if (e == sim::MbarrierEvent::expect_tx) expected.insert(amount);
  }
  void memory(const sim::Warp& w, const sim::DecodedOp& op, LaneMask mask, sim::Space space, uint32_t bytes, bool store) override {
    if (!store || space != sim::Space::shared_cta) return;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((mask >> lane & 1) != 0) shared_stores[bytes].insert({w.index, lane, sim::lane_address(w, op, lane)});
    }
  }
  struct Store {
    uint32_t warp, lane;
    uint64_t address;
    auto operator<=>(const Store&) const = default;
  };
  std::vector<sim::TensorCopy> copies;
  std::set<int64_t> expected;
  std::map<uint32_t, std::set<Store>> shared_stores;
};

Recorder record(const std::string& text) {
  Recorder seen;
  const KernelReport r = test::run_kernel(text, {.listeners = {&seen}});
  EXPECT_TRUE(r.run.ok());
  return seen;
}

// "Each CTA, 4 warps / 128 threads, processes a 128 x 128 tile, split into 4 64 x 64 pipeline stages, double buffered in
// shared memory."
TEST(RhtAmaxArticle, FourStagesOf64x64InTwoBuffers) {
  const auto launch = nvfp4::rht_amax_launch({GmemAddr{}, 1024, 768});
  EXPECT_EQ(launch.block.x, 128u);
  EXPECT_EQ(launch.grid.x * launch.grid.y, 1024u / 128 * 768 / 128);
  const Recorder seen = record("rht-amax --rows=128 --columns=128");
  EXPECT_EQ(seen.copies.size(), 4u);
  EXPECT_EQ(seen.expected, std::set<int64_t>{64 * 64 * 2});
  std::set<uint32_t> buffers;
  for (const auto& c : seen.copies) buffers.insert(c.smem);
  EXPECT_EQ(buffers.size(), 2u);
}

// "4 warps / 128 threads per CTA processes a 128 x 128 tile of [x] pipelined in 4 32 x 128 slices", "Uses 2 shared memory
// buffers pipelined in 4 stages".
TEST(QuantizeArticle, FourSlicesOf32x128InTwoBuffers) {
  for (const char* kernel : {"quantize-nvfp4", "quantize-nvfp4-2d --columnwise=false"}) {
    const Recorder seen = record(std::string(kernel) + " --rows=128 --columns=128");
    EXPECT_EQ(seen.expected, std::set<int64_t>{32 * 128 * 2});
    std::set<uint32_t> in;
    size_t loads = 0;
    for (const auto& c : seen.copies) {
      if (c.smem < 128 + 2 * 32 * 128 * 2) {
        in.insert(c.smem);
        ++loads;
      }
    }
    EXPECT_EQ(loads, 4u) << kernel;
    EXPECT_EQ(in.size(), 2u) << kernel;
  }
  const auto launch = nvfp4::quantize_launch(1024, 768);
  EXPECT_EQ(launch.block.x, 128u);
  EXPECT_EQ(launch.grid.x, 6u);
  EXPECT_EQ(launch.grid.y, 8u);
}

// "Each warp processes a 32 x 32 block of the 32 x 128 slice, in 2 iterations, each thread responsible for 1 1 x 16 block per
// iteration: 2 threads per warp * 4 warps * 16 elements per thread = 128 columns".
TEST(QuantizeArticle, EachWarpHas32Columns) {
  const Recorder seen = record("quantize-nvfp4 --rows=32 --columns=128");
  const auto& codes = seen.shared_stores.at(8);  // sixteen codes
  uint64_t first = ~uint64_t{0};
  for (const auto& s : codes) first = std::min(first, s.address);
  std::map<uint32_t, std::set<uint64_t>> columns;
  std::map<std::pair<uint32_t, uint32_t>, std::set<uint64_t>> rows;
  for (const auto& s : codes) {
    const uint64_t at = (s.address - first) % 2048;  // of one slice: rows of 64 bytes
    columns[s.warp].insert(at % 64 / 16);
    rows[{s.warp, s.lane}].insert(at / 64);
  }
  for (const auto& [warp, thirty_two] : columns) EXPECT_EQ(thirty_two, std::set<uint64_t>{warp});
  for (const auto& [thread, of_thread] : rows) EXPECT_EQ(of_thread.size(), 2u);
}

// "Lanes 0 and 16 write the resulting 8 blockwise amaxes to shared memory (per iteration)."
TEST(Quantize2dArticle, Lanes0And16WriteTheBlockMaxima) {
  const Recorder seen = record("quantize-nvfp4-2d --rows=32 --columns=128");
  std::set<uint32_t> lanes;
  std::set<uint64_t> places;
  for (const auto& s : seen.shared_stores.at(4)) {
    lanes.insert(s.lane);
    places.insert(s.address);
  }
  EXPECT_EQ(lanes, (std::set<uint32_t>{0, 16}));
  EXPECT_EQ(places.size(), 2u * 8u);
}

// "the scale factor shapes, assuming original dims N x K, are N x (K // 16) and (N // 16) x K" and "columnwise data as
// transposed row-major": [K, N // 2] codes.
TEST(Quantize2dArticle, ShapesOfBothOrientations) {
  const KernelReport r = test::run_kernel("quantize-nvfp4-2d --rows=64 --columns=96");
  std::map<std::string, std::vector<uint64_t>> shapes;
  for (const auto& [name, array] : r.outputs) shapes[name] = array.shape;
  EXPECT_EQ(shapes["codes"], (std::vector<uint64_t>{64, 96 / 2}));
  EXPECT_EQ(shapes["scales"], (std::vector<uint64_t>{64, 96 / 16}));
  EXPECT_EQ(shapes["codes-transposed"], (std::vector<uint64_t>{96, 64 / 2}));
  EXPECT_EQ(shapes["scales-transposed"], (std::vector<uint64_t>{96, 64 / 16}));
}

// "Rearranged tensor of shape (32*ceil_div(H,128), 16*ceil_div(W,4))"; "M must be divisible by 128 and K // 16 by 4".
TEST(SwizzleArticle, PaddedShape) {
  EXPECT_EQ(nvfp4::swizzled_sf_bytes(1024, 48), 1024u * 48);
  EXPECT_EQ(nvfp4::swizzled_sf_bytes(200, 6), 32u * 2 * 16 * 2);
}

// blocks.reshape(-1, 4, 32, 4).transpose(1, 2).reshape(-1, 32, 16), with its steps written out.
TEST(SwizzleArticle, TheReferenceIsTheArticlesListing) {
  constexpr uint64_t kRows = 200, kColumns = 6, kPaddedColumns = 8;
  std::vector<uint8_t> t(kRows * kColumns), padded(256 * kPaddedColumns);
  for (size_t i = 0; i < t.size(); ++i) t[i] = static_cast<uint8_t>(i * 37 + i / 251);
  for (uint64_t r = 0; r < kRows; ++r) {
    for (uint64_t c = 0; c < kColumns; ++c) padded[r * kPaddedColumns + c] = t[r * kColumns + c];
  }
  std::vector<uint8_t> blocks;  // padded.view(n_row_blocks, 128, n_col_blocks, 4).permute(0, 2, 1, 3)
  for (uint64_t rb = 0; rb < 2; ++rb) {
    for (uint64_t cb = 0; cb < 2; ++cb) {
      for (uint64_t r = 0; r < 128; ++r) {
        for (uint64_t c = 0; c < 4; ++c) blocks.push_back(padded[(rb * 128 + r) * kPaddedColumns + cb * 4 + c]);
      }
    }
  }
  std::vector<uint8_t> want;  // reshape(-1, 4, 32, 4).transpose(1, 2)
  for (uint64_t b = 0; b < 4; ++b) {
    for (uint64_t row = 0; row < 32; ++row) {
      for (uint64_t quarter = 0; quarter < 4; ++quarter) {
        for (uint64_t c = 0; c < 4; ++c) want.push_back(blocks[((b * 4 + quarter) * 32 + row) * 4 + c]);
      }
    }
  }
  EXPECT_EQ(reference::to_blockscale_format(t, kRows, kColumns), want);
}

}  // namespace
}  // namespace drywell::kernels
