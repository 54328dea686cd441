// The device side.
#include <array>
#include <string>

#include "drywell/isa/pipeline.h"
#include "kernels/gemm_sm120/sm120.h"

namespace drywell::kernels::sm120 {
namespace {

using namespace isa;

// A warp has 32 rows and 64 columns of the tile: two fragments of 16 rows, eight of 8 columns.
constexpr uint32_t kRowFragments = 2, kColumnFragments = 8, kColumnGroups = 2, kGroup = 4;

std::string type_name(numeric::Format f) {
  return f == numeric::Format::e4m3 ? "e4m3" : f == numeric::Format::e5m2 ? "e5m2"
                                                                          : "e2m1";
}

std::string mma_name(const Config& c) {
  const std::string scaled =
      c.format == BlockFormat::nvf4   ? "k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X"
      : c.format == BlockFormat::mxf4 ? "k64.row.col.kind::mxf4.block_scale.scale_vec::2X"
                                      : "k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X";
  const std::string scale = c.format == BlockFormat::nvf4 ? ".ue4m3" : ".ue8m0";
  return "mma.sync.aligned.m16n8" + scaled + ".f32." + type_name(c.a) + "." + type_name(c.b) + ".f32" + scale;
}

class Gemm {
 public:
  Gemm(const Config& c, Target target)
      : c_(c), k_("gemm_sm120_blockscaled", target), ring_(k_, Reg{}, 0, c.stages) {}

  Module build() {
    prologue();
    k_.warp_role("tma", warp_, Config::kConsumers, Config::kConsumers, [&] { produce(); });
    k_.warp_role("mma", warp_, 0, Config::kConsumers - 1, [&] { consume(); });
    return k_.finish();
  }

 private:
  /// Addresses of the row whose scales a lane holds, for one k tile, and the words of that tile.
  struct ScaleRow {
    Reg at;
    RegArray words;
  };

  void prologue();
  void produce();
  void load_stage(const PipelineState& state, Reg k_tile);
  void consume();
  Reg scale_address(Symbol base, Reg row, Reg rows);
  void load_scales(const ScaleRow& s);
  void multiply(Reg stage);
  std::array<RegArray, kRowFragments> load_a(Reg tile, uint32_t step);
  std::array<RegArray, kColumnFragments / 2> load_b(Reg tile, uint32_t step);
  void release(const PipelineState& state);
  void store();
  void store_row(Reg row, uint32_t half, uint32_t i);

