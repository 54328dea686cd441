// CuTe's printed notation of tuples, layouts, swizzles and tensors.
#pragma once

#include <string>

#include "drywell/isa/layout/composed.h"

namespace drywell::layout {

/// How numbers are written. cute: `_8` static, `8` dynamic, `Sw<3,4,3>` (the C++ print). plain: every number
/// bare and `S<3,4,3>` (CuTeDSL and pycute, where numbers are all known).
enum class Marks : uint8_t { cute, plain };

std::string to_string(const Int& v, Marks marks = Marks::cute);
std::string to_string(const IntTuple& t, Marks marks = Marks::cute);
std::string to_string(const Layout& l, Marks marks = Marks::cute);
std::string to_string(const Tiler& t, Marks marks = Marks::cute);
std::string to_string(const Swizzle& s, Marks marks = Marks::cute);
std::string to_string(const Pointer& p);
std::string to_string(const ComposedLayout& l, Marks marks = Marks::cute);

}  // namespace drywell::layout
