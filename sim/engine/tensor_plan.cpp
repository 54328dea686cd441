#include "sim/engine/tensor_plan.h"

#include <fmt/format.h>

#include <cstring>

namespace drywell::sim {
namespace {

isa::TensorAccess access_of(const TensorCopy& t) {
  return t.direction == TensorCopy::Direction::load ? isa::TensorAccess::load : isa::TensorAccess::store;
}

}  // namespace

EngineResult plan_copy(const TensorCopy& t, TensorPlan& plan) {
  isa::TensorMap bytes;
  std::memcpy(bytes.bytes.data(), t.map.data(), t.map.size());
  Diagnostics problems;
  plan.map = isa::decode(bytes, problems);
  if (problems.has_errors()) {
    return GuestError{Code::F3302, fmt::format("the 128 bytes at {:#x} are not a tensor map: {}", t.map_address,
                                               problems.to_string())};
  }
  isa::check(plan.map, 100, problems);
  if (problems.has_errors())
    return GuestError{Code::F3302,
                      fmt::format("the tensor map at {:#x} breaks a rule of the encode functions: {}",
                                  t.map_address, problems.to_string())};
  if (plan.map.rank != t.rank)
    return GuestError{
        Code::F3303, fmt::format("a {}-dimensional copy through a tensor map of rank {} (error 715 on a device)",
                                 t.rank, plan.map.rank)};
  if (plan.map.interleave != isa::Interleave::none && plan.map.mode != isa::TensorMapMode::tile)
    return GuestError{Code::U5000, "unsupported: im2col copy through an interleaved map"};
  const isa::TensorRequest request{t.mode, access_of(t), t.coord, t.offset};
  isa::check_request(plan.map, request, problems);
  if (problems.has_errors()) return GuestError{Code::F3304, problems.to_string()};
  if (shared_offset(t.smem) % isa::kTensorSmemAlignment != 0) {
    return GuestError{
        Code::F3305,
        fmt::format(
            "tensor copy at shared address {:#x}: 128-byte alignment is needed (error 716 on a device)",
            shared_offset(t.smem))};
  }
  plan.box = isa::tensor_rows(plan.map, request);
  return std::nullopt;
}

}  // namespace drywell::sim
