"""dw.cuda: CUDA C++ by NVRTC."""

import numpy as np
import pytest

import drywell as dw

SOURCE = """
extern "C" __global__ void axpy(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}
"""

RACE = """
extern "C" __global__ void reverse(int* y) {
  __shared__ int s[128];
  s[threadIdx.x] = threadIdx.x;
  y[threadIdx.x] = s[127 - threadIdx.x];
}
"""


def compiled(source, **options):
    try:
        return dw.cuda.compile(source, **options)
    except dw.cuda.Unavailable as e:
        pytest.skip(str(e))


@pytest.mark.parametrize("arch", ["sm_100a", "sm_90a"])
@pytest.mark.parametrize("driver", ["eager", "lazy", "shuffled:2", "timed"])
def test_axpy(arch, driver):
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    r = compiled(SOURCE, arch=arch, name="axpy.cu")[8](x, y, 2.0, 1000, block=128, driver=driver, check="full")
    np.testing.assert_array_equal(y, 2 * x + 1)
    assert r.hazards == []
    if driver == "timed":
        assert ("axpy.cu", 5) in {(line.file.rpartition("/")[2], line.line) for line in r.lines}


def test_a_missing_barrier_is_found_with_its_lines():
    r = compiled(RACE, name="race.cu")[1](dw.poison(128, np.int32), block=128, check="full")
    assert {line for h in r.errors for _, line in h.lines} == {4, 5}


def test_the_compilers_log_is_the_error():
    with pytest.raises(dw.cuda.CompileError, match="identifier .nonsense. is undefined"):
        compiled('extern "C" __global__ void k(int* y) { *y = nonsense; }')


NAMES = """
namespace mine { template <class T, int N> __global__ void scale(T* p) { p[threadIdx.x] *= N; } }
__global__ void plain(float* p) { p[threadIdx.x] += 1; }
__global__ void other(float* p) { p[threadIdx.x] = 0; }
"""


@pytest.mark.parametrize("entry, expected", [("mine::scale<float, 3>", 6), ("plain", 3), ("_Z5plainPf", 3)])
def test_a_kernel_is_named_as_in_cpp_or_as_in_the_ptx(entry, expected):
    x = np.full(32, 2, np.float32)
    compiled(NAMES, entry=entry)[1](x, block=32)
    assert (x == expected).all()


def test_an_unknown_name_is_answered_with_the_kernels_there_are():
    with pytest.raises(KeyError, match="no kernel 'plane': _Z5otherPf, _Z5plainPf|no kernel 'plane': _Z5plainPf, _Z5otherPf"):
        compiled(NAMES, entry="plane")


def test_cudas_headers_are_found_in_wheels_or_a_toolkit():
    if not dw.cuda._include_options():
        pytest.skip("neither nvidia-cuda-runtime nor a toolkit")
    x = np.zeros(1, np.float16)
    compiled('#include <cuda_fp16.h>\nextern "C" __global__ void k(__half* p) { *p = __float2half(1.5f); }')[1](x, block=1)
    assert x[0] == 1.5


def test_a_header_that_is_not_there_has_a_remedy():
    with pytest.raises(dw.cuda.CompileError, match="hint: CUDA's own headers: pip install nvidia-cuda-runtime"):
        compiled('#include "mine.h"\nextern "C" __global__ void k(int* y) { *y = 1; }')
