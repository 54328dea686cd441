"""CuPy: reductions take CuPy's own kernels, which it compiles from CUDA C++, instead of CUB's, which are machine code. So are the libraries under
its matrix products, linear algebra, sorting, Fourier transforms and random numbers: NumPy and SciPy compute those, on copies."""

import functools
import importlib
import os

from drywell_boot import device

_PRODUCTS = ("matmul", "dot", "vdot", "inner", "tensordot", "einsum", "lexsort")
_LINEAR = (
    "cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_power matrix_rank multi_dot pinv qr slogdet solve svd svdvals tensorinv tensorsolve"
).split()
_TRANSFORMS = "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 fftn ifftn rfftn irfftn hfftn ihfftn dct idct dctn idctn dst idst dstn idstn".split()
_FACTORS = "lu lu_factor lu_solve solve_triangular expm".split()


def package(module):
    """Called before the package runs: it reads the variable then. What is returned gets the package when it has run."""
    if "CUPY_ACCELERATORS" not in os.environ:
        os.environ["CUPY_ACCELERATORS"] = ""
        device.say("CuPy's CUB is machine code: reductions take CuPy's own kernels (CUPY_ACCELERATORS)")
    return _libraries


def _without_cub(cupy):
    """CUB for whole arrays is machine code, and CuPy does not look at its errors: its results would be whatever the memory has. Reductions by
    CUB in blocks are compiled from CUDA C++, and stay."""
    for module in (cupy._core, cupy._core._accelerator):
        choose = module.set_routine_accelerators

        def set_routine_accelerators(accelerators, choose=choose):
            names = [a for a in accelerators if a not in ("cub", cupy._core._accelerator.ACCELERATOR_CUB)]
            if len(names) != len(accelerators):
                device.say("CuPy's CUB is machine code: whole arrays take CuPy's own kernels")
            choose(names)

        module.set_routine_accelerators = set_routine_accelerators
    cupy._core.set_routine_accelerators(cupy._core.get_routine_accelerators())


def compilers(module):
    """cupy.cuda.compiler: nvcc, which a program may choose for its raw kernels, makes PTX instead of machine code, which the driver takes as well."""
    by_nvcc = module.compile_using_nvcc

    @functools.wraps(by_nvcc)
    def to_ptx(source, options=(), arch=None, filename="kern.cu", code_type="cubin", separate_compilation=False, log_stream=None):
        options = tuple("-rdc=true" if o in ("-dc", "--device-c") else o for o in options)  # an object has no PTX by itself
        return by_nvcc(source, options, arch, filename, "ptx", False, log_stream)

    module.compile_using_nvcc = to_ptx


def _begin(cupy):
    device.say("CuPy's libraries (products, linear algebra, sorting, FFT, random numbers) are computed by NumPy and SciPy on the CPU; they take no simulated time")
    if cupy.cuda.get_current_stream().is_capturing():
        raise RuntimeError("drywell: CuPy's libraries are computed on the host, and cannot be captured into a graph")


def _map(f, x):
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(_map(f, one) for one in x))
    return type(x)(_map(f, one) for one in x) if isinstance(x, (list, tuple)) else f(x)


def _to_host(cupy, x):
    return _map(lambda one: cupy.asnumpy(one) if isinstance(one, cupy.ndarray) else one, x)


def _to_device(cupy, x):
    """NumPy's named results (eigenvalues, singular values) keep their names."""
    import numpy

    return _map(lambda one: cupy.asarray(one) if isinstance(one, (numpy.ndarray, numpy.generic)) else one, x)


def _on_cpu(cupy, function, theirs):
    """`function` of NumPy or SciPy for arrays on the device."""

    @functools.wraps(theirs)
    def call(*args, out=None, **kwargs):
        _begin(cupy)
        result = _to_device(cupy, function(*_to_host(cupy, args), **{k: _to_host(cupy, v) for k, v in kwargs.items()}))
        if out is None:
            return result
        out[...] = result
        return out

    return call


def _replace(cupy, module, names, host):
    for name in names:
        if hasattr(module, name) and hasattr(host, name):
            setattr(module, name, _on_cpu(cupy, getattr(host, name), getattr(module, name)))


def _libraries(cupy):
    import numpy

    _without_cub(cupy)
    _replace(cupy, cupy, _PRODUCTS, numpy)
    _replace(cupy, cupy.linalg, _LINEAR, numpy.linalg)
    _replace(cupy, cupy.fft, _TRANSFORMS, numpy.fft)
    _methods(cupy)
    _random(cupy)
    # CuPy's own is cuBLAS for matrices of floats; a copy into that order is a kernel of CuPy's.
    cupy.asfortranarray = lambda a, dtype=None: cupy.asarray(a, dtype=dtype, order="F")


def vectors(module):
    """cupy.cublas: what CuPy's iterative solvers ask of it."""
    import cupy
    import numpy

    def reduced(function):
        def call(*arrays, out=None):
            _begin(cupy)
            result = cupy.asarray(function(*map(cupy.asnumpy, arrays)))
            if out is None:
                return result
            out[...] = result
            return out

        return call

    def axpy(a, x, y):
        y += cupy.asarray(a, dtype=y.dtype) * x

    def scal(a, x):
        x *= cupy.asarray(a, dtype=x.dtype)

    def gemv(transa, alpha, a, x, beta, y):
        _begin(cupy)
        host = {0: lambda m: m, 1: lambda m: m.T, 2: lambda m: m.conj().T}["NTC".index({"H": "C"}.get(transa, transa)) if isinstance(transa, str) else int(transa)]
        y[...] = alpha * cupy.asarray(host(cupy.asnumpy(a)) @ cupy.asnumpy(x)) + (beta * y if beta else 0)

    module.dot, module.dotu, module.dotc = reduced(numpy.dot), reduced(numpy.dot), reduced(numpy.vdot)
    module.nrm2, module.asum = reduced(numpy.linalg.norm), reduced(lambda x: abs(x.real).sum() + abs(x.imag).sum())
    module.axpy, module.scal, module.gemv = axpy, scal, gemv


