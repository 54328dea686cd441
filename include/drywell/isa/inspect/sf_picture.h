// Pictures of scale factors in the layouts that block-scaled MMAs read.
#pragma once

#include "drywell/isa/layout/picture.h"
#include "drywell/isa/layout/scale_factor.h"

namespace drywell::isa {

/// One 512-byte tile as it lies in global and shared memory: 32 rows of 16 bytes. Each byte shows the row and the number
/// of its factor.
layout::Grid sf_tile_picture();

/// Tensor memory with the factors of one stage: down, the lanes of one partition (the other three hold copies); across, the
/// columns. Each cell lists the row, MMA and factor of its bytes.
layout::Grid sf_tmem_picture(const layout::BlockScaledTile& t, bool of_b, const layout::PictureOptions& options = {});

}  // namespace drywell::isa
