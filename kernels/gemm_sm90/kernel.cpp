// The device side.
#include <array>
#include <cstddef>
#include <functional>

#include "drywell/isa/pipeline.h"
#include "kernels/gemm_sm90/sm90.h"

namespace drywell::kernels::blockwise {
namespace {

using namespace isa;

// Matrix descriptor of sm_90 without its start address: K-major rows as wide as the swizzle span, `span` bytes; groups of eight rows
// are eight spans apart (PTX ISA 9.7.15.5.1.2).
int64_t descriptor_base(uint32_t span) {
  const int64_t layout = span == 128 ? 1 : span == 64 ? 2
                                                      : 3;
  return static_cast<int64_t>(static_cast<uint64_t>(layout) << 62) | int64_t{span / 2} << 32 | int64_t{1} << 16;
}

class Sm90Blockwise {
 public:
  explicit Sm90Blockwise(const Sm90Plan& p) : p_(p), c_(p.config), k_("gemm_sm90_blockwise", Target::sm_90a), ring_(k_, Reg{}, 0, c_.stages) {}

  Module build() {
    prologue();
    const Reg producer = k_.reg(Mod::pred);
    k_("setp.lt.u32", producer, warp_, 4);
    k_.if_else(
        producer, [&] { produce(); }, [&] { consume(); });
    k_.role("mma", 4, 11);
    return k_.finish();
  }

 private:
  struct Tile {
    Reg m0, n0;
  };
  /// State of a consumer thread: its position in the tile, descriptors of stage 0, the sums.
  struct Consumer {
    Reg row, column, a, b;  // row of its first fragment and first column of a pair, in the tile
    // Addresses of its factors in a stage: of its rows, eight apart; of the columns of a pair, if columns have their own factors.
    std::array<Reg, 2> factor_a, factor_b;
    RegArray sums;
    Reg alpha, beta, d, c, m, n;
    Reg releases, to;  // predicate: this lane signals to a CTA that a stage is read; that CTA's shared memory
  };

  void prologue();
  void produce();
  void place_in_cluster();
  bool clusters() const { return p_.cluster() > 1; }
  void for_tiles(const std::function<void(const Tile&)>& body);
  Reg field(size_t offset) { return k_.def("ld.u32", mem(problem_, static_cast<int64_t>(offset))); }
  Reg smem_at(uint32_t offset) { return k_.def("add.u32", smem_, offset); }
  Reg stage_at(uint32_t offset, Reg stage, uint32_t bytes) { return k_.def("mad.lo.u32", stage, bytes, smem_at(offset)); }

  void load();
  void load_stage(const Tile& t, Reg k_tile, const PipelineState& state);
  void load_operand(size_t map, Reg k0, Reg row, Reg to, Reg barrier, uint32_t rows, uint32_t shares, Reg share, Reg mask);
  void tma(size_t map, Reg x, Reg y, Reg to, Reg barrier, Reg mask = {});
  void load_scales();

  void consume();
  void find_readers(Consumer& w);
  void release(const Consumer& w, const PipelineState& state);
  Reg first_descriptor(Reg address);
  void multiply(const Consumer& w, const RegArray& part, Reg stage);
  void promote(const Consumer& w, const RegArray& part, Reg stage);
  /// Loads the factors of B that a thread needs for columns 8 j + 2 (lane % 4) + {0, 1}.
  Reg factor_b(const std::array<Reg, 2>& at, Reg stage, uint32_t j, uint32_t e);
  void store(const Consumer& w, const Tile& t);
  void store_pair(const Consumer& w, Reg at, Reg source, Reg low, Reg high);
  void store_columns(const Consumer& w, const Tile& t);
  void store_element(const Consumer& w, Reg at, Reg source, Reg sum);

