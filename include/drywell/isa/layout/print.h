// CuTe's printed notation of tuples, layouts, swizzles and tensors.
#pragma once

#include <string>

#include "drywell/isa/layout/composed.h"

namespace drywell::layout {

/// Written form of numbers. cute: `_8` static, `8` dynamic, `Sw<3,4,3>` (the C++ print). plain: numbers without marks
/// and `S<3,4,3>` (CuTeDSL and pycute, where all numbers are static).
enum class Marks : uint8_t {
  cute,
  plain
};

/// A number.
std::string to_string(const Int& v, Marks marks = Marks::cute);
/// A tuple: (4,(2,8)).
std::string to_string(const IntTuple& t, Marks marks = Marks::cute);
/// A layout: (4,8):(8,1).
std::string to_string(const Layout& l, Marks marks = Marks::cute);
/// A tiler: one shape or layout per mode.
std::string to_string(const Tiler& t, Marks marks = Marks::cute);
/// A swizzle: Sw<3,4,3> or S<3,4,3>.
std::string to_string(const Swizzle& s, Marks marks = Marks::cute);
/// A pointer: smem_ptr[16b](0x400).
std::string to_string(const Pointer& p);
/// A layout with the swizzle, pointer or coordinate in front of it.
std::string to_string(const ComposedLayout& l, Marks marks = Marks::cute);

}  // namespace drywell::layout
