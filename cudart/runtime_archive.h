// The CUDA runtime inside a library without symbol table: found by its code, with the archive that the
// library was linked with (libcudart_static.a of that version of CUDA, in its toolkit and in PyPI's package
// nvidia-cuda-runtime).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace drywell::cudart {

/// A colon-separated list of such archives.
inline constexpr const char* kArchivesVariable = "DRYWELL_CUDART_STATIC";

/// A function's name, and its address relative to where the library is loaded.
using FoundFunction = std::pair<std::string, uint64_t>;

/// The functions of the archive's code in `library`, if it contains all of that code, byte for byte but for
/// the addresses that the linker entered. Otherwise nothing.
std::vector<FoundFunction> find_runtime(std::span<const std::byte> library,
                                        std::span<const std::byte> archive);

}  // namespace drywell::cudart
