// Operands of an operation besides those common to all instructions: one of the types of this folder, each for one family of
// instructions. Executor, timing and checker read them through that type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "sim/state/payload/kind.h"

namespace drywell::sim {

/// Throws InternalError: the payload that was read belongs to another family.
[[noreturn]] void wrong_payload(PayloadKind there, PayloadKind asked);

class Payload {
 public:
  static constexpr size_t kBytes = 32;

  template <class P>
  P& emplace(const P& value) {
    check_type<P>();
    kind_ = P::kKind;
    return *new (bytes_.data()) P(value);
  }
  template <class P>
  const P& as() const {
    check_type<P>();
#ifndef NDEBUG
    if (kind_ != P::kKind) [[unlikely]]
      wrong_payload(kind_, P::kKind);
#endif
    return *std::launder(reinterpret_cast<const P*>(bytes_.data()));
  }
  /// For readers of operations of any family.
  template <class P>
  const P* get_if() const {
    return kind_ == P::kKind ? &as<P>() : nullptr;
  }

 private:
  template <class P>
  static constexpr void check_type() {
    static_assert(std::is_trivially_copyable_v<P> && sizeof(P) <= kBytes && alignof(P) <= 8);
  }

  alignas(8) std::array<std::byte, kBytes> bytes_{};
  PayloadKind kind_ = PayloadKind::none;
};

}  // namespace drywell::sim
