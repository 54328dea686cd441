// The functions that a symbol table of an ELF file names: of a program, or of a library with a CUDA runtime
// linked into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace drywell::cudart {

struct FunctionSymbol {
  const char* name;  // ends with a zero
  uint64_t address;  // relative to where the file is loaded; in an object, to the section's begin
  uint64_t bytes;
  uint16_t section;
};

/// The table for linkers has a file's own functions, too, unless it was stripped; the other one only what the
/// file exports and imports.
enum class SymbolTable {
  linker,
  exported
};

/// Calls `visit` for each function that the file defines. Nothing for a damaged file, or one without that
/// table.
void for_each_function(std::span<const std::byte> file, SymbolTable table,
                       const std::function<void(const FunctionSymbol&)>& visit);

}  // namespace drywell::cudart
