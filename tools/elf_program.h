// What an executable says about itself in its ELF headers: enough to tell whether it can run under `drywell exec`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace drywell::tools {

struct ElfProgram {
  std::vector<std::string> needed;       // libraries it is linked with (DT_NEEDED)
  std::vector<std::string> undefined;    // functions it takes from them
  std::vector<std::string> defined;      // functions it offers
  bool has_device_code = false;          // a section .nv_fatbin
  bool needs(const std::string& prefix) const;
};

/// Nothing if `path` is no 64-bit little-endian ELF file, or a damaged one.
std::optional<ElfProgram> read_elf(const std::string& path);

}  // namespace drywell::tools
