#include "cudart/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>

#include "cudart/endings.h"
#include "cudart/errors.h"
#include "cudart/functions.h"
#include "cudart/launch_report.h"
#include "drywell/core/files.h"
#include "drywell/core/parallel.h"
#include "drywell/core/terminal.h"
#include "drywell/sim/dap.h"
#include "drywell/sim/debug.h"
#include "drywell/sim/dump.h"
#include "drywell/sim/report.h"

namespace drywell::cudart {
namespace {

// CUDA C++ Programming Guide, technical specifications per compute capability.
constexpr uint32_t kMostGridX = 0x7FFF'FFFF, kMostGridYZ = 65'535, kMostBlockZ = 64;
constexpr uint32_t kPortableCluster = 8;  // CUDA C++ Programming Guide, thread block clusters

// cuLaunchKernel's `extra`: CU_LAUNCH_PARAM_END, _BUFFER_POINTER, _BUFFER_SIZE (cuda.h).
constexpr uintptr_t kParamEnd = 0, kParamBuffer = 1, kParamSize = 2;

struct PackedArguments {
  const uint8_t* bytes = nullptr;
  size_t size = 0;
};

PackedArguments unpack(void** extra) {
  PackedArguments p;
  for (; reinterpret_cast<uintptr_t>(*extra) != kParamEnd; extra += 2) {
    const auto what = reinterpret_cast<uintptr_t>(extra[0]);
    require_value(what == kParamBuffer || what == kParamSize);
    if (what == kParamBuffer)
      p.bytes = static_cast<const uint8_t*>(extra[1]);
    else
      p.size = *static_cast<const size_t*>(extra[1]);
  }
  return p;
}

std::vector<std::vector<uint8_t>> copy_arguments(const isa::Function& f, void** arguments, void** extra) {
  std::vector<std::vector<uint8_t>> out;
  const PackedArguments packed = arguments == nullptr && extra != nullptr ? unpack(extra) : PackedArguments{};
  size_t offset = 0;
  for (size_t i = 0; i < f.params.size(); ++i) {
    const isa::Variable& v = f.params[i];
    const uint8_t* from = nullptr;
    if (packed.bytes != nullptr) {
      offset = (offset + v.align - 1) / v.align * v.align;
      require_value(offset + v.bytes() <= packed.size);
      from = packed.bytes + offset;
      offset += v.bytes();
    } else {
      require_value(arguments != nullptr && arguments[i] != nullptr);
      from = static_cast<const uint8_t*>(arguments[i]);
    }
    out.emplace_back(from, from + v.bytes());
  }
  return out;
}

Dim3 dim(const AbiDim3& d) { return {d.x, d.y, d.z}; }

bool divides(const Dim3& part, const Dim3& whole) {
  return part.count() != 0 && whole.x % part.x == 0 && whole.y % part.y == 0 && whole.z % part.z == 0;
}

/// While it lives, one byte of device memory has a wrong value.
class CorruptByte {
 public:
  CorruptByte(sim::Device& device, const Memory& memory, const ExecOptions::Corruption& c) {
    const auto a = memory.device_allocation(c.allocation);
    if (!a.has_value() || c.offset >= a->bytes) {
      throw InputError(Code::E4605, fmt::format("--corrupt {}+{}: no allocation of the program holds that byte", c.allocation, c.offset), "--corrupt=list lists them");
    }
    at_ = device.host_pointer(GmemAddr(a->base + c.offset), 1);
    before_ = *at_;
    *at_ = wrong();
  }
  // A value that the kernel wrote there stays.
  ~CorruptByte() {
    if (*at_ == wrong()) *at_ = before_;
  }
  CorruptByte(const CorruptByte&) = delete;
  CorruptByte& operator=(const CorruptByte&) = delete;

