// The state behind the C interface. A C interface has no other place for it, so this is the one process-wide object of
// Drywell (docs/adr/0002-cuda-context.md); the functions below take it by reference.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cudart/guest_contexts.h"
#include "cudart/jit_logs.h"
#include "cudart/launch.h"
#include "cudart/limits.h"
#include "cudart/memory.h"
#include "cudart/modules.h"
#include "cudart/options.h"
#include "cudart/streams.h"
#include "cudart/virtual_memory.h"
#include "drywell/sim/arch_config.h"
#include "drywell/sim/device.h"

namespace drywell::cudart {

/// Arguments of <<<…>>> between their push and the pop in the host entry (crt/host_runtime.h).
struct CallConfiguration {
  AbiDim3 grid, block;
  size_t smem = 0;
  void* stream = nullptr;
};

/// The object of a CUlinkState: units of PTX for one module. When complete it is its own image: the program passes its
/// address to cuModuleLoadData.
struct LinkJob {
  std::vector<std::string> texts;
  JitLogs logs;
};

/// A part of the device's SMs (CUgreenCtx), or what it is made of (CUdevResourceDesc).
struct GreenContext {
  unsigned sms = 0;
  unsigned long long id = 0;
};

struct ThreadState {
  CudaError last = CudaError::success;
  ContextStack contexts;
  std::vector<CallConfiguration> pushed;
};

class Context {
 public:
  explicit Context(ExecOptions options);

  /// Returns the device; the first call creates it.
  sim::Device& device() { return session().device; }
  Memory& memory() { return session().memory; }
  VirtualMemory& virtual_memory() { return session().virtual_memory; }
  Launcher& launcher() { return session().launcher; }
  bool has_device() const { return session_ != nullptr; }
  const sim::LoadedModule& loaded(GuestModule& m);
  /// Returns address and size in bytes of a module's variable. Throws CallFailed.
  sim::MemoryRange variable(GuestModule& m, const std::string& name);
  /// Returns the allocation, or the module's variable, that contains the address.
  std::optional<Allocation> memory_at(uint64_t p);

  /// Runs a kernel in a stream, or records it if the stream captures. Copies the arguments at the call.
  void launch(Kernel& k, const sim::LaunchConfig& config, void** arguments, void** extra, std::span<const LaunchAttribute> attributes, const void* stream);
  /// The work of a graph's kernel node; `kernel.function` is what cudaGraphKernelNodeGetParams returns.
  Work launch_work(const KernelNodeParams& p, std::vector<LaunchAttribute> attributes);
  /// cudaDeviceReset
  void reset();
  /// End of the program: writes the requested files. Returns what a program has to end with that would end with 0: a checked launch had a hazard, or --kernel or --time
  /// named no kernel that was launched. `whole`: no other process may have launched it.
  ExitCode finish(bool whole);

  /// Called before each launch, without the lock, so that a framework says what its allocator has handed out (drywellMemoryPools).
  using PoolsAsker = void (*)();
  PoolsAsker ask_for_pools = nullptr;

  ThreadState& thread() { return threads_[std::this_thread::get_id()]; }
  /// A call of the runtime interface: it initialises the driver, and makes the primary context current where none is.
  void enter_runtime();
  /// The thread's current context. Throws CallFailed (invalid_context) if it has none.
  GuestContext& current_context();
  /// Writes `text` to standard error, once per text.
  void say_once(const std::string& text);
  /// say_once, for why a call fails: the latest is kept.
  void explain(const std::string& text);
  const std::string& explanation() const { return explanation_; }

  Modules modules;
  Streams streams;
  std::vector<std::unique_ptr<LinkJob>> links;
  Handles<GreenContext> green_contexts, green_descriptions;
  GuestContexts contexts;
  unsigned long long next_green = 1;
  std::map<std::pair<uintptr_t, int>, uint64_t> pool_settings;  // (pool, cudaMemPoolAttr)
  Limits limits;
  bool initialized = false;               // by cuInit or the runtime: before that the driver interface refuses its calls
  bool primary_context = false;           // retained, or made by the runtime
  CudaError sticky = CudaError::success;  // a kernel's fault: every call fails until the device is reset

 private:
  struct Session {
    Session(const ExecOptions& options, Streams& streams);
    sim::Device device;
    Memory memory;
    VirtualMemory virtual_memory;
    Launcher launcher;
  };
  Session& session();
  Action runner(LaunchRequest request);

  ExecOptions options_;
  std::unique_ptr<Session> session_;
  std::map<std::thread::id, ThreadState> threads_;
  std::set<std::string> said_;
  std::string explanation_;
};

}  // namespace drywell::cudart
