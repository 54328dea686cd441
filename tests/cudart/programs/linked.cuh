// Declarations of linked_part.cu for other translation units.
#pragma once

#include <cstddef>

__device__ int twice(int x);
extern __constant__ int table[4];
extern __device__ int counter;

/// Runs this unit's own kernel; how many values were wrong.
size_t run_part(int* p);
