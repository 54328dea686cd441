// Hints for a mnemonic that does not exist. May be called at the same time.
#pragma once

#include <string>
#include <string_view>

namespace drywell::isa {

/// "did you mean 'mbarrier.try_wait'?", else the instructions whose row speaks of the word ("about 'tma': …"), else "".
std::string mnemonic_hint(std::string_view text);

}  // namespace drywell::isa
