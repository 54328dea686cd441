// Element types of buffers and scalar arguments by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drywell::kernels {

struct ElementType {
  enum class Kind : uint8_t { real, integer, bits } kind = Kind::bits;
  std::string_view name;
  std::string_view dtype;  // of .npy files; bf16 and the byte types are stored as unsigned bits
  uint32_t bytes = 1;
};

/// nullptr if there is no such type.
const ElementType* find_element_type(std::string_view name);
/// Type whose .npy dtype is `dtype`; nullptr if none.
const ElementType* element_type_of(std::string_view dtype);
std::string element_type_names();

/// f16 or bf16 bits of `v`, nearest even.
uint16_t encode_half(const ElementType& t, float v);
/// "-2", "0x3F", "1.5": the element's bytes; false if the text is no value of the type.
bool parse_element(const ElementType& t, std::string_view value, std::vector<uint8_t>& out);
/// Element `i` of a buffer as a double.
double element_value(const ElementType& t, const uint8_t* data, uint64_t i);

}  // namespace drywell::kernels
