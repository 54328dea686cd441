"""What compiles the Triton kernels of this folder and of those in it for sm_90a, to PTX and without a GPU. The files of kernels import it."""
import json
import pathlib
import re
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = pathlib.Path(__file__).resolve().parent


def aligned(fn, sig, uneven):
    """Pointers and integers are multiples of 16, but for the integers named in `uneven`."""
    return {(i,): [["tt.divisibility", 16]] for i, k in enumerate(fn.arg_names) if (sig.get(k, "").startswith("*") or sig.get(k) == "i32") and k not in uneven}


def plain(text):
    """PTX without lines for debuggers, of the version that CUDA 13.0 reads."""
    text = re.sub(r"\.version \d\.\d", ".version 9.0", text).replace(".target sm_90a, debug", ".target sm_90a")
    return "\n".join(l for l in text.split("\n") if not re.match(r"\s*(\.loc|\.file)\b|\s*//", l)).split("\t.section")[0].strip() + "\n"


def build(name, fn, sig, const, warps=4, stages=3, uneven=()):
    """Writes NAME.ptx and prints what its launch needs as JSON."""
    full = {k: sig.get(k, "constexpr") for k in fn.arg_names}
    src = ASTSource(fn=fn, signature=full, constexprs={(fn.arg_names.index(k),): v for k, v in const.items()}, attrs=aligned(fn, sig, uneven))
    out = triton.compile(src, target=GPUTarget("cuda", 90, 32), options=dict(num_warps=warps, num_stages=stages))
    source = pathlib.Path(sys.argv[0]).resolve().relative_to(HERE)
    open(name + ".ptx", "w").write(f"// From {source} by Triton {triton.__version__}\n" + plain(out.asm["ptx"]))
    m = out.metadata
    print(json.dumps({"name": name, "entry": m.name, "threads": 32 * m.num_warps, "smem": m.shared, "scratch": m.global_scratch_size}))
