// What an operation needs beside the operands every instruction has: one of the types of this folder, each made for its family of
// instructions. Executor, timing and checker read it through that type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "sim/state/payload/kind.h"

namespace drywell::sim {

/// Throws InternalError: a reader takes a payload for another family's.
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
    if (kind_ != P::kKind) [[unlikely]] wrong_payload(kind_, P::kKind);
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
