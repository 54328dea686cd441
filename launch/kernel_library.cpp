#include "drywell/launch/kernel_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "generated/header_stamp.h"

namespace drywell::kernels {
namespace {

constexpr std::string_view kEnding = ".so";

/// "./libmine.so:gemm" has a file and the name of a kernel, which may be empty.
struct LibraryName {
  std::string file, kernel;
};

LibraryName split(std::string_view name) {
  const size_t end = name.rfind(".so:");
  if (end == std::string_view::npos) return {std::string(name), {}};
  return {std::string(name.substr(0, end + kEnding.size())), std::string(name.substr(end + kEnding.size() + 1))};
}

[[noreturn]] void refuse(const std::string& file, std::string why, std::string hint) {
  throw InputError(Code::E4312, fmt::format("{}: {}", file, why), std::move(hint));
}

using Register = void(KernelList&);

/// The function that registers; the object stays loaded, because its kernels are used until the program ends.
Register* load(const std::string& file) {
  // A name without a slash would be looked for in the system's folders.
  const std::string path = std::filesystem::absolute(file).string();
  void* const object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (object == nullptr) refuse(file, fmt::format("cannot be loaded: {}", ::dlerror()), "a shared object that registers kernels: docs/dsl.md, A kernel for the command");
  void* const entry = ::dlsym(object, "drywell_register");
  if (entry == nullptr) refuse(file, "registers no kernels", "define extern \"C\" void drywell_register(drywell::kernels::KernelList&)");
  return reinterpret_cast<Register*>(entry);
}

std::span<const Kernel> kernels_of(const std::string& file) {
  KernelList list;
  load(file)(list);
  if (list.calls == 0) refuse(file, "registers no kernels", "its drywell_register must call list.add(kernels)");
  if (std::strcmp(list.build, library_build()) != 0)
    refuse(file, "was built with the headers of another Drywell", "build it again, with -DCMAKE_PREFIX_PATH=<where this command is installed>");
  if (list.calls != 1) refuse(file, "calls KernelList::add more than once", "register all kernels in one array");
  return {list.first, list.count};
}

}  // namespace

void KernelList::add(std::span<const Kernel> kernels) {
  build = library_build();
  ++calls;
  first = kernels.data();
  count = kernels.size();
}

const char* library_build() { return kHeaderStamp; }

bool names_a_library(std::string_view name) { return name.ends_with(kEnding) || name.find(".so:") != std::string_view::npos; }

const Kernel& find_library_kernel(std::string_view name) {
  const LibraryName asked = split(name);
  const std::span<const Kernel> kernels = kernels_of(asked.file);
  if (asked.kernel.empty() && kernels.size() == 1) return kernels.front();
  if (!asked.kernel.empty()) return find_kernel(kernels, asked.kernel);
  std::string names;
  for (const Kernel& k : kernels) names += fmt::format("{}{}:{}", names.empty() ? "" : ", ", asked.file, k.name);
  throw InputError(Code::E4305, fmt::format("{} registers {} kernels: which one?", asked.file, kernels.size()), names);
}

}  // namespace drywell::kernels
