// libFuzzer harness of `drywell desc tensor-map`: any 128 bytes are a tensor map or diagnostics; what is a map can be described, encoded,
// copied from and drawn. Coordinates follow the map.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "drywell/core/error.h"
#include "drywell/isa/inspect/operand_map.h"
#include "drywell/isa/tensor_map.h"
#include "drywell/isa/tensor_tile.h"

namespace {

using namespace drywell;

constexpr size_t kMostDrawn = 8192;  // bytes of shared memory; larger pictures take the time of many inputs

isa::TensorRequest request_of(const isa::TensorMapFields& f, const uint8_t* data, size_t size) {
  isa::TensorRequest r;
  r.mode = f.mode == isa::TensorMapMode::tile ? isa::Mod::tile : isa::Mod::im2col;
  std::memcpy(r.coord.data(), data, std::min(size, sizeof r.coord));
  return r;
}

void copy_and_draw(const isa::TensorMapFields& f, const isa::TensorRequest& r) {
  Diagnostics found;
  isa::check_request(f, r, found);
  if (found.has_errors()) return;
  const size_t bytes = isa::tensor_rows(f, r).geometry.smem_bytes();
  if (bytes <= kMostDrawn) (void)isa::tensor_memory(f, r);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  isa::TensorMap map;
  const size_t bytes = std::min(size, map.bytes.size());
  std::copy_n(data, bytes, map.bytes.begin());
  for (const unsigned capability : {90u, 100u}) {
    Diagnostics found;
    const isa::TensorMapFields f = isa::decode(map, found);
    isa::check(f, capability, found);
    (void)isa::describe(f);
    (void)isa::is_by_driver(map);
    if (found.has_errors()) continue;
    (void)isa::encode(f, capability);
    try {
      copy_and_draw(f, request_of(f, data + bytes, size - bytes));
    } catch (const Unsupported&) {
    }
  }
  return 0;
}
