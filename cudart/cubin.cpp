#include "cudart/cubin.h"

#include <elf.h>

#include <cstring>

namespace drywell::cudart {
namespace {

constexpr uint16_t kMachine = 190;  // EM_CUDA
constexpr std::string_view kNames{"\0.drywell.ptx\0.shstrtab\0", 24};
constexpr uint32_t kPtxName = 1, kNamesName = 14;  // offsets into kNames
constexpr uint16_t kSections = 3;                  // the empty section, the text, the names

struct Headers {
  Elf64_Ehdr file{};
  Elf64_Shdr sections[kSections]{};
};

Elf64_Shdr section(uint32_t name, uint32_t type, uint64_t offset, uint64_t bytes) {
  Elf64_Shdr s{};
  s.sh_name = name;
  s.sh_type = type;
  s.sh_offset = offset;
  s.sh_size = bytes;
  s.sh_addralign = 1;
  return s;
}

}  // namespace

bool is_cubin(const void* data, uint64_t limit) {
  // The machine is read after the magic number: a shorter text ends before it.
  if (data == nullptr || limit < sizeof(Elf64_Ehdr) || std::memcmp(data, ELFMAG, SELFMAG) != 0) return false;
  Elf64_Ehdr h;
  std::memcpy(&h, data, sizeof h);
  return h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_machine == kMachine;
}

std::string cubin_envelope(std::string_view ptx) {
  Headers h;
  std::memcpy(h.file.e_ident, ELFMAG, SELFMAG);
  h.file.e_ident[EI_CLASS] = ELFCLASS64;
  h.file.e_ident[EI_DATA] = ELFDATA2LSB;
  h.file.e_ident[EI_VERSION] = EV_CURRENT;
  h.file.e_type = ET_EXEC;
  h.file.e_machine = kMachine;
  h.file.e_version = EV_CURRENT;
  h.file.e_ehsize = sizeof(Elf64_Ehdr);
  h.file.e_shentsize = sizeof(Elf64_Shdr);
  h.file.e_shoff = offsetof(Headers, sections);
  h.file.e_shnum = kSections;
  h.file.e_shstrndx = 2;
  // The text ends with a zero, as PTX in memory does.
  h.sections[1] = section(kPtxName, SHT_PROGBITS, sizeof h, ptx.size() + 1);
  h.sections[2] = section(kNamesName, SHT_STRTAB, sizeof h + ptx.size() + 1, kNames.size());
  std::string out(reinterpret_cast<const char*>(&h), sizeof h);
  out.append(ptx).push_back('\0');
  return out.append(kNames);
}

std::optional<std::string_view> enveloped_ptx(const void* data, uint64_t limit) {
  if (!is_cubin(data, limit) || limit < sizeof(Headers)) return std::nullopt;
  Headers h;
  std::memcpy(&h.file, data, sizeof h.file);
  if (h.file.e_shoff != offsetof(Headers, sections) || h.file.e_shnum != kSections ||
      h.file.e_shentsize != sizeof(Elf64_Shdr))
    return std::nullopt;
  std::memcpy(&h, data, sizeof h);
  const Elf64_Shdr &text = h.sections[1], &names = h.sections[2];
  const auto* bytes = static_cast<const char*>(data);
  const bool whole = text.sh_offset == sizeof h && text.sh_size > 0 && text.sh_size <= limit - sizeof h &&
                     names.sh_offset == sizeof h + text.sh_size && names.sh_size == kNames.size() &&
                     names.sh_size <= limit - names.sh_offset;
  if (!whole || std::string_view(bytes + names.sh_offset, names.sh_size) != kNames) return std::nullopt;
  return std::string_view(bytes + text.sh_offset, text.sh_size - 1);
}

}  // namespace drywell::cudart
