// Regular expressions that a user gives: searched in linear time, with bounds on the expression itself.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace drywell {

/// An ECMAScript regular expression without back-references. Its search takes time in proportion to the text
/// and needs no stack of the text's length. Const calls may run at the same time.
class Pattern {
 public:
  /// Throws PatternError: the expression is wrong, or longer, deeper or with larger counts than names need.
  explicit Pattern(std::string_view text);
  /// True if the expression matches a part of `text`. The empty expression matches everything.
  bool finds(std::string_view text) const;

 private:
  struct Compiled;  // std::regex, whose header is slow to read
  std::shared_ptr<const Compiled> compiled_;
};

/// A value, as every exception.
class PatternError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace drywell
