#include "cudart/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cudart/fatbin.h"
#include "drywell/core/files.h"

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

/// Bytes of an ELF file in memory: to the end of its last section or table.
uint64_t extent(const uint8_t* file) {
  Elf64_Ehdr h;
  std::memcpy(&h, file, sizeof h);
  uint64_t end = std::max({uint64_t{sizeof h}, h.e_shoff + uint64_t{h.e_shnum} * sizeof(Elf64_Shdr), h.e_phoff + uint64_t{h.e_phnum} * sizeof(Elf64_Phdr)});
  for (unsigned i = 0; i < h.e_shnum; ++i) {
    Elf64_Shdr s;
    std::memcpy(&s, file + h.e_shoff + i * sizeof s, sizeof s);
    if (s.sh_type != SHT_NOBITS) end = std::max(end, s.sh_offset + s.sh_size);
  }
  return end;
}

std::vector<std::string> machine_codes(const void* image) {
  if (is_cubin(image))
    return {std::string(static_cast<const char*>(image), extent(static_cast<const uint8_t*>(image)))};
  std::vector<std::string> out;
  if (!is_fatbin(image)) return out;
  for (const FatbinImage& i : read_fatbin(image)) {
    if (i.kind == ImageKind::machine_code) out.push_back(i.content());
  }
  return out;
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

std::optional<std::string> kept_ptx(const void* image) {
  namespace fs = std::filesystem;
  const char* folder = std::getenv(kKeptVariable);
  if (folder == nullptr) return std::nullopt;
  const std::vector<std::string> codes = machine_codes(image);
  std::error_code ignored;
  for (const fs::directory_entry& e : fs::recursive_directory_iterator(folder, ignored)) {
    if (codes.empty() || e.path().extension() != ".cubin") continue;
    const std::vector<std::byte> file = read_file(e.path().string());
    const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
    const std::string text = fs::path(e.path()).replace_extension(".ptx").string();
    // A fat binary pads its images.
    const bool same = std::any_of(codes.begin(), codes.end(), [&](const std::string& c) {
      return !bytes.empty() && c.starts_with(bytes);
    });
    if (same && fs::exists(text)) return read_text_file(text);
  }
  return std::nullopt;
}

}  // namespace drywell::cudart
