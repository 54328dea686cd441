#include "support/h200_tensor_maps.h"

#include <charconv>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/paths.h"

namespace drywell::test {
namespace {

using namespace isa;

template <class A>
void read_list(const std::string& text, A& into) {
  std::istringstream in(text);
  size_t i = 0;
  for (std::string word; std::getline(in, word, ',') && i < into.size(); ++i) into[i] = static_cast<typename A::value_type>(std::stoll(word));
}

TensorMapFields read_fields(const std::string& text) {
  TensorMapFields f;
  f.address = 0x7f0000001000;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    const std::string key = word.substr(0, word.find('=')), value = word.substr(word.find('=') + 1);
    const auto number = [&] { return static_cast<uint32_t>(std::stoul(value)); };
    if (key == "mode") f.mode = static_cast<TensorMapMode>(number());
    if (key == "type") f.type = static_cast<TensorType>(number());
    if (key == "rank") f.rank = number();
    if (key == "dim") read_list(value, f.dim);
    if (key == "stride") read_list(value, f.stride);
    if (key == "box") read_list(value, f.box);
    if (key == "es") read_list(value, f.element_stride);
    if (key == "lo") read_list(value, f.lower_corner);
    if (key == "hi") read_list(value, f.upper_corner);
    if (key == "ch") f.channels_per_pixel = number();
    if (key == "px") f.pixels_per_column = number();
    if (key == "il") f.interleave = static_cast<Interleave>(number());
    if (key == "sw") f.swizzle = static_cast<Swizzle>(number());
    if (key == "l2") f.l2_promotion = static_cast<L2Promotion>(number());
    if (key == "oob") f.oob_fill = static_cast<OobFill>(number());
  }
  for (uint32_t i = f.rank; i < 5; ++i) {  // fields beyond the rank are not stored
    f.dim[i] = f.box[i] = f.element_stride[i] = 1;
    f.stride[i - 1] = 0;
  }
  return f;
}

TensorMap read_bytes(const std::string& hex) {
  TensorMap m;
  for (size_t i = 0; i < kTensorMapBytes; ++i) {
    const auto [end, error] = std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, m.bytes[i], 16);
    if (error != std::errc()) throw std::runtime_error("not hexadecimal: " + hex);
  }
  return m;
}

}  // namespace

std::vector<DriverTensorMap> h200_tensor_maps() {
  std::ifstream in(source_path("tests/data/tensor_map/h200.txt"));
  std::vector<DriverTensorMap> maps;
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(" : ");
    if (line.starts_with('#') || colon == std::string::npos) continue;
    maps.push_back({line.substr(0, colon), read_fields(line.substr(0, colon)), read_bytes(line.substr(colon + 3))});
  }
  return maps;
}

}  // namespace drywell::test
