// A cluster that does not run: CTAs and warps for the parts of the checker to know about, and a program for findings to name.
#pragma once

#include <string>

#include "drywell/isa/parse.h"
#include "sim/check/cluster_parts.h"
#include "sim/exec/decode.h"

namespace drywell::sim::check {

struct SmallCluster {
  SmallCluster(uint32_t ctas, uint32_t warps) {
    state.program = program.get();
    launch.program = program.get();
    cluster.launch = &launch;
    for (uint32_t rank = 0; rank < ctas; ++rank) add_cta(rank, warps);
  }
  /// Warp `index` of CTA `rank`.
  Warp& warp(uint32_t rank, uint32_t index) { return cluster.ctas[rank]->warps[index]; }
  static bool found(const Reporter& r, Rule rule) {
    const auto all = r.sorted();
    return std::any_of(all.begin(), all.end(), [&](const Finding& f) { return f.code == text_of(rule).code; });
  }

  // Instructions for accesses to be at: pcs 0 to 3.
  isa::Module module = isa::parse_ptx_or_throw(
      ".version 8.6\n.target sm_100a\n.address_size 64\n.entry k()\n{\n.reg .b32 %r<4>;\nmov.u32 %r0, 0;\n"
      "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nret;\n}\n",
      "small.ptx");
  std::unique_ptr<Program> program = decode(module, module.functions[0], {});
  Launch launch;
  Cluster cluster;
  LaunchState state{CheckOptions{}};

 private:
  void add_cta(uint32_t rank, uint32_t warps) {
    auto cta = std::make_unique<Cta>();
    cta->cluster = &cluster;
    cta->rank = rank;
    cta->smem.reset(4096);
    cta->warps.resize(warps);
    for (uint32_t i = 0; i < warps; ++i) {
      cta->warps[i].cta = cta.get();
      cta->warps[i].index = i;
      cta->warps[i].alive = cta->warps[i].active = kFullMask;
      cta->warps[i].predicate_file = {kFullMask};
      cta->warps[i].preds = cta->warps[i].predicate_file.data();
    }
    cluster.ctas.push_back(std::move(cta));
  }
};

}  // namespace drywell::sim::check
