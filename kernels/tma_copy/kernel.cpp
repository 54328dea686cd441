// The device side.
#include "drywell/isa/builder.h"
#include "kernels/tma_copy/tma_copy.h"

namespace drywell::kernels {

using namespace isa;
using namespace tma_copy;

namespace {

// Thread i works on the 16-byte chunks i, i + 128, … of the tile in row-major order. The swizzle XORs a chunk's index
// with bits of its 128-byte line (docs/facts/tma-mbarrier.md §2.5); its period divides 128 chunks, so the XOR is the same
// for all chunks of a thread.
Reg own_chunk(KernelBuilder& k, Reg tile, Reg tid, Swizzle swizzle) {
  const Reg logical = k.def("shl.b32", tid, 4);
  if (swizzle == Swizzle::none) return k.def("add.u32", tile, logical);
  const SwizzleXor x = swizzle_xor(swizzle);
  const Reg line = k.def("shr.u32", logical, 7);
  const Reg moved = k.def("shl.b32", k.def("and.b32", line, x.mask), x.shift);
  return k.def("add.u32", tile, k.def("xor.b32", logical, moved));
}

// Waits until the phase of parity `parity` of the mbarrier at `bar` is complete.
void wait_phase(KernelBuilder& k, Symbol bar, Reg parity) {
  k.do_while([&] {
    const Reg done = k.reg(Mod::pred), again = k.reg(Mod::pred);
    k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), parity);
    k("not.pred", again, done);
    return again;
  });
}

}  // namespace

Module build_tma_copy(const TmaCopyOptions& o, Target target) {
  const uint32_t columns = tile_columns(o.swizzle), row_bytes = 4 * columns,
                 tile_bytes = kTileRows * row_bytes;
  KernelBuilder k("tma_copy", target);
  const Symbol map_x = k.param_bytes("map_x", kTensorMapBytes, 64),
               map_y = k.param_bytes("map_y", kTensorMapBytes, 64);
  const Symbol tiles_x_param = k.param(Mod::u32, "tiles_x"), tiles_param = k.param(Mod::u32, "tiles");
  const Symbol scale_param = k.param(Mod::f32, "scale");
  // The swizzle is a function of the address: tiles start at a multiple of its 1024-byte period.
  const Symbol tile = k.shared("tile", tile_bytes, 1024), bar = k.shared("bar", 8, 8);
  k.directives().maxntid = {kThreads, 1, 1};
  k.role("copy", 0, kThreads / kWarpSize - 1);

  const Reg tid = k.def("mov.u32", SpecialReg::tid_x), first = k.reg(Mod::pred), phase = k.def("mov.u32", 0);
  const Reg x = k.def("cvta.param.u64", map_x), y = k.def("cvta.param.u64", map_y);
  const Reg tiles_x = k.load_param(tiles_x_param, Mod::u32), tiles = k.load_param(tiles_param, Mod::u32);
  const Reg scale = k.load_param(scale_param, Mod::f32);
  const Reg smem = k.def("mov.u32", tile);
  k("setp.eq.u32", first, tid, 0);
  const Reg mine = own_chunk(k, smem, tid, o.swizzle);
  k.if_(first, [&] {
    k("mbarrier.init.shared::cta.b64", mem(bar), 1);
    k("fence.mbarrier_init.release.cluster");
  });
  k("bar.sync", 0);

  k.for_range(SpecialReg::ctaid_x, tiles, k.def("mov.u32", SpecialReg::nctaid_x), [&](Reg t) {
    const Reg column = k.def("mul.lo.u32", k.def("rem.u32", t, tiles_x), columns);
    const Reg row = k.def("mul.lo.u32", k.def("div.u32", t, tiles_x), kTileRows);
    k.if_(first, [&] {
      k("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(bar), tile_bytes);
      k("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", mem(smem),
        tensor(x, {column, row}), mem(bar));
    });
    wait_phase(k, bar, phase);
    k("xor.b32", phase, phase, 1);

    for (uint32_t chunk = 0; chunk < tile_bytes; chunk += 16 * kThreads) {
      const RegArray v = k.regs(Mod::f32, 4);
      k("ld.shared.v4.f32", v, mem(mine, chunk));
      for (const Reg e : v) k("mul.rn.f32", e, e, scale);
      k("st.shared.v4.f32", mem(mine, chunk), v);
    }
    // The store reads shared memory through the async proxy: every writing thread fences, then one thread issues.
    k("fence.proxy.async.shared::cta");
    k("bar.sync", 0);
    k.if_(first, [&] {
      k("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", tensor(y, {column, row}), mem(smem));
      k("cp.async.bulk.commit_group");
      // The next load overwrites the tile: the store must have read it.
      k("cp.async.bulk.wait_group.read", 0);
    });
    // No thread may go to the next tile's phase before its expect_tx.
    k("bar.sync", 0);
  });
  // Threads without a store have nothing to wait for; the whole warp executes the wait so that it stays converged.
  k("cp.async.bulk.wait_group", 0);
  return k.finish();
}

}  // namespace drywell::kernels
