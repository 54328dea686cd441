// Programs that have the CUDA runtime linked into them (nvcc's default). The static runtime speaks to the driver through tables that
// are not public (cuGetExportTable), so nothing of it runs: each of its public functions that the program's symbol table names begins
// with a jump to the stand-in's function of that name, before the program's first instruction. A program without symbol table (strip)
// cannot be served: `drywell exec` refuses it (E4612).
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cudart/options.h"
#include "drywell/core/files.h"

namespace {

constexpr std::string_view kFirst = "__cudaRegisterFatBinary";  // every program with device code calls it
constexpr size_t kJumpBytes = 14;

/// jmp [rip], and the address behind it.
std::array<uint8_t, kJumpBytes> jump_to(const void* target) {
  std::array<uint8_t, kJumpBytes> code = {0xFF, 0x25};
  std::memcpy(code.data() + 6, &target, sizeof target);
  return code;
}

/// A view of records in a file; empty if the file does not contain all of them.
template <class T>
std::pair<const T*, size_t> records(const std::vector<std::byte>& file, uint64_t offset, uint64_t count) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(T)) return {nullptr, 0};
  return {reinterpret_cast<const T*>(file.data() + offset), count};
}

struct Symbols {
  const Elf64_Sym* first = nullptr;
  size_t count = 0;
  const char* names = nullptr;
  size_t name_bytes = 0;
  std::string_view name(const Elf64_Sym& s) const { return s.st_name < name_bytes ? std::string_view(names + s.st_name) : std::string_view(); }
};

Symbols symbol_table(const std::vector<std::byte>& file) {
  const auto [header, one] = records<Elf64_Ehdr>(file, 0, 1);
  if (one == 0 || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64) return {};
  const auto [sections, n] = records<Elf64_Shdr>(file, header->e_shoff, header->e_shnum);
  for (size_t i = 0; i < n; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= n) continue;
    const auto [symbols, count] = records<Elf64_Sym>(file, sections[i].sh_offset, sections[i].sh_size / sizeof(Elf64_Sym));
    const Elf64_Shdr& strings = sections[sections[i].sh_link];
    const auto [names, bytes] = records<char>(file, strings.sh_offset, strings.sh_size);
    if (bytes == 0 || names[bytes - 1] != 0) return {};
    return {symbols, count, names, bytes};
  }
  return {};
}

bool is_function(const Elf64_Sym& s) { return ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF; }

/// Where the loader put the program.
uint64_t load_address() {
  uint64_t base = 0;
  dl_iterate_phdr([](dl_phdr_info* info, size_t, void* out) {
    *static_cast<uint64_t*>(out) = info->dlpi_addr;
    return 1;  // the program is the first
  }, &base);
  return base;
}

void redirect(uint64_t at, const void* target) {
  const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)), begin = at / page * page, end = (at + kJumpBytes + page - 1) / page * page;
  auto* const pages = reinterpret_cast<void*>(begin);
  if (::mprotect(pages, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  const auto code = jump_to(target);
  std::memcpy(reinterpret_cast<void*>(at), code.data(), code.size());
  ::mprotect(pages, end - begin, PROT_READ | PROT_EXEC);
}

void* own_library() {
  Dl_info self{};
  return ::dladdr(reinterpret_cast<const void*>(&redirect), &self) != 0 ? ::dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD) : nullptr;
}

// The loader runs it before the program's own constructors, which register device code.
[[gnu::constructor]] void take_the_place_of_a_static_runtime() {
  if (std::getenv(drywell::cudart::kOptionsVariable) == nullptr) return;
  try {
    const std::vector<std::byte> file = drywell::read_file("/proc/self/exe");
    const Symbols table = symbol_table(file);
    bool has_runtime = false;
    for (size_t i = 0; i < table.count && !has_runtime; ++i) has_runtime = is_function(table.first[i]) && table.name(table.first[i]) == kFirst;
    void* const library = has_runtime ? own_library() : nullptr;
    if (library == nullptr) return;
    const uint64_t base = load_address();
    for (size_t i = 0; i < table.count; ++i) {
      const Elf64_Sym& s = table.first[i];
      const std::string_view name = table.name(s);
      if (!is_function(s) || s.st_size < kJumpBytes || !(name.starts_with("cuda") || name.starts_with("__cuda"))) continue;
      if (const void* target = ::dlsym(library, name.data()); target != nullptr) redirect(base + s.st_value, target);
    }
  } catch (const std::exception&) {  // a file that cannot be read is no program with a static runtime
  }
}

}  // namespace
