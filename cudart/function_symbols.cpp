#include "cudart/function_symbols.h"

#include <elf.h>

#include <cstring>

#include "cudart/mapped_file.h"

namespace drywell::cudart {
namespace {

struct Symbols {
  std::span<const Elf64_Sym> all;
  std::span<const char> names;  // the last byte is zero
};

Symbols symbols(std::span<const std::byte> file, SymbolTable table) {
  const auto header = records<Elf64_Ehdr>(file, 0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64)
    return {};
  const auto sections = records<Elf64_Shdr>(file, header[0].e_shoff, header[0].e_shnum);
  for (const Elf64_Shdr& s : sections) {
    if (s.sh_type != (table == SymbolTable::linker ? SHT_SYMTAB : SHT_DYNSYM) || s.sh_link >= sections.size())
      continue;
    const Elf64_Shdr& strings = sections[s.sh_link];
    const auto names = records<char>(file, strings.sh_offset, strings.sh_size);
    if (names.empty() || names.back() != 0) return {};
    return {records<Elf64_Sym>(file, s.sh_offset, s.sh_size / sizeof(Elf64_Sym)), names};
  }
  return {};
}

bool is_function(const Elf64_Sym& s) {
  return ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF;
}

}  // namespace

void for_each_function(std::span<const std::byte> file, SymbolTable table,
                       const std::function<void(const FunctionSymbol&)>& visit) {
  const Symbols found = symbols(file, table);
  for (const Elf64_Sym& s : found.all) {
    if (is_function(s) && s.st_name < found.names.size())
      visit({found.names.data() + s.st_name, s.st_value, s.st_size, s.st_shndx});
  }
}

}  // namespace drywell::cudart
