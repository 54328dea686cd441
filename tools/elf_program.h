// The ELF headers of an executable: enough to decide if it can run under `drywell exec`.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace drywell::tools {

struct ElfProgram {
  std::vector<std::string> needed;     // libraries it is linked with (DT_NEEDED)
  std::vector<std::string> undefined;  // functions that it imports
  std::vector<std::string> defined;    // functions that it exports
  bool has_device_code = false;        // has a section .nv_fatbin
  bool has_runtime = false;            // its symbol table has the CUDA runtime's functions: linked statically, not stripped
  bool needs(const std::string& prefix) const;
};

/// Returns nothing if the bytes are not a 64-bit little-endian ELF file, or are damaged.
std::optional<ElfProgram> parse_elf(std::span<const std::byte> file);
/// The same of a file.
std::optional<ElfProgram> read_elf(const std::string& path);

}  // namespace drywell::tools
