// A small language over the layout algebra, in CuTe's printed notation: layouts `(8,_4):(_4,1)`, swizzled layouts
// `Sw<3,4,3> o smem_ptr[16b](unset) o (_64,_8):(_1,_64)`, tensors `tmem_[32b](0x0000.0000) o …`, ArithTuple strides
// `_1@0`, calls `composition(A, B)` and `take<0,2>(A)`, application `A(_,3)`, names `A = …; coalesce(A)`. All functions
// may be called at the same time.
#pragma once

#include <string>
#include <string_view>

#include "drywell/isa/layout/composed.h"
#include "drywell/isa/layout/print.h"

namespace drywell::layout {

/// A bare word such as LayoutLeft or K, an argument of some functions.
struct Word {
  std::string text;  // as written
  bool operator==(const Word&) const = default;
};

/// A swizzle, pointer or coordinate without its layout.
struct Front {
  std::optional<Swizzle> swizzle;  // none: there is no swizzle in front
  Origin origin;                   // pointer or coordinate; may be none
};

/// What an expression yields.
using Value = std::variant<IntTuple, Tiler, ComposedLayout, Front, bool, Word>;

/// The value in CuTe's notation, or in numbers without marks.
std::string to_string(const Value& v, Marks marks);

/// Reading of unmarked numbers. automatic: cute if the text holds a `_N`, else plain.
enum class Reading : uint8_t {
  automatic,
  cute,
  plain
};

/// The value of an expression.
struct Evaluation {
  Value value;  // the result
  Marks marks;  // notation of the input, for printing the result
  /// The value as a layout: throws E1803 if it is not a layout.
  const ComposedLayout& layout() const;
};

/// Evaluates an expression. Throws InputError with line and column: E1801 syntax, E1802 unknown name, E1803
/// wrong arguments, E1808 a limit (64 KiB of text, nesting, 512 calls), and the codes of the algebra at the
/// failing call.
Evaluation evaluate(std::string_view text, Reading reading = Reading::automatic);

/// Evaluates a layout literal or an expression that yields a plain layout.
Layout parse_layout(std::string_view text, Reading reading = Reading::automatic);
/// Evaluates a literal or an expression that yields a tuple of integers.
IntTuple parse_int_tuple(std::string_view text, Reading reading = Reading::automatic);

/// Returns the names of all functions of the language with their argument patterns, one per line, for help and
/// completion.
std::string expression_help();

}  // namespace drywell::layout
