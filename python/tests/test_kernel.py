"""dw.Kernel: arguments, arrays, results, faults, limits."""

import ctypes
import inspect
import multiprocessing
import os
import pickle
import re
import signal
import struct
import threading
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import drywell as dw
import ptx

DRIVERS = ["eager", "lazy", "shuffled:3", "timed"]


@pytest.fixture(scope="module")
def axpy():
    return dw.Kernel.from_ptx(ptx.AXPY)


def vectors(n=1000):
    r = np.random.default_rng(1)
    return r.integers(-8, 8, n).astype(np.float32), r.integers(-8, 8, n).astype(np.float32)


@pytest.mark.parametrize("driver", DRIVERS)
def test_arrays_change_in_place(axpy, driver):
    x, y = vectors()
    want = 2 * x + y
    r = axpy[8](x, y, 2.0, 1000, block=128, driver=driver, check="full")
    np.testing.assert_array_equal(y, want)
    assert r.hazards == [] and r.assert_clean() is r
    assert (r.cycles is None) == (driver != "timed")


@pytest.mark.parametrize("check", [None, "off"])
def test_without_checks_there_is_no_list_of_hazards(axpy, check):
    x, y = vectors()
    assert axpy[8](x, y, 2.0, 1000, block=128, check=check).hazards is None


def test_an_unknown_level_of_checks_is_refused(axpy):
    with pytest.raises(dw.IllegalError, match="check 'all': off, basic or full"):
        axpy[1](*vectors(), 2.0, 64, block=64, check="all")


def test_a_launch_is_dumped_for_the_command(axpy, tmp_path):
    x, y = vectors(64)
    before = y.copy()
    for _ in range(2):
        axpy[1](x, y, 2.0, 64, block=64, dump=str(tmp_path))
    folders = sorted(p.name for p in tmp_path.iterdir())
    assert folders == ["000-axpy", "001-axpy"]
    text = (tmp_path / "000-axpy" / "launch.toml").read_text()
    assert 'entry = "axpy"' in text and "block = [64, 1, 1]" in text and '"@b0", "@b1"' in text
    assert (tmp_path / "000-axpy" / "b1.raw").read_bytes()[: before.nbytes] == before.tobytes(), "as it was before the launch"


def test_named_arguments_and_default_entry(axpy):
    x, y = vectors(64)
    want = 3 * x + y
    axpy[1](x, n=64, a=3, y=y, block=64)
    np.testing.assert_array_equal(y, want)
    assert axpy.name == "axpy" and [p.name for p in axpy.params] == ["x", "y", "a", "n"]


def test_ptx_from_a_file_names_the_file(tmp_path):
    path = tmp_path / "axpy.ptx"
    path.write_text(ptx.AXPY)
    x, y = vectors(10)
    r = dw.Kernel.from_ptx(path, "axpy")[1](x, y, 1.0, 10, block=32, driver="timed")
    assert {line.file for line in r.lines} == {str(path)}
    assert ptx.AXPY.splitlines()[r.lines[0].line - 1].strip() != ""


def test_timing_adds_up(axpy):
    x, y = vectors()
    r = axpy[8](x, y, 2.0, 1000, block=128, driver="timed", timeline=True, trace=True)
    assert r.cycles and r.seconds == pytest.approx(r.cycles / (r.timing.clock_ghz * 1e9))
    role = r.timing.roles["warps"]
    assert role.warps == 32 and sum(line.instructions for line in r.lines) == role.instructions == r.instructions
    assert set(r.stalls["warps"]) >= {"issued", "memory"}
    assert 0 < r.units["hbm"].utilisation < 1 and r.limits[0].cycles <= r.cycles
    assert r.timeline["seen"] and r.timeline["to"] <= r.cycles and len(r.timeline["warps"]) == 4
    assert "axpy" in r._repr_html_() and "cycles" in r.report()
    assert r.perfetto().startswith("{") and r.csv().count("\n") > r.instructions


