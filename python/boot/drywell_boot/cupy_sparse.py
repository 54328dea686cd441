"""CuPy's sparse matrices: cuSPARSE is machine code, so that SciPy computes products, sums, conversions and triangular solutions, on copies."""

import importlib.util

from drywell_boot.cupy import _begin


def library(module):
    """cupyx.cusparse: its functions take and give CuPy's matrices and arrays."""
    if importlib.util.find_spec("scipy") is None:
        return  # they fail by CUDA's error
    import cupy

    module.MatDescriptor.create = classmethod(lambda kind: kind(0))  # a descriptor of no library; 0 is not destroyed
    functions = _Functions(cupy)
    for names, call in functions.table():
        for name in names.split():
            if hasattr(module, name):
                setattr(module, name, _begun(cupy, call))


def iterative(module):
    """cupyx.scipy.sparse.linalg._iterative: products by the matrix's own method, not by a prepared call of cuSPARSE or cuBLAS."""
    module._make_fast_matvec = lambda matrix: None

    def projection(basis):
        def project(u, j):
            known = basis[:, : j + 1]
            h = known.conj().T @ u
            u -= known @ h
            return h, u

        return project

    module._make_compute_hu = projection


def eigen(module):
    """cupyx.scipy.sparse.linalg._eigen: its Lanczos steps without the libraries' pointers, orthogonalised twice as theirs."""
    import cupy

    def steps(a, basis, u, alpha, beta, start, end):
        for i in range(start, end):
            u[...] = a @ basis[i]
            alpha[i] = cupy.vdot(basis[i], u)
            u -= alpha[i] * basis[i]
            if i:
                u -= beta[i - 1] * basis[i - 1]
            rest = basis[: i + 1].conj() @ u
            u -= basis[: i + 1].T @ rest
            alpha[i] += rest[i]
            beta[i] = cupy.linalg.norm(u)
            if i + 1 < end:
                basis[i + 1] = u / beta[i]

    module._lanczos_fast = lambda matrix, n, ncv: steps


def index(module):
    """cupyx.scipy.sparse._index: rows of elements from the ends of rows."""
    import cupy

    def rows(count, ends):
        return cupy.asarray(_rows(cupy.asnumpy(ends)))[:count]

    module._csr_indptr_to_coo_rows = _begun(cupy, rows)


def solve(module):
    """cupyx.scipy.sparse.linalg._solve."""
    import cupy

    def spsolve(matrix, b):
        import scipy.sparse.linalg

        return cupy.asarray(scipy.sparse.linalg.spsolve(matrix.get().tocsc(), cupy.asnumpy(b)))

    def lsqr(matrix, b):
        import scipy.sparse.linalg

        x, *rest = scipy.sparse.linalg.lsqr(matrix.get(), cupy.asnumpy(b))
        return (cupy.asarray(x), *rest)

    module.spsolve, module.lsqr = _begun(cupy, spsolve), _begun(cupy, lsqr)


def _begun(cupy, call):
    def begin(*args, **kwargs):
        _begin(cupy)
        return call(*args, **kwargs)

    return begin


def _rows(ends):
    import numpy

    return numpy.repeat(numpy.arange(len(ends) - 1, dtype=ends.dtype), numpy.diff(ends))


def _op(matrix, kind):
    """A, its transpose (True, "T") or the conjugate of that ("H")."""
    if kind == "H":
        return matrix.conj().T
    return matrix.T if kind in (True, "T") else matrix


