// Cubins: the ELF files that ptxas writes. Machine code cannot be simulated, so the stand-in of ptxas
// (tools/cmd_ptxas.cpp) writes an envelope: an ELF file of the same machine with the PTX text as its only
// section. Compilers that call ptxas, such as Triton, keep and load it as they would a cubin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace drywell::cudart {

/// True if the bytes begin as a file of machine code for a GPU does.
bool is_cubin(const void* data, uint64_t limit = UINT64_MAX);

/// Returns an envelope of the text.
std::string cubin_envelope(std::string_view ptx);

/// Returns the PTX text of an envelope of at most `limit` bytes; nothing for another cubin.
std::optional<std::string_view> enveloped_ptx(const void* data, uint64_t limit = UINT64_MAX);

/// Compilers that write machine code themselves can keep the PTX that it was made from. Names the folder
/// where a program keeps "name.cubin" and "name.ptx" (python/boot sets it).
inline constexpr const char* kKeptVariable = "DRYWELL_KEPT_PTX";
/// Returns the PTX text that was kept beside a file of the same machine code; nothing if there is none.
/// `image` is a cubin, or a fat binary with one.
std::optional<std::string> kept_ptx(const void* image);

}  // namespace drywell::cudart