def test_two_runs_are_equal(axpy):
    runs = []
    for _ in range(2):
        x, y = vectors()
        runs.append(axpy[8](x, y, 2.0, 1000, block=128, driver="timed", trace=True))
    assert runs[0].cycles == runs[1].cycles and runs[0].trace == runs[1].trace
    assert dw.diff_traces(runs[0], runs[1]) == ""


def test_views_and_strides_keep_their_memory(axpy):
    base = np.zeros(300, np.float32)
    base[100:200] = 1
    axpy[1](base[100:200], base[101:201], 1.0, 50, block=64)
    assert base[:100].sum() == 0 and base[201:].sum() == 0 and base[101] == 2


def test_scalars_by_type_and_size():
    k = dw.Kernel.from_ptx(ptx.ECHO)

    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int32), ("b", ctypes.c_float)]

    out = dw.poison(48, np.uint8)
    k[1](out, -3, 65535, 1.5, 2, 0.5, Pair(7, 0.25))
    assert struct.unpack_from("<i", out, 0)[0] == -3
    assert struct.unpack_from("<H", out, 8)[0] == 65535
    assert struct.unpack_from("<f", out, 16)[0] == 1.5  # .b32 takes a float's bits
    assert struct.unpack_from("<d", out, 24)[0] == 2.0
    assert struct.unpack_from("<e", out, 32)[0] == 0.5
    assert struct.unpack_from("<if", out, 40) == (7, 0.25)
    k[1](out, np.int8(-1), np.uint16(9), np.uint32(0xDEADBEEF), np.float64(0.1), np.float16(1.5), struct.pack("<if", 1, 1))
    assert struct.unpack_from("<I", out, 16)[0] == 0xDEADBEEF and struct.unpack_from("<e", out, 32)[0] == 1.5


@pytest.mark.parametrize("args, error, text", [
    ((1, 2), TypeError, "missing arguments: a, n"),
    ((1, 2, 3, 4, 5), TypeError, "5 arguments for 4 parameters"),
    ((np.zeros(4, np.float32),) * 2 + (1.0, 2**40), OverflowError, "argument 'n': 1099511627776 does not fit in 32 bits"),
    ((np.zeros(4, np.float32),) * 2 + (1.0, 1.5), TypeError, "argument 'n': a float for a parameter of type .u32"),
    ((np.zeros(4, np.float32), "y", 1.0, 1), TypeError, "argument 'y': str is neither an array nor a number"),
    ((np.zeros(4, np.float32),) * 2 + (np.zeros(4), 1), TypeError, "an array for a parameter of 4 bytes"),
    ((np.zeros(4, np.float32),) * 2 + (None, 1), TypeError, "argument 'a': None for a parameter of type .f32"),
    ((np.zeros(4, np.float32),) * 2 + (1.0, None), TypeError, "argument 'n': None for a parameter of type .u32"),
    ((np.longdouble(1.5), np.zeros(4, np.float32), 1.0, 1), TypeError, "argument 'x': a float for a parameter of type .u64"),
    ((np.ma.masked_array([1.0], [True]), np.zeros(4, np.float32), 1.0, 1), TypeError, "a masked array: a kernel does not see the mask"),
])
def test_wrong_arguments_are_named(axpy, args, error, text):
    with pytest.raises(error, match=text.replace(".", r"\.")):
        axpy[1](*args, block=32)


def test_block_is_needed_without_reqntid(axpy):
    with pytest.raises(TypeError, match="give block="):
        axpy[1](*vectors(4), 1.0, 4)


def test_a_fault_names_place_and_line_and_leaves_arrays(axpy):
    x, y = vectors(100)
    before = y.copy()
    with pytest.raises(dw.Fault) as e:
        axpy[1](x, y, 2.0, 128, block=128)
    assert e.value.code == "F3001" and "out of bounds" in str(e.value)
    assert "ld.global.f32" in e.value.where.instruction and "ld.global.f32 %f2" in ptx.AXPY.splitlines()[e.value.line - 1]
    assert e.value.where.warp == 3 and e.value.where.cta == (0, 0, 0)
    np.testing.assert_array_equal(y, before)


