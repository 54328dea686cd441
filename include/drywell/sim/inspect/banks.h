// Shared-memory accesses of a warp, from an expression for each lane's address, and the banks that they use.
#pragma once

#include <string_view>

#include "drywell/isa/layout/picture.h"
#include "drywell/isa/swizzle.h"
#include "drywell/sim/access.h"

namespace drywell::sim {

/// Addresses of 32 lanes. `expression` is arithmetic on `lane` ("lane*16 ^ (lane/8*16)": + - * / % & | ^ << >> and parentheses,
/// C's precedence) or a layout from lanes to bytes ("Sw<3,4,3> o 0 o (8,4):(128,16)"). Throws InputError E18xx, and E1803 for
/// addresses below zero.
LaneAddresses lane_addresses(std::string_view expression, uint32_t bytes, uint32_t lanes = kWarpSize);

/// Bytes per address of an instruction and the number of lanes that give addresses: "ld.v4.b32", "st.b64", "ldmatrix.x4",
/// "stmatrix.x2.trans". Throws InputError E4306 for other instructions.
struct AccessForm {
  uint32_t bytes = 4, lanes = kWarpSize;  // of each lane; lanes that give an address
};
/// The form that the instruction's name says.
AccessForm access_form(std::string_view instruction);

/// The same addresses after a shared-memory swizzle.
LaneAddresses swizzled(LaneAddresses a, isa::Swizzle s);

/// Rows: the groups of lanes that are served together (accesses wider than 4 bytes have several groups); columns: the banks.
/// Each cell has the number of different words of the bank that the group needs, and the lanes.
layout::Grid bank_picture(const LaneAddresses& a);

}  // namespace drywell::sim