 private:
  uint8_t wrong() const { return static_cast<uint8_t>(~before_); }
  uint8_t* at_ = nullptr;
  uint8_t before_ = 0;
};

/// What kernels allocated by malloc and never freed; empty if there is nothing.
std::string heap_leaks(const sim::Device::KernelHeap& heap) {
  return heap.allocations == 0 ? "" : fmt::format("drywell: {} allocations of malloc in kernels with {} bytes were never freed\n", heap.allocations, heap.bytes);
}

/// Said once for a program that is to run with more host threads than fit into its limit of addresses (ulimit -v).
void say_threads(unsigned wanted) {
  const unsigned most = wanted_threads(wanted), fit = host_threads(wanted);
  if (fit < most) print_error(fmt::format("drywell: {} of {} host threads: the limit of this process's addresses (ulimit -v) has no room for more\n", fit, most));
}

}  // namespace

Launcher::Launcher(sim::Device& device, Memory& memory, Streams& streams, ExecOptions options)
    : device_(device), memory_(memory), streams_(streams), options_(std::move(options)), run_options_(run_options(options_)), filter_(kernel_filter(options_)), timed_(time_filter(options_)) {
  say_threads(run_options_.threads);
  if (options_.trace.empty()) return;
  sim::TraceOptions t;
  t.profile = run_options_.driver == sim::DriverKind::timed ? sim::TraceProfile::cycle : sim::TraceProfile::arch;
  t.arch = options_.arch;
  t.seed = run_options_.seed;
  trace_.emplace(trace_text_, t);
}

static bool matches(const std::optional<Pattern>& p, const Kernel& k) { return p.has_value() && (p->finds(k.name) || p->finds(k.plain)); }

bool Launcher::watched(const Kernel& k) const { return !filter_.has_value() || matches(filter_, k); }

/// A pattern with a mistake in it would otherwise look like kernels without a finding.
static std::string unmatched(std::string_view option, const std::string& text, const std::optional<Pattern>& p, const std::vector<LaunchRecord>& records) {
  const auto matched = [&](const LaunchRecord& r) { return p->finds(r.mangled) || p->finds(r.kernel); };
  if (!p.has_value() || std::any_of(records.begin(), records.end(), matched)) return {};
  if (records.empty()) return fmt::format("drywell: error: {}={}, and the program launched no kernel\n", option, text);
  return fmt::format("drywell: error: {}={} matches no kernel that the program launched; --summary lists the launches\n", option, text);
}

std::string Launcher::unmatched_patterns() const { return unmatched("--kernel", options_.kernel, filter_, records_) + unmatched("--time", options_.time, timed_, records_); }

sim::RunOptions Launcher::options_of(const Kernel& k) const {
  sim::RunOptions o = run_options_;
  if (!matches(timed_, k)) return o;
  o.driver = sim::DriverKind::timed;
  o.values = options_.values;
  return o;
}

void Launcher::apply(const LaunchAttribute& a, LaunchRequest& r) const {
  const auto event = [&](const void* handle) {
    if (handle != nullptr) r.events.push_back(&streams_.events.get(handle));
  };
  switch (a.id) {
    case kClusterDimension: r.config.cluster = dim(a.cluster); break;
    // CUDA allows both shapes; a device uses the preferred shape if it divides the grid.
    case kPreferredClusterDimension:
      if (divides(dim(a.cluster), r.config.grid)) r.config.cluster = dim(a.cluster);
      break;
    case kCooperative: r.cooperative = a.flag != 0; break;
    // Kernels run one after the other here; the checker knows that they need not.
    case kProgrammaticStreamSerialization: r.programmatic = a.flag != 0; break;
    case kProgrammaticEvent:
    case kLaunchCompletionEvent: event(a.programmatic_event.event); break;
    // These affect speed, caches or overlap with other work only; kernels run one after the other here.
    case kIgnore:
    case kAccessPolicyWindow:
    case kSynchronizationPolicy:
    case kClusterSchedulingPolicy:
    case kPriority:
    case kMemSyncDomainMap:
    case kMemSyncDomain:
    case kPreferredCarveout:
    case kNvlinkUtilCentricScheduling: break;
    default: throw Unsupported(fmt::format("launch attribute {} of kernel '{}'", a.id, r.kernel->display));
  }
}

void Launcher::check_limits(const LaunchRequest& r, const sim::LoadedModule& m) const {
  const auto refuse = [&](CudaError e, const std::string& why) {
    print_error(fmt::format("drywell: launch of '{}' refused: {}\n", r.kernel->display, why));
    throw CallFailed{e};
  };
  const Kernel& k = *r.kernel;
  if (const Dim3& g = r.config.grid, &b = r.config.block; g.x > kMostGridX || g.y > kMostGridYZ || g.z > kMostGridYZ || b.z > kMostBlockZ) {
    refuse(CudaError::invalid_value, fmt::format("a grid of {}x{}x{} blocks of {}x{}x{} threads", g.x, g.y, g.z, b.x, b.y, b.z));
  }
  if (const uint32_t most = max_dynamic_smem(device_, k, m); r.config.dynamic_smem > most) {
    refuse(CudaError::invalid_value, fmt::format("{} bytes of dynamic shared memory; {} are allowed (cudaFuncAttributeMaxDynamicSharedMemorySize)",
                                                 r.config.dynamic_smem, most));
  }
  if (r.config.cluster.count() > kPortableCluster && !k.non_portable_cluster) {
    refuse(CudaError::invalid_cluster_size,
           fmt::format("a cluster of {} CTAs needs cudaFuncAttributeNonPortableClusterSizeAllowed", r.config.cluster.count()));
  }
  if (r.cooperative) {
    const auto o = device_.occupancy(m, k.name, r.config);
    const uint64_t fit = uint64_t{o.clusters} * r.config.cluster.count();
    if (r.config.grid.count() > fit) {
      refuse(CudaError::cooperative_launch_too_large, fmt::format("a cooperative grid of {} CTAs; {} fit at once", r.config.grid.count(), fit));
    }
  }
}

LaunchRequest Launcher::prepare(Kernel& k, const sim::LoadedModule& m, const sim::LaunchConfig& config, void** arguments, void** extra,
                                std::span<const LaunchAttribute> attributes) {
  const isa::Function* f = m.module().find_function(k.name);
  require(f != nullptr, CudaError::symbol_not_found);
  LaunchRequest r{&k, k.module->shared_from_this(), config};
  if (k.required_cluster.x != 0) r.config.cluster = k.required_cluster;
  for (const LaunchAttribute& a : attributes) {
    if (a.id != kPreferredClusterDimension) apply(a, r);
  }
  for (const LaunchAttribute& a : attributes) {
    if (a.id == kPreferredClusterDimension) apply(a, r);
  }
  check_limits(r, m);
  r.arguments = copy_arguments(*f, arguments, extra);
  return r;
}

bool Launcher::breaks_at(const Kernel& k) const {
  if (!options_.break_at.has_value() || (broken_ && options_.dap.empty())) return false;
  const auto& launch = options_.break_at->launch;
  return launch.has_value() ? *launch == records_.size() : watched(k);
}

LaunchRecord Launcher::record_of(const LaunchRequest& r, const sim::RunResult& result) {
  LaunchRecord record;
  record.kernel = r.kernel->plain;
  record.mangled = r.kernel->name;
  record.config = r.config;
  record.warp_instructions = result.warp_instructions;
  record.cycles = result.cycles;
  record.host_seconds = result.host_seconds;
  if (watched(*r.kernel)) record.timing = result.timing;
  if (result.fault.has_value()) record.fault = code_name(result.fault->code);
  if (result.timing == nullptr) return record;
  record.seconds = result.timing->seconds;
  streams_.now += record.seconds + (queue_empty_ ? result.timing->launch_seconds : 0);
  queue_empty_ = false;
  return record;
}

CudaError Launcher::report_fault(const LaunchRequest& r, sim::Fault fault) const {
  const CudaError error = error_of_fault(fault.code);
  fault.where.kernel = r.kernel->display;
  std::fflush(stdout);
  print_error(fmt::format("drywell: {}\n    the program gets {} ({})\n", fault.to_string(), runtime_name(error), static_cast<int>(error)));
  return error;
}

sim::RunResult Launcher::launch(const LaunchRequest& r, const sim::LoadedModule& m, sim::RunOptions& options) {
  sim::Args args;
  for (const auto& a : r.arguments) args.add_bytes(a);
  const Doing doing(records_.size(), r.kernel->display);
  if (!line_.has_value()) line_.emplace(progress_, "");
  std::optional<sim::ProgressLine::During> shown;  // the debugger has the terminal for itself
  if (options.runner == nullptr) shown.emplace(*line_, fmt::format("launch {}, {}", records_.size(), r.kernel->display));
  options.progress = &progress_;
  if (!options_.dump.empty() && watched(*r.kernel)) dump(r, m, args);
  return device_.launch(m, r.kernel->name, r.config, args, options);
}

/// What cannot be written (a tensor map that is not tiled) is said, and the program goes on.
void Launcher::dump(const LaunchRequest& r, const sim::LoadedModule& m, const sim::Args& args) const {
  try {
    sim::dump_launch(device_, m, r.kernel->name, r.config, args, sim::dump_folder(options_.dump, records_.size(), r.kernel->plain));
  } catch (const Error& e) {
    print_error(fmt::format("drywell: launch {}, {}, is not dumped: {}\n", records_.size(), r.kernel->display, e.what()));
  }
}

std::unique_ptr<sim::HazardChecker> Launcher::checker_of(const LaunchRequest& r) {
  auto checker = std::make_unique<sim::HazardChecker>(sim::CheckOptions{.level = *check_level(options_), .pools = r.pools});
  const bool overlaps = r.programmatic && r.stream != nullptr && before_.has_value() && before_->stream == r.stream && before_->place + 1 == r.place;
  if (overlaps) checker->follow(*before_->checker);
  return checker;
}

CudaError Launcher::run(const LaunchRequest& r, const sim::LoadedModule& m) {
  const bool seen = watched(*r.kernel);
  std::optional<CorruptByte> wrong;
  if (options_.corrupt.has_value() && seen) wrong.emplace(device_, memory_, *options_.corrupt);
  sim::RunOptions options = options_of(*r.kernel);
  const bool traced = trace_.has_value() && seen;
  if (traced) options.listeners.push_back(trace_->listener());
  std::unique_ptr<sim::HazardChecker> checker;
  if (check_level(options_).has_value() && seen) options.listeners.push_back((checker = checker_of(r))->listener());
  std::unique_ptr<sim::LaunchRunner> debugger;
  if (breaks_at(*r.kernel)) {
    broken_ = true;
    debugger = options_.dap.empty() ? sim::make_stepping_runner(options_.script) : sim::make_dap_runner(options_.dap);
    options.runner = debugger.get();
  }
  options.cooperative = r.cooperative;
  std::fflush(stdout);
  if (options_.list_allocations) memory_.find_writers("the host");
  const sim::RunResult result = launch(r, m, options);
  wrong.reset();
  if (options_.list_allocations) memory_.find_writers(fmt::format("launch {}, {}", records_.size(), r.kernel->display));
  if (traced) trace_->finish(result);
  if (debugger == nullptr || options_.dap.empty()) print(result.output);  // the editor has it already
  LaunchRecord record = record_of(r, result);
  for (const void* handle : r.events) streams_.mark(streams_.events.get(handle));
  const CudaError error = result.fault.has_value() ? report_fault(r, *result.fault) : CudaError::success;
  if (checker != nullptr) {
    report_hazards(*checker, record);
    before_ = Checked{r.stream, r.place, std::move(checker)};
  }
  if (options_.summary || !options_.report.empty()) record.values = static_cast<uint32_t>(memory_.digest() >> 32);
  records_.push_back(std::move(record));
  return error;
}

void Launcher::report_hazards(const sim::HazardChecker& checker, LaunchRecord& record) {
  std::vector<sim::Finding> fresh;
  for (sim::Finding f : checker.findings()) {
    if (f.level == sim::HazardLevel::error) ++record.hazard_errors;
    if (f.level == sim::HazardLevel::warning) ++record.hazard_warnings;
    f.here.where.kernel = f.other.where.kernel = shortened(record.kernel);
    if (told_.insert(f.to_string()).second) fresh.push_back(std::move(f));
  }
  const std::string text = sim::describe_findings(fresh);
  for (size_t at = 1; at < text.size();) {  // entries are apart by an empty line
    const size_t end = std::min(text.find("\n\n", at), text.size());
    print_error(fmt::format("drywell: {}\n", text.substr(at, end - at)));
    at = end + 2;
  }
}

double Launcher::kernel_seconds() const {
  if (!timed()) return std::numeric_limits<double>::quiet_NaN();
  return std::accumulate(records_.begin(), records_.end(), 0.0, [](double sum, const LaunchRecord& r) { return sum + r.seconds; });
}

bool Launcher::found_hazards() const {
  return std::any_of(records_.begin(), records_.end(), [](const LaunchRecord& r) { return r.hazard_errors != 0; });
}

void Launcher::finish() const {
  if (options_.summary) print_error(launch_summary(records_, timed()));
  if (options_.list_allocations) {
    memory_.find_writers("the host");
    print_error(memory_.log().list());
  }
  if (options_.leaks) print_error(memory_.log().leaks() + heap_leaks(device_.kernel_heap()));
  if (!options_.report.empty()) {
    write_file_atomically(options_.report, options_.report.ends_with(".json") ? launch_json(records_, options_) : launch_text(records_));
  }
  if (trace_.has_value()) {
    sim::TraceFile file(options_.trace);
    file.write(trace_text_.text);
    file.commit();
  }
}

}  // namespace drywell::cudart
