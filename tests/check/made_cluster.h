// A cluster of a PTX kernel that no driver runs: a test executes its instructions one by one and passes them to a part of the checker.
#pragma once

#include <string>

#include "drywell/isa/parse.h"
#include "drywell/sim/arch_config.h"
#include "sim/check/cluster_parts.h"
#include "sim/exec/decode.h"
#include "sim/schedule/functional.h"
#include "sim/schedule/warp_runner.h"

namespace drywell::sim::check {

struct MadeCluster {
  /// CTAs of two warps. The kernel has `body`, registers %r0 to %r7, %rd0 to %rd7 and %p0, and 256 bytes of shared memory s.
  explicit MadeCluster(const std::string& body, uint32_t ctas = 1)
      : module(isa::parse_ptx_or_throw(".version 8.8\n.target sm_100a\n.address_size 64\n.entry k()\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p<1>;\n"
                                       ".shared .align 128 .b8 s[256];\n" +
                                           body + "\nret;\n}\n",
                                       "made.ptx")),
        program(decode(module, module.functions[0], {})) {
    launch.arch = &arch;
    launch.program = program.get();
    launch.gmem = &gmem;
    launch.grid = launch.cluster = {ctas};
    launch.block = {2 * kWarpSize};
    launch.smem_bytes = kSmemReserved + 256;
    cluster = make_cluster(launch, 0);
    state.begin(launch);
    parts = std::make_unique<ClusterParts>(*cluster, state);
  }

  Warp& warp(uint32_t index, uint32_t rank = 0) { return cluster->ctas[rank]->warps[index]; }
  WarpClock& clock(uint32_t index, uint32_t rank = 0) { return parts->state_of(warp(index, rank)).clock; }
  /// Executes the warp's next instruction and returns it.
  const DecodedOp& step(Warp& w) {
    const DecodedOp& op = program->code[w.pc];
    run_one(w, *program);
    return op;
  }
  /// Executes `count` instructions of the warp.
  void skip(Warp& w, int count) {
    for (; count != 0; --count) step(w);
  }
  /// Executes the warp's next instruction and passes it to that method of a part.
  template <class Part, class Effect>
  void pass(Warp& w, Part& part, Effect effect, LaneMask lanes = kFullMask) {
    const DecodedOp& op = step(w);
    (part.*effect)(w, op, lanes);
  }
  bool found(Rule rule) const {
    const auto all = parts->reporter.sorted();
    return std::any_of(all.begin(), all.end(), [&](const Finding& f) { return f.code == text_of(rule).code; });
  }

  const ArchConfig arch = load_arch("sm_100a");
  isa::Module module;
  std::unique_ptr<Program> program;
  Gmem gmem{1 << 20};
  Launch launch;
  LaunchState state{CheckOptions{}};
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<ClusterParts> parts;
};

}  // namespace drywell::sim::check
