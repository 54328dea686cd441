// Whole matrix instructions on the tile unit: which can be done there, and what is left over. Private to sim/numeric.
#pragma once

#include <vector>

#include "drywell/sim/numeric/mma_tile.h"

namespace drywell::numeric {

/// For each row of A, a bit for each 32 columns that have not been computed.
using TileLeft = std::vector<uint32_t>;

/// Computes what the tile unit can; false if that is nothing at all, and then D is untouched.
bool multiply_on_tile_unit(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left);
/// The same of elements of at most eight bits; the rows fill tiles.
bool multiply_bytes_on_tile_unit(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left);
/// All or nothing.
bool multiply_on_tile_unit(const IntegerTile& tile, const TileOutput& out);

}  // namespace drywell::numeric
