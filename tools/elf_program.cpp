#include "tools/elf_program.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "drywell/core/files.h"

namespace drywell::tools {
namespace {

using Bytes = std::span<const std::byte>;

/// Returns `count` records from `offset`; none if the file does not contain all of them.
template <class T>
std::vector<T> records(Bytes file, uint64_t offset, uint64_t count) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(T)) return {};
  std::vector<T> out(count);
  if (count != 0) std::memcpy(out.data(), file.data() + offset, count * sizeof(T));
  return out;
}

std::string text_at(Bytes file, const Elf64_Shdr& strings, uint64_t offset) {
  if (offset >= strings.sh_size || strings.sh_offset > file.size() || strings.sh_size > file.size() - strings.sh_offset) return {};
  const auto* p = reinterpret_cast<const char*>(file.data() + strings.sh_offset);
  return {p + offset, strnlen(p + offset, strings.sh_size - offset)};
}

}  // namespace

bool ElfProgram::needs(const std::string& prefix) const {
  return std::any_of(needed.begin(), needed.end(), [&](const std::string& n) { return n.starts_with(prefix); });
}

std::optional<ElfProgram> read_elf(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return parse_elf(bytes);
}

std::optional<ElfProgram> parse_elf(std::span<const std::byte> file) {
  const auto header = records<Elf64_Ehdr>(file, 0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 || header[0].e_ident[EI_CLASS] != ELFCLASS64 ||
      header[0].e_ident[EI_DATA] != ELFDATA2LSB) {
    return std::nullopt;
  }
  const auto sections = records<Elf64_Shdr>(file, header[0].e_shoff, header[0].e_shnum);
  ElfProgram out;
  for (const Elf64_Shdr& s : sections) {
    if (header[0].e_shstrndx < sections.size() && text_at(file, sections[header[0].e_shstrndx], s.sh_name) == ".nv_fatbin") out.has_device_code = true;
    if (s.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[s.sh_link];
    if (s.sh_type == SHT_DYNAMIC && out.needed.empty()) {  // a file has one section of a kind (System V ABI, sections)
      for (const Elf64_Dyn& d : records<Elf64_Dyn>(file, s.sh_offset, s.sh_size / sizeof(Elf64_Dyn))) {
        if (d.d_tag == DT_NEEDED) out.needed.push_back(text_at(file, strings, d.d_un.d_val));
      }
    } else if (s.sh_type == SHT_SYMTAB) {
      for (const Elf64_Sym& y : records<Elf64_Sym>(file, s.sh_offset, s.sh_size / sizeof(Elf64_Sym)))
        out.has_runtime = out.has_runtime || (y.st_shndx != SHN_UNDEF && text_at(file, strings, y.st_name) == "__cudaRegisterFatBinary");
    } else if (s.sh_type == SHT_DYNSYM && out.undefined.empty() && out.defined.empty()) {
      for (const Elf64_Sym& y : records<Elf64_Sym>(file, s.sh_offset, s.sh_size / sizeof(Elf64_Sym))) {
        (y.st_shndx == SHN_UNDEF ? out.undefined : out.defined).push_back(text_at(file, strings, y.st_name));
      }
    }
  }
  return out;
}

}  // namespace drywell::tools
