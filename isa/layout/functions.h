// The function table of the expression language.
#pragma once

#include <span>

#include "drywell/isa/layout/expression.h"

namespace drywell::layout {

/// One call: template-style integers in <>, evaluated arguments, and access to them by kind. The getters
/// throw E1803 naming the argument.
struct Call {
  std::string_view name;
  std::vector<int64_t> fixed;  // the integers in name<…>
  std::vector<Value> args;

  size_t count() const { return args.size(); }
  const IntTuple& tuple(size_t i) const;
  /// A tuple with all numbers static: mode orders and the like, where a run-time number has no use.
  IntTuple static_tuple(size_t i) const;
  Int integer(size_t i) const;
  int64_t number(size_t i) const { return integer(i).value; }
  const ComposedLayout& layout(size_t i) const;
  /// A layout without swizzle or pointer.
  const Layout& plain(size_t i) const;
  Tiler tiler(size_t i) const;
  const std::string& word(size_t i) const;
  bool is_tuple(size_t i) const { return std::holds_alternative<IntTuple>(args.at(i)); }
  bool is_layout(size_t i) const { return std::holds_alternative<ComposedLayout>(args.at(i)); }
  bool is_word(size_t i) const { return std::holds_alternative<Word>(args.at(i)); }
  /// fixed[i] as a mode index.
  size_t mode(size_t i) const;
  void require_fixed(size_t lo, size_t hi) const;
};

struct Function {
  const char* name;
  const char* usage;
  size_t min_args, max_args;
  Value (*eval)(const Call&);
};

std::span<const Function> algebra_functions();
std::span<const Function> tuple_functions();
std::span<const Function> hardware_functions();
/// Returns nullptr if there is no function of that name.
const Function* find_function(std::string_view name);

}  // namespace drywell::layout
