#include "drywell/sim/device.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <map>
#include <unordered_map>

#include "drywell/core/bits.h"
#include "drywell/core/host_memory.h"
#include "drywell/core/sizes.h"
#include "drywell/isa/contract.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/register_estimate.h"
#include "drywell/isa/validate.h"
#include "drywell/sim/arch_config.h"
#include "sim/cooperative.h"
#include "sim/events/hub.h"
#include "sim/exec/decode.h"
#include "sim/exec/entry_registers.h"
#include "sim/exec/register_sharing.h"
#include "sim/observer_adapter.h"
#include "sim/schedule/functional.h"
#include "sim/state/program.h"
#include "sim/timing/block_schedule.h"
#include "sim/timing/l2_contents.h"
#include "sim/timing/predication.h"
#include "sim/timing/residency.h"
#include "sim/timing/timed.h"
#include "sim/timing/unrolled_loops.h"

namespace drywell::sim {

std::string_view driver_name(DriverKind d) {
  static constexpr std::string_view kNames[] = {"eager", "lazy", "shuffled", "timed"};
  return kNames[static_cast<size_t>(d)];
}

std::optional<GmemAddr> LoadedModule::symbol(std::string_view name) const {
  for (size_t i = 0; i < module_->variables.size(); ++i) {
    if (module_->variables[i].name == name && addresses_[i] != 0) return GmemAddr(addresses_[i]);
  }
  return std::nullopt;
}

namespace {

/// The memory that the host gives the device. An eighth of what the host has left, and half of the addresses, stay free for everything else.
uint64_t bytes_for_device(const DeviceOptions& o, const HostMemory& host) {
  const uint64_t most = std::min(host.available / 8 * 7, host.address_space / 2);
  return o.max_memory != 0 ? std::min(o.max_memory, most) : most;
}

}  // namespace

// On a GPU that has run for some seconds, 32 bits do not hold the value of %clock64 or of %globaltimer: a program that keeps only those finds
// out here, too (spin* of tests/corpus/timing/mechanisms/lat.cu, whose loops an H200 leaves at once).
constexpr uint64_t kFirstClock = uint64_t{1} << 33;

struct Device::Impl {
  explicit Impl(const DeviceOptions& o)
      : arch(load_arch(o.arch)),
        host(host_memory()),
        gmem(arch.hbm.bytes, bytes_for_device(o, host)),
        l2(static_cast<uint64_t>(arch.l2.bytes)),
        sm_count(o.sm_count != 0 ? o.sm_count : static_cast<uint32_t>(arch.chip.sms)),
        contract(o.contract) {}
  ArchConfig arch;
  HostMemory host;  // when the device was made
  Gmem gmem;
  L2Contents l2;
  uint32_t sm_count;
  bool contract;
  uint64_t clocks = kFirstClock;  // of the SMs, after the launches so far
  /// A kernel's programs: with separate registers, or with shared ones (sim/exec/register_sharing.h).
  struct Decoded {
    std::shared_ptr<const isa::Module> module;
    std::unique_ptr<Program> watched, unwatched;
    uint32_t registers = 0;  // estimated, of the module as it is
  };
  std::map<const isa::Function*, Decoded> programs;  // of modules as they are, and of those in timed_modules
  struct TimedModule {
    std::shared_ptr<const isa::Module> from, timed;
  };
  std::map<const isa::Module*, TimedModule> timed_modules;  // by `from`

