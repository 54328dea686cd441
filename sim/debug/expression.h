// Conditions of breakpoints: arithmetic over registers, special registers, memory and the warp's place.
//
//   %r1 == 3 && %tid.x < 32      u32[smem 0x400] != 0      f32(%r7) > 1.5      cta.x == 0 && warp == 2      u32[smem tile + 16 * %i] > 7
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sim/debug/view.h"

namespace drywell::sim {

class Expression {
 public:
  /// Throws InputError E4323 with the position of the mistake.
  static Expression parse(std::string_view text);
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  /// The value for one lane of a warp. Throws InputError E4322 for a register that the function does not have, E4324 for an
  /// address outside memory.
  double evaluate(const Session& s, const Warp& w, uint32_t lane) const;
  /// True if the value is not zero for at least one lane of `lanes`.
  bool holds(const Session& s, const Warp& w, LaneMask lanes) const;
  const std::string& text() const { return text_; }

  struct Node;

 private:
  Expression(std::string text, std::unique_ptr<Node> root);
  std::string text_;
  std::unique_ptr<Node> root_;
};

}  // namespace drywell::sim
