// Tensor maps that an H200's driver encoded (tests/data/tensor_map/h200.txt).
#pragma once

#include <string>
#include <vector>

#include "drywell/isa/tensor_map.h"

namespace drywell::test {

struct DriverTensorMap {
  std::string line;  // as the file has it, for messages
  isa::TensorMapFields fields;
  isa::TensorMap bytes;
};
std::vector<DriverTensorMap> h200_tensor_maps();

}  // namespace drywell::test
