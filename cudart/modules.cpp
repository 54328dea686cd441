#include "cudart/modules.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "cudart/call.h"
#include "cudart/errors.h"
#include "drywell/core/terminal.h"

namespace drywell::cudart {
namespace {

constexpr size_t kDisplayLength = 96;

/// Position of the parameter list in a demangled name: the first parenthesis outside a template's arguments.
size_t parameters(const std::string& name) {
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0 && name.compare(i, 11, "(anonymous ") != 0) return i;
  }
  return name.size();
}

/// Returns "cutlass::device_kernel" for "_ZN7cutlass13device_kernelINS_4gemm…", for names that the C++ library cannot
/// demangle.
std::string plain_beginning(const std::string& mangled) {
  size_t at = mangled.starts_with("_ZN") ? 3 : 2;
  std::string name;
  while (mangled.starts_with("_Z") && at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at])) != 0) {
    size_t end = at, letters = 0;
    for (; end < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[end])) != 0 && letters < mangled.size(); ++end) {
      letters = letters * 10 + static_cast<size_t>(mangled[end] - '0');
    }
    name += (name.empty() ? "" : "::") + mangled.substr(end, letters);
    at = end + letters;
  }
  return name.empty() ? mangled : name;
}

/// Returns nothing for a name that is not mangled: `f` is a kernel, not `float`.
std::optional<std::string> demangled(const std::string& name) {
  int status = 0;
  if (!name.starts_with("_Z")) return std::nullopt;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? std::optional<std::string>(plain.get()) : std::nullopt;
}

/// Removes "[abi:v1]": Numba's tags, which hold a hash of the compiler's flags.
void remove_tags(std::string& name) {
  constexpr std::string_view kTag = "[abi:";
  for (size_t at = name.find(kTag); at != std::string::npos; at = name.find(kTag)) name.erase(at, name.find(']', at) + 1 - at);
}

}  // namespace

std::string plain_name(const std::string& mangled) {
  std::string name = demangled(mangled).value_or(plain_beginning(mangled));
  remove_tags(name);
  // Removes result and parameters of "void gemm<…>(…)".
  if (name.starts_with("void ")) name.erase(0, 5);
  name.erase(parameters(name));
  return name;
}

int target_number(std::string_view ptx) {
  constexpr std::string_view kDirective = ".target";
  const size_t directive = ptx.find(kDirective);
  if (directive == std::string_view::npos) return 0;
  const size_t digits = ptx.find_first_of("0123456789", directive + kDirective.size());
  int number = 0;
  if (digits != std::string_view::npos) std::from_chars(ptx.data() + digits, ptx.data() + ptx.size(), number);
  return number;
}

std::string name_with_parameters(const std::string& mangled) {
  const std::string name = demangled(mangled).value_or(mangled);
  return name.starts_with("void ") ? name.substr(5) : name;
}

std::string shortened(const std::string& name) { return name.size() > kDisplayLength ? name.substr(0, kDisplayLength - 3) + "..." : name; }

const sim::LoadedModule& GuestModule::loaded(const ModuleLoader& load) {
  if (failed_.has_value()) throw CallFailed{*failed_};
  if (!module_.has_value()) {
    try {
      module_ = load(images_, name_);
    } catch (const Error& e) {
      failed_ = error_of(e);
      throw;
    }
  }
  return *module_;
}

Kernel& GuestModule::kernel(const std::string& name) {
  std::unique_ptr<Kernel>& k = kernels_[name];
  if (k == nullptr) {
    k = std::make_unique<Kernel>();
    k->module = this;
    k->name = name;
    k->plain = plain_name(name);
    k->display = shortened(k->plain);
  }
  return *k;
}

GuestModule& Modules::add(std::unique_ptr<GuestModule> m) { return *modules_.emplace_back(std::move(m)); }

void Modules::remove(const GuestModule* m) {
  std::erase_if(by_host_, [&](const auto& entry) { return entry.second->module == m; });
  std::erase_if(symbols_, [&](const auto& entry) { return entry.second.module == m; });
  std::erase_if(modules_, [&](const auto& entry) { return entry.get() == m; });
}

GuestModule& Modules::module(const void* handle) const {
  const auto it = std::find_if(modules_.begin(), modules_.end(), [&](const auto& m) { return m.get() == handle; });
  require(it != modules_.end(), CudaError::invalid_handle);
  return **it;
}

void Modules::register_function(GuestModule& m, const void* host, const std::string& name) { by_host_[host] = &m.kernel(name); }

void Modules::register_variable(GuestModule& m, const void* host, const std::string& name, size_t bytes, void** managed) {
  symbols_[host] = {&m, name, bytes, managed};
}

const void* Modules::host_entry(const void* host_or_handle) const {
  const Kernel* k = &kernel(host_or_handle);
  const auto it = std::find_if(by_host_.begin(), by_host_.end(), [&](const auto& entry) { return entry.second == k; });
  return it != by_host_.end() ? it->first : k;
}

bool Modules::is_kernel(const void* handle) const {
  return std::any_of(modules_.begin(), modules_.end(), [&](const auto& m) {
    return std::any_of(m->kernels().begin(), m->kernels().end(), [&](const auto& k) { return k.second.get() == handle; });
  });
}

Kernel& Modules::kernel(const void* host_or_handle) const {
  if (const auto it = by_host_.find(host_or_handle); it != by_host_.end()) return *it->second;
  require(host_or_handle != nullptr && is_kernel(host_or_handle), CudaError::invalid_device_function);
  return *static_cast<Kernel*>(const_cast<void*>(host_or_handle));
}

const Symbol& Modules::symbol(const void* host) const {
  auto it = symbols_.find(host);
  // The host's code names a managed variable by its memory, to which the registered pointer points.
  if (it == symbols_.end())
    it = std::find_if(symbols_.begin(), symbols_.end(), [&](const auto& s) { return s.second.managed != nullptr && *s.second.managed == host; });
  require(it != symbols_.end() && host != nullptr, CudaError::invalid_symbol);
  return it->second;
}

}  // namespace drywell::cudart
