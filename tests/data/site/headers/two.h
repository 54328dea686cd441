// A header with a table of functions, one of which has no description, and with one that Doxygen does not see (tests/CMakeLists.txt, site.headers).
#pragma once

/// The modifiers.
namespace forms {
#define DRYWELL_TYPED_FORMS
#include "table/typed_forms.inc"
#undef DRYWELL_TYPED_FORMS
}  // namespace forms

/// The functions.
class Functions {
 public:
#include "table/typed_forms.inc"
};

#if 0
/// Nothing of these is compiled.
enum class Modifier {
#include "table/mods.inc"
};
#endif
