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
#include "cudart/table/driver.inc"
};

/// A function that has other parameters since CUDA `until`.
struct EarlierEntryPoint {
  std::string_view name;
  int until;
  void* address;
};

// By rising version.
const EarlierEntryPoint kEarlier[] = {
#define EARLIER(NAME_, UNTIL_, FUNCTION_) {NAME_, UNTIL_, reinterpret_cast<void*>(&FUNCTION_)},
#include "cudart/table/driver.inc"
};

// Programs fill whole tables with the addresses of functions that they may never call: a function that is not served is found,
// and reports itself when it is called.
const EntryPoint kNotServed[] = {
#define NOT_SERVED(NAME_) {#NAME_, reinterpret_cast<void*>(&NAME_)},
#include "cudart/table/driver.inc"
};

/// Returns "cuMemcpy2D" for "cuMemcpy2D_v2_ptds": the name without version and stream suffix, by which programs ask for it.
std::string_view asked_name(std::string_view name) { return name.substr(0, name.find('_')); }

}  // namespace

void* driver_entry_point(std::string_view name, int version) {
  for (const EarlierEntryPoint& e : kEarlier) {
    if (e.name == name && version < e.until) return e.address;
  }
  for (const EntryPoint& e : kEntryPoints) {
    if (e.name == name) return e.address;
  }
  for (const EntryPoint& e : kNotServed) {
    if (asked_name(e.name) == asked_name(name)) return e.address;
  }
  return nullptr;
}

}  // namespace drywell::cudart
