#include "cudart/runtime_archive.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>

#include "cudart/function_symbols.h"
#include "cudart/mapped_file.h"
#include "drywell/core/whole_number.h"

namespace drywell::cudart {
namespace {

using Bytes = std::span<const std::byte>;

/// The size in a member's header: decimal digits, and blanks behind them.
std::optional<size_t> size_in(std::string_view field) {
  return whole_number<size_t>(field.substr(0, std::min(field.find(' '), field.size())));
}

/// The first ELF object of an archive (ar): the static runtime is one object. A copy: members begin at even
/// addresses, records of ELF at multiples of eight.
std::vector<std::byte> object_of(Bytes archive) {
  constexpr size_t kMagic = 8, kHeader = 60, kSizeAt = 48, kSizeBytes = 10;
  for (size_t at = kMagic; at + kHeader <= archive.size();) {
    const std::optional<size_t> size =
        size_in({reinterpret_cast<const char*>(archive.data() + at + kSizeAt), kSizeBytes});
    const size_t content = at + kHeader;
    if (!size.has_value() || *size > archive.size() - content) return {};
    const Bytes member = archive.subspan(content, *size);
    if (*size > sizeof(Elf64_Ehdr) && std::memcmp(member.data(), ELFMAG, SELFMAG) == 0)
      return {member.begin(), member.end()};
    at = content + *size + *size % 2;
  }
  return {};
}

/// The code of an object, with the bytes that a linker fills in.
struct Code {
  Bytes text;
  std::vector<bool> filled;
  uint16_t section = 0;
};

size_t filled_bytes(uint64_t relocation) { return ELF64_R_TYPE(relocation) == R_X86_64_64 ? 8 : 4; }

/// A linker may also change the instruction before such an address.
size_t changed_before(uint64_t relocation) {
  const auto type = ELF64_R_TYPE(relocation);
  return type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX ? 3 : 0;
}

Code code_of(Bytes object) {
  const auto header = records<Elf64_Ehdr>(object, 0, 1);
  const auto sections = header.empty() ? std::span<const Elf64_Shdr>()
                                       : records<Elf64_Shdr>(object, header[0].e_shoff, header[0].e_shnum);
  Code out;
  for (size_t i = 0; i < sections.size(); ++i) {
    const Elf64_Shdr& s = sections[i];
    if (s.sh_type != SHT_PROGBITS || (s.sh_flags & SHF_EXECINSTR) == 0 || s.sh_size <= out.text.size() ||
        s.sh_offset > object.size() || s.sh_size > object.size() - s.sh_offset)
      continue;
    out.text = object.subspan(s.sh_offset, s.sh_size);
    out.section = static_cast<uint16_t>(i);
  }
  out.filled.resize(out.text.size());
  for (const Elf64_Shdr& s : sections) {
    if (s.sh_type != SHT_RELA || s.sh_info != out.section) continue;
    for (const Elf64_Rela& r : records<Elf64_Rela>(object, s.sh_offset, s.sh_size / sizeof(Elf64_Rela))) {
      const size_t first = r.r_offset - std::min<size_t>(r.r_offset, changed_before(r.r_info)),
                   last = std::min(r.r_offset + filled_bytes(r.r_info), out.filled.size());
      for (size_t b = first; b < last; ++b) out.filled[b] = true;
    }
  }
  return out;
}

/// The longest run of bytes that no linker changes: [first, last).
std::pair<size_t, size_t> longest_fixed(const Code& c) {
  std::pair<size_t, size_t> best{0, 0};
  for (size_t first = 0; first < c.filled.size();) {
    const size_t last = static_cast<size_t>(
        std::find(c.filled.begin() + static_cast<ptrdiff_t>(first), c.filled.end(), true) - c.filled.begin());
    if (last - first > best.second - best.first) best = {first, last};
    first = last + 1;
  }
  return best;
}

bool same_code(const Code& c, Bytes at) {
  for (size_t i = 0; i < c.text.size(); ++i) {
    if (!c.filled[i] && c.text[i] != at[i]) return false;
  }
  return true;
}

/// Where the code lies in a segment.
std::optional<size_t> find_code(const Code& c, Bytes segment) {
  const auto [first, last] = longest_fixed(c);
  const auto anchor = c.text.subspan(first, last - first);
  const std::boyer_moore_horspool_searcher search(
      reinterpret_cast<const uint8_t*>(anchor.data()),
      reinterpret_cast<const uint8_t*>(anchor.data() + anchor.size()));
  const auto* const begin = reinterpret_cast<const uint8_t*>(segment.data());
  const auto* const end = begin + segment.size();
  for (const uint8_t* at = std::search(begin, end, search); at != end;
       at = std::search(at + 1, end, search)) {
    const auto offset = static_cast<size_t>(at - begin);
    if (offset >= first && c.text.size() <= segment.size() - (offset - first) &&
        same_code(c, segment.subspan(offset - first)))
      return offset - first;
  }
  return std::nullopt;
}

/// Where the code will be when the library is loaded, relative to its base.
std::optional<uint64_t> address_of(const Code& c, Bytes library) {
  const auto header = records<Elf64_Ehdr>(library, 0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64)
    return std::nullopt;
  for (const Elf64_Phdr& p : records<Elf64_Phdr>(library, header[0].e_phoff, header[0].e_phnum)) {
    if (p.p_type != PT_LOAD || (p.p_flags & PF_X) == 0 || p.p_offset > library.size() ||
        p.p_filesz > library.size() - p.p_offset)
      continue;
    if (const auto at = find_code(c, library.subspan(p.p_offset, p.p_filesz)); at.has_value())
      return p.p_vaddr + *at;
  }
  return std::nullopt;
}

}  // namespace

std::vector<FoundFunction> find_runtime(std::span<const std::byte> library,
                                        std::span<const std::byte> archive) {
  constexpr size_t kLeastCode = 4096;  // less would be found by chance
  const std::vector<std::byte> object = object_of(archive);
  const Code code = code_of(object);
  const auto base = code.text.size() >= kLeastCode ? address_of(code, library) : std::nullopt;
  std::vector<FoundFunction> out;
  if (!base.has_value()) return out;
  for_each_function(object, SymbolTable::linker, [&](const FunctionSymbol& s) {
    if (s.section == code.section) out.emplace_back(s.name, *base + s.address);
  });
  return out;
}

}  // namespace drywell::cudart
