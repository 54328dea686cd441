// libFuzzer harness of what looks for a CUDA runtime inside a library: archives (ar) with an ELF object, and symbol tables. The first two
// bytes are the archive's length; the library follows it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cudart/function_symbols.h"
#include "cudart/runtime_archive.h"

namespace {

using namespace drywell::cudart;

constexpr size_t kLength = 2;

void visit_all(std::span<const std::byte> file) {
  size_t letters = 0;
  for (const SymbolTable table : {SymbolTable::linker, SymbolTable::exported})
    for_each_function(file, table, [&](const FunctionSymbol& s) { letters += std::strlen(s.name); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kLength) return 0;
  const auto all = std::as_bytes(std::span(data + kLength, size - kLength));
  const size_t length = std::min<size_t>(data[0] | data[1] << 8, all.size());
  (void)find_runtime(all.subspan(length), all.first(length));
  visit_all(all.subspan(length));
  visit_all(all.first(length));
  return 0;
}
