// Device code that the program registered or loaded: modules, their kernels and variables, and the host symbols that
// denote them. A module is read and placed in device memory at its first use.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cudart/abi.h"
#include "drywell/sim/device.h"

namespace drywell::cudart {

class GuestModule;

/// The object of a CUfunction, cudaFunction_t and cudaKernel_t.
struct Kernel {
  GuestModule* module = nullptr;
  std::string name;                          // mangled
  std::string plain;                         // demangled, without arguments
  std::string display;                       // `plain`, shortened for people
  std::optional<uint32_t> max_dynamic_smem;  // bytes; set by the program
  bool non_portable_cluster = false;
  int carveout = -1, cluster_policy = 0;
  Dim3 required_cluster{0, 0, 0};
};
/// Returns 75 for PTX with the directive `.target sm_75`; 0 for a text without.
int target_number(std::string_view ptx);
std::string plain_name(const std::string& mangled);
std::string name_with_parameters(const std::string& mangled);
std::string shortened(const std::string& name);

/// Loads texts or fat binaries into a device; several images become one module.
using ModuleLoader = std::function<sim::LoadedModule(std::span<const void* const> images, const std::string& name)>;

/// Shared: launches that wait, and those of graphs, hold it after the program has unloaded it.
class GuestModule : public std::enable_shared_from_this<GuestModule> {
 public:
  GuestModule(const void* image, std::string name) : images_{image}, name_(std::move(name)) {}
  /// Relocatable device code: translation units to be linked.
  GuestModule(std::vector<const void*> units, std::string name) : images_(std::move(units)), name_(std::move(name)) {}
  /// Keeps its own copy of PTX text.
  GuestModule(std::string text, std::string name) : GuestModule(std::vector<std::string>{std::move(text)}, std::move(name)) {}
  GuestModule(std::vector<std::string> texts, std::string name) : texts_(std::move(texts)), name_(std::move(name)) {
    for (const std::string& t : texts_) images_.push_back(t.c_str());
  }

  /// Loads at the first call. Throws what `load` throws, and CallFailed for later calls after a failure.
  const sim::LoadedModule& loaded(const ModuleLoader& load);
  bool is_loaded() const { return module_.has_value(); }
  void unload() {
    module_.reset();
    failed_.reset();
  }
  Kernel& kernel(const std::string& name);
  const std::map<std::string, std::unique_ptr<Kernel>>& kernels() const { return kernels_; }
  const std::string& name() const { return name_; }

  int ptx_target = 0;  // 75 of `.target sm_75`, once loaded

 private:
  std::vector<std::string> texts_;
  std::vector<const void*> images_;
  std::string name_;
  std::optional<sim::LoadedModule> module_;
  std::optional<CudaError> failed_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

/// A __device__, __constant__ or __managed__ variable.
struct Symbol {
  GuestModule* module = nullptr;
  std::string name;
  size_t bytes = 0;
  void** managed = nullptr;  // address of the program's pointer to a __managed__ variable
};

class Modules {
 public:
  GuestModule& add(std::unique_ptr<GuestModule> m);
  /// Removes the module and all kernels and symbols of it.
  void remove(const GuestModule* m);
  GuestModule& module(const void* handle) const;  // throws CallFailed
  bool is_kernel(const void* handle) const;

  void register_function(GuestModule& m, const void* host, const std::string& name);
  void register_variable(GuestModule& m, const void* host, const std::string& name, size_t bytes, void** managed);
  /// Returns a kernel by its host entry (which <<<…>>> calls) or by its handle. Throws CallFailed.
  Kernel& kernel(const void* host_or_handle) const;
  /// The host entry of a kernel that is given as for kernel(); its handle if it has none.
  const void* host_entry(const void* host_or_handle) const;
  const Symbol& symbol(const void* host) const;
  const std::vector<std::shared_ptr<GuestModule>>& all() const { return modules_; }
  const std::map<const void*, Symbol>& symbols() const { return symbols_; }

 private:
  std::vector<std::shared_ptr<GuestModule>> modules_;
  std::map<const void*, Kernel*> by_host_;
  std::map<const void*, Symbol> symbols_;
};

}  // namespace drywell::cudart