  uint8_t* bytes_at(GmemAddr at, uint64_t bytes) const;
  uint8_t* overwrite(GmemAddr at, uint64_t bytes);
  std::shared_ptr<const isa::Module> in_order_of(DriverKind driver, const std::shared_ptr<const isa::Module>& m);
  Launch prepare(const LoadedModule& m, std::string_view kernel, const LaunchConfig& config, DriverKind driver = DriverKind::eager, bool watched = false);
  RunResult launch(const LoadedModule& m, std::string_view kernel, const LaunchConfig& config, const Args& args, const RunOptions& options);
};

namespace {

void refuse(Diagnostics& out, Code code, std::string message, std::string hint = {}) {
  out.error(code, {}, std::move(message), std::move(hint));
}

/// "in this order: x (8 bytes), n (4)"
std::string parameters_of(const isa::Function& f) {
  std::string out;
  for (const isa::Variable& p : f.params) out += fmt::format("{}{} ({}{})", out.empty() ? "in this order: " : ", ", p.name, p.bytes(), out.empty() ? " bytes" : "");
  return out;
}

std::vector<uint8_t> parameter_block(const isa::Function& f, const Program& p, const Args& args, Diagnostics& out) {
  std::vector<uint8_t> block(p.param_bytes, 0);
  if (args.values().size() != f.params.size()) {
    refuse(out, Code::E4110, fmt::format("kernel '{}' takes {} arguments, {} given", f.name, f.params.size(), args.values().size()), parameters_of(f));
    return block;
  }
  for (size_t i = 0; i < f.params.size(); ++i) {
    const auto& v = args.values()[i];
    const uint64_t want = f.params[i].bytes();
    if (v.size() != want) {
      refuse(out, Code::E4111, fmt::format("argument {} ('{}') has {} bytes, the parameter has {}", i, f.params[i].name, v.size(), want));
      continue;
    }
    std::memcpy(block.data() + p.kernel().param_offset[i], v.data(), v.size());
  }
  return block;
}

bool in_device_memory(const isa::Variable& v) { return v.space == isa::Mod::global || v.space == isa::Mod::const_; }

/// Allocates every .global and .const variable; an .extern declaration has its definition's address.
std::vector<uint64_t> place_variables(const isa::Module& module, Gmem& gmem) {
  std::vector<uint64_t> addresses(module.variables.size(), 0);
  std::map<std::string_view, uint64_t> defined;
  for (size_t i = 0; i < module.variables.size(); ++i) {
    const isa::Variable& v = module.variables[i];
    if (!in_device_memory(v) || v.linkage == isa::Linkage::external) continue;
    addresses[i] = gmem.allocate(std::max<uint64_t>(v.bytes(), 1), v.name, std::max(v.align, 16u)).value();
    gmem.note_write(addresses[i], std::max<uint64_t>(v.bytes(), 1));
    gmem.clear(GmemAddr(addresses[i]));  // module variables are zero at first (PTX ISA 5.4.4)
    if (!v.init.empty()) std::memcpy(gmem.translate(addresses[i], v.init.size()), v.init.data(), std::min<uint64_t>(v.init.size(), v.bytes()));
    defined.emplace(v.name, addresses[i]);
  }
  Diagnostics problems;
  for (size_t i = 0; i < module.variables.size(); ++i) {
    const isa::Variable& v = module.variables[i];
    if (!in_device_memory(v) || v.linkage != isa::Linkage::external) continue;
    const auto it = defined.find(v.name);
    if (it != defined.end()) addresses[i] = it->second;
    else refuse(problems, Code::E4113, fmt::format("variable '{}' is declared .extern and the module does not define it", v.name));
  }
  if (problems.has_errors()) throw InputError(std::move(problems));
  return addresses;
}

/// The addresses that names in initialisers refer to: variables', or functions'.
class Names {
 public:
  Names(const isa::Module& module, std::span<const uint64_t> addresses) : module_(module) {
    for (size_t i = 0; i < addresses.size(); ++i) {
      if (addresses[i] != 0) known_.try_emplace(module.variables[i].name, addresses[i]);
    }
  }
  /// Returns 0 for a name without an address.
  uint64_t address_of(const std::string& name) {
    const auto [at, fresh] = known_.try_emplace(name, 0);
    if (fresh) {
      const isa::Function* f = module_.find_function(name);
      if (f != nullptr) at->second = window::function_address(static_cast<uint32_t>(f - module_.functions.data()));
    }
    return at->second;
  }

