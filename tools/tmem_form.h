// The words that name an operand of a tcgen05.mma in tensor memory: --operand, --kind, --m, --n, --cta-group,
// …
#pragma once

#include <string>
#include <string_view>

#include "drywell/core/types.h"
#include "drywell/isa/inspect/tmem_check.h"
#include "tools/common/command.h"

namespace drywell::tools {

struct TmemFormFlags {
  std::string operand = "d", kind = "f16", element, scale;
  uint32_t m = 128, n = 128, cta_group = 1;
  bool ws = false, sparse = false, k96 = false;
};

void add_tmem_form(Command& sub, TmemFormFlags& f);
/// Throws UsageError for an unknown word, InputError E1422 for a shape that the form does not have.
/// `command`: whose --help a message names.
isa::TmemUseForm tmem_use(const TmemFormFlags& f, std::string_view command);
isa::TmemOperand tmem_operand(std::string_view word, std::string_view command);
/// "x,y,z"; y and z may be left out.
Dim3 cta_of(const std::string& text, std::string_view command);

}  // namespace drywell::tools
