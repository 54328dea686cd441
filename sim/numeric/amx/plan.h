// Whole matrix instructions on the tile unit: the supported forms, and the columns that remain. Private to sim/numeric.
#pragma once

#include <vector>

#include "drywell/sim/numeric/mma_tile.h"

namespace drywell::numeric {

/// For each row of A, a bit for each 32 columns that have not been computed.
using TileLeft = std::vector<uint32_t>;

/// Computes the part that the tile unit supports. Returns false, with D unchanged, if that is nothing.
bool multiply_with_amx(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left);
/// The same for elements of at most eight bits; the numbers of rows must be multiples of the tiles' rows.
bool multiply_bytes_with_amx(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left);
/// Computes the whole tile, or returns false.
bool multiply_with_amx(const IntegerTile& tile, const TileOutput& out);

}  // namespace drywell::numeric
