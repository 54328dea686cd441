// Set-up, tile order and tear-down.
#include <bit>
#include <cstddef>

#include "kernels/gemm/device.h"

namespace drywell::kernels::gemm {

using namespace isa;

GemmDevice::GemmDevice(const GemmPlan& plan, Target target)
    : p_(plan),
      c_(plan.config),
      k_(plan.entry_name(), target),
      mainloop_(k_, Reg{}, 0, plan.stages),
      accumulator_(k_, Reg{}, 0, plan.accumulators),
      block_scales_(k_, Reg{}, 0, kBlockRing) {}

Module GemmDevice::build() {
  parameters();
  prologue();
  const uint32_t first = mma_warp();
  k_.warp_role("epilogue", warp_, 0, first - 1, [&] { epilogue(); });
  k_.warp_role("mma", warp_, first, first, [&] { mma(); });
  k_.warp_role("load", warp_, first + 1, first + 1, [&] { load(); });
  if (c_.blockwise()) k_.warp_role("scales", warp_, first + 2, first + 2, [&] { load_block_scales(); });
  teardown();
  return k_.finish();
}

void GemmDevice::parameters() {
  if (c_.blockwise()) {
    maps_ = k_.param_bytes("maps", sizeof(DeviceMaps), 128);
    if (c_.grouped) {
      problem_ = k_.param(Mod::u64, "problems");
      groups_ = k_.param(Mod::u32, "groups");
      workspace_ = k_.param(Mod::u64, "workspace");
    } else {
      problem_ = k_.param_bytes("problem", sizeof(DeviceProblem), 128);
    }
    tiles_param_ = k_.param(Mod::u32, "tiles");
    scalar_parameters();
    return;
  }
  const auto map = [&](const char* name) { return k_.param_bytes(name, kTensorMapBytes, 64); };
  map_a_ = map("map_a");
  map_b_ = map("map_b");
  if (c_.scaled()) {
    map_sfa_ = map("map_sfa");
    map_sfb_ = map("map_sfb");
  }
  if (c_.reads_c) map_c_ = map("map_c");
  map_d_ = map("map_d");
  tiles_m_param_ = k_.param(Mod::u32, "tiles_m");
  tiles_param_ = k_.param(Mod::u32, "tiles");
  k_tiles_param_ = k_.param(Mod::u32, "k_tiles");
  scalar_parameters();
}

void GemmDevice::scalar_parameters() {
  alpha_ = k_.param(c_.alpha_in_memory ? Mod::u64 : Mod::f32, "alpha");
  if (c_.reads_c) beta_ = k_.param(Mod::f32, "beta");
  k_.directives().maxntid = {p_.threads(), 1, 1};
  k_.directives().minnctapersm = 1;
  if (p_.cluster > 1) k_.directives().reqnctapercluster = {p_.cluster, 1, 1};
}

void GemmDevice::prologue() {
  smem_ = k_.def("mov.u32", k_.dynamic_shared("shared_memory", 1024));
  const Reg tid = k_.def("mov.u32", SpecialReg::tid_x);
  warp_ = k_.def("shr.u32", tid, 5);
  lane_ = k_.def("and.b32", tid, 31);
  if (!c_.blockwise()) tiles_m_ = k_.load_param(tiles_m_param_, Mod::u32);
  tiles_ = k_.load_param(tiles_param_, Mod::u32);
  if (!c_.blockwise()) k_tiles_ = k_.load_param(k_tiles_param_, Mod::u32);
  place_in_cluster();
  // The leader CTA issues the pair's MMA, and its full barriers count the bytes of both CTAs.
  leader_smem_ = pair() ? k_.def("mapa.shared::cluster.u32", smem_, k_.def("and.b32", rank_, 0xFFFE)) : smem_;
  mainloop_ = MbarrierRing(k_, smem_, kMainloopBarriers, p_.stages);
  accumulator_ = MbarrierRing(k_, smem_, accumulator_barriers(), p_.accumulators);
  block_scales_ = MbarrierRing(k_, smem_, kBlockBarriers, kBlockRing);
  init_barriers();
  allocate_tmem();
  // This is also the barrier between the allocation and its users (PTX ISA 9.7.16.7.1: the address is a weak store).
  k_("tcgen05.fence::before_thread_sync");
  synchronise_cluster();
  k_("tcgen05.fence::after_thread_sync");
}

// Rank r of the cluster is row r % cta_group of the pair (or single CTA) r / cta_group; pairs run along M first.
void GemmDevice::place_in_cluster() {
  rank_ = p_.cluster > 1 ? k_.def("mov.u32", SpecialReg::cluster_ctarank) : k_.def("mov.u32", 0);
  rank_m_ = k_.def("and.b32", rank_, c_.cta_group - 1);
  rank_n_ = k_.def("shr.u32", rank_, c_.cta_group - 1);
  if (c_.cluster_m > 1) {
    tile_row_ = k_.def("and.b32", rank_n_, c_.cluster_m - 1);
    rank_n_ = k_.def("shr.u32", rank_n_, std::countr_zero(c_.cluster_m));
  }
  is_leader_ = k_.reg(Mod::pred);
  k_("setp.eq.u32", is_leader_, rank_m_, 0);
}

void GemmDevice::init_barriers() {
  const Reg mine = k_.reg(Mod::pred);
  k_("setp.eq.u32", mine, warp_, 0);
  k_.if_(mine, [&] {
    k_.elect_one([&] {
      mainloop_.init(1, p_.readers());                                // expect_tx; a commit of every MMA warp that reads the data that this CTA loads
      accumulator_.init(1, p_.epilogue_warps * c_.cta_group);         // a commit; the epilogue warps of the pair
      if (c_.blockwise()) block_scales_.init(32, p_.epilogue_warps);  // cp.async of a warp's lanes; the epilogue warps
      const Reg source = smem_at(source_barriers());
      if (c_.reads_c) {
        for (uint32_t i = 0; i < p_.epilogue_warps * kOutBuffers; ++i)
          k_("mbarrier.init.shared::cta.b64", mem(source, 8 * i), 1);
      }
      k_("fence.mbarrier_init.release.cluster");
    });
  });
}

void GemmDevice::allocate_tmem() {
  const Reg mine = k_.reg(Mod::pred);
  k_("setp.eq.u32", mine, warp_, mma_warp());
  k_.if_(mine, [&] {
    k_(OpText("tcgen05.alloc" + group() + ".sync.aligned.shared::cta.b32"), mem(smem_at(kTmemBase)), p_.tmem_columns);
    k_(OpText("tcgen05.relinquish_alloc_permit" + group() + ".sync.aligned"));
  });
}

void GemmDevice::synchronise_cluster() {
  k_("bar.warp.sync", -1);
  if (p_.cluster == 1) {
    k_("bar.sync", 0);
    return;
  }
  k_("barrier.cluster.arrive.aligned");
  k_("barrier.cluster.wait.aligned");
}

// No CTA ends, and no tensor memory is freed, while another CTA of the cluster may still signal or write here.
void GemmDevice::teardown() {
  k_("tcgen05.fence::before_thread_sync");
  synchronise_cluster();
  const Reg mine = k_.reg(Mod::pred);
  k_("setp.eq.u32", mine, warp_, mma_warp());
  k_.if_(mine, [&] {
    k_("tcgen05.fence::after_thread_sync");
    k_(OpText("tcgen05.dealloc" + group() + ".sync.aligned.b32"), k_.def("ld.shared.b32", mem(smem_at(kTmemBase))),
       p_.tmem_columns);
  });
}

Reg GemmDevice::map_address(const Tile& t, Symbol map, size_t offset, uint32_t made) {
  if (!c_.blockwise()) return k_.def("cvta.param.u64", map);
  if (c_.grouped) return k_.def("add.s64", t.slot, made * kTensorMapBytes);
  return k_.def("add.s64", k_.def("cvta.param.u64", maps_), offset);
}

// Tiles are numbered through all problems; each role also tracks the problem of its current tile.
void GemmDevice::for_problem_tiles(const std::function<void(const Tile&)>& body) {
  const bool clusters = p_.cluster > 1;
  const SpecialReg first = clusters ? SpecialReg::clusterid_x : SpecialReg::ctaid_x;
  const Reg step = k_.def("mov.u32", clusters ? SpecialReg::nclusterid_x : SpecialReg::nctaid_x);
  Reg row = k_.def("mul.lo.u32", rank_m_, c_.bm);
  if (tile_row_.valid()) row = k_.def("mad.lo.u32", tile_row_, p_.tile_m, row);
  const Reg problem = c_.grouped ? k_.load_param(problem_, Mod::u64) : k_.def("cvta.param.u64", problem_);
  Reg slot;
  if (c_.grouped) {
    const Reg groups = k_.load_param(groups_, Mod::u32), cta = k_.def("mov.u32", SpecialReg::ctaid_x);
    const Reg before = k_.def("mul.lo.u32", cta, groups);
    slot = k_.def("mad.wide.u32", before, p_.device_maps() * kTensorMapBytes, k_.load_param(workspace_, Mod::u64));
  }
  const Reg begin = k_.def("mov.u32", 0), end = k_.def("ld.u32", mem(problem, offsetof(DeviceProblem, tiles)));
  k_.for_range(first, tiles_, step, [&](Reg tile) {
    if (c_.grouped) {
      k_.while_(
          [&] {
            const Reg behind = k_.reg(Mod::pred);
            k_("setp.ge.u32", behind, tile, end);
            return behind;
          },
          [&] {
            k_("add.s64", problem, problem, sizeof(DeviceProblem));
            k_("add.s64", slot, slot, p_.device_maps() * kTensorMapBytes);
            k_("mov.u32", begin, end);
            k_("add.u32", end, end, k_.def("ld.u32", mem(problem, offsetof(DeviceProblem, tiles))));
          });
    }
    const Reg tiles_m = k_.def("ld.u32", mem(problem, offsetof(DeviceProblem, tiles_m))), local = k_.def("sub.u32", tile, begin);
    const Reg m = k_.def("rem.u32", local, tiles_m), n = k_.def("div.u32", local, tiles_m);
    const Reg column = k_.def("mad.lo.u32", n, c_.cluster_n, rank_n_);
    const Reg k_tiles = k_.def("ld.u32", mem(problem, offsetof(DeviceProblem, k_tiles)));
    body({k_.def("mad.lo.u32", m, p_.tile_m * c_.cluster_m, row), k_.def("mul.lo.u32", column, c_.bn), problem, k_tiles, slot});
  });
}

void GemmDevice::for_tiles(const std::function<void(const Tile&)>& body) {
  if (c_.blockwise()) return for_problem_tiles(body);
  const bool clusters = p_.cluster > 1;
  const SpecialReg first = clusters ? SpecialReg::clusterid_x : SpecialReg::ctaid_x;
  const Reg step = k_.def("mov.u32", clusters ? SpecialReg::nclusterid_x : SpecialReg::nctaid_x);
  const Reg row = k_.def("shl.b32", rank_m_, 7);
  k_.for_range(first, tiles_, step, [&](Reg tile) {
    const Reg m = k_.def("rem.u32", tile, tiles_m_), n = k_.def("div.u32", tile, tiles_m_);
    const Reg column = k_.def("mad.lo.u32", n, c_.cluster_n, rank_n_);
    body({k_.def("mad.lo.u32", m, p_.tile_m, row), k_.def("mul.lo.u32", column, c_.bn), Reg{}, Reg{}, Reg{}});
  });
}

}  // namespace drywell::kernels::gemm
