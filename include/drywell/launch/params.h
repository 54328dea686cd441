// A kernel's parameters: their declarations and their values in a run.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drywell/core/error.h"

namespace drywell::kernels {

/// What a parameter's value is.
enum class ParamType : uint8_t {
  integer,
  real,
  flag,
  choice,
  text
};
/// The word for lists: "integer".
std::string_view param_type_name(ParamType t);

/// One parameter of a kernel, given on the command line as --name=value.
struct Parameter {
  std::string_view name;                                   // lower case with dashes: "scale-order"
  ParamType type = ParamType::integer;                     // of the value
  std::string_view default_value;                          // as a user would write it; flags: "false" or "true"
  std::string_view doc;                                    // one line
  std::vector<std::string_view> allowed{};                 // choice: the values
  int64_t least = std::numeric_limits<int64_t>::min();     // integer, real: the least value that is allowed
  int64_t greatest = std::numeric_limits<int64_t>::max();  // and the greatest
};

/// A size: at least 1.
Parameter size_parameter(std::string_view name, std::string_view value, std::string_view doc, int64_t greatest = 1 << 24);
/// One of the values in `allowed`.
Parameter choice_parameter(std::string_view name, std::string_view value, std::string_view doc, std::vector<std::string_view> allowed);

/// The parameters of one run: every parameter of the kernel has a value of its type.
class Params {
 public:
  /// Parses `given` against `known`. Throws InputError with all errors: E4301 unknown parameter (with the list and the
  /// nearest name), E4302 not a value of its type or out of range, E4303 not one of the choices, E4304 given twice. An
  /// empty value sets a flag.
  Params(std::string_view kernel, std::span<const Parameter> known,
         std::span<const std::pair<std::string, std::string>> given);
  Params() = default;

  // Values by name; a name or type that the kernel does not declare is an InternalError.
  /// The value of an integer.
  int64_t integer(std::string_view name) const;
  /// The value of a real.
  double real(std::string_view name) const;
  /// The value of a flag.
  bool flag(std::string_view name) const;
  /// Value of a choice or text.
  const std::string& text(std::string_view name) const;
  /// True if the user set it.
  bool given(std::string_view name) const;

  /// One parameter's value in this run.
  struct Value {
    std::string name;                     // the parameter
    ParamType type = ParamType::integer;  // says which member counts
    std::string text;                     // canonical: as printed in reports and trace headers
    int64_t integer = 0;                  // of an integer
    double real = 0;                      // of a real
    bool given = false;                   // the user set it
  };
  /// All, in the order of their declarations.
  const std::vector<Value>& values() const { return values_; }

 private:
  const Value& find(std::string_view name, ParamType a, ParamType b) const;
  std::vector<Value> values_;
};

}  // namespace drywell::kernels
