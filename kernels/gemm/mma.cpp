// The MMA warp. It waits as a whole; one lane copies the stage's scale factors to tensor memory, issues four MMAs and
// commits.
#include "kernels/gemm/device.h"

namespace drywell::kernels::gemm {

using namespace isa;

namespace {

// A matrix descriptor without its start address; the address is added at run time.
uint64_t descriptor_base(uint32_t lbo, uint32_t sbo, Swizzle swizzle) {
  return SmemDescriptor::make(0, lbo, sbo, swizzle).encode();
}

// Scale factors are stored as 32 rows of 16 bytes: eight rows in 128 bytes, without a swizzle (docs/facts/tcgen05.md §3,
// §6.2).
constexpr uint32_t kScaleSbo = 128, kScaleLbo = 16;

}  // namespace

struct GemmDevice::MmaState {
  MmaState(KernelBuilder& k, const GemmPlan& p)
      : ready(k, p.stages, PipelineState::Role::consumer),
        drained(k, p.stages, PipelineState::Role::consumer),
        accumulator(k, p.accumulators, PipelineState::Role::producer),
        scale_buffer(k, std::max(1u, p.scale_buffers), PipelineState::Role::consumer) {}

  Reg tmem, a, b, sfa, sfb;  // base of tensor memory; descriptors of stage 0
  std::vector<Reg> idesc;    // of the four MMAs of a stage
  PipelineState ready;       // the stage of the next MMAs
  PipelineState drained;     // the stage whose scale factors were in the next buffer
  PipelineState accumulator, scale_buffer;
  Reg stages_done, readers, both_full;
};

void GemmDevice::mma() {
  k_.if_(is_leader_, [&] {
    MmaState s(k_, p_);
    s.tmem = k_.def("ld.shared.b32", mem(smem_at(kTmemBase)));
    const auto descriptor = [&](uint32_t at, uint64_t base) {
      const Reg field = k_.def("and.b32", k_.def("shr.u32", smem_at(at), 4), 0x3FFF);
      return k_.def("or.b64", k_.def("cvt.u64.u32", field), static_cast<int64_t>(base));
    };
    s.a = descriptor(p_.smem_a, descriptor_base(p_.a.lbo, p_.a.sbo, p_.a.swizzle()));
    s.b = descriptor(p_.smem_b, descriptor_base(p_.b.lbo, p_.b.sbo, p_.b.swizzle()));
    for (uint32_t step = 0; step < 4; ++step)
      s.idesc.push_back(k_.def("mov.b32", instruction_descriptor(step)));
    if (c_.scaled()) {
      s.sfa = descriptor(p_.smem_sfa, descriptor_base(kScaleLbo, kScaleSbo, Swizzle::none));
      s.sfb = descriptor(p_.smem_sfb, descriptor_base(kScaleLbo, kScaleSbo, Swizzle::none));
      s.stages_done = k_.def("mov.u32", 0);
    }
    if (p_.cluster > 1) s.readers = readers_mask();
    if (pair()) s.both_full = pair_mask();
    for_tiles([&](const Tile& t) { c_.blockwise() ? mma_blocks(s, t) : mma_tile(s, t); });
  });
}

// Ids of the scale factors of one MMA: all four of a word (4X), one half of it (2X) or one byte (1X).
uint32_t GemmDevice::instruction_descriptor(uint32_t step) const {
  InstrDescriptor d;
  d.kind = c_.kind;
  d.m = static_cast<uint16_t>(p_.tile_m);
  d.n = static_cast<uint16_t>(c_.bn);
  d.a_type = code_of(c_.kind, c_.a.element);
  d.b_type = code_of(c_.kind, c_.b.element);
  d.d_type = static_cast<uint8_t>(c_.scaled() ? 0 : static_cast<unsigned>(MmaAccumulator::f32));
  d.transpose_a = c_.a.major == Major::mn;
  d.transpose_b = c_.b.major == Major::mn;
  if (c_.scaled()) {
    const uint32_t factors = static_cast<uint32_t>(c_.scale);
    d.sfa_id = d.sfb_id = static_cast<uint8_t>(step * factors % 4);
    d.scale_ue8m0 = c_.ue8m0;
  }
  return d.encode();
}

void GemmDevice::mma_tile(MmaState& s, const Tile& t) {
  accumulator_.acquire(s.accumulator);
  k_("tcgen05.fence::after_thread_sync");
  const Reg d = k_.def("mad.lo.u32", s.accumulator.index(), c_.bn, s.tmem);
  // If a tile begins in the middle of an atom (bN = 64 and 192), its first factor is two columns later.
  Reg sfb_shift;
  if (c_.scaled()) sfb_shift = k_.def("shr.u32", k_.def("and.b32", t.n0, GemmPlan::kAtomRows - 1), 5);
  k_.for_range(0, k_tiles_, 1, [&](Reg k_tile) {
    mainloop_.wait(s.ready);
    if (c_.scaled()) wait_for_scale_buffer(s);
    k_.elect_one([&] {
      mma_stage(s, k_tile, d, sfb_shift);
      commit(mainloop_.empty(s.ready), p_.cluster > 1 ? &s.readers : nullptr);
    });
    s.ready.advance();
    if (c_.scaled()) s.scale_buffer.advance();
  });
  k_.elect_one([&] { commit(accumulator_.full(s.accumulator), pair() ? &s.both_full : nullptr); });
  s.accumulator.advance();
}

isa::Reg GemmDevice::stage_descriptor(Reg first, Reg stage, uint32_t bytes) {
  return k_.def("add.s64", first, k_.def("mul.wide.u32", stage, bytes / 16));
}

void GemmDevice::mma_stage(MmaState& s, Reg k_tile, Reg d, Reg sfb_shift) {
  Reg sfa, sfb;
  if (c_.scaled()) {
    sfa = copy_scales(s);
    sfb = k_.def("add.u32", sfa, sfb_shift);
  }
  const Reg a = stage_descriptor(s.a, s.ready.index(), p_.a.bytes);
  const Reg b = stage_descriptor(s.b, s.ready.index(), p_.b.bytes), accumulate = k_.reg(Mod::pred);
  k_("setp.ne.u32", accumulate, k_tile, 0);
  for (uint32_t step = 0; step < 4; ++step) {
    const Reg at_a = k_.def("add.s64", a, step * p_.a.k_step / 16),
              at_b = k_.def("add.s64", b, step * p_.b.k_step / 16);
    issue(s, step, d, at_a, at_b, sfa, sfb, accumulate);
    if (step == 0) k_("setp.eq.u32", accumulate, k_tile, k_tile);  // true for all later MMAs
  }
}

void GemmDevice::issue(MmaState& s, uint32_t step, Reg d, Reg a, Reg b, Reg sfa, Reg sfb, Reg accumulate) {
  const std::string kind = "tcgen05.mma" + group() + ".kind::" + std::string(to_string(c_.kind));
  if (c_.scaled()) {
    const uint32_t atom = step * static_cast<uint32_t>(c_.scale) / 4;
    k_(OpText(kind + ".block_scale" + (c_.scale == ScaleVector::x4 ? ".block16" : ".block32")), mem(d), a, b,
       s.idesc[step], mem(sfa, 4 * atom), mem(sfb, p_.sfa_columns() + 4 * p_.sfb_atoms * atom), accumulate);
  } else {
    k_(OpText(kind), mem(d), a, b, s.idesc[step], accumulate);
  }
}

// Software scales: every block of K has its own accumulator, which the epilogue scales and adds up.
void GemmDevice::mma_blocks(MmaState& s, const Tile& t) {
  const uint32_t blocks = p_.blocks_of_stage(), steps = 4 / blocks;
  k_.for_range(0, t.k_tiles, 1, [&](Reg) {
    mainloop_.wait(s.ready);
    for (uint32_t block = 0; block < blocks; ++block) {
      accumulator_.acquire(s.accumulator);
      k_("tcgen05.fence::after_thread_sync");
      const Reg d = k_.def("mad.lo.u32", s.accumulator.index(), c_.bn, s.tmem);
      k_.elect_one([&] {
        const Reg a = stage_descriptor(s.a, s.ready.index(), p_.a.bytes), b = stage_descriptor(s.b, s.ready.index(), p_.b.bytes);
        const Reg accumulate = k_.reg(Mod::pred);
        k_("setp.ne.u32", accumulate, s.tmem, s.tmem);  // the first step starts from zero
        for (uint32_t step = block * steps; step < (block + 1) * steps; ++step) {
          const Reg at_a = k_.def("add.s64", a, step * p_.a.k_step / 16), at_b = k_.def("add.s64", b, step * p_.b.k_step / 16);
          issue(s, step, d, at_a, at_b, Reg{}, Reg{}, accumulate);
          if (step == block * steps) k_("setp.eq.u32", accumulate, s.tmem, s.tmem);
        }
        commit(accumulator_.full(s.accumulator), pair() ? &s.both_full : nullptr);
        if (block + 1 == blocks) commit(mainloop_.empty(s.ready), p_.cluster > 1 ? &s.readers : nullptr);
      });
      s.accumulator.advance();
    }
    s.ready.advance();
  });
}

// An atom of 128 rows x 4 factors becomes four columns, equal in all four lane partitions. Atoms of N are adjacent in
// tensor memory, and one stage apart along K in shared memory.
isa::Reg GemmDevice::copy_scales(MmaState& s) {
  const Reg to = k_.def(
      "add.u32", k_.def("mad.lo.u32", s.scale_buffer.index(), p_.sfa_columns() + p_.sfb_columns(), s.tmem),
      p_.tmem_scales);
  const Reg sfa = stage_descriptor(s.sfa, s.ready.index(), p_.sfa_bytes());
  const Reg sfb = stage_descriptor(s.sfb, s.ready.index(), p_.sfb_bytes());
  const auto copy = [&](Reg stage, uint32_t atom, uint32_t column) {
    k_(OpText("tcgen05.cp" + group() + ".32x128b.warpx4"), mem(to, column),
       k_.def("add.s64", stage, atom * GemmPlan::kAtomBytes / 16));
  };
  for (uint32_t k = 0; k < p_.scale_atoms_k; ++k) {
    copy(sfa, k, 4 * k);
    for (uint32_t n = 0; n < p_.sfb_atoms; ++n) {
      copy(sfb, n * p_.scale_atoms_k + k, p_.sfa_columns() + 4 * (k * p_.sfb_atoms + n));
    }
  }
  return to;
}

// mma -> cp is not a pair that executes in issue order (PTX ISA 9.7.16.6.2), so the last MMAs that read the buffer must
// be complete: their commit is on the empty barrier of their stage.
void GemmDevice::wait_for_scale_buffer(MmaState& s) {
  const Reg used = k_.reg(Mod::pred);
  k_("setp.ge.u32", used, s.stages_done, p_.scale_buffers);
  k_.if_(used, [&] {
    mainloop_.acquire(s.drained);
    k_("tcgen05.fence::after_thread_sync");
    s.drained.advance();
  });
  k_("add.u32", s.stages_done, s.stages_done, 1);
}

void GemmDevice::commit(Reg barrier, const Reg* mask) {
  const std::string text = "tcgen05.commit" + group() + ".mbarrier::arrive::one.shared::cluster";
  if (mask == nullptr) {
    k_(OpText(text + ".b64"), mem(barrier));
  } else {
    k_(OpText(text + ".multicast::cluster.b64"), mem(barrier), *mask);
  }
}

}  // namespace drywell::kernels::gemm