  const Config& c_;
  KernelBuilder k_;
  MbarrierRing ring_;
  Symbol map_a_{}, map_b_{}, sfa_{}, sfb_{}, d_{};
  Reg smem_, warp_, lane_, m_, n_, pitch_, k_tiles_, alpha_, m0_, n0_;
  Reg warp_row_, warp_column_;                         // of the warp's part, in the tile
  Reg a_base_, b_base_;                                // first row that the lane names to ldmatrix, in a tile
  std::array<Reg, Config::kSteps> a_chunk_, b_chunk_;  // swizzled 16-byte chunk of each step
  ScaleRow scales_a_;
  std::array<ScaleRow, kColumnGroups> scales_b_;
  RegArray sums_;  // [row fragment][column fragment][4]
};

void Gemm::prologue() {
  map_a_ = k_.param_bytes("map_a", 128, 64);
  map_b_ = k_.param_bytes("map_b", 128, 64);
  sfa_ = k_.param(Mod::u64, "sfa");
  sfb_ = k_.param(Mod::u64, "sfb");
  d_ = k_.param(Mod::u64, "d");
  const Symbol m = k_.param(Mod::u32, "m"), n = k_.param(Mod::u32, "n"),
               pitch = k_.param(Mod::u32, "scale_pitch"), tiles = k_.param(Mod::u32, "k_tiles");
  const Symbol alpha = k_.param(Mod::f32, "alpha");
  k_.directives().maxntid = {Config::kThreads, 1, 1};
  k_.directives().minnctapersm = 1;
  smem_ = k_.def("mov.u32", k_.dynamic_shared("shared_memory", 1024));
  const Reg tid = k_.def("mov.u32", SpecialReg::tid_x);
  warp_ = k_.def("shr.u32", tid, 5);
  lane_ = k_.def("and.b32", tid, 31);
  m_ = k_.load_param(m, Mod::u32);
  n_ = k_.load_param(n, Mod::u32);
  pitch_ = k_.load_param(pitch, Mod::u32);
  k_tiles_ = k_.load_param(tiles, Mod::u32);
  alpha_ = k_.load_param(alpha, Mod::f32);
  n0_ = k_.def("shl.b32", k_.def("mov.u32", SpecialReg::ctaid_x), 7);
  m0_ = k_.def("shl.b32", k_.def("mov.u32", SpecialReg::ctaid_y), 7);
  ring_ = MbarrierRing(k_, smem_, 0, c_.stages);
  const Reg first = k_.reg(Mod::pred);
  k_("setp.eq.u32", first, tid, 0);
  k_.if_(first, [&] {
    ring_.init(1, Config::kConsumers);
    k_("fence.mbarrier_init.release.cluster");
    k_("fence.proxy.async.shared::cta");
  });
  k_("bar.sync", 0);
}

void Gemm::produce() {
  PipelineState state(k_, c_.stages, PipelineState::Role::producer);
  k_.for_range(0, k_tiles_, 1, [&](Reg k_tile) {
    ring_.acquire(state);
    k_.elect_one([&] { load_stage(state, k_tile); });
    state.advance();
  });
  ring_.tail(state);
}

void Gemm::load_stage(const PipelineState& state, Reg k_tile) {
  const Reg barrier = ring_.full(state), x = k_.def("shl.b32", k_tile, 7);
  const Reg to = k_.def("mad.lo.u32", state.index(), 2 * Config::kOperandBytes, smem_);
  k_("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(barrier), 2 * Config::kOperandBytes);
  const auto load = [&](Symbol map, Reg row, uint32_t offset) {
    const Reg at = k_.def("cvta.param.u64", map);
    k_("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes",
       mem(k_.def("add.u32", to, Config::kHeaderBytes + offset)), tensor(at, {x, row}), mem(barrier));
  };
  load(map_a_, m0_, 0);
  load(map_b_, n0_, Config::kOperandBytes);
}

Reg Gemm::scale_address(Symbol base, Reg row, Reg rows) {
  const Reg inside = k_.def(
      "min.u32", row, k_.def("sub.u32", rows, 1));  // rows outside count nowhere, but their scales are read
  const Reg offset = k_.def("mul.wide.u32", inside, pitch_), scales = k_.load_param(base, Mod::u64);
  return k_.def("add.s64", scales, offset);
}

// Lane 4 g + q of a quad holds the scales of rows g and g + 8 of two fragments of A, and of column g of four
// fragments of B.
void Gemm::consume() {
  warp_row_ = k_.def("shl.b32", k_.def("shr.u32", warp_, 1), 5);
  warp_column_ = k_.def("shl.b32", k_.def("and.b32", warp_, 1), 6);
  const Reg g = k_.def("shr.u32", lane_, 2), q = k_.def("and.b32", lane_, 3);
  const Reg row_in_fragment = k_.def("mad.lo.u32", k_.def("and.b32", q, 1), 8, g), fragment = k_.def("shr.u32", q, 1);
  const Reg row = k_.def("mad.lo.u32", fragment, 16, row_in_fragment);
  scales_a_ = {scale_address(sfa_, k_.def("add.u32", k_.def("add.u32", m0_, warp_row_), row), m_),
               k_.regs(Mod::b32, c_.factors(), "sfa")};
  const Reg lane_column = k_.def("mad.lo.u32", q, 8, g), first_column = k_.def("add.u32", n0_, warp_column_);
  const Reg column = k_.def("add.u32", first_column, lane_column);
  for (uint32_t group = 0; group < kColumnGroups; ++group)
    scales_b_[group] = {scale_address(sfb_, k_.def("add.u32", column, 32 * group), n_),
                        k_.regs(Mod::b32, c_.factors(), "sfb" + std::to_string(group))};
  // ldmatrix.x4: lane l names row l % 8 of matrix l / 8.
  const Reg line = k_.def("and.b32", lane_, 7), matrix = k_.def("shr.u32", lane_, 3);
  const Reg low = k_.def("and.b32", matrix, 1), high = k_.def("shr.u32", matrix, 1);
  const Reg a_row = k_.def("add.u32", warp_row_, k_.def("mad.lo.u32", low, 8, line)),
            b_row = k_.def("add.u32", warp_column_, k_.def("mad.lo.u32", high, 8, line));
  a_base_ = k_.def("mad.lo.u32", a_row, Config::kRowBytes, k_.def("add.u32", smem_, Config::kHeaderBytes));
  b_base_ = k_.def("mad.lo.u32", b_row, Config::kRowBytes,
                   k_.def("add.u32", smem_, Config::kHeaderBytes + Config::kOperandBytes));
  for (uint32_t s = 0; s < Config::kSteps; ++s) {
    a_chunk_[s] = k_.def("shl.b32", k_.def("xor.b32", k_.def("add.u32", high, 2 * s), line), 4);
    b_chunk_[s] = k_.def("shl.b32", k_.def("xor.b32", k_.def("add.u32", low, 2 * s), line), 4);
  }
  sums_ = k_.regs(Mod::f32, size_t{kRowFragments} * kColumnFragments * 4, "sum");
  for (const Reg r : sums_) k_("mov.f32", r, 0.0f);
  PipelineState state(k_, c_.stages, PipelineState::Role::consumer);
  k_.for_range(0, k_tiles_, 1, [&](Reg) {
    load_scales(scales_a_);
    for (const ScaleRow& s : scales_b_) load_scales(s);
    ring_.wait(state);
    multiply(state.index());
    release(state);
    state.advance();
  });
  store();
}

// A stage has as many words of a row's scales as an mma has factors: four mma a stage.
void Gemm::load_scales(const ScaleRow& s) {
  const RegArray& w = s.words;
  switch (c_.format) {
    case BlockFormat::nvf4: k_("ld.global.v4.b32", vec(w[0], w[1], w[2], w[3]), mem(s.at)); break;
    case BlockFormat::mxf4: k_("ld.global.v2.b32", vec(w[0], w[1]), mem(s.at)); break;
    case BlockFormat::mxf8: k_("ld.global.b32", w[0], mem(s.at)); break;
  }
  k_("add.s64", s.at, s.at, c_.stage_scales());
}

std::array<RegArray, kRowFragments> Gemm::load_a(Reg tile, uint32_t step) {
  std::array<RegArray, kRowFragments> a;
  const Reg at = k_.def("add.u32", k_.def("add.u32", a_base_, tile), a_chunk_[step]);
  for (uint32_t i = 0; i < kRowFragments; ++i) {
    a[i] = k_.regs(Mod::b32, 4, "a");
    k_("ldmatrix.sync.aligned.m8n8.x4.shared.b16", a[i], mem(at, 16 * i * Config::kRowBytes));
  }
  return a;
}

// Two fragments of eight columns at a time.
std::array<RegArray, kColumnFragments / 2> Gemm::load_b(Reg tile, uint32_t step) {
  std::array<RegArray, kColumnFragments / 2> b;
  const Reg at = k_.def("add.u32", k_.def("add.u32", b_base_, tile), b_chunk_[step]);
  for (uint32_t j = 0; j < kColumnFragments / 2; ++j) {
    b[j] = k_.regs(Mod::b32, 4, "b");
    k_("ldmatrix.sync.aligned.m8n8.x4.shared.b16", b[j], mem(at, 16 * j * Config::kRowBytes));
  }
  return b;
}

void Gemm::multiply(Reg stage) {
  const std::string op = mma_name(c_);
  const Reg tile = k_.def("mul.lo.u32", stage, 2 * Config::kOperandBytes);
  for (uint32_t step = 0; step < Config::kSteps; ++step) {
    const auto a = load_a(tile, step);
    const auto b = load_b(tile, step);
    const uint32_t word = step * c_.factors() / 4, byte = step * c_.factors() % 4;
    for (uint32_t i = 0; i < kRowFragments; ++i) {
      for (uint32_t j = 0; j < kColumnFragments; ++j) {
        const Arg d = sums_.slice((i * kColumnFragments + j) * 4, 4);
        k_(OpText(op), d, a[i], b[j / 2].slice(j % 2 * 2, 2), d, scales_a_.words[word], vec(byte, i),
           scales_b_[j / kGroup].words[word], vec(byte, j % kGroup));
      }
    }
  }
}

void Gemm::release(const PipelineState& state) {
  k_("bar.warp.sync", -1);
  k_.elect_one([&] { k_("mbarrier.arrive.shared::cta.b64", sink(), mem(ring_.empty(state))); });
}

void Gemm::store() {
  const Reg lane_row = k_.def("shr.u32", lane_, 2), warp_row = k_.def("add.u32", m0_, warp_row_);
  const Reg first = k_.def("add.u32", warp_row, lane_row);
  for (uint32_t i = 0; i < kRowFragments; ++i) {
    for (uint32_t half = 0; half < 2; ++half) {
      const Reg row = k_.def("add.u32", first, 16 * i + 8 * half), exists = k_.reg(Mod::pred);
      k_("setp.lt.u32", exists, row, m_);
      k_.if_(exists, [&] { store_row(row, half, i); });
    }
  }
}

void Gemm::store_row(Reg row, uint32_t half, uint32_t i) {
  const Reg lane_column = k_.def("shl.b32", k_.def("and.b32", lane_, 3), 1), warp_column = k_.def("add.u32", n0_, warp_column_);
  const Reg column = k_.def("add.u32", warp_column, lane_column);
  const Reg wide_column = k_.def("cvt.u64.u32", column), row_begin = k_.def("mul.wide.u32", row, n_);
  const Reg element = k_.def("add.s64", row_begin, wide_column);
  const Reg offset = k_.def("mul.lo.u64", element, c_.output_bytes()), d = k_.load_param(d_, Mod::u64);
  const Reg at = k_.def("add.s64", d, offset);
  for (uint32_t j = 0; j < kColumnFragments; ++j) {
    const size_t sum = (i * kColumnFragments + j) * 4 + 2 * half;
    const Reg exists = k_.reg(Mod::pred);
    k_("setp.lt.u32", exists, k_.def("add.u32", column, 8 * j), n_);
    k_.if_(exists, [&] {
      const Reg x = k_.def("mul.f32", sums_[sum], alpha_), y = k_.def("mul.f32", sums_[sum + 1], alpha_);
      const Arg to = mem(at, 8 * j * c_.output_bytes());
      if (c_.output == TensorType::f32) {
        k_("st.global.v2.f32", to, vec(x, y));
      } else {
        k_("st.global.b32", to, k_.def("cvt.rn.bf16x2.f32", y, x));
      }
    });
  }
}

}  // namespace

isa::Module build(const Config& config, isa::Target target) { return Gemm(config, target).build(); }

}  // namespace drywell::kernels::sm120
