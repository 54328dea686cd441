// rcp.approx.ftz.f32 as an H200 computes it, in integers (docs/facts/special-functions.md). Independent of sim/ on purpose.
#pragma once

namespace drywell::kernels::reference {

float approximate_reciprocal(float p);

}  // namespace drywell::kernels::reference
