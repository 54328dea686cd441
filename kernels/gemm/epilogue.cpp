// The epilogue warps: accumulators to registers, alpha and beta, rounding, TMA store. Every warp works on its own 32
// rows, independent of the others.
#include <cstddef>

#include "kernels/gemm/epilogue_state.h"

namespace drywell::kernels::gemm {

using namespace isa;

void GemmDevice::epilogue() {
  EpilogueState s(k_, p_);
  s.first_lane = k_.reg(Mod::pred);
  k_("setp.eq.u32", s.first_lane, lane_, 0);
  place_thread(s);
  s.staging = k_.def("mad.lo.u32", warp_, kOutBuffers * kOutBufferBytes, smem_at(p_.smem_out));
  s.source_barriers = k_.def("mad.lo.u32", warp_, 8 * kOutBuffers, smem_at(source_barriers()));
  if (!p_.column_major_d()) s.chunk_swizzle = chunk_swizzle();
  if (!c_.blockwise()) s.map_d = k_.def("cvta.param.u64", map_d_);
  s.alpha = c_.alpha_in_memory ? k_.def("ld.global.f32", mem(k_.load_param(alpha_, Mod::u64))) : k_.load_param(alpha_, Mod::f32);
  if (c_.reads_c) {
    if (!c_.blockwise()) s.map_c = k_.def("cvta.param.u64", map_c_);
    s.beta = k_.load_param(beta_, Mod::f32);
  }
  if (c_.grouped) {
    s.maps = copy_patterns(k_.def("mad.lo.u32", warp_, 2 * kTensorMapBytes, smem_at(p_.smem_maps + 2 * kTensorMapBytes)), 2, offsetof(DeviceMaps, c), 2);
    s.maps.own = k_.def("mul.wide.u32", warp_, 2 * kTensorMapBytes);
  }
  for_tiles([&](const Tile& t) { epilogue_tile(s, t); });
  k_.if_(s.first_lane, [&] { k_("cp.async.bulk.wait_group", 0); });
  k_("bar.warp.sync", -1);
}

// Sets the rows and columns of this warp and thread in a tile, and their place in tensor memory: a warp reads the 32 lanes of its
// quarter (docs/facts/tcgen05.md §5: layouts A and D, F of an M = 64, B of an M = 128 over two CTAs).
void GemmDevice::place_thread(EpilogueState& s) {
  const RowShare share = p_.share;
  const Reg base = share == RowShare::whole ? Reg{} : k_.def("ld.shared.b32", mem(smem_at(kTmemBase)));
  switch (share) {
    case RowShare::whole: {
      s.row_in_tile = k_.def("shl.b32", warp_, 5);
      const Reg lanes = k_.def("shl.b32", warp_, 21), allocated = k_.def("ld.shared.b32", mem(smem_at(kTmemBase)));
      s.tmem = k_.def("add.u32", allocated, lanes);
      break;
    }
    case RowShare::lanes:
      s.row_in_tile = k_.def("shl.b32", warp_, 4);
      s.part = k_.def("shr.u32", lane_, 4);
      s.tmem = k_.def("add.u32", base, k_.def("shl.b32", warp_, 21));
      break;
    case RowShare::warps:
      s.row_in_tile = k_.def("shl.b32", k_.def("and.b32", warp_, 1), 5);
      s.part = k_.def("shr.u32", warp_, 1);
      s.tmem = k_.def("add.u32", base, k_.def("shl.b32", warp_, 21));
      break;
    case RowShare::warp_groups:
      s.row_in_tile = k_.def("shl.b32", k_.def("and.b32", warp_, 3), 5);
      s.part = k_.def("shr.u32", warp_, 2);
      s.tmem = k_.def("mad.lo.u32", s.part, p_.thread_columns(), k_.def("add.u32", base, k_.def("shl.b32", k_.def("and.b32", warp_, 3), 21)));
      break;
  }
  if (!c_.blockwise()) return;
  const Reg row = share == RowShare::lanes ? k_.def("and.b32", lane_, 15) : lane_;
  s.own_row = k_.def("add.u32", s.row_in_tile, row);
  if (share == RowShare::warps || share == RowShare::warp_groups) s.first_column = k_.def("mul.lo.u32", s.part, p_.thread_columns());
  if (!p_.column_major_d()) return;
  s.place = k_.def("mul.lo.u32", row, p_.output_bytes());
  if (share == RowShare::lanes) s.place = k_.def("mad.lo.u32", s.part, 16 * p_.subtile_row_bytes(), s.place);
}

// TMA's swizzle of rows of 128, 64 or 32 bytes: the bits of the row that are XORed into the chunk (docs/facts/tma-mbarrier.md §2.5).
Reg GemmDevice::chunk_swizzle() {
  switch (p_.subtile_row_bytes()) {
    case 128: return k_.def("shl.b32", k_.def("and.b32", lane_, 7), 4);
    case 64: return k_.def("shl.b32", k_.def("and.b32", k_.def("shr.u32", lane_, 1), 3), 4);
    case 16: return k_.def("mov.b32", 0);
    default: return k_.def("shl.b32", k_.def("and.b32", k_.def("shr.u32", lane_, 2), 1), 4);
  }
}

void GemmDevice::epilogue_tile(EpilogueState& s, const Tile& t) {
  if (c_.blockwise()) {
    if (c_.grouped) make_output_maps(s.maps, t);
    const auto map = [&](size_t offset, uint32_t made) {
      const Reg at = map_address(t, Symbol{}, offset, made);
      return c_.grouped ? k_.def("add.s64", at, s.maps.own) : at;
    };
    s.map_d = map(offsetof(DeviceMaps, d), 2);
    if (c_.reads_c) s.map_c = map(offsetof(DeviceMaps, c), 3);
    promote_tile(s, t);
  }
  for (uint32_t subtile = 0; subtile < p_.thread_columns() / p_.subtile_columns(); ++subtile)
    epilogue_subtile(s, t, subtile);
  if (!c_.blockwise()) s.accumulator.advance();
}

std::vector<GemmDevice::Box> GemmDevice::boxes(Reg row, Reg column, Reg buffer) {
  const auto at = [&](Reg c) { return p_.column_major_d() ? vec(row, c) : vec(c, row); };
  std::vector<Box> out = {{at(column), buffer}};
  if (p_.share == RowShare::lanes)
    out.push_back({at(k_.def("add.u32", column, p_.thread_columns())), k_.def("add.u32", buffer, 16 * p_.subtile_row_bytes())});
  return out;
}

void GemmDevice::epilogue_subtile(EpilogueState& s, const Tile& t, uint32_t subtile) {
  const Reg row = k_.def("add.u32", t.m0, s.row_in_tile), first = s.first_column.valid() ? k_.def("add.u32", t.n0, s.first_column) : t.n0,
            column = k_.def("add.u32", first, subtile * p_.subtile_columns());
  const Reg buffer = k_.def("mad.lo.u32", s.out.index(), kOutBufferBytes, s.staging);
  const Reg source_barrier = k_.def("mad.lo.u32", s.out.index(), 8, s.source_barriers);
  k_.if_(s.first_lane, [&] {
    // The store before the last used this buffer: it must have read its operands.
    k_("cp.async.bulk.wait_group.read", kOutBuffers - 1);
    if (!c_.reads_c) return;
    k_("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(source_barrier), 32 * p_.subtile_row_bytes());
    for (const Box& box : boxes(row, column, buffer)) {
      Arg source = tensor(s.map_c, {});
      source.parts[1] = box.coordinates;
      k_("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", mem(box.staged), source, mem(source_barrier));
    }
  });
  k_("bar.warp.sync", -1);
  if (subtile == 0 && !c_.blockwise()) {
    accumulator_.wait(s.accumulator);
    k_("tcgen05.fence::after_thread_sync");
  }
  const RegArray acc = c_.blockwise() ? s.promoted.slice(subtile * p_.subtile_columns(), p_.subtile_columns()) : load_accumulators(s, subtile);
  if (!c_.blockwise() && (subtile + 1) * p_.subtile_columns() == c_.bn) release_accumulators(s);
  scale_by_alpha(s, acc, buffer, source_barrier);
  p_.column_major_d() ? store_columns(s, acc, buffer) : store_row(s, acc, buffer);
  k_("fence.proxy.async.shared::cta");
  k_("bar.warp.sync", -1);
  k_.if_(s.first_lane, [&] {
    for (const Box& box : boxes(row, column, buffer)) {
      Arg destination = tensor(s.map_d, {});
      destination.parts[1] = box.coordinates;
      k_("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", destination, mem(box.staged));
    }
    k_("cp.async.bulk.commit_group");
  });
  s.out.advance();
}

RegArray GemmDevice::load_accumulators(EpilogueState& s, uint32_t subtile) {
  const uint32_t columns = p_.subtile_columns();
  const Reg from = k_.def("mad.lo.u32", s.accumulator.index(), c_.bn, s.tmem);
  const RegArray acc = k_.regs(Mod::f32, columns, "acc");
  k_(OpText("tcgen05.ld.sync.aligned.32x32b.x" + std::to_string(columns) + ".b32"), acc,
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
          MbarrierRing(k_, leader_smem_, accumulator_barriers(), p_.accumulators).empty(s.accumulator);
      k_("mbarrier.arrive.release.cluster.shared::cluster.b64", sink(), mem(empty));
    } else {
      k_("mbarrier.arrive.shared::cta.b64", sink(), mem(accumulator_.empty(s.accumulator)));
    }
  });
}