class _Functions:
    """The functions of cupyx.cusparse, by SciPy."""

    def __init__(self, cupy):
        self.cupy = cupy

    def table(self):
        return [
            ("spmv csrmv", self.vector_product), ("spmm csrmm csrmm2", self.product), ("csrgeam csrgeam2 spgeam", self.sum),
            ("csrgemm", self.sparse_product), ("csrgemm2", self.sparse_product_and_sum), ("spgemm", self.scaled_sparse_product),
            ("csr2dense csc2dense sparseToDense", self.dense), ("csrsort cscsort", self.sort), ("coosort", self.sort_pairs),
            ("coo2csr", self.rows_joined), ("coo2csc", self.columns_joined), ("csr2coo", self.rows_apart), ("csc2coo", self.columns_apart),
            ("csr2csc csr2cscEx2", lambda x: self.device("csc", x.get())), ("csc2csr csc2csrEx2", lambda x: self.device("csr", x.get())),
            ("dense2csr", lambda x: self.device("csr", self.host(x))), ("dense2csc", lambda x: self.device("csc", self.host(x))),
            ("denseToSparse", lambda x, format="csr": self.device(format, self.host(x))), ("csr2csr_compress", self.without_small),
            ("spsm", self.solution), ("csrsm2", self.solution_in_place),
        ]  # fmt: skip

    def host(self, x):
        return self.cupy.asnumpy(x)

    def device(self, format, x):
        """A matrix of SciPy, or an array, as one of CuPy in canonical form."""
        import scipy.sparse
        from cupyx.scipy import sparse

        own = getattr(scipy.sparse, f"{format}_matrix")(x)
        if format != "coo":
            own.sort_indices()
        return getattr(sparse, f"{format}_matrix")(own)

    def joined(self, result, old, beta):
        """Into the array that was given, if one was."""
        new = self.cupy.asfortranarray(self.cupy.asarray(result))
        if old is None:
            return new
        old[...] = new + beta * old if beta else new
        return old

    def vector_product(self, a, x, y=None, alpha=1, beta=0, transa=False):
        return self.joined(alpha * (_op(a.get(), transa) @ self.host(x)), y, beta)

    def product(self, a, b, c=None, alpha=1, beta=0, transa=False, transb=False):
        return self.joined(alpha * (_op(a.get(), transa) @ _op(self.host(b), transb)), c, beta)

    def sum(self, a, b, alpha=1, beta=1):
        return self.device("csr", alpha * a.get() + beta * b.get())

    def sparse_product(self, a, b, transa=False, transb=False):
        return self.device("csr", _op(a.get(), transa) @ _op(b.get(), transb))

    def sparse_product_and_sum(self, a, b, d=None, alpha=1, beta=1):
        result = alpha * (a.get() @ b.get())
        return self.device("csr", result if d is None else result + beta * d.get())

    def scaled_sparse_product(self, a, b, alpha=1):
        return self.device("csr", alpha * (a.get() @ b.get()))

    def dense(self, x, out=None):
        return self.joined(x.get().toarray(), out, 0)

    def sort(self, x):
        own = x.get()
        own.has_sorted_indices = False
        own.sort_indices()
        x.indices[...], x.data[...] = self.cupy.asarray(own.indices), self.cupy.asarray(own.data)

    def sort_pairs(self, x, sort_by="r"):
        import numpy

        row, column = self.host(x.row), self.host(x.col)
        order = numpy.lexsort((column, row) if sort_by == "r" else (row, column))
        for part in (x.row, x.col, x.data):
            part[...] = self.cupy.asarray(self.host(part)[order])
        if sort_by == "c":
            x.has_canonical_format = False

    def ends(self, sorted_places, count):
        import numpy

        places = self.host(sorted_places)
        return self.cupy.asarray(numpy.searchsorted(places, numpy.arange(count + 1)).astype(places.dtype))

    def rows_joined(self, x):
        from cupyx.scipy import sparse

        return sparse.csr_matrix((x.data, x.col, self.ends(x.row, x.shape[0])), shape=x.shape)

    def columns_joined(self, x):
        from cupyx.scipy import sparse

        return sparse.csc_matrix((x.data, x.row, self.ends(x.col, x.shape[1])), shape=x.shape)

    def rows_apart(self, x, data, indices):
        from cupyx.scipy import sparse

        return sparse.coo_matrix((data, (self.cupy.asarray(_rows(self.host(x.indptr))), indices)), shape=x.shape)

    def columns_apart(self, x, data, indices):
        from cupyx.scipy import sparse

        return sparse.coo_matrix((data, (indices, self.cupy.asarray(_rows(self.host(x.indptr))))), shape=x.shape)

    def without_small(self, x, tol):
        own = x.get()
        own.data[abs(own.data) <= abs(tol)] = 0
        own.eliminate_zeros()
        return self.device("csr", own)

    def solution(self, a, b, alpha=1.0, lower=True, unit_diag=False, transa=False):
        import scipy.sparse.linalg

        transposed = transa in (True, "T", "H")
        matrix = _op(a.get(), transa).tocsr()
        x = scipy.sparse.linalg.spsolve_triangular(matrix, alpha * self.host(b), lower=lower != transposed, unit_diagonal=unit_diag)
        return self.joined(x.astype(b.dtype), None, 0)

    def solution_in_place(self, a, b, alpha=1.0, lower=True, unit_diag=False, transa=False, **_):
        b[...] = self.solution(a, b, alpha, lower, unit_diag, transa)
