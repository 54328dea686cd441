// libFuzzer harness of the PTX reader: any bytes are a module or diagnostics. A module that is read without an
// error must print as text that reads back as the same module.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/isa/validate.h"

namespace {

using namespace drywell;

// Printing is worth its time only for modules of ordinary size: ".reg .b32 %r<1000000>" is short text.
size_t registers_of(const isa::Module& m) {
  size_t n = 0;
  for (const isa::Function& f : m.functions) n += f.regs.size();
  return n;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const isa::ParseResult first = isa::parse_ptx(text, "fuzz.ptx");
  if (first.diagnostics.has_errors() || registers_of(first.module) > 10000) return 0;
  const Diagnostics legality = isa::validate(first.module);
  const std::string printed = isa::print_module(first.module);
  const isa::ParseResult second = isa::parse_ptx(printed, "printed.ptx");
  if (second.diagnostics.has_errors() || isa::print_module(second.module) != printed) std::abort();
  return 0;
}
