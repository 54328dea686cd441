#!/usr/bin/env bash
# Makes tests/corpus/cuda_*.ptx: nvcc's output for these examples. Needs CUDA 13.0's nvcc.
set -euo pipefail
cd "$(dirname "$0")"
nvcc=${NVCC:-/usr/local/cuda/bin/nvcc}
for name in tma_copy gemm_bf16 gemm_mxf8 gemm_nvf4; do
  arch=compute_100a
  [ "$name" = tma_copy ] && arch=compute_90a  # runs on Hopper too
  "$nvcc" -ptx -arch=$arch -std=c++17 -O3 -lineinfo -o - "$name.cu" | sed "s|\"$PWD/|\"examples/cuda/|" >"../../tests/corpus/cuda_$name.ptx"
done
