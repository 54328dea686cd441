// Code of CUDA that is linked into a program or a library, or that a program finds without the loader's
// names:
// - The CUDA runtime (nvcc's default links it statically). It speaks to the driver through tables that are
// not public (cuGetExportTable),
//   so nothing of it runs: each of its public functions that the file's symbol table names begins with a jump
//   to the stand-in's function of that name, before the file's first instruction. In a library without symbol
//   table (strip) the code of the runtime's own archive is looked for, if the environment names one
//   (runtime_archive.h); without, the library is named when it asks for the driver's tables, and `drywell
//   exec` refuses such a program (E4612).
// - NVRTC and nvJitLink, whose machine code cannot be simulated: they give PTX in an envelope instead
// (run_time_compilers.h).
#include <dlfcn.h>
#include <link.h>

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include "cudart/api/run_time_compilers.h"
#include "cudart/function_symbols.h"
#include "cudart/mapped_file.h"
#include "cudart/options.h"
#include "cudart/redirect.h"
#include "cudart/runtime_archive.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

/// The table of the driver that the static runtime cannot do without (6bd5fb6c-5bf4-e74a-8987-d93912fd9df9);
/// libraries ask for others, which they can.
constexpr std::array<uint8_t, 16> kRuntimesTable = {0x6B, 0xD5, 0xFB, 0x6C, 0x5B, 0xF4, 0xE7, 0x4A,
                                                    0x89, 0x87, 0xD9, 0x39, 0x12, 0xFD, 0x9D, 0xF9};
constexpr std::string_view kFirst = "__cudaRegisterFatBinary";  // every file with a runtime of its own has it

std::string remedy() {
  return kCanRedirect ? fmt::format("{} can name the libcudart_static.a that it was linked with", kArchivesVariable)
                      : "It has to be linked with -cudart shared";
}

using Functions = std::unordered_map<std::string_view, const void*>;

bool is_runtime_name(std::string_view name) { return name.starts_with("cuda") || name.starts_with("__cuda"); }

const Dl_info& own_file() {
  static const Dl_info self = [] {
    Dl_info found{};
    ::dladdr(reinterpret_cast<const void*>(&own_file), &found);
    return found;
  }();
  return self;
}

/// The stand-in's functions, by name. The names live as long as the process. (In the loader's notification
/// dlsym is not allowed.)
const Functions& stand_ins() {
  static const Functions all = [] {
    static std::set<std::string> names;
    Functions out;
    const MappedFile file(own_file().dli_fname);
    for_each_function(file.bytes(), SymbolTable::exported, [&](const FunctionSymbol& s) {
      const auto address = reinterpret_cast<uintptr_t>(own_file().dli_fbase) + s.address;
      out.emplace(*names.insert(s.name).first, reinterpret_cast<const void*>(address));
    });
    return out;
  }();
  return all;
}

/// Functions of a runtime linked into a file, relative to where it is loaded.
std::vector<FoundFunction> runtime_functions(std::span<const std::byte> file) {
  std::vector<FoundFunction> out;
  bool has_runtime = false;
  for_each_function(file, SymbolTable::linker, [&](const FunctionSymbol& s) {
    has_runtime |= s.name == kFirst;
    if (s.bytes >= kJumpBytes) out.emplace_back(s.name, s.address);
  });
  return has_runtime ? out : std::vector<FoundFunction>();
}

/// As above, for a file without symbol table.
std::vector<FoundFunction> runtime_functions_by_code(std::span<const std::byte> file) {
  const char* const archives = std::getenv(kArchivesVariable);
  std::istringstream in(archives != nullptr ? archives : "");
  for (std::string path; std::getline(in, path, ':');) {
    const MappedFile archive(path);
    if (auto found = find_runtime(file, archive.bytes()); !found.empty()) return found;
  }
  return {};
}

/// A runtime that is linked into the file at `base` gives way to the stand-in.
void replace_runtime(const std::string& path, uintptr_t base) {
  const MappedFile file(path);
  auto functions = runtime_functions(file.bytes());
  if (functions.empty()) functions = runtime_functions_by_code(file.bytes());
  for (const auto& [name, address] : functions) {
    const auto own = is_runtime_name(name) ? stand_ins().find(name) : stand_ins().end();
    if (own != stand_ins().end()) redirect(base + address, own->second);
  }
}

void replace_code(const link_map& m) {
  // The program itself has no name in the loader's list.
  const std::string path = *m.l_name == 0 ? "/proc/self/exe" : m.l_name;
  if (path == own_file().dli_fname || m.l_addr == reinterpret_cast<uintptr_t>(own_file().dli_fbase)) return;
  if (replace_run_time_compiler(path, m.l_addr)) return;
  replace_runtime(path, m.l_addr);
}

/// Looks at each file that the loader has mapped since the last call.
void look_at_new_files() {
  using File = std::pair<const link_map*, uintptr_t>;
  static std::set<File> seen;
  std::set<File> now;
  for (const link_map* m = _r_debug.r_map; m != nullptr; m = m->l_next) {
    now.insert({m, m->l_addr});
    if (seen.count({m, m->l_addr}) == 0) replace_code(*m);
  }
  seen.swap(now);
}

void library_list_changed() {
  if (!libraries_are_settled()) return;
  try {
    look_at_new_files();
  } catch (
      const std::exception&) {  // out of memory: the loader cannot report it; the program's next call will
  }
}

// The loader runs it before the program's own constructors, which register device code.
[[gnu::constructor]] void take_the_place_of_linked_code() {
  if (std::getenv(kOptionsVariable) == nullptr) return;
  library_list_changed();
  watch_libraries(&library_list_changed);
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cuGetExportTable(const void**, const void* table) {
  if (table == nullptr || std::memcmp(table, kRuntimesTable.data(), kRuntimesTable.size()) != 0)
    return CudaError::not_supported;
  Dl_info caller{};
  const bool found = ::dladdr(__builtin_return_address(0), &caller) != 0 && caller.dli_fname != nullptr;
  const std::string name = found ? std::filesystem::path(caller.dli_fname).filename().string() : "a library";
  return serve_always("cuGetExportTable", [&](Context& c) {
    c.say_once(fmt::format("{}: its CUDA calls fail. {} (docs/exec.md)", runtime_stays(name), remedy()));
    throw CallFailed{CudaError::not_supported};
  });
}

#pragma GCC visibility pop
}
