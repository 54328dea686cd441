#include "cudart/api/run_time_compilers.h"

#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>

#include "cudart/api/nvjitlink.h"
#include "cudart/cubin.h"
#include "cudart/function_symbols.h"
#include "cudart/mapped_file.h"
#include "cudart/redirect.h"

namespace drywell::cudart {
namespace {

using Addresses = std::map<std::string, uintptr_t, std::less<>>;

Addresses exported(const std::string& path, uintptr_t base) {
  Addresses out;
  const MappedFile file(path);
  for_each_function(file.bytes(), SymbolTable::exported,
                    [&](const FunctionSymbol& s) { out.emplace(s.name, base + s.address); });
  return out;
}

// nvrtcResult
constexpr int kInvalidInput = 3;
using GetSize = int (*)(void* program, size_t* bytes);
using GetText = int (*)(void* program, char* text);

/// One loaded NVRTC. A process may have several (PyTorch's and the toolkit's), and a call does not say to
/// which its program belongs: each has functions of its own.
struct Nvrtc {
  GetSize ptx_bytes = nullptr;
  GetText ptx = nullptr;
};
constexpr size_t kMostNvrtcs = 4;

std::array<Nvrtc, kMostNvrtcs>& nvrtcs() {
  static std::array<Nvrtc, kMostNvrtcs> all;
  return all;
}

/// The envelope of a program's PTX; no bytes for a program without (compiled for links: -dlto).
int envelope(const Nvrtc& library, void* program, std::string& out) {
  size_t bytes = 0;
  if (const int error = library.ptx_bytes(program, &bytes); error != 0) return error;
  std::string text(bytes, '\0');
  if (const int error = bytes > 1 ? library.ptx(program, text.data()) : 0; error != 0) return error;
  out = bytes > 1 ? cubin_envelope(std::string_view(text).substr(0, bytes - 1)) : std::string();
  return 0;
}

template <size_t kNumber>
int cubin_bytes(void* program, size_t* bytes) {
  if (bytes == nullptr) return kInvalidInput;
  std::string image;
  const int error = envelope(nvrtcs()[kNumber], program, image);
  if (error == 0) *bytes = image.size();
  return error;
}

template <size_t kNumber>
int cubin(void* program, char* out) {
  if (out == nullptr) return kInvalidInput;
  std::string image;
  const int error = envelope(nvrtcs()[kNumber], program, image);
  if (error == 0) std::memcpy(out, image.data(), image.size());
  return error;
}

struct Replacement {
  GetSize bytes;
  GetText image;
};
constexpr std::array<Replacement, kMostNvrtcs> kNvrtcFunctions = {Replacement{&cubin_bytes<0>, &cubin<0>},
                                                                  {&cubin_bytes<1>, &cubin<1>},
                                                                  {&cubin_bytes<2>, &cubin<2>},
                                                                  {&cubin_bytes<3>, &cubin<3>}};

void replace_nvrtc(const Addresses& functions) {
  const auto ptx_bytes = functions.find("nvrtcGetPTXSize"), ptx = functions.find("nvrtcGetPTX");
  const auto bytes = functions.find("nvrtcGetCUBINSize"), image = functions.find("nvrtcGetCUBIN");
  for (const auto& f : {ptx_bytes, ptx, bytes, image}) {
    if (f == functions.end()) return;
  }
  for (size_t i = 0; i < kMostNvrtcs; ++i) {
    if (nvrtcs()[i].ptx != nullptr && nvrtcs()[i].ptx != reinterpret_cast<GetText>(ptx->second)) continue;
    nvrtcs()[i] = {reinterpret_cast<GetSize>(ptx_bytes->second), reinterpret_cast<GetText>(ptx->second)};
    redirect(bytes->second, reinterpret_cast<const void*>(kNvrtcFunctions[i].bytes));
    redirect(image->second, reinterpret_cast<const void*>(kNvrtcFunctions[i].image));
    return;
  }
}

/// Returns "nvJitLinkAddData" for "__nvJitLinkAddData_13_0", the name to which the header's function of that
/// name is compiled.
std::string_view plain_link_name(std::string_view name) {
  if (!name.starts_with("__nvJitLink")) return name;
  name.remove_prefix(2);
  while (!name.empty() && (std::isdigit(static_cast<unsigned char>(name.back())) != 0 || name.back() == '_'))
    name.remove_suffix(1);
  return name;
}

/// Where the jump at `address` (E9 and a distance) goes, or nothing. nvJitLink's functions are such jumps,
/// sixteen bytes apart.
uintptr_t jump_target(uintptr_t address) {
  constexpr uint8_t kJump = 0xE9;
  constexpr size_t kBytes = 5;
  const auto* code = reinterpret_cast<const uint8_t*>(address);
  if (address % 16 != 0 || *code != kJump) return 0;
  int32_t distance = 0;
  std::memcpy(&distance, code + 1, sizeof distance);
  return address + kBytes + static_cast<uintptr_t>(static_cast<intptr_t>(distance));
}

void replace_linker(const Addresses& functions) {
  for (const auto& [name, address] : functions) {
    const uintptr_t original = jump_target(address);
    const void* const own = original != 0 ? nvjitlink_function(plain_link_name(name), original) : nullptr;
    if (own != nullptr) redirect(address, own);
  }
}

}  // namespace

bool replace_run_time_compiler(const std::string& path, uintptr_t base) {
  const std::string file = std::filesystem::path(path).filename().string();
  const bool nvrtc = file.starts_with("libnvrtc.so"), linker = file.starts_with("libnvJitLink.so");
  if (nvrtc) replace_nvrtc(exported(path, base));
  if (linker) replace_linker(exported(path, base));
  return nvrtc || linker;
}

}  // namespace drywell::cudart
