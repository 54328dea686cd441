// Pictures of scale factors where block-scaled MMAs want them.
#pragma once

#include "drywell/isa/layout/picture.h"
#include "drywell/isa/layout/scale_factor.h"

namespace drywell::isa {

/// One 512-byte tile as it lies in global and shared memory: 32 rows of 16 bytes, which row's which factor each byte is.
layout::Grid sf_tile_picture();

/// Tensor memory of one stage's factors, lanes of one partition down (the other three hold copies), columns across: row, MMA and
/// factor in each cell's bytes.
layout::Grid sf_tmem_picture(const layout::BlockScaledTile& t, bool of_b, const layout::PictureOptions& options = {});

}  // namespace drywell::isa
