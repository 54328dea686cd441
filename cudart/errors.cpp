#include "cudart/errors.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace drywell::cudart {
namespace {

struct Row {
  int value;
  const char *runtime, *driver, *text;
};

constexpr Row kRows[] = {
#define CUDA_ERROR(VALUE_, RUNTIME_, DRIVER_, TEXT_) {VALUE_, RUNTIME_, DRIVER_, TEXT_},
#include "cudart/table/errors.inc"
#undef CUDA_ERROR
};

const Row* row(CudaError e) {
  const auto it = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.value == static_cast<int>(e); });
  return it == std::end(kRows) ? nullptr : it;
}

/// Of one code, or of all that begin alike.
struct CodeMeaning {
  constexpr CodeMeaning(Code c, CudaError e) : one(c), error(e) {}
  constexpr CodeMeaning(std::string_view of_several, CudaError e) : beginning(of_several), error(e) {}
  bool fits(Code c) const { return one.has_value() ? *one == c : code_name(c).starts_with(beginning); }
  std::optional<Code> one;
  std::string_view beginning;
  CudaError error;
};

// The first match counts. If PTX does not specify the device's error, the result is a launch failure, as CUDA reports for
// errors inside a kernel that have no separate number.
constexpr CodeMeaning kFaults[] = {
    {Code::F3001, CudaError::illegal_address},
    {Code::F3002, CudaError::misaligned_address},
    {Code::F3006, CudaError::invalid_pc},
    {Code::F3101, CudaError::misaligned_address},
    {Code::F3214, CudaError::tensor_memory_leak},
    {Code::F3301, CudaError::misaligned_address},
    {Code::F3305, CudaError::misaligned_address},
    {Code::F3306, CudaError::illegal_address},
    {Code::F3307, CudaError::illegal_address},
    {Code::F3310, CudaError::misaligned_address},
    {"F33", CudaError::illegal_instruction},
    {Code::F3501, CudaError::illegal_address},
    {Code::F3601, CudaError::launch_timeout},
    {Code::F3602, CudaError::launch_timeout},
    {Code::F3604, CudaError::launch_timeout},
    {Code::F3605, CudaError::launch_timeout},
    {Code::F3702, CudaError::assert_failed},
    {"U", CudaError::not_supported},
    {"", CudaError::launch_failure},
};

constexpr CodeMeaning kExceptions[] = {
    {Code::E4100, CudaError::memory_allocation},
    {Code::E4101, CudaError::memory_allocation},
    {Code::E4105, CudaError::memory_allocation},
    {Code::E4102, CudaError::invalid_value},
    {Code::E4103, CudaError::invalid_value},
    {Code::E4104, CudaError::not_supported},
    {Code::E4114, CudaError::no_kernel_image},
    {"E411", CudaError::invalid_value},
    {Code::E4122, CudaError::invalid_cluster_size},
    {Code::E4123, CudaError::invalid_configuration},
    {"E412", CudaError::invalid_value},
    {"E20", CudaError::no_device},
    {Code::E4603, CudaError::no_kernel_image},
    {Code::E4605, CudaError::unknown},
    {"E46", CudaError::invalid_kernel_image},
    {"E40", CudaError::file_not_found},
    {"E1", CudaError::invalid_ptx},
    {"U", CudaError::not_supported},
    {"", CudaError::unknown},
};

template <size_t N>
CudaError lookup(const CodeMeaning (&table)[N], Code code) {
  return std::find_if(std::begin(table), std::end(table), [&](const CodeMeaning& m) { return m.fits(code); })->error;
}

}  // namespace

const char* runtime_name(CudaError e) {
  const Row* r = row(e);
  return r != nullptr && *r->runtime != 0 ? r->runtime : "unrecognized error code";
}
const char* driver_name(CudaError e) {
  const Row* r = row(e);
  return r != nullptr && *r->driver != 0 ? r->driver : nullptr;
}
const char* error_text(CudaError e) {
  const Row* r = row(e);
  return r != nullptr ? r->text : nullptr;
}

CudaError error_of_fault(Code code) { return lookup(kFaults, code); }
CudaError error_of(const Error& e) { return lookup(kExceptions, e.code()); }

}  // namespace drywell::cudart
