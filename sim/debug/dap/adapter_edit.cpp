// What clients change: registers, lanes of registers, memory.
#include <fmt/format.h>

#include "drywell/core/whole_number.h"
#include "sim/debug/dap/adapter.h"
#include "sim/debug/edit.h"

namespace drywell::sim::dap {
namespace {

std::vector<uint8_t> from_base64(const std::string& text) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> out;
  uint32_t word = 0, bits = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) throw DapError{"the data are not base64"};
    word = word << 6 | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out.push_back(static_cast<uint8_t>(word >> bits));
  }
  return out;
}

/// "[7]" is lane 7.
uint32_t lane_of(const std::string& name) {
  const bool framed = name.size() > 2 && name.front() == '[' && name.back() == ']';
  const std::optional<uint32_t> lane = framed ? whole_number<uint32_t>(std::string_view(name).substr(1, name.size() - 2)) : std::nullopt;
  if (lane.value_or(kWarpSize) >= kWarpSize) throw DapError{fmt::format("no lane '{}'", name)};
  return *lane;
}

}  // namespace

// A register is changed in every lane, an element of it in one.
Json DapAdapter::set_variable(const Json& a) {
  const Handle h = handle_of(a, "variablesReference");
  const auto name = a.at("name").get<std::string>(), value = a.at("value").get<std::string>();
  const bool lane = h.kind == Handle::Kind::lanes;
  if (!lane && h.kind != Handle::Kind::registers && h.kind != Handle::Kind::predicates) throw DapError{fmt::format("'{}' cannot be changed", name)};
  const RegisterRef r = find_register(find_warp(h.warp), lane ? h.name : name);
  const uint32_t which = lane ? lane_of(name) : 0;
  edit_register(session(), h.warp, r, lane ? std::optional(which) : std::nullopt, value);
  const ValueType type = r.predicate ? parse_value_type("u8") : type_of_register(r.declared);
  return {{"value", print_value(type, read_register(find_warp(h.warp), r)[which])}, {"type", r.predicate ? "pred" : type.name}, {"variablesReference", 0}};
}

Json DapAdapter::write_memory(const Json& a) {
  const int64_t offset = a.value("offset", int64_t{0});
  const uint64_t address = parse_reference(a.at("memoryReference").get<std::string>()) + static_cast<uint64_t>(offset);
  const std::vector<uint8_t> bytes = from_base64(a.at("data").get<std::string>());
  const size_t there = memory_bytes(session(), debugger_.focus, address);
  if (there < bytes.size() && !a.value("allowPartial", false)) throw DapError{fmt::format("{:#x} has memory for {} of {} bytes", address, there, bytes.size())};
  return {{"bytesWritten", edit_memory(session(), debugger_.focus, address, bytes)}};
}

}  // namespace drywell::sim::dap
