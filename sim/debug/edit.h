// Changes of a user to the state of a launch: registers and memory. They stay when the session goes back and comes again (Session::edit).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/debug/session.h"
#include "sim/debug/view.h"

namespace drywell::sim {

/// Writes `text`, a number as registers of that type print it, to one lane, or to all. Throws InputError E4325 for text that is no such number, for
/// a special register, and for a warp that is not there.
void edit_register(Session& s, const WarpRef& w, const RegisterRef& r, std::optional<uint32_t> lane, std::string_view text);

/// Writes bytes at a generic address: global memory, or the shared memory of a CTA of the warp's cluster. Returns how many there was memory for.
size_t edit_memory(Session& s, const WarpRef& w, uint64_t address, const std::vector<uint8_t>& bytes);

/// Bytes of memory from a generic address on; 0 if there is none.
size_t memory_bytes(Session& s, const WarpRef& w, uint64_t address);

/// The bits of a number of that type: "7", "-1", "0x1F", "1.5"; types of several elements take hexadecimal bits. Nothing for other text.
std::optional<uint64_t> parse_value(const ValueType& t, std::string_view text);

}  // namespace drywell::sim