def test_a_read_only_array_may_be_read_and_not_written(axpy):
    x, y = vectors(100)
    x.flags.writeable = False
    axpy[1](x, y, 1.0, 100, block=128)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        axpy[1](x, y, 1.0, 100, block=128)


def test_illegal_ptx_has_every_error_with_its_line():
    bad = ptx.AXPY.replace("fma.rn", "fmb.rn").replace("@%p1 bra DONE", "@%p1 bra DONT")
    with pytest.raises(dw.IllegalError) as e:
        dw.Kernel.from_ptx(bad)
    lines = {(d.code, bad.splitlines()[d.line - 1].strip().split()[0]) for d in e.value.diagnostics}
    assert {("E1101", "fmb.rn.f32"), ("E1106", "@%p1")} & lines and len(e.value.diagnostics) >= 2


def test_a_launch_that_a_device_refuses_is_illegal(axpy):
    with pytest.raises(dw.IllegalError) as e:
        axpy[1](*vectors(4), 1.0, 4, block=2048)
    assert e.value.code == "E4120"


def test_unsupported_ptx_is_told_apart():
    text = ptx.HEAD + ".visible .entry k(.param .u64 t) .reqntid 1 { .reg .b64 %rd<2>; .reg .f32 %f<9>; ld.param.u64 %rd1, [t]; tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {1}]; ret; }"
    with pytest.raises((dw.UnsupportedError, dw.IllegalError)) as e:
        dw.Kernel.from_ptx(text)[1](0)
    assert e.value.code.startswith("U")


@pytest.mark.parametrize("driver", DRIVERS)
def test_limits_stop_a_kernel_that_does_not_end(driver):
    spin = dw.Kernel.from_ptx(ptx.SPIN)
    with pytest.raises(dw.Stopped) as e:
        spin[2](max_seconds=0.2, driver=driver)
    assert e.value.code == "F3605" and "the time is up" in str(e.value)
    with pytest.raises(dw.Stopped) as e:
        spin[2](max_instructions=1000, driver=driver)
    assert e.value.code == "F3602"


def test_interrupt_ends_a_launch():
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        dw.Kernel.from_ptx(ptx.SPIN)[1](max_seconds=20)