def scipy_fft(module):
    _of_scipy(module, "scipy.fft", _TRANSFORMS)


def scipy_linalg(module):
    _of_scipy(module, "scipy.linalg", _FACTORS)


def _of_scipy(module, name, functions):
    try:
        host = importlib.import_module(name)
    except ImportError:
        return  # without SciPy they fail by CUDA's error
    import cupy

    _replace(cupy, module, functions, host)


def _methods(cupy):
    """Products and sorting as methods of an array."""
    array = cupy.ndarray
    array.dot = lambda self, other, out=None: cupy.dot(self, other, out=out)
    # A sparse matrix on the right has the product.
    array.__matmul__ = lambda self, other: NotImplemented if hasattr(other, "tocsr") else cupy.matmul(self, other)
    array.__rmatmul__ = lambda self, other: cupy.matmul(other, self)
    array.__imatmul__ = lambda self, other: cupy.matmul(self, other, out=self)

    def in_place(name):
        def call(self, *args, **kwargs):
            _begin(cupy)
            host = cupy.asnumpy(self)
            getattr(host, name)(*args, **kwargs)
            self[...] = cupy.asarray(host)

        return call

    def positions(name, **fixed):
        def call(self, *args, **kwargs):
            _begin(cupy)
            return cupy.asarray(getattr(cupy.asnumpy(self), name)(*args, **{**kwargs, **fixed}))

        return call

    array.sort, array.partition = in_place("sort"), in_place("partition")
    array.argsort, array.argpartition = positions("argsort", kind="stable"), positions("argpartition")


# ---- random numbers
class _Generators:
    """The functions of cuRAND that CuPy's RandomState calls: a generator is a number here."""

    def __init__(self, cupy):
        self.cupy, self.generators = cupy, {}

    def createGenerator(self, kind):
        number = len(self.generators) + 1
        self.generators[number] = self._seeded(number, None)
        return number

    def _seeded(self, number, seed):
        import numpy

        self.generators[number] = numpy.random.Generator(numpy.random.Philox(seed))
        return self.generators[number]

    def destroyGenerator(self, number):
        self.generators[number] = None

    def setPseudoRandomGeneratorSeed(self, number, seed):
        self._seeded(number, seed % 2**64)

    def setGeneratorOffset(self, number, offset):
        self.generators[number].bit_generator.advance(offset)

    def setStream(self, number, stream):
        pass

    def _write(self, values, address, dtype):
        _begin(self.cupy)
        self.cupy.cuda.get_current_stream().synchronize()
        host = values.astype(dtype)
        device.copy(address, host.ctypes.data, host.nbytes)

    def generate(self, number, address, size):
        self._write(self.generators[number].integers(0, 2**32, size, "uint32"), address, "uint32")

    def _uniform(self, number, address, size, dtype):
        """cuRAND's numbers are above 0, and may be 1."""
        self._write(1 - self.generators[number].random(size, dtype), address, dtype)

    def generateUniform(self, number, address, size):
        self._uniform(number, address, size, "float32")

    def generateUniformDouble(self, number, address, size):
        self._uniform(number, address, size, "float64")

    def generateNormal(self, number, address, size, mean, deviation):
        self._write(self.generators[number].normal(mean, deviation, size), address, "float32")

    def generateNormalDouble(self, number, address, size, mean, deviation):
        self._write(self.generators[number].normal(mean, deviation, size), address, "float64")

    def generateLogNormal(self, number, address, size, mean, deviation):
        self._write(self.generators[number].lognormal(mean, deviation, size), address, "float32")

    def generateLogNormalDouble(self, number, address, size, mean, deviation):
        self._write(self.generators[number].lognormal(mean, deviation, size), address, "float64")


class _BitGenerator:
    """In place of CuPy's bit generators, whose state is on the device."""

    def __init__(self, seed=None):
        self.seed = seed


def _generator(cupy):
    class Generator:
        """NumPy's generator for arrays on the device."""

        def __init__(self, bit_generator):
            import numpy

            self.bit_generator = bit_generator
            self._host = numpy.random.Generator(numpy.random.Philox(_to_host(cupy, bit_generator.seed)))

        def __getattr__(self, name):
            return _on_cpu(cupy, getattr(self._host, name), getattr(self._host, name))

    return Generator


def _random(cupy):
    from cupy_backends.cuda.libs import curand

    ours = _Generators(cupy)
    for name in dir(_Generators):
        if not name.startswith("_") and hasattr(curand, name):
            setattr(curand, name, getattr(ours, name))
    random = cupy.random
    random.Generator = _generator(cupy)
    for name in ("BitGenerator", "XORWOW", "MRG32k3a", "Philox4x3210"):
        setattr(random, name, type(name, (_BitGenerator,), {}))
    random.default_rng = lambda seed=None: seed if isinstance(seed, random.Generator) else random.Generator(seed if isinstance(seed, _BitGenerator) else random.XORWOW(seed))
