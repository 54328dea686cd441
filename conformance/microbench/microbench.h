// Microbenchmarks: small kernels that time one thing each. The same PTX runs on a GPU and under the timed driver, so that a
// figure of an architecture file can be fitted to silicon, and every fit be checked (`drywell bench-hw`, docs/lab/calibration.md).
//
// A kernel reads the clock, runs a loop `count` times, and reads the clock again. It is launched with two counts, and the
// result is the difference: start-up, cold caches and the clock's own cost cancel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/isa/tensor_map.h"
#include "drywell/launch/accelerator.h"

namespace drywell::kernels::microbench {

/// Unit of the result. Cycles and nanoseconds are of one operation.
enum class Unit : uint8_t {
  cycles,
  bytes_per_cycle,
  nanoseconds,
  gigabytes_per_second
};
std::string_view unit_name(Unit u);

/// A pointer in the kernel's memory: the word at `at` holds the address of `target` (both are offsets).
struct Link {
  uint64_t at = 0, target = 0;
};

struct Microbench {
  std::string name;    // "lds.conflict-4"; its meaning never changes
  std::string family;  // "smem"
  bool fitted = true;  // false: not used for fitting, only checks the fitted figures
  Unit unit = Unit::cycles;
  double work = 1;                                                // operations (cycles, nanoseconds) or bytes (rates) per iteration
  std::string text;                                               // PTX without its header: entry `bench(out, count, memory[, map])`
  sim::LaunchConfig launch{{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0};  // grid.x 0: one CTA for each SM
  uint32_t few = 8, many = 40;                                    // iterations of the two launches
  uint64_t memory_bytes = 4096;                                   // zeros
  std::vector<Link> links;
  std::optional<isa::TensorMapFields> map;  // over the memory
  bool cold = false;                        // the memory must not be in the L2
  bool per_cta = false;                     // a rate: of one CTA; otherwise of all
  bool waves = false;                       // `count` CTAs for each SM, each one iteration; timed from the first start to the last end
};

/// Returns every microbenchmark, family by family.
std::vector<Microbench> suite();
void add_pipes(std::vector<Microbench>& out);    // scalar instructions: latency and rate
void add_smem(std::vector<Microbench>& out);     // ld.shared, st.shared, conflicts, matrices, atomics
void add_sync(std::vector<Microbench>& out);     // barriers, mbarriers, fences
void add_memory(std::vector<Microbench>& out);   // L1, L2, device memory
void add_tma(std::vector<Microbench>& out);      // tensor and bulk copies
void add_cluster(std::vector<Microbench>& out);  // DSMEM, multicast, cluster barriers
void add_tensor(std::vector<Microbench>& out);   // mma.sync, wgmma
void add_tcgen05(std::vector<Microbench>& out);  // tensor memory and its matrix instructions
void add_launch(std::vector<Microbench>& out);   // CTAs one after the other on an SM

/// The benchmark's PTX for a target.
std::string text_for(const Microbench& b, isa::Target target);
/// True if the target has all instructions of the benchmark.
bool made_for(const Microbench& b, isa::Target target);

/// Runs the benchmark. On a GPU the result is the least of several runs. Throws InputError E4505 if the kernel faults, and
/// the errors of Accelerator.
double measure(const Microbench& b, Accelerator& device, const sim::RunOptions& options, unsigned repeats = 1);

}  // namespace drywell::kernels::microbench
