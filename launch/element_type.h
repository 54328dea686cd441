// Element types of buffers and scalar arguments by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drywell::kernels {

struct ElementType {
  enum class Kind : uint8_t {
    real,
    integer,
    bits
  } kind = Kind::bits;
  std::string_view name;
  std::string_view dtype;  // dtype of .npy files; bf16 and the byte types are stored as unsigned bits
  uint32_t bytes = 1;
};

/// Returns nullptr for an unknown name.
const ElementType* find_element_type(std::string_view name);
/// Returns the type whose .npy dtype is `dtype`; nullptr if there is none.
const ElementType* element_type_of(std::string_view dtype);
std::string element_type_names();

/// Returns f16 or bf16 bits of `v`, rounded to nearest even.
uint16_t encode_half(const ElementType& t, float v);
/// Parses "-2", "0x3F", "1.5" into the element's bytes; returns false if the text is not a value of the type.
bool parse_element(const ElementType& t, std::string_view value, std::vector<uint8_t>& out);
/// Returns element `i` of a buffer as a double.
double element_value(const ElementType& t, const uint8_t* data, uint64_t i);

}  // namespace drywell::kernels
