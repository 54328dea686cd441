// The ELF headers of an executable: enough to decide if it can run under `drywell exec`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace drywell::tools {

struct ElfProgram {
  std::vector<std::string> needed;       // libraries it is linked with (DT_NEEDED)
  std::vector<std::string> undefined;    // functions that it imports
  std::vector<std::string> defined;      // functions that it exports
  bool has_device_code = false;          // has a section .nv_fatbin
  bool needs(const std::string& prefix) const;
};

/// Returns nothing if `path` is not a 64-bit little-endian ELF file, or is damaged.
std::optional<ElfProgram> read_elf(const std::string& path);

}  // namespace drywell::tools