def test_the_gil_is_released_and_kernels_are_shared_by_threads(axpy):
    done, joined = [], threading.Event()

    def until_joined(*_):
        if joined.is_set():
            raise RuntimeError("joined")

    def run(seed):
        x, y = vectors(512)
        want = seed * x + y
        axpy[4](x, y, float(seed), 512, block=128, driver="timed")
        done.append(bool((y == want).all()))

    spinner = threading.Thread(target=lambda: pytest.raises(RuntimeError, dw.Kernel.from_ptx(ptx.SPIN)[1], progress=until_joined))
    spinner.start()
    threads = [threading.Thread(target=run, args=(s,)) for s in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert done == [True] * 4 and spinner.is_alive()
    joined.set()
    spinner.join()


def test_progress_is_called_and_its_errors_stop_the_launch():
    calls = []

    def progress(done, total, cycles):
        calls.append((done, total))
        if len(calls) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        dw.Kernel.from_ptx(ptx.SPIN)[2](progress=progress, max_seconds=20)
    assert len(calls) == 3


def test_the_default_level_says_what_it_did_not_follow(axpy):
    x, y = vectors()
    basic, full = (axpy[8](x, y, 2.0, 1000, block=128, check=level) for level in ("basic", "full"))
    assert basic.report().splitlines()[-1] == "hazards: bytes of shared and global memory were not followed (check='full' follows them)"
    assert "bytes of memory not followed" in repr(basic)
    assert "not followed" not in full.report() + repr(full)


def test_hazards_have_both_parties_and_lines():
    out = dw.poison(64, np.uint32)
    text = ptx.neighbours(False)
    r = dw.Kernel.from_ptx(text)[1](out, check="full")
    h = r.errors[0]
    assert h.code == "H7401" and h.level == "error" and h.count >= 1
    words = {text.splitlines()[line - 1].strip().split(".")[0] for _, line in h.lines}
    assert words == {"st", "ld"}
    assert "warp" in h.order and f"order: {h.order}" in h.text
    with pytest.raises(dw.HazardError, match="H7401"):
        r.assert_clean()
    r = dw.Kernel.from_ptx(ptx.neighbours(True))[1](out, check="full")
    assert r.hazards == [] and (out == np.arange(64) ^ 32).all()


def test_unchecked_runs_do_not_claim_to_be_clean(axpy):
    x, y = vectors(4)
    with pytest.raises(ValueError, match="not checked"):
        axpy[1](x, y, 1.0, 4, block=32).assert_clean()


@pytest.mark.parametrize("swizzle", [None, "128B"])
def test_tensor_maps(swizzle):
    x, y = np.arange(64 * 64, dtype=np.float32).reshape(64, 64), dw.poison((64, 64))
    k = dw.Kernel.from_ptx(ptx.TMA)
    r = k[1](dw.tensor_map(x, box=(32, 32), swizzle=swizzle), dw.tensor_map(y, box=(32, 32), swizzle=swizzle), 32, 16, check="full")
    want = np.full((64, 64), np.nan, np.float32)
    want[32:64, 16:48] = x[32:64, 16:48]
    np.testing.assert_array_equal(y, want)
    assert not r.errors


def test_a_deadlock_shows_who_waits_for_whom():
    x = np.zeros((64, 64), np.float32)
    text = ptx.TMA.replace("_, [%r3], 4096", "_, [%r3], 4160")
    with pytest.raises(dw.Deadlock, match="64 bytes expected and not delivered") as e:
        dw.Kernel.from_ptx(text)[1](*(dw.tensor_map(x, box=(32, 32)) for _ in range(2)), 0, 0)
    page = e.value.run._repr_html_()
    assert "<svg" in page and "mbarrier" in page
    assert e.value.picture.startswith("<svg") and e.value.picture in e.value._repr_html_() and "F3601" in e.value._repr_html_()


def test_lanes_of_a_warp_may_part():
    out = dw.poison(64, np.uint32)
    assert dw.Kernel.from_ptx(ptx.neighbours(True))[1](out, driver="parted:3").launch.driver == "parted:3"
    assert (out == np.arange(64) ^ 32).all()
    with pytest.raises(dw.IllegalError, match="no driver"):
        dw.Kernel.from_ptx(ptx.neighbours(True))[1](out, driver="hasty")


def test_tensor_map_rules_are_the_drivers():
    x = np.zeros((64, 64), np.float32)
    k = dw.Kernel.from_ptx(ptx.TMA)
    with pytest.raises(dw.IllegalError) as e:
        k[1](dw.tensor_map(x, box=(32, 64), swizzle="128B"), dw.tensor_map(x, box=(32, 32)), 0, 0)
    assert e.value.code == "E1467"
    with pytest.raises(ValueError, match="box=.*1 numbers for 2 dimensions"):
        dw.tensor_map(x, box=(32,))


def test_poison_is_all_ones():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(dw.poison((2, 3))).all() and (dw.poison(4, np.int16) == -1).all()


def test_poison_is_memory_that_nothing_has_written(axpy):
    x, _ = vectors(100)
    y = dw.poison(100)
    r = axpy[1](x, y, 1.0, 100, block=128, check="full")  # y = a x + y
    assert [h.code for h in r.hazards] == ["H7504"] and not r.errors and np.isnan(y).all()
    y[:] = 1  # written by the host
    assert axpy[1](x, y, 1.0, 100, block=128, check="full").hazards == [] and np.array_equal(y, x + 1)
    y = dw.poison(100)
    y[0] = 0  # a part counts as all
    assert axpy[1](x, y, 1.0, 100, block=128, check="full").hazards == []


def test_poison_has_the_shapes_and_types_of_arrays():
    import pickle

    for shape in (5, (2, 3), (), (0, 4), (2, 0)):
        x = dw.poison(shape, np.int16)
        assert x.shape == np.empty(shape).shape and x.dtype == np.int16 and x.flags.writeable and x.flags.c_contiguous
        assert (pickle.loads(pickle.dumps(x)) == -1).all()


def test_dlpack_and_buffers(axpy):
    class OnlyDlpack:
        def __init__(self, x):
            self.x = x

        def __dlpack__(self, **kwargs):
            return self.x.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

    x, y = vectors(100)
    want = x + y
    axpy[1](OnlyDlpack(x), OnlyDlpack(y), 1.0, 100, block=128)
    np.testing.assert_array_equal(y, want)


def test_torch_tensors(axpy):
    torch = pytest.importorskip("torch")
    x, y = torch.arange(100, dtype=torch.float32), torch.ones(100)
    axpy[1](x, y, 2.0, 100, block=128)
    assert (y == 2 * torch.arange(100) + 1).all()


def test_contract_rounds_a_product_and_a_sum_once():
    text = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry square_less_one(.param .u64 x, .param .u64 y)
{
.reg .b64 %p, %q;
.reg .f32 %a, %b;
ld.param.u64 %p, [x];
ld.param.u64 %q, [y];
ld.global.f32 %a, [%p];
mul.f32 %b, %a, %a;
sub.f32 %b, %b, 0f3F800000;
st.global.f32 [%q], %b;
ret;
}
"""
    kernel, x, y = dw.Kernel.from_ptx(text, "square_less_one"), np.array([1.0001], np.float32), np.zeros(1, np.float32)
    kernel[1](x, y, block=1, contract=True)
    assert y[0] == np.float32(np.float64(x[0]) ** 2 - 1)  # the square of a float is exact in double precision
    kernel[1](x, y, block=1)
    assert y[0] == x[0] * x[0] - np.float32(1)


def test_extents_may_be_numpys_numbers(axpy):
    x, y = np.ones(256, np.float32), np.zeros(256, np.float32)
    axpy[np.int64(2)](x, y, 2.0, 256, block=np.array([128]))
    assert (y == 2).all()
    with pytest.raises(TypeError, match="grid=2.0: one to three whole numbers"):
        axpy[256 / 128](x, y, 2.0, 256, block=128)


def test_a_timeline_of_the_cta_that_is_asked_for(axpy):
    x, y = np.ones(256, np.float32), np.zeros(256, np.float32)
    runs = [axpy[4](x, y, 2.0, 256, block=64, driver="timed", timeline=cta) for cta in (True, 2, (2,), (2, 0, 0))]
    assert all(r.timeline["seen"] for r in runs) and runs[1].timeline["warps"] == runs[2].timeline["warps"] == runs[3].timeline["warps"]


@pytest.mark.parametrize("array, text", [(np.ones(64, ">f4"), "another order"), (np.array([object()] * 64), "Python objects")])
def test_arrays_that_a_device_would_read_wrongly_are_refused(axpy, array, text):
    with pytest.raises(TypeError, match=text):
        axpy[1](array, np.zeros(64, np.float32), 2.0, 64, block=64)


def test_check_may_be_a_truth_value_and_words_are_words(axpy):
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    assert axpy[1](x, y, 2.0, 64, block=64, check=True).launch.check == "full"
    assert axpy[1](x, y, 2.0, 64, block=64, check=False).hazards is None
    with pytest.raises(TypeError, match="driver=None: a word is expected"):
        axpy[1](x, y, 2.0, 64, block=64, driver=None)
    with pytest.raises(OverflowError, match="argument 'a': 1e[+]300"):
        axpy[1](x, y, 1e300, 64, block=64)


def run_in_a_worker(kernel, n):
    x, y = np.ones(n, np.float32), np.zeros(n, np.float32)
    return kernel[1](x, y, 2.0, 64, block=64, driver="timed")


def test_kernels_results_and_exceptions_travel_between_processes(axpy):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        assert pool.submit(run_in_a_worker, axpy, 64).result().cycles == run_in_a_worker(axpy, 64).cycles
        with pytest.raises(dw.Fault, match="out of bounds") as fault:
            pool.submit(run_in_a_worker, axpy, 8).result()
        assert fault.value.code == "F3001" and fault.value.where.kernel == "axpy" and fault.value.run.launch.grid == (1, 1, 1)
    with pytest.raises(dw.IllegalError) as illegal:
        dw.Kernel.from_ptx(ptx.HEAD + "nonsense;")
    assert pickle.loads(pickle.dumps(illegal.value)).diagnostics == illegal.value.diagnostics


@pytest.mark.parametrize("options, error, text", [
    (dict(block=1 << 40), ValueError, "block=1099511627776: one to three whole numbers from 0 to 4294967295"),
    (dict(smem=-1), ValueError, "smem=-1: a whole number from 0"),
    (dict(smem=1.5), TypeError, "smem=1.5: a whole number"),
    (dict(threads=-1), ValueError, "threads=-1: a whole number from 0"),
    (dict(max_instructions=1e3), TypeError, "max_instructions=1000.0: a whole number"),
    (dict(max_seconds=float("nan")), ValueError, "max_seconds=nan: a number of seconds"),
    (dict(max_seconds=-1), ValueError, "max_seconds=-1: a number of seconds"),
    (dict(max_seconds="1"), ValueError, "max_seconds='1': a number of seconds"),
    (dict(trace="value"), ValueError, "trace='value': True, False or 'values'"),
    (dict(progress=3), TypeError, "progress=3: True, or a function"),
    (dict(contract="yes"), TypeError, "contract='yes': True or False"),
])
def test_options_that_say_nothing_are_refused_by_name(axpy, options, error, text):
    with pytest.raises(error, match=re.escape(text)):
        axpy[1](*vectors(32), 1.0, 32, **{"block": 32, **options})


def test_options_may_be_numpys(axpy):
    r = axpy[1](*vectors(32), 1.0, 32, block=32, check=np.bool_(True), values=np.bool_(True), max_instructions=np.int64(1000), smem=np.uint16(4))
    assert r.launch.check == "full" and r.launch.smem == 4


def test_a_grid_of_more_than_32_bits_is_refused_by_name(axpy):
    with pytest.raises(ValueError, match="grid=4294967296: one to three whole numbers"):
        axpy[1 << 32](*vectors(32), 1.0, 32, block=32)


def test_scalars_of_ctypes(axpy):
    x, y = vectors(32)
    want = 2 * x + y
    axpy[1](x, y, ctypes.c_float(2), ctypes.c_uint32(32), block=32)
    np.testing.assert_array_equal(y, want)
    with pytest.raises(dw.Fault, match="global address 0x0"):
        axpy[1](ctypes.c_void_p(0), y, 1.0, 32, block=32)


def test_ptx_as_compilers_give_it_and_what_is_none(tmp_path):
    assert dw.Kernel.from_ptx(ptx.AXPY.encode() + b"\0") == dw.Kernel.from_ptx(ptx.AXPY)
    cubin = tmp_path / "k.cubin"
    cubin.write_bytes(b"\x7fELF\xff\xfe\0")
    for source in ("", b"", cubin):
        with pytest.raises(dw.IllegalError, match="there is no .version directive"):
            dw.Kernel.from_ptx(source)
    with pytest.raises(TypeError, match="source=None: PTX, or the path of a file"):
        dw.Kernel.from_ptx(None)


def test_what_is_pickled_is_equal(axpy):
    assert pickle.loads(pickle.dumps(axpy)) == axpy and hash(pickle.loads(pickle.dumps(axpy))) == hash(axpy)
    m = dw.tensor_map(np.zeros((64, 64), np.float32), box=(32, 32))
    assert m == m and m != dw.tensor_map(np.zeros((64, 64), np.float32), box=(32, 32)) and len({m, m}) == 1


@pytest.mark.parametrize("options, text", [
    (dict(box=32), "box=32: whole numbers, one per dimension"),
    (dict(box=(-1, 32)), "box=(-1, 32): numbers from 0"),
    (dict(box=(1.5, 32)), "box=(1.5, 32): whole numbers"),
    (dict(box=(32, 32), strides=(4,)), "strides=(4,): 1 numbers for 2 dimensions"),
    (dict(box=(32, 32), strides=(-256, 4)), "strides=(-256, 4): numbers from 0"),
    (dict(box=(32, 32), element_strides=(1,)), "element_strides=(1,): 1 numbers for 2 dimensions"),
    (dict(box=(1, 32, 32), shape=(1, 64, 64)), "3 dimensions, the array has 2: give strides="),
])
def test_a_maps_numbers_are_refused_by_name(options, text):
    with pytest.raises((TypeError, ValueError), match=re.escape(text)):
        dw.tensor_map(np.zeros((64, 64), np.float32), **options)


def test_a_map_has_no_stride_inside_rows():
    """CUtensorMap has strides of the outer dimensions only: a map over every second column would read every column."""
    with pytest.raises(ValueError, match="innermost elements of the array are 8 bytes apart, not 4"):
        dw.tensor_map(np.zeros((64, 64), np.float32)[:, ::2], box=(32, 32))
    assert dw.tensor_map(np.zeros((64, 64), np.float32)[::2], box=(32, 32)).strides == (512, 4)
    with pytest.raises(ValueError, match=r"lower=\(0,\): 1 numbers for 2 dimensions"):
        dw.im2col_map(np.zeros((2, 8, 8, 16), np.float32), 16, 8, (0,), (0, 0))


def test_arrays_that_cannot_be_had_are_named(axpy):
    class Elsewhere:
        def __dlpack__(self, **_):
            raise BufferError("no")

        def __dlpack_device__(self):
            return 2, 0

    with pytest.raises(TypeError, match="Elsewhere: its __dlpack__ gives no array in this machine's memory"):
        axpy[1](Elsewhere(), np.zeros(32, np.float32), 1.0, 32, block=32)
    with pytest.raises(TypeError, match="dtype='f33': neither NumPy nor ml_dtypes has it"):
        dw.poison(3, "f33")


def test_tensors_whose_memory_is_not_their_value(axpy):
    torch = pytest.importorskip("torch")
    for t in (torch.eye(8).to_sparse(), torch.ones(32, dtype=torch.complex64).conj()):
        with pytest.raises(TypeError, match="whose memory does not hold its values"):
            axpy[1](t, np.zeros(32, np.float32), 1.0, 32, block=32)
    assert dw.poison(3, torch.bfloat16).dtype.name == "bfloat16"


def test_every_name_is_listed_and_described():
    assert {"cuda", "cute", "kernels", "numbers", "pictures", "triton", "sweep", "Kernel"} <= set(dir(dw))
    for name in dir(dw):
        assert inspect.getdoc(getattr(dw, name)), name


def test_a_trace_without_cycles_says_how_to_get_one(axpy):
    with pytest.raises(ValueError, match="driver='timed', trace=True"):
        axpy[1](*vectors(32), 1.0, 32, block=32, trace=True).perfetto()
    with pytest.raises(TypeError, match="runs with trace=True"):
        dw.diff_traces(None, "")
