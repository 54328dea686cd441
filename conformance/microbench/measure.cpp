#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "conformance/microbench/microbench.h"
#include "conformance/microbench/stopwatch.h"
#include "conformance/microbench/text.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"

namespace drywell::kernels::microbench {
namespace {

isa::Module parse(const Microbench& b, isa::Target target) {
  isa::Module m = isa::parse_ptx_or_throw(text_for(b, target), b.name);
  if (Diagnostics problems = isa::validate(m); problems.has_errors()) throw InputError(std::move(problems));
  return m;
}

constexpr uint32_t kWarps = 32;  // of a CTA, at most

// The kernel's memory on a device, during its measurement.
class Bench {
 public:
  Bench(const Microbench& b, Accelerator& device, bool gpu) : b_(b), device_(device), launch_(b.launch), gpu_(gpu) {
    if (launch_.grid.x == 0) launch_.grid.x = device.sm_count() / launch_.cluster.x * launch_.cluster.x;
    out_ = device.allocate(launch_.grid.count() * kWarps * 8, "clocks");
    device.write(out_, std::vector<uint64_t>(launch_.grid.count() * kWarps).data(), launch_.grid.count() * kWarps * 8);
    memory_ = device.allocate(b.memory_bytes, "memory");
    std::vector<uint8_t> bytes(b.memory_bytes, 0);
    for (const Link& l : b.links) {
      const uint64_t to = memory_.value() + l.target;
      std::copy_n(reinterpret_cast<const uint8_t*>(&to), 8, bytes.begin() + static_cast<ptrdiff_t>(l.at));
    }
    device.write(memory_, bytes.data(), bytes.size());
    if (b.map.has_value()) {
      isa::TensorMapFields f = *b.map;
      f.address = memory_.value();
      map_ = device.encode(f);
    }
    device.load(parse(b, device_.arch().target));
  }
  ~Bench() {
    device_.release(out_);
    device_.release(memory_);
    if (sweep_.has_value()) device_.release(*sweep_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  double ctas() const { return static_cast<double>(launch_.grid.count()); }

  /// Returns the longest time between the two clocks of a warp; for waves, the time of the whole launch.
  double run(uint32_t count, const sim::RunOptions& options) {
    if (b_.waves) return run_waves(count, options);
    sim::Args args;
    args.add(out_).add(count).add(memory_);
    if (map_.has_value()) args.add(*map_);
    if (b_.cold && gpu_) sweep();
    const sim::RunResult r = device_.launch("bench", launch_, args, options);
    if (!r.ok()) fail(r);
    std::vector<uint64_t> elapsed(launch_.grid.count() * kWarps);
    device_.read(elapsed.data(), out_, elapsed.size() * 8);
    return static_cast<double>(*std::max_element(elapsed.begin(), elapsed.end()));
  }

 private:
  double run_waves(uint32_t count, const sim::RunOptions& options) {
    std::vector<Elapsed> elapsed;
    Stopwatch watch(device_, elapsed, gpu_ ? 1 : 0, Caches::warm);
    sim::LaunchConfig launch = launch_;
    launch.grid.x *= count;
    const GmemAddr out = device_.allocate(launch.grid.count() * kWarps * 8, "clocks");
    watch.load(parse(b_, device_.arch().target));
    const sim::RunResult r = watch.launch("bench", launch, sim::Args().add(out).add(uint32_t{1}).add(memory_), options);
    device_.release(out);
    if (!r.ok()) fail(r);
    return elapsed[0].cycles;
  }

  [[noreturn]] void fail(const sim::RunResult& r) const {
    Diagnostics d;
    d.error(Code::E4505, {}, fmt::format("microbenchmark {}: {}", b_.name, r.fault->to_string()));
    throw InputError(std::move(d));
  }

  // Replaces the L2's content, by loads: a copy from the host does not go through it. Only a GPU's L2 keeps its content between launches.
  void sweep() {
    constexpr uint32_t kThreads = 1024, kCtas = 1024, kSteps = 16;  // 256 MiB
    if (!sweep_.has_value()) sweep_ = device_.allocate(uint64_t{kThreads} * kCtas * kSteps * 16, "sweep");
    KernelText k;
    k.threads = kThreads;
    k.setup = "mov.u32 %r10, %ctaid.x;\nmad.lo.u32 %r10, %r10, 1024, %r0;\nmul.wide.u32 %rd10, %r10, 16;\nadd.u64 %rd10, %rd10, %rd1;\n";
    k.loop = fmt::format("ld.global.cg.v4.u32 {{%r11, %r12, %r13, %r14}}, [%rd10];\nxor.b32 %r15, %r11, %r15;\nadd.u64 %rd10, %rd10, {};\n", kThreads * kCtas * 16);
    k.keep = "%r15";
    Microbench b;
    b.name = "sweep";
    b.text = kernel_text(k);
    const GmemAddr clocks = device_.allocate(kCtas * kWarps * 8, "clocks");
    device_.load(parse(b, device_.arch().target));
    device_.launch("bench", {{kCtas, 1, 1}, {kThreads, 1, 1}, {1, 1, 1}, 0}, sim::Args().add(clocks).add(kSteps).add(*sweep_), {});
    device_.release(clocks);
    device_.load(parse(b_, device_.arch().target));
  }

  const Microbench& b_;
  Accelerator& device_;
  sim::LaunchConfig launch_;
  bool gpu_;
  GmemAddr out_{}, memory_{};
  std::optional<isa::TensorMap> map_;
  std::optional<GmemAddr> sweep_;
};

}  // namespace

std::string_view unit_name(Unit u) {
  switch (u) {
    case Unit::cycles: return "cyc";
    case Unit::bytes_per_cycle: return "B/clk";
    case Unit::nanoseconds: return "ns";
    case Unit::gigabytes_per_second: return "GB/s";
  }
  return "";
}

std::vector<Microbench> suite() {
  std::vector<Microbench> out;
  add_pipes(out);
  add_smem(out);
  add_sync(out);
  add_memory(out);
  add_tma(out);
  add_cluster(out);
  add_tensor(out);
  add_tcgen05(out);
  add_launch(out);
  return out;
}

std::string text_for(const Microbench& b, isa::Target target) {
  return fmt::format(".version 8.7\n.target {}\n.address_size 64\n", isa::target_name(target)) + b.text;
}

bool made_for(const Microbench& b, isa::Target target) {
  try {
    parse(b, target);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

double measure(const Microbench& b, Accelerator& device, const sim::RunOptions& options, unsigned repeats) {
  const bool gpu = repeats > 1;  // its caches stay warm, and its clocks rise
  Bench bench(b, device, gpu);
  double few = std::numeric_limits<double>::infinity(), many = few;
  if (gpu) bench.run(b.few, options);
  for (unsigned i = 0; i < repeats; ++i) {
    few = std::min(few, bench.run(b.few, options));
    many = std::min(many, bench.run(b.many, options));
  }
  const double iteration = (many - few) / (b.many - b.few);
  const bool rate = b.unit == Unit::bytes_per_cycle || b.unit == Unit::gigabytes_per_second;
  const double ctas = rate && !b.per_cta ? bench.ctas() : 1;
  return rate ? b.work * ctas / iteration : iteration / b.work;
}

}  // namespace drywell::kernels::microbench