 private:
  const isa::Module& module_;
  std::unordered_map<std::string_view, uint64_t> known_;  // views of the module
};

/// Writes the addresses that initialisers name. PTX also accepts them in .u32; a device's addresses have more bits.
void relocate(const isa::Module& module, std::span<const uint64_t> addresses, Gmem& gmem) {
  Names names(module, addresses);
  for (size_t i = 0; i < addresses.size(); ++i) {
    const isa::Variable& v = module.variables[i];
    for (const isa::Variable::Reloc& r : v.relocations) {
      const uint64_t base = names.address_of(r.symbol);
      if (base == 0) throw Unsupported(fmt::format("initialiser of '{}' takes the address of '{}'", v.name, r.symbol));
      const uint64_t value = base + static_cast<uint64_t>(r.addend);
      const uint64_t width = isa::type_bits(v.type) == 32 ? 4 : 8;  // bytes: eight hold a whole pointer
      if (width == 4 && value >> 32 != 0) {
        throw Unsupported(fmt::format("initialiser of '{}' puts the 64-bit address of '{}' into 32 bits", v.name, r.symbol), Code::U5001);
      }
      uint8_t* p = r.offset + width <= v.bytes() ? gmem.translate(addresses[i] + r.offset, width) : nullptr;
      DRYWELL_CHECK(p != nullptr, "a relocation leaves its variable");
      std::memcpy(p, &value, width);
    }
  }
}

/// PTX for another chip or family is refused, as the driver refuses it (CUDA_ERROR_NO_BINARY_FOR_GPU).
void check_target(isa::Target target, const ArchConfig& arch) {
  if (isa::loads_on(target, arch.target)) return;
  std::string hint = fmt::format("it loads {}", isa::targets_loaded_on(arch.target));
  for (const std::string_view name : builtin_arch_names()) {
    if (!isa::loads_on(target, load_arch(std::string(name)).target)) continue;
    hint = fmt::format("--arch={}; {} loads {}", name, arch.name, isa::targets_loaded_on(arch.target));
    break;
  }
  throw InputError(Code::E4114, fmt::format("{} does not load PTX for {}", arch.name, isa::target_name(target)), std::move(hint));
}

/// Shared memory of a CTA: the reserved part, the program's variables, and what the launch adds.
uint64_t shared_bytes(const Launch& l) { return round_up(uint64_t{kSmemReserved} + l.program->static_smem + l.dynamic_smem, 16); }

void check_launch(const isa::Function& f, const Launch& l, Diagnostics& out) {
  const uint64_t threads = size_of(l.block);
  if (threads == 0 || threads > 1024) refuse(out, Code::E4120, fmt::format("{} threads per CTA; 1 to 1024", threads));
  if (size_of(l.grid) == 0) refuse(out, Code::E4121, "the grid is empty");
  // CUDA C++ Programming Guide, technical specifications per compute capability.
  if (l.block.z > 64) refuse(out, Code::E4120, fmt::format("{} threads along z of a CTA; at most 64", l.block.z));
  if (l.grid.x > 0x7FFFFFFF || l.grid.y > 0xFFFF || l.grid.z > 0xFFFF)
    refuse(out, Code::E4128, fmt::format("a grid of {} x {} x {} CTAs; at most 2147483647 x 65535 x 65535", l.grid.x, l.grid.y, l.grid.z));
  const uint64_t size = size_of(l.cluster);
  if (size == 0 || size > l.arch->chip.cluster_max) refuse(out, Code::E4122, fmt::format("a cluster of {} CTAs; 1 to {}", size, l.arch->chip.cluster_max));
  if (size != 0 && (l.grid.x % l.cluster.x != 0 || l.grid.y % l.cluster.y != 0 || l.grid.z % l.cluster.z != 0)) refuse(out, Code::E4123, "the grid is not a multiple of the cluster");
  const uint64_t smem = shared_bytes(l) - kSmemReserved;
  if (smem > l.arch->smem.cta_bytes) {
    refuse(out, Code::E4124, fmt::format("{} bytes of shared memory per CTA; at most {}", smem, l.arch->smem.cta_bytes), "fewer pipeline stages");
  }
  const auto& d = f.directives;
  const auto triple = [](const std::array<uint32_t, 3>& t) { return Dim3{t[0], t[1], t[2]}; };
  if (d.reqntid && !(triple(*d.reqntid) == l.block)) refuse(out, Code::E4125, "the block differs from the kernel's .reqntid");
  if (d.maxntid && threads > triple(*d.maxntid).count()) refuse(out, Code::E4126, "more threads than the kernel's .maxntid");
}

/// The most bytes for the call frames of a launch: endless recursion in all warps of a chip would need more than hosts have.
constexpr uint64_t kMostForFrames = uint64_t{4} << 30;

/// Options whose observers are attached through adapters, after the listeners.
struct Adapted {
  explicit Adapted(const RunOptions& given) : options(given) {
    for (Observer* o : given.observers) options.listeners.push_back(adapters.emplace_back(std::make_unique<ObserverAdapter>(*o)).get());
  }
  RunOptions options;
  std::vector<std::unique_ptr<ObserverAdapter>> adapters;
};

}  // namespace

Device::Device(DeviceOptions options) : impl_(std::make_unique<Impl>(options)) {}
Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;

const ArchConfig& Device::arch() const { return impl_->arch; }
uint32_t Device::sm_count() const { return impl_->sm_count; }

GmemAddr Device::allocate(uint64_t bytes, std::string name) { return impl_->gmem.allocate(bytes, std::move(name)); }

GmemAddr Device::map_host(void* host, uint64_t bytes, std::string name) { return impl_->gmem.map_host(host, bytes, std::move(name)); }

std::optional<MemoryRange> Device::find(GmemAddr a) const {
  const Gmem::Allocation* found = impl_->gmem.find(a.value());
  if (found == nullptr) return std::nullopt;
  return MemoryRange{GmemAddr(found->base), found->size, found->data};
}
void Device::set_kernel_heap(uint64_t bytes) { impl_->gmem.set_heap_limit(bytes); }
Device::KernelHeap Device::kernel_heap() const {
  const Gmem::Heap heap = impl_->gmem.heap();
  return {heap.allocations, heap.bytes};
}
void Device::free_kernel_heap() { impl_->gmem.free_heap(); }
uint64_t Device::memory_used() const { return impl_->gmem.used(); }
uint64_t Device::memory_capacity() const { return impl_->gmem.capacity(); }
uint64_t Device::memory_free() const { return impl_->gmem.free_bytes(); }

void Device::free(GmemAddr a) {
  if (!impl_->gmem.release(a)) throw InputError(Code::E4102, fmt::format("{:#x} is not the start of an allocation", a.value()));
}

uint8_t* Device::Impl::bytes_at(GmemAddr at, uint64_t bytes) const {
  uint8_t* p = gmem.translate(at.value(), bytes);
  if (p == nullptr) throw InputError(Code::E4103, fmt::format("{} bytes at {:#x} are not inside one allocation", bytes, at.value()));
  return p;
}

/// bytes_at for a caller that writes all of them.
uint8_t* Device::Impl::overwrite(GmemAddr at, uint64_t bytes) {
  gmem.note_write(at.value(), bytes);
  uint8_t* const p = bytes_at(at, bytes);
  gmem.will_overwrite(at.value(), bytes);
  return p;
}

uint8_t* Device::host_pointer(GmemAddr at, uint64_t bytes) {
  impl_->gmem.note_write(at.value(), bytes);
  return impl_->bytes_at(at, bytes);
}

void Device::poison(GmemAddr at, uint64_t bytes) {
  impl_->bytes_at(at, bytes);
  impl_->gmem.forget(at.value(), bytes);
}

void Device::write(GmemAddr to, const void* from, uint64_t bytes) {
  if (bytes == 0) return;
  std::memcpy(impl_->overwrite(to, bytes), from, bytes);
  impl_->l2.host_wrote(to.value(), bytes);
}
void Device::read(void* to, GmemAddr from, uint64_t bytes) const {
  if (bytes != 0) std::memcpy(to, impl_->bytes_at(from, bytes), bytes);
}
void Device::fill(GmemAddr at, uint8_t value, uint64_t bytes) {
  if (bytes == 0) return;
  std::memset(impl_->overwrite(at, bytes), value, bytes);
  impl_->l2.host_wrote(at.value(), bytes);
}

LoadedModule Device::load(isa::Module m) {
  check_target(m.target, impl_->arch);
  LoadedModule out;
  out.module_ = std::make_shared<const isa::Module>(impl_->contract ? isa::contracted(std::move(m)) : std::move(m));
  out.addresses_ = place_variables(*out.module_, impl_->gmem);
  relocate(*out.module_, out.addresses_, impl_->gmem);
  return out;
}

LoadedModule Device::load_ptx(std::string_view text, const std::string& name) {
  isa::Module m = isa::parse_ptx_or_throw(text, name);
  if (Diagnostics problems = isa::validate(m); problems.has_errors()) throw InputError(std::move(problems));
  return load(std::move(m));
}

/// The timed driver runs instructions in the order that ptxas gives them, the others in PTX's.
std::shared_ptr<const isa::Module> Device::Impl::in_order_of(DriverKind driver, const std::shared_ptr<const isa::Module>& m) {
  if (driver != DriverKind::timed) return m;
  TimedModule& found = timed_modules[m.get()];
  if (found.timed == nullptr) found = {m, std::make_shared<const isa::Module>(with_scheduled_blocks(with_unrolled_loops(with_predicated_skips(*m)), arch))};
  return found.timed;
}

/// Collects the data of a launch, before the checks.
Launch Device::Impl::prepare(const LoadedModule& m, std::string_view kernel, const LaunchConfig& config, DriverKind driver, bool watched) {
  const std::shared_ptr<const isa::Module> module = in_order_of(driver, m.module_);
  const isa::Function* f = module->find_function(kernel);
  if (f == nullptr || !f->is_entry) throw InputError(Code::E4112, fmt::format("no kernel '{}' in the module", kernel));
  Decoded& cached = programs[f];
  cached.module = module;
  std::unique_ptr<Program>& program = watched ? cached.watched : cached.unwatched;
  const ModuleImage image{m.addresses_, arch.target};
  if (program == nullptr) program = watched ? decode(*module, *f, image) : decode_unwatched(*module, *f, image);
  Launch l;
  l.arch = &arch;
  l.program = program.get();
  l.gmem = &gmem;
  l.l2 = &l2;
  l.grid = config.grid;
  l.block = config.block;
  l.cluster = config.cluster;
  if (const auto& r = f->directives.reqnctapercluster; r.has_value()) l.cluster = {(*r)[0], (*r)[1], (*r)[2]};
  l.dynamic_smem = config.dynamic_smem;
  l.smem_bytes = static_cast<uint32_t>(shared_bytes(l));
  l.sm_count = sm_count;
  l.clocks = clocks;
  if (cached.registers == 0) cached.registers = isa::estimated_registers(*m.module_->find_function(kernel));
  l.estimated_registers = cached.registers;
  return l;
}

uint32_t Device::static_smem(const LoadedModule& m, std::string_view kernel) { return impl_->prepare(m, kernel, {}).program->static_smem; }

static Device::Occupancy occupancy_of(const ArchConfig& arch, const Launch& l, uint32_t registers) {
  Diagnostics problems;
  check_launch(*l.program->function, l, problems);
  if (problems.has_errors()) return {};
  const Residency r = residency(arch, l, registers);
  return {r.ctas_per_sm, static_cast<uint32_t>(cluster_places(arch, l.sm_count, static_cast<uint32_t>(l.cluster.count())).size()) * r.ctas_per_sm};
}

Device::Occupancy Device::occupancy(const LoadedModule& m, std::string_view kernel, const LaunchConfig& config) {
  const Launch l = impl_->prepare(m, kernel, config);
  return occupancy_of(impl_->arch, l, registers_of_directives(l));
}

Device::Occupancy Device::estimated_occupancy(const LoadedModule& m, std::string_view kernel, const LaunchConfig& config) {
  const Launch l = impl_->prepare(m, kernel, config);
  return occupancy_of(impl_->arch, l, entry_registers(l));
}

uint32_t Device::registers(const LoadedModule& m, std::string_view kernel) { return entry_registers(impl_->prepare(m, kernel, {})); }

RunResult Device::launch(const LoadedModule& m, std::string_view kernel, const LaunchConfig& config, const Args& args, const RunOptions& options) {
  if (options.observers.empty()) return impl_->launch(m, kernel, config, args, options);
  const Adapted adapted(options);
  return impl_->launch(m, kernel, config, args, adapted.options);
}

static void begin(RunProgress* progress, uint64_t ctas) {
  if (progress == nullptr) return;
  progress->ctas_done = progress->cycles = 0;
  progress->ctas_total = ctas;
  ++progress->launches;
}

RunResult Device::Impl::launch(const LoadedModule& m, std::string_view kernel, const LaunchConfig& config, const Args& args, const RunOptions& options) {
  Launch l = prepare(m, kernel, config, options.driver, !options.listeners.empty() || options.runner != nullptr);
  ObserverHub hub;
  for (Listener* observer : options.listeners) hub.attach(observer);
  l.observers = hub.empty() ? nullptr : &hub;
  Diagnostics problems;
  const isa::Function& f = *l.program->function;
  l.params = parameter_block(f, *l.program, args, problems);
  check_launch(f, l, problems);
  if (problems.has_errors()) throw InputError(std::move(problems));
  begin(options.progress, l.grid.count());
  OutputLog output(options.max_output);
  l.output = &output;
  if (!l.program->calls.empty()) l.frames_until = resident_bytes() + std::min(kMostForFrames, host.total / 4);  // asks the operating system, so only for kernels with calls
  gmem.begin_launch();
  if (l.observers != nullptr) l.observers->launch_started(l);
  const auto start = std::chrono::steady_clock::now();
  RunResult r = options.cooperative ? run_cooperatively(l, options) : run_launch(l, options);
  r.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (l.observers != nullptr) l.observers->launch_finished();
  clocks += std::max(r.cycles, r.warp_instructions);
  r.output = output.text();
  r.output_truncated = output.truncated();
  return r;
}

}  // namespace drywell::sim
