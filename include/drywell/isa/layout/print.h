// CuTe's printed notation of tuples, layouts, swizzles and tensors.
#pragma once

#include <string>

#include "drywell/isa/layout/composed.h"

namespace drywell::layout {

/// Written form of numbers. cute: `_8` static, `8` dynamic, `Sw<3,4,3>` (the C++ print). plain: numbers without marks
/// and `S<3,4,3>` (CuTeDSL and pycute, where all numbers are static).
enum class Marks : uint8_t { cute, plain };

std::string to_string(const Int& v, Marks marks = Marks::cute);
std::string to_string(const IntTuple& t, Marks marks = Marks::cute);
std::string to_string(const Layout& l, Marks marks = Marks::cute);
std::string to_string(const Tiler& t, Marks marks = Marks::cute);
std::string to_string(const Swizzle& s, Marks marks = Marks::cute);
std::string to_string(const Pointer& p);
std::string to_string(const ComposedLayout& l, Marks marks = Marks::cute);

}  // namespace drywell::layout
