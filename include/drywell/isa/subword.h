// Bytes and half-words of a register, as the operands of video instructions select them: r.b0, r.h1, r.b7654 (PTX ISA 9.7.17, 9.7.18).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace drywell::isa {

/// A selection of bytes or half-words. PTX writes the last element first: of .b7654 element 0 is byte 4.
struct Subword {
  /// What the digits count.
  enum class Unit : uint8_t {
    byte,
    half
  };

  Unit unit = Unit::byte;           // of the digits
  uint8_t count = 0;                // elements; 0: the whole register
  std::array<uint8_t, 2> digits{};  // four bits each, element 0 in the lowest

  /// True without a selector.
  constexpr bool whole() const { return count == 0; }
  /// The byte or half-word that is element `k`.
  constexpr unsigned element(unsigned k) const { return digits[k / 2] >> (4 * (k % 2)) & 15u; }

  bool operator==(const Subword&) const = default;
};

/// Parses "b0", "h32" or "b7654"; returns nothing for other texts. Bytes are numbered to 7 and half-words to 3, because an instruction with two
/// source registers selects from both.
std::optional<Subword> find_subword(std::string_view text);
/// Returns the text that find_subword() parses, "" for the whole register.
std::string subword_text(const Subword& s);

}  // namespace drywell::isa