  const Sm90Plan& p_;
  const Sm90Config& c_;
  KernelBuilder k_;
  Symbol problem_param_{}, alpha_{}, beta_{};
  Reg problem_, smem_, warp_, lane_, tiles_m_, tiles_, k_tiles_;
  Reg rank_m_, rank_n_, row_mask_, column_mask_;  // in the cluster; CTAs with the same rows of A, the same columns of B
  MbarrierRing ring_;
};

void Sm90Blockwise::prologue() {
  problem_param_ = k_.param_bytes("problem", sizeof(Sm90Problem), 128);
  alpha_ = k_.param(Mod::f32, "alpha");
  beta_ = k_.param(Mod::f32, "beta");
  k_.directives().maxntid = {Sm90Plan::kThreads, 1, 1};
  k_.directives().minnctapersm = 1;
  if (clusters()) k_.directives().reqnctapercluster = {p_.cluster(), 1, 1};
  smem_ = k_.def("mov.u32", k_.dynamic_shared("shared_memory", 1024));
  const Reg tid = k_.def("mov.u32", SpecialReg::tid_x);
  warp_ = k_.def("shr.u32", tid, 5);
  lane_ = k_.def("and.b32", tid, 31);
  problem_ = k_.def("cvta.param.u64", problem_param_);
  tiles_m_ = field(offsetof(Sm90Problem, tiles_m));
  tiles_ = field(offsetof(Sm90Problem, tiles));
  k_tiles_ = field(offsetof(Sm90Problem, k_tiles));
  ring_ = MbarrierRing(k_, smem_, 0, c_.stages);
  const Reg first = k_.reg(Mod::pred);
  k_("setp.eq.u32", first, tid, 0);
  k_.if_(first, [&] {
    ring_.init(Sm90Plan::kProducerThreadEvents, Sm90Plan::kConsumerWarps * p_.readers());
    k_("fence.mbarrier_init.release.cluster");
    k_("fence.proxy.async.shared::cta");
  });
  if (!clusters()) {
    k_("bar.sync", 0);
    return;
  }
  place_in_cluster();
  k_("bar.warp.sync", -1);
  k_("barrier.cluster.arrive.aligned");
  k_("barrier.cluster.wait.aligned");
}

// Ranks run along M first.
void Sm90Blockwise::place_in_cluster() {
  const uint32_t m = c_.cluster_m, n = c_.cluster_n;
  const Reg rank = k_.def("mov.u32", SpecialReg::cluster_ctarank);
  rank_m_ = k_.def("and.b32", rank, m - 1);
  rank_n_ = quotient(k_, rank, m);
  uint32_t row = 0;
  for (uint32_t i = 0; i < n; ++i) row |= 1u << i * m;
  row_mask_ = k_.def("cvt.u16.u32", k_.def("shl.b32", k_.def("mov.b32", row), rank_m_));
  const Reg first = k_.def("mul.lo.u32", rank_n_, m), column = k_.def("mov.b32", (1u << m) - 1);
  column_mask_ = k_.def("cvt.u16.u32", k_.def("shl.b32", column, first));
}

// The producer warp group releases registers and the consumers take them: 128 * 40 + 256 * 232 of 64 Ki.
void Sm90Blockwise::produce() {
  k_("setmaxnreg.dec.sync.aligned.u32", 40);
  k_.warp_role("mainloop", warp_, 0, 0, [&] { load(); });
  k_.role("idle", 1, 2);
  k_.warp_role("scales", warp_, 3, 3, [&] { load_scales(); });
}

void Sm90Blockwise::for_tiles(const std::function<void(const Tile&)>& body) {
  const Reg step = k_.def("mov.u32", clusters() ? SpecialReg::nclusterid_x : SpecialReg::nctaid_x);
  k_.for_range(clusters() ? SpecialReg::clusterid_x : SpecialReg::ctaid_x, tiles_, step, [&](Reg tile) {
    Reg m = k_.def("rem.u32", tile, tiles_m_), n = k_.def("div.u32", tile, tiles_m_);
    if (clusters()) {
      m = k_.def("mad.lo.u32", m, c_.cluster_m, rank_m_);
      n = k_.def("mad.lo.u32", n, c_.cluster_n, rank_n_);
    }
    body({k_.def("mul.lo.u32", m, Sm90Plan::kTileM), k_.def("mul.lo.u32", n, c_.bn)});
  });
}

// Producer warp "Mainloop": operands, and the scales that TMA loads.
void Sm90Blockwise::load() {
  PipelineState state(k_, c_.stages, PipelineState::Role::producer);
  for_tiles([&](const Tile& t) {
    k_.for_range(0, k_tiles_, 1, [&](Reg k_tile) {
      ring_.acquire(state);
      k_.elect_one([&] { load_stage(t, k_tile, state); });
      state.advance();
    });
  });
  ring_.tail(state);
}

void Sm90Blockwise::load_stage(const Tile& t, Reg k_tile, const PipelineState& state) {
  const Reg barrier = ring_.full(state), stage = state.index();
  k_("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(barrier), p_.transaction_bytes);
  const Reg k0 = k_.def("mul.lo.u32", k_tile, p_.tile_k());
  load_operand(offsetof(Sm90Problem, map_a), k0, t.m0, stage_at(p_.smem_a, stage, p_.a_bytes), barrier, Sm90Plan::kTileM, c_.cluster_n, rank_n_, row_mask_);
  load_operand(offsetof(Sm90Problem, map_b), k0, t.n0, stage_at(p_.smem_b, stage, p_.b_bytes), barrier, c_.bn, c_.cluster_m, rank_m_, column_mask_);
  const auto scales = [&](Reg mn0, uint32_t granularity, uint32_t smem, uint32_t pitch) {
    const Reg to = stage_at(smem, stage, pitch), first = quotient(k_, mn0, granularity);
    tma(offsetof(Sm90Problem, map_sf), first, k_tile, to, barrier);
  };
  if (p_.tma_sfa()) scales(t.m0, c_.scales.m, p_.smem_sfa, p_.sfa_pitch());
  if (p_.tma_sfb()) scales(t.n0, c_.scales.n, p_.smem_sfb, p_.sfb_pitch());
}

// Data for several CTAs is loaded in shares: each CTA loads its share of the rows and multicasts it to all of them.
void Sm90Blockwise::load_operand(size_t map, Reg k0, Reg row, Reg to, Reg barrier, uint32_t rows, uint32_t shares, Reg share, Reg mask) {
  if (shares == 1) return tma(map, k0, row, to, barrier);
  const uint32_t lines = rows / shares;
  const Reg share_to = k_.def("mad.lo.u32", share, lines * p_.tile_k(), to), share_row = k_.def("mad.lo.u32", share, lines, row);
  tma(map, k0, share_row, share_to, barrier, mask);
}

void Sm90Blockwise::tma(size_t map, Reg x, Reg y, Reg to, Reg barrier, Reg mask) {
  const Arg from = tensor(k_.def("add.s64", problem_, static_cast<long>(map)), {x, y});
  const std::string op = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";
  if (mask.valid()) {
    k_(OpText(op + ".multicast::cluster"), mem(to), from, mem(barrier), mask);
  } else {
    k_(OpText(op), mem(to), from, mem(barrier));
  }
}

// Producer warp "MainloopAux": 32 lanes arrive on every stage, with or without a copy of their own.
void Sm90Blockwise::load_scales() {
  const ScaleView a = load_view(k_, problem_, offsetof(Sm90Problem, sfa)), b = load_view(k_, problem_, offsetof(Sm90Problem, sfb));
  PipelineState state(k_, c_.stages, PipelineState::Role::producer);
  for_tiles([&](const Tile& t) {
    StageCopier copy_a(k_, p_.sfa, a, quotient(k_, t.m0, c_.scales.m), lane_), copy_b(k_, p_.sfb, b, quotient(k_, t.n0, c_.scales.n), lane_);
    k_.for_range(0, k_tiles_, 1, [&](Reg) {
      ring_.acquire(state);
      if (!p_.tma_sfa()) copy_a.copy(stage_at(p_.smem_sfa, state.index(), p_.sfa_pitch()));
      if (!p_.tma_sfb()) copy_b.copy(stage_at(p_.smem_sfb, state.index(), p_.sfb_pitch()));
      k_("cp.async.mbarrier.arrive.noinc.shared::cta.b64", mem(ring_.full(state)));
      state.advance();
    });
  });
  ring_.tail(state);
  k_("cp.async.wait_all");
}

Reg Sm90Blockwise::first_descriptor(Reg address) {
  return k_.def("or.b64", k_.def("cvt.u64.u32", k_.def("and.b32", k_.def("shr.u32", address, 4), 0x3FFF)), static_cast<long>(descriptor_base(p_.tile_k())));
}

// Each warp group has 64 rows of the tile.
void Sm90Blockwise::consume() {
  k_("setmaxnreg.inc.sync.aligned.u32", 232);
  Consumer w;
  const Reg consumer_warp = k_.def("sub.u32", warp_, 4), group = k_.def("shr.u32", consumer_warp, 2);
  w.row = k_.def("mad.lo.u32", consumer_warp, 16, k_.def("shr.u32", lane_, 2));
  w.column = k_.def("shl.b32", k_.def("and.b32", lane_, 3), 1);
  for (uint32_t e = 0; e < 2; ++e) {
    w.factor_a[e] = k_.def("shl.b32", quotient(k_, k_.def("add.u32", w.row, 8 * e), c_.scales.m), 2);
    w.factor_b[e] = k_.def("shl.b32", quotient(k_, k_.def("add.u32", w.column, e), c_.scales.n), 2);
  }
  w.a = first_descriptor(k_.def("mad.lo.u32", group, 64 * p_.tile_k(), smem_at(p_.smem_a)));
  w.b = first_descriptor(smem_at(p_.smem_b));
  w.sums = k_.regs(Mod::f32, c_.bn / 2, "sum");
  w.alpha = k_.load_param(alpha_, Mod::f32);
  w.beta = k_.load_param(beta_, Mod::f32);
  w.d = k_.def("ld.u64", mem(problem_, offsetof(Sm90Problem, d)));
  if (c_.reads_c) w.c = k_.def("ld.u64", mem(problem_, offsetof(Sm90Problem, c)));
  w.m = field(offsetof(Sm90Problem, m));
  w.n = field(offsetof(Sm90Problem, n));
  find_readers(w);
  const RegArray part = k_.regs(Mod::f32, c_.bn / 2, "part");
  for (const Reg r : part) k_("mov.f32", r, 0.0f);
  PipelineState state(k_, c_.stages, PipelineState::Role::consumer);
  for_tiles([&](const Tile& t) {
    for (const Reg r : w.sums) k_("mov.f32", r, 0.0f);
    k_.for_range(0, k_tiles_, 1, [&](Reg) {
      ring_.wait(state);
      multiply(w, part, state.index());
      promote(w, part, state.index());
      k_("bar.warp.sync", -1);
      release(w, state);
      state.advance();
    });
    c_.d_major == Major::mn ? store_columns(w, t) : store(w, t);
  });
}

// A stage is free for a CTA's loads when every CTA that receives them has read it: one lane signals to each of those CTAs.
void Sm90Blockwise::find_readers(Consumer& w) {
  w.releases = k_.reg(Mod::pred);
  k_("setp.lt.u32", w.releases, lane_, p_.readers());
  if (!clusters()) return;
  // Lanes below cluster_n: this row's CTAs; then the other CTAs of this column.
  const Reg in_row = k_.reg(Mod::pred), passed = k_.reg(Mod::pred);
  k_("setp.lt.u32", in_row, lane_, c_.cluster_n);
  const Reg other = k_.def("sub.u32", lane_, c_.cluster_n), next = k_.def("add.u32", other, 1);
  k_("setp.ge.u32", passed, other, rank_m_);
  const Reg m = k_.def("selp.b32", next, other, passed);
  const Reg of_row = k_.def("mad.lo.u32", lane_, c_.cluster_m, rank_m_), of_column = k_.def("mad.lo.u32", rank_n_, c_.cluster_m, m);
  const Reg rank = k_.def("selp.b32", of_row, of_column, in_row);
  w.to = k_.def("mapa.shared::cluster.u32", smem_, k_.def("selp.b32", rank, 0, w.releases));
}

void Sm90Blockwise::release(const Consumer& w, const PipelineState& state) {
  if (!clusters()) {
    const Reg empty = ring_.empty(state);
    k_.when(w.releases)("mbarrier.arrive.shared::cta.b64", sink(), mem(empty));
    return;
  }
  const Reg empty = MbarrierRing(k_, w.to, 0, c_.stages).empty(state);
  // As CUTLASS's ClusterBarrier::arrive: no .cluster scope. The arrival releases no writes, the stage has only been read; with
  // .cluster scope an H200 takes 2.8 times as long for 2048^3 on clusters of 2 x 2.
  k_.when(w.releases)("mbarrier.arrive.shared::cluster.b64", sink(), mem(empty));
}

// Computes a block of K, starting from zero: chained wgmma of K = 32, four for 128.
void Sm90Blockwise::multiply(const Consumer& w, const RegArray& part, Reg stage) {
  const auto name = [](numeric::Format f) { return f == numeric::Format::e5m2 ? std::string("e5m2") : std::string("e4m3"); };
  const std::string op = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(c_.bn) + "k32.f32." + name(c_.a) + "." + name(c_.b);
  const Reg a = k_.def("add.s64", w.a, k_.def("mul.wide.u32", stage, p_.a_bytes / 16)), b = k_.def("add.s64", w.b, k_.def("mul.wide.u32", stage, p_.b_bytes / 16));
  std::vector<std::pair<Reg, Reg>> at;
  for (uint32_t step = 0; step < p_.tile_k() / 32; ++step) {
    const Reg of_b = k_.def("add.s64", b, 2 * step), of_a = k_.def("add.s64", a, 2 * step);
    at.emplace_back(of_a, of_b);
  }
  const Reg accumulate = k_.reg(Mod::pred), zero = k_.reg(Mod::pred);
  k_("setp.eq.u32", accumulate, stage, stage);
  k_("setp.ne.u32", zero, stage, stage);
  k_("wgmma.fence.sync.aligned");
  for (uint32_t step = 0; step < p_.tile_k() / 32; ++step) k_(OpText(op), part, at[step].first, at[step].second, step == 0 ? zero : accumulate, 1, 1);
  k_("wgmma.commit_group.sync.aligned");
  k_("wgmma.wait_group.sync.aligned", 0);
}

Reg Sm90Blockwise::factor_b(const std::array<Reg, 2>& at, Reg stage, uint32_t j, uint32_t e) {
  return k_.def("ld.shared.f32", mem(c_.scales.n >= 8 ? stage : at[e], 4 * (8 * j / c_.scales.n)));
}

// If an operand has one factor per tile, the product of both factors comes first; else the accumulator is multiplied by SFA, then SFB:
// the three branches of "SM90 Blockwise Scaling and Groupwise Scaling", section "mma".
void Sm90Blockwise::promote(const Consumer& w, const RegArray& part, Reg stage) {
  const bool chain = p_.sfa.rows > 1 && p_.sfb.rows > 1;
  const Reg stage_a = stage_at(p_.smem_sfa, stage, p_.sfa_pitch()), stage_b = stage_at(p_.smem_sfb, stage, p_.sfb_pitch());
  std::array<Reg, 2> sfa, at_b;
  for (uint32_t e = 0; e < 2; ++e) {
    sfa[e] = k_.def("ld.shared.f32", mem(k_.def("add.u32", stage_a, w.factor_a[e])));
    if (c_.scales.n < 8) at_b[e] = k_.def("add.u32", stage_b, w.factor_b[e]);
  }
  std::array<Reg, 2> sfb;                     // of the pair's two columns
  std::array<std::array<Reg, 2>, 2> product;  // by row and column
  for (uint32_t j = 0; j < c_.bn / 8; ++j) {
    const bool fresh = j == 0 || c_.scales.n < 8 || 8 * j % c_.scales.n == 0;
    for (uint32_t e = 0; e < 2 && fresh; ++e) {
      sfb[e] = e == 1 && c_.scales.n > 1 ? sfb[0] : factor_b(at_b, stage_b, j, e);
      for (uint32_t half = 0; half < 2 && !chain; ++half)
        product[half][e] = e == 1 && c_.scales.n > 1 ? product[half][0] : k_.def("mul.f32", sfa[half], sfb[e]);
    }
    for (uint32_t half = 0; half < 2; ++half) {
      for (uint32_t e = 0; e < 2; ++e) {
        const Reg x = part[4 * j + 2 * half + e], sum = w.sums[4 * j + 2 * half + e];
        if (chain) {
          k_("fma.rn.f32", sum, k_.def("mul.f32", x, sfa[half]), sfb[e], sum);
        } else {
          k_("fma.rn.f32", sum, x, product[half][e], sum);
        }
      }
    }
  }
}

void Sm90Blockwise::store(const Consumer& w, const Tile& t) {
  const uint32_t bytes = element_bits(c_.output) / 8;
  for (uint32_t half = 0; half < 2; ++half) {
    const Reg row = k_.def("add.u32", k_.def("add.u32", t.m0, w.row), 8 * half), row_exists = k_.reg(Mod::pred);
    k_("setp.lt.u32", row_exists, row, w.m);
    const Reg first = k_.def("add.u32", t.n0, w.column);
    const Reg wide_first = k_.def("cvt.u64.u32", first), row_begin = k_.def("mul.wide.u32", row, w.n);
    const Reg element = k_.def("add.s64", row_begin, wide_first);
    const Reg offset = k_.def("mul.lo.u64", element, bytes);
    const Reg at = k_.def("add.s64", w.d, offset), source = c_.reads_c ? k_.def("add.s64", w.c, offset) : Reg{};
    for (uint32_t j = 0; j < c_.bn / 8; ++j) {
      const Reg exists = k_.reg(Mod::pred);
      k_("setp.lt.and.u32", exists, k_.def("add.u32", first, 8 * j), w.n, row_exists);
      k_.if_(exists, [&] {
        const Reg from = c_.reads_c ? k_.def("add.s64", source, 8 * j * bytes) : Reg{}, to = k_.def("add.s64", at, 8 * j * bytes);
        store_pair(w, to, from, w.sums[4 * j + 2 * half], w.sums[4 * j + 2 * half + 1]);
      });
    }
  }
}

// Stores d = alpha * sum (+ beta * C), rounded, for two columns at once.
void Sm90Blockwise::store_pair(const Consumer& w, Reg at, Reg source, Reg low, Reg high) {
  std::array<Reg, 2> v = {k_.def("mul.f32", low, w.alpha), k_.def("mul.f32", high, w.alpha)};
  const bool wide = c_.output == TensorType::f32;
  if (c_.reads_c) {
    std::array<Reg, 2> c;
    if (wide) {
      c = {k_.reg(Mod::f32), k_.reg(Mod::f32)};
      k_("ld.global.v2.f32", vec(c[0], c[1]), mem(source));
    } else {
      const Reg l = k_.reg(Mod::b16), h = k_.reg(Mod::b16);
      k_("mov.b32", vec(l, h), k_.def("ld.global.b32", mem(source)));
      const OpText widen(c_.output == TensorType::bf16 ? "cvt.f32.bf16" : "cvt.f32.f16");
      c = {k_.def(widen, l), k_.def(widen, h)};
    }
    for (uint32_t e = 0; e < 2; ++e) k_("fma.rn.f32", v[e], c[e], w.beta, v[e]);
  }
  if (wide) {
    k_("st.global.v2.f32", mem(at), vec(v[0], v[1]));
  } else {
    k_("st.global.b32", mem(at), k_.def(OpText(c_.output == TensorType::bf16 ? "cvt.rn.bf16x2.f32" : "cvt.rn.f16x2.f32"), v[1], v[0]));
  }
}

// Column-major: a column of D is contiguous, so a thread stores single elements.
void Sm90Blockwise::store_columns(const Consumer& w, const Tile& t) {
  const uint32_t bytes = element_bits(c_.output) / 8;
  const Reg pitch = k_.def("mul.wide.u32", w.m, bytes);  // from column to column
  for (uint32_t half = 0; half < 2; ++half) {
    const Reg row = k_.def("add.u32", k_.def("add.u32", t.m0, w.row), 8 * half), row_exists = k_.reg(Mod::pred);
    k_("setp.lt.u32", row_exists, row, w.m);
    const Reg first = k_.def("add.u32", t.n0, w.column);
    const Reg row_bytes = k_.def("mul.wide.u32", row, bytes), wide_first = k_.def("cvt.u64.u32", first);
    const Reg offset = k_.def("mad.lo.u64", wide_first, pitch, row_bytes);
    for (uint32_t j = 0; j < c_.bn / 8; ++j) {
      const Reg exists = k_.reg(Mod::pred);
      k_("setp.lt.and.u32", exists, k_.def("add.u32", first, 8 * j), w.n, row_exists);
      const Reg left = k_.def("mad.lo.u64", pitch, 8 * j, offset), right = k_.def("add.s64", left, pitch);
      k_.if_(exists, [&] {
        for (uint32_t e = 0; e < 2; ++e) {
          const Reg at = e == 0 ? left : right;
          const Reg from = c_.reads_c ? k_.def("add.s64", w.c, at) : Reg{}, to = k_.def("add.s64", w.d, at);
          store_element(w, to, from, w.sums[4 * j + 2 * half + e]);
        }
      });
    }
  }
}

void Sm90Blockwise::store_element(const Consumer& w, Reg at, Reg source, Reg sum) {
  const Reg v = k_.def("mul.f32", sum, w.alpha);
  const bool wide = c_.output == TensorType::f32, bf16 = c_.output == TensorType::bf16;
  if (c_.reads_c) {
    const Reg c = wide ? k_.def("ld.global.f32", mem(source)) : k_.def(OpText(bf16 ? "cvt.f32.bf16" : "cvt.f32.f16"), k_.def("ld.global.b16", mem(source)));
    k_("fma.rn.f32", v, c, w.beta, v);
  }
  if (wide) {
    k_("st.global.f32", mem(at), v);
  } else {
    k_("st.global.b16", mem(at), k_.def(OpText(bf16 ? "cvt.rn.bf16.f32" : "cvt.rn.f16.f32"), v));
  }
}

}  // namespace

Module build_sm90_blockwise(const Sm90Plan& plan) { return Sm90Blockwise(plan).build(); }

}  // namespace drywell::kernels::blockwise
