#include "cudart/context.h"

#include <fmt/format.h>

#include <cstdio>

#include "cudart/call.h"
#include "cudart/device_runtime.h"
#include "cudart/endings.h"
#include "cudart/fatbin.h"
#include "drywell/core/terminal.h"
#include "drywell/isa/link.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"

namespace drywell::cudart {

Context::Session::Session(const ExecOptions& options, Streams& streams)
    : device({.arch = options.arch, .max_memory = options.limits.memory.empty() ? 0 : sim::parse_bytes(options.limits.memory), .contract = options.contract}), memory(device), virtual_memory(device, memory), launcher(device, memory, streams, options) {}

Context::Context(ExecOptions options) : options_(std::move(options)) {}

Context::Session& Context::session() {
  if (session_ == nullptr) {
    session_ = std::make_unique<Session>(options_, streams);
    explain_endings();
  }
  return *session_;
}

const sim::LoadedModule& Context::loaded(GuestModule& m) {
  return m.loaded([this, &m](std::span<const void* const> units, const std::string& name) {
    std::vector<std::string> texts;
    for (const void* unit : units) {
      const std::vector<FatbinImage> images = read_fatbin(unit);
      if (units.size() > 1 && is_device_runtime(images)) continue;
      m.ptx_target = target_number(texts.emplace_back(best_image(images, device().arch().target).ptx()));
    }
    if (texts.size() == 1 && !uses_device_runtime(texts[0])) return device().load_ptx(texts[0], name);
    std::vector<isa::Module> parts;
    for (const std::string& ptx : texts) {
      const std::string unit_name = fmt::format("{}, unit {}", name, parts.size());
      isa::Module& part = parts.emplace_back(isa::parse_ptx_or_throw(ptx, unit_name));
      if (Diagnostics problems = isa::validate(part); problems.has_errors()) throw InputError(std::move(problems));
    }
    add_device_runtime(parts);
    return device().load(isa::link(std::move(parts)));
  });
}

sim::MemoryRange Context::variable(GuestModule& m, const std::string& name) {
  const auto address = loaded(m).symbol(name);
  require(address.has_value(), CudaError::invalid_symbol);
  sim::MemoryRange range = *device().find(*address);
  // A variable of no bytes has an allocation of one byte.
  for (const isa::Variable& v : loaded(m).module().variables) {
    if (v.name == name) range.bytes = v.bytes();
  }
  return range;
}

std::optional<Allocation> Context::memory_at(uint64_t p) {
  if (auto a = memory().find(reinterpret_cast<void*>(p)); a.has_value()) return a;
  const auto range = device().find(GmemAddr(p));
  return range.has_value() ? std::optional(Allocation{range->base.value(), range->bytes, MemoryType::device, 0, false}) : std::nullopt;
}

Work Context::launch_work(const KernelNodeParams& p, std::vector<LaunchAttribute> attributes) {
  Kernel& k = modules.kernel(p.function);
  const sim::LaunchConfig config{{p.grid.x, p.grid.y, p.grid.z}, {p.block.x, p.block.y, p.block.z}, {1, 1, 1}, p.dynamic_smem};
  LaunchRequest request = launcher().prepare(k, loaded(*k.module), config, p.arguments, p.extra, attributes);
  auto kept = std::make_shared<NodeParams>();
  kept->kernel = p;
  kept->kernel.extra = nullptr;
  kept->values = request.arguments;
  for (auto& v : kept->values) kept->pointers.push_back(v.data());
  kept->kernel.arguments = kept->pointers.data();
  kept->attributes = std::move(attributes);
  kept->name = k.display;
  return {runner(std::move(request)), std::move(kept)};
}

Action Context::runner(LaunchRequest request) {
  return [this, request = std::move(request)] {
    const CudaError error = launcher().run(request, loaded(*request.kernel->module));
    // The launch itself succeeds, as on a device; later calls return the fault's error.
    if (error != CudaError::success) sticky = error;
  };
}

void Context::launch(Kernel& k, const sim::LaunchConfig& config, void** arguments, void** extra, std::span<const LaunchAttribute> attributes,
                     const void* stream) {
  Stream& s = streams.get(stream);
  if (s.capture == nullptr && !streams.in_front(s)) {
    LaunchRequest request = launcher().prepare(k, loaded(*k.module), config, arguments, extra, attributes);
    request.stream = &s;
    request.pools = launcher().take_pools();
    request.place = ++s.works;
    return runner(std::move(request))();
  }
  launcher().take_pools();  // by the time the launch runs they may be others
  const auto abi = [](const Dim3& d) { return AbiDim3{d.x, d.y, d.z}; };
  streams.submit(s, GraphNodeType::kernel, launch_work({&k, abi(config.grid), abi(config.block), config.dynamic_smem, arguments, extra}, {attributes.begin(), attributes.end()}));
}

GuestContext& Context::current_context() {
  GuestContext* const current = thread().contexts.current();
  require(current != nullptr, CudaError::invalid_context);
  return *current;
}

void Context::enter_runtime() {
  initialized = primary_context = true;
  ContextStack& stack = thread().contexts;
  if (stack.current() == nullptr) stack.push(contexts.primary());
}

void Context::reset() {
  sticky = CudaError::success;
  limits = {};
  streams.drop_held();
  if (session_ == nullptr) return;
  session_->virtual_memory.clear();
  session_->memory.release_all();
  session_->device.free_kernel_heap();
  session_->device.set_kernel_heap(limits.get(Limits::kMallocHeap));
  for (const auto& m : modules.all()) m->unload();
}

ExitCode Context::finish(bool whole) {
  if (session_ == nullptr) return ExitCode::ok;
  const Launcher& l = session_->launcher;
  l.finish();
  const std::string unmatched = whole || !l.records().empty() ? l.unmatched_patterns() : std::string();
  print_error(unmatched);
  if (l.found_hazards()) return ExitCode::verification_failed;
  return unmatched.empty() ? ExitCode::ok : ExitCode::usage;
}

void Context::explain(const std::string& text) {
  explanation_ = text;
  say_once(text);
}

void Context::say_once(const std::string& text) {
  if (said_.insert(text).second) print_error(fmt::format("drywell: {}\n", text));
}

}  // namespace drywell::cudart
