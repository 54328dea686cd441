// The scale-factor layouts that "CUTLASS tutorial: hardware-supported block scaling with Blackwell GPUs", section "Loading Scale Factor
// Data to TMEM" prints, as functions, through executed instructions: shared memory filled by its SMEM layouts, tcgen05.cp to the columns
// it names, tensor memory compared with its TMEM layouts, four MMAs that use them on the same pipeline with no wait in between.
#include <gtest/gtest.h>

#include "support/tensor_run.h"

namespace drywell::test {
namespace {

// Strides in bytes of (MMA_K, and for SFB the second 128 columns) in SMEM, and of MMA_K in TMEM, from the
// article's lines.
struct Layouts {
  const char* kind;
  const char* scale_type;
  unsigned factors;
  unsigned (*smem_k)(unsigned k);                 // MMA_K of SFA and SFB in SMEM
  unsigned smem_n;                                // rest_atom_N of SFB in SMEM
  unsigned tiles_k;                               // 512-byte tiles along K for four MMAs
  unsigned (*tmem_k)(unsigned k, unsigned tile);  // MMA_K in TMEM; `tile`: bytes of one tile of all columns
};

const Layouts kLayouts[] = {
    // sfa_smem_layout_staged: ((((32,4),1),(32,1)),1,4,4):((((16,4),0),(0,0)),0,1,512)
    // sfb_smem_layout_staged: ((((32,4),2),(32,1)),1,4,4):((((16,4),512),(0,0)),0,1,1024)
    // tCtSFA: ((((32,4),4),(32,1)),1,4):((((262144,4),8388608),(0,0)),0,1)
    // tCtSFB: ((((32,8),4),(32,1)),1,4):((((262144,4),8388608),(0,0)),0,1)
    {"mxf8f6f4", "ue8m0", 1, [](unsigned k) { return k; }, 512, 1, [](unsigned k, unsigned) { return k; }},
    // block32/2X: sfa_smem_layout_staged: ((((32,4),1),(32,2)),1,(2,2),4):((((16,4),0),(0,1)),0,(2,512),1024)
    // sfb_smem_layout_staged: ((((32,4),2),(32,2)),1,(2,2),4):((((16,4),1024),(0,1)),0,(2,512),2048)
    {"mxf4", "ue8m0", 2, [](unsigned k) { return k % 2 * 2 + k / 2 * 512; }, 1024, 2,
     [](unsigned k, unsigned tile) { return k % 2 * 2 + k / 2 * tile; }},
    // nvf4: sfa_smem_layout_staged: ((((32,4),1),(16,4)),1,4,3):((((16,4),0),(0,1)),0,512,2048)
    // sfb_smem_layout_staged: ((((32,4),2),(16,4)),1,4,3):((((16,4),2048),(0,1)),0,512,4096)
    // tCtSFA: ((((32,4),4),(16,4)),1,4):((((262144,4),8388608),(0,1)),0,16)
    // tCtSFB: ((((32,8),4),(16,4)),1,4):((((262144,4),8388608),(0,1)),0,32)
    {"mxf4nvf4", "ue4m3", 4, [](unsigned k) { return k * 512; }, 2048, 4,
     [](unsigned k, unsigned tile) { return k * tile; }},
};

struct Tile {
  unsigned n;          // bN
  unsigned first_row;  // of SFB's tiles that this work tile starts with: 64 for odd tiles of bN = 64 and 192
};

class ArticleScales : public testing::TestWithParam<std::tuple<Layouts, Tile>> {};

TEST_P(ArticleScales, ReachTheInstructionThroughSharedAndTensorMemory) {
  const auto& [l, tile] = GetParam();
  const unsigned sfb_rows = (tile.first_row + tile.n + 127) / 128 * 128;
  // tcgen05.find_tmem_tensor_col_offset(tCtAcc_base) = 256, (tCtSFA) = 4, (tCtSFB) = 8 for mxf8 and (128,
  // 256)
  const unsigned sfa_column = 256, sfb_column = sfa_column + 4 * l.tiles_k;
  std::vector<MmaCase> cases;
  std::vector<MmaData> data;
  std::vector<TensorImage> images(1);
  RandomWords words(tile.n + l.factors);
  images[0].fill_tmem(words);
  MmaSetup setup;
  for (unsigned k = 0; k < 4; ++k) {  // four MMAs share 128-byte rows of A and B
    MmaCase c;
    c.kind = l.kind;
    c.a_type = c.b_type = l.factors == 1 ? "e4m3" : "e2m1";
    c.scale_type = l.scale_type;
    c.factors = l.factors;
    c.n = tile.n;
    c.a = c.b = {false, Swizzling::s128, k};
    c.sfa_id = c.sfb_id = l.factors == 1 ? k : l.factors == 2 ? k % 2 * 2
                                                              : 0;
    c.accumulate = k != 0;
    c.seed = 40 + k;
    c.tame = true;
    cases.push_back(c);
    data.push_back(random_matrices(c));
    if (k != 0) data[k].c = expected_d(cases[k - 1], data[k - 1]);
    store_smem(c, data[k], images);
  }
  const auto scales_at = static_cast<uint32_t>(images[0].smem.size()), sfb_at = scales_at + 512 * l.tiles_k;
  images[0].smem.resize(sfb_at + sfb_rows / 128 * std::max(l.smem_n, 512u), 0x7F);
  std::vector<TensorImage> expected = images;
  const auto d = expected_d(cases[3], data[3]);
  for (unsigned m = 0; m < 128; ++m) {
    for (unsigned n = 0; n < tile.n; ++n) expected[0].cell(m, n) = d[m][n];
  }
  // One factor in SMEM, and in TMEM in all four partitions; CUTLASS counts lanes in 262144 bytes, copies in
  // 8388608.
  const auto put = [&](uint32_t smem, unsigned base_column, unsigned row, uint32_t tmem_offset,
                       uint32_t code) {
    images[0].smem[smem] = static_cast<uint8_t>(code);
    for (unsigned copy = 0; copy < 4; ++copy) {
      const uint64_t address =
          row % 32 * uint64_t{262144} + row / 32 * 4 + copy * uint64_t{8388608} + tmem_offset;
      uint32_t& word = expected[0].cell(static_cast<unsigned>(address >> 18),
                                        base_column + static_cast<unsigned>(address & 0x3FFFF) / 4);
      const unsigned low = 8 * (address % 4);
      word = (word & ~(0xFFu << low)) | code << low;
    }
  };
  for (unsigned k = 0; k < 4; ++k) {
    for (unsigned f = 0; f < l.factors; ++f) {
      for (unsigned m = 0; m < 128; ++m)
        put(scales_at + m % 32 * 16 + m / 32 * 4 + f + l.smem_k(k), sfa_column, m, f + l.tmem_k(k, 16),
            data[k].sfa[m][f]);
      for (unsigned row = 0; row < sfb_rows; ++row) {
        const bool used = row >= tile.first_row && row < tile.first_row + tile.n;
        const uint32_t code =
            used ? data[k].sfb[row - tile.first_row][f] : 0x30 + row % 8;  // the neighbour tile's
        put(sfb_at + row % 32 * 16 + row / 32 % 4 * 4 + row / 128 * l.smem_n + f + l.smem_k(k), sfb_column,
            row, f + l.tmem_k(k, sfb_rows / 128 * 16), code);
      }
    }
  }
  TensorProgram p;
  p.steps = {[&](const TensorOperands& o) {
    const auto copy_tile = [&](uint32_t smem, unsigned column) {
      o.k("tcgen05.cp.cta_group::1.32x128b.warpx4", isa::mem(o.word(column)),
          o.descriptor(uint64_t{smem >> 4} | uint64_t{8} << 32 | uint64_t{1} << 46));
    };
    for (unsigned t = 0; t < l.tiles_k; ++t) copy_tile(scales_at + 512 * t, sfa_column + 4 * t);
    for (unsigned t = 0; t < l.tiles_k; ++t) {
      for (unsigned r = 0; r < sfb_rows / 128; ++r)
        copy_tile(sfb_at + 512 * t + r * l.smem_n, sfb_column + (t * (sfb_rows / 128) + r) * 4);
    }
    for (unsigned k = 0; k < 4; ++k) {
      MmaSetup s;
      std::vector<TensorImage> unused(1);
      const SmemOperands at = store_smem(cases[k], data[k], unused);
      s.a_desc = at.a_desc;
      s.b_desc = at.b_desc;
      s.sfa = sfa_column + l.tmem_k(k, 16) / 4;
      // "every N-odd work tile, the SFB pointer in TMEM is shifted forward by two columns"
      s.sfb = sfb_column + l.tmem_k(k, sfb_rows / 128 * 16) / 4 + tile.first_row / 32;
      emit_mma(cases[k], s, o);
    }
  }};
  expect_tensor(p, images, expected);
}

INSTANTIATE_TEST_SUITE_P(, ArticleScales,
                         testing::Combine(testing::ValuesIn(kLayouts),
                                          testing::Values(Tile{256, 0}, Tile{128, 0}, Tile{192, 0},
                                                          Tile{192, 64}, Tile{64, 0}, Tile{64, 64})),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param).kind) + "_bn" +
                                  std::to_string(std::get<1>(p.param).n) +
                                  (std::get<1>(p.param).first_row != 0 ? "_odd" : "");
                         });

}  // namespace
}  // namespace drywell::test