// acc = alpha * acc (+ beta * C); C is in the staging buffer, in the layout of D's store.
void GemmDevice::scale_by_alpha(EpilogueState& s, const RegArray& acc, Reg buffer, Reg source_barrier) {
  for (const Reg e : acc) k_("mul.rn.f32", e, e, s.alpha);
  if (!c_.reads_c) return;
  mbarrier_wait(k_, source_barrier, s.out.phase());
  p_.column_major_d() ? add_source_columns(s, acc, buffer) : add_source(s, acc, buffer);
}

void GemmDevice::add_source(EpilogueState& s, const RegArray& acc, Reg buffer) {
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
        const Reg value = k_.def(OpText(c_.output == TensorType::bf16 ? "cvt.f32.bf16" : "cvt.f32.f16"), halves[h]);
        k_("fma.rn.f32", acc[index + h], value, s.beta, acc[index + h]);
      }
    }
  }
}

// Stores a thread's row, at most 128 bytes, with its chunks swizzled for TMA (docs/facts/tma-mbarrier.md §2.5).
void GemmDevice::store_row(EpilogueState& s, const RegArray& acc, Reg buffer) {
  std::vector<Reg> words;
  if (c_.output == TensorType::f32) {
    words.assign(acc.begin(), acc.end());
  } else {
    const OpText pack(c_.output == TensorType::bf16 ? "cvt.rn.bf16x2.f32" : "cvt.rn.f16x2.f32");
    for (uint32_t i = 0; i < acc.size(); i += 2) words.push_back(k_.def(pack, acc[i + 1], acc[i]));
  }
  const Reg row = k_.def("mad.lo.u32", lane_, p_.subtile_row_bytes(), buffer);
  for (uint32_t chunk = 0; chunk < p_.subtile_row_bytes() / 16; ++chunk) {
    const Reg at = k_.def("add.u32", row, k_.def("xor.b32", s.chunk_swizzle, 16 * chunk));
    k_("st.shared.v4.b32", mem(at), RegArray(words).slice(4 * chunk, 4));
  }
}

}  // namespace drywell::kernels::gemm
