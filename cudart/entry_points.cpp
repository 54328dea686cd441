#include "cudart/entry_points.h"

#include <iterator>

#include "cudart/driver_api.h"

namespace drywell::cudart {
namespace {

struct EntryPoint {
  std::string_view name;
  void* address;
};

const EntryPoint kEntryPoints[] = {
#define SERVED(NAME_, FUNCTION_) {NAME_, reinterpret_cast<void*>(&FUNCTION_)},
#include "cudart/table/driver_served.inc"
#undef SERVED
};

}  // namespace

void* driver_entry_point(std::string_view name) {
  for (const EntryPoint& e : kEntryPoints) {
    if (e.name == name) return e.address;
  }
  return nullptr;
}

}  // namespace drywell::cudart
