// The epilogue warps: accumulators to registers, alpha and beta, rounding, TMA store. Every warp works on its
// own 32 rows and needs none of the others.
#include <cstddef>

#include "kernels/gemm/epilogue_state.h"

namespace drywell::kernels::gemm {

using namespace isa;

void GemmDevice::epilogue() {
  EpilogueState s(k_, p_);
  s.first_lane = k_.reg(Mod::pred);
  k_("setp.eq.u32", s.first_lane, lane_, 0);
  s.row_in_tile = k_.def("shl.b32", warp_, 5);
  // A warp reads its own 32 lanes of tensor memory.
  s.tmem = k_.def("add.u32", k_.def("ld.shared.b32", mem(smem_at(kTmemBase))), k_.def("shl.b32", warp_, 21));
  s.staging = k_.def("mad.lo.u32", warp_, kOutBuffers * kOutBufferBytes, smem_at(p_.smem_out));
  s.source_barriers = k_.def("mad.lo.u32", warp_, 8 * kOutBuffers, smem_at(kSourceBarriers));
  s.chunk_swizzle = chunk_swizzle();
  if (!c_.blockwise()) s.map_d = k_.def("cvta.param.u64", map_d_);
  s.alpha = c_.alpha_in_memory ? k_.def("ld.global.f32", mem(k_.load_param(alpha_, Mod::u64))) : k_.load_param(alpha_, Mod::f32);
  if (c_.reads_c) {
    if (!c_.blockwise()) s.map_c = k_.def("cvta.param.u64", map_c_);
    s.beta = k_.load_param(beta_, Mod::f32);
  }
  for_tiles([&](const Tile& t) { epilogue_tile(s, t); });
  k_.if_(s.first_lane, [&] { k_("cp.async.bulk.wait_group", 0); });
  k_("bar.warp.sync", -1);
}

// TMA's swizzle of rows of 128, 64 or 32 bytes: which bits of the row turn up in the chunk (facts/tma-mbarrier.md §2.5).
Reg GemmDevice::chunk_swizzle() {
  switch (p_.subtile_row_bytes()) {
    case 128: return k_.def("shl.b32", k_.def("and.b32", lane_, 7), 4);
    case 64: return k_.def("shl.b32", k_.def("and.b32", k_.def("shr.u32", lane_, 1), 3), 4);
    default: return k_.def("shl.b32", k_.def("and.b32", k_.def("shr.u32", lane_, 2), 1), 4);
  }
}

void GemmDevice::epilogue_tile(EpilogueState& s, const Tile& t) {
  if (c_.blockwise()) {
    s.map_d = map_address(t, map_d_, offsetof(DeviceProblem, map_d));
    if (c_.reads_c) s.map_c = map_address(t, map_c_, offsetof(DeviceProblem, map_c));
    promote_tile(s, t);
  }
  for (uint32_t subtile = 0; subtile < c_.bn / p_.subtile_columns(); ++subtile)
    epilogue_subtile(s, t, subtile);
  if (!c_.blockwise()) s.accumulator.advance();
}

void GemmDevice::epilogue_subtile(EpilogueState& s, const Tile& t, uint32_t subtile) {
  const Reg row = k_.def("add.u32", t.m0, s.row_in_tile),
            column = k_.def("add.u32", t.n0, subtile * p_.subtile_columns());
  const Reg buffer = k_.def("mad.lo.u32", s.out.index(), kOutBufferBytes, s.staging);
  const Reg source_barrier = k_.def("mad.lo.u32", s.out.index(), 8, s.source_barriers);
  k_.if_(s.first_lane, [&] {
    // The store before the last, which used this buffer, must have read it.
    k_("cp.async.bulk.wait_group.read", kOutBuffers - 1);
    if (!c_.reads_c) return;
    k_("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(source_barrier), 32 * p_.subtile_row_bytes());
    k_("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", mem(buffer),
       tensor(s.map_c, {column, row}), mem(source_barrier));
  });
  k_("bar.warp.sync", -1);
  if (subtile == 0 && !c_.blockwise()) {
    accumulator_.wait(s.accumulator);
    k_("tcgen05.fence::after_thread_sync");
  }
  const RegArray acc = c_.blockwise() ? s.promoted.slice(subtile * p_.subtile_columns(), p_.subtile_columns()) : load_accumulators(s, subtile);
  if (!c_.blockwise() && (subtile + 1) * p_.subtile_columns() == c_.bn) release_accumulators(s);
  scale_by_alpha(s, acc, buffer, source_barrier);
  store_row(s, acc, buffer);
  k_("fence.proxy.async.shared::cta");
  k_("bar.warp.sync", -1);
  k_.if_(s.first_lane, [&] {
    k_("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", tensor(s.map_d, {column, row}),
       mem(buffer));
    k_("cp.async.bulk.commit_group");
  });
  s.out.advance();
}

RegArray GemmDevice::load_accumulators(EpilogueState& s, uint32_t subtile) {
  const uint32_t columns = p_.subtile_columns();
  const Reg from = k_.def("mad.lo.u32", s.accumulator.index(), c_.bn, s.tmem);
  const RegArray acc = k_.regs(Mod::f32, columns, "acc");
  k_("tcgen05.ld.sync.aligned.32x32b.x" + std::to_string(columns) + ".b32", acc,
     mem(from, subtile * columns));
  k_("tcgen05.wait::ld.sync.aligned");
  return acc;
}

void GemmDevice::release_accumulators(EpilogueState& s) {
  k_("tcgen05.fence::before_thread_sync");
  k_("bar.warp.sync", -1);
  k_.if_(s.first_lane, [&] {
    if (pair()) {
      const Reg empty =
          MbarrierRing(k_, leader_smem_, kAccumulatorBarriers, p_.accumulators).empty(s.accumulator);
      k_("mbarrier.arrive.release.cluster.shared::cluster.b64", sink(), mem(empty));
    } else {
      k_("mbarrier.arrive.shared::cta.b64", sink(), mem(accumulator_.empty(s.accumulator)));
    }
  });
}

// acc = alpha * acc (+ beta * C), C from the staging buffer in the layout D is written with.
void GemmDevice::scale_by_alpha(EpilogueState& s, const RegArray& acc, Reg buffer, Reg source_barrier) {
  for (const Reg e : acc) k_("mul.rn.f32", e, e, s.alpha);
  if (!c_.reads_c) return;
  mbarrier_wait(k_, source_barrier, s.out.phase());
  const Reg row = k_.def("mad.lo.u32", lane_, p_.subtile_row_bytes(), buffer);
  for (uint32_t chunk = 0; chunk < p_.subtile_row_bytes() / 16; ++chunk) {
    const RegArray words = k_.regs(c_.output == TensorType::f32 ? Mod::f32 : Mod::b32, 4);
    k_("ld.shared.v4.b32", words,
       mem(k_.def("add.u32", row, k_.def("xor.b32", s.chunk_swizzle, 16 * chunk))));
    for (uint32_t w = 0; w < 4; ++w) {
      const uint32_t index = (4 * chunk + w) * 4 / p_.output_bytes();
      if (c_.output == TensorType::f32) {
        k_("fma.rn.f32", acc[index], words[w], s.beta, acc[index]);
        continue;
      }
      const RegArray halves = k_.regs(Mod::b16, 2);
      k_("mov.b32", halves, words[w]);
      for (uint32_t h = 0; h < 2; ++h) {
        const Reg value = k_.def(c_.output == TensorType::bf16 ? "cvt.f32.bf16" : "cvt.f32.f16", halves[h]);
        k_("fma.rn.f32", acc[index + h], value, s.beta, acc[index + h]);
      }
    }
  }
}

// A thread's row, at most 128 bytes, its chunks swizzled as TMA expects them (facts/tma-mbarrier.md §2.5).
void GemmDevice::store_row(EpilogueState& s, const RegArray& acc, Reg buffer) {
  std::vector<Reg> words;
  if (c_.output == TensorType::f32) {
    words.assign(acc.begin(), acc.end());
  } else {
    const char* pack = c_.output == TensorType::bf16 ? "cvt.rn.bf16x2.f32" : "cvt.rn.f16x2.f32";
    for (uint32_t i = 0; i < acc.size(); i += 2) words.push_back(k_.def(pack, acc[i + 1], acc[i]));
  }
  const Reg row = k_.def("mad.lo.u32", lane_, p_.subtile_row_bytes(), buffer);
  for (uint32_t chunk = 0; chunk < p_.subtile_row_bytes() / 16; ++chunk) {
    const Reg at = k_.def("add.u32", row, k_.def("xor.b32", s.chunk_swizzle, 16 * chunk));
    k_("st.shared.v4.b32", mem(at), RegArray(words).slice(4 * chunk, 4));
  }
}

}  // namespace drywell::kernels::gemm
