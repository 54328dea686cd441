#!/usr/bin/env python3
"""Evaluates layout expressions with NVIDIA CuTe itself and writes `expression => result` lines.

  make_cute_vectors.py --cutlass DIR --cuda DIR [--seed N --count N] > cute_vectors.txt

DIR of --cutlass holds include/cute, DIR of --cuda holds the toolkit's include/. Only CuTe's printed results are kept;
nothing of its source is. Expressions come from cases.txt beside this script and from a seeded generator. Each batch is
compiled by g++ as host code and run; an expression that CuTe rejects is found by bisection and written as `=> error`.
"""
import argparse, os, random, re, subprocess, sys, tempfile

TOKEN = re.compile(r"\s*(_?-?\d+(?:@\d+)*|_(?![\w])|[A-Za-z_]\w*(?:<[-\d,]*>)?|smem_ptr\[\d+b\]\(unset\)|[(),:])")


class Translate:
    """Expression text to C++ text, one recursive descent."""

    def __init__(self, text):
        self.tokens, at = [], 0
        text = re.sub(r"smem_ptr\[(\d+)b\]\(unset\)", r"smemflag<\1>", text)
        while at < len(text.rstrip()):
            m = TOKEN.match(text, at)
            if not m:
                raise ValueError(text[at:])
            self.tokens.append(m.group(1))
            at = m.end()
        self.i = 0

    def peek(self):
        return self.tokens[self.i] if self.i < len(self.tokens) else ""

    def next(self):
        self.i += 1
        return self.tokens[self.i - 1]

    def chain(self):
        parts = [self.term()]
        while self.peek() == "o":
            self.next()
            parts.append(self.term())
        if len(parts) == 3:
            return "make_composed_layout(%s,%s,%s)" % tuple(parts)
        if len(parts) == 2 and parts[0].startswith("Swizzle"):
            return "composition(%s,%s)" % tuple(parts)
        if len(parts) == 2 and parts[0].startswith("make_inttuple_iter"):
            return "make_tensor(%s,%s)" % tuple(parts)
        assert len(parts) == 1, parts
        return parts[0]

    def term(self):
        v = self.primary()
        if self.peek() == ":":
            self.next()
            v = "make_layout(%s,%s)" % (v, self.primary())
        return v

    def args(self):
        assert self.next() == "("
        out = []
        while self.peek() != ")":
            out.append(self.chain())
            if self.peek() == ",":
                self.next()
        self.next()
        return out

    def primary(self):
        t = self.peek()
        if t == "(":
            return "make_tuple(%s)" % ",".join(self.args())
        self.next()
        if t == "_" or t == "X":
            return "_"
        if re.match(r"_?-?\d", t):
            number, *basis = t.split("@")
            v = "Int<%s>{}" % number[1:] if number[0] == "_" else "int(%s)" % number
            return "(%s*E<%s>{})" % (v, ",".join(reversed(basis))) if basis else v
        m = re.match(r"Sw<(.*)>", t)
        if m:
            return "Swizzle<%s>{}" % m.group(1)
        m = re.match(r"smemflag<(.*)>", t)
        if m:
            return "smem_ptr_flag_bits<%s>{}" % m.group(1)
        if t in ("LayoutLeft", "LayoutRight"):
            return t + "{}"
        if t == "ArithTuple":
            return "make_inttuple_iter(make_tuple(%s))" % ",".join(self.args())
        t = {"group_modes": "group"}.get(t.split("<")[0], t.split("<")[0]) + ("<" + t.split("<")[1] if "<" in t else "")
        return "%s(%s)" % (t, ",".join(self.args()))


def translate(text):
    p = Translate(text)
    v = p.chain()
    assert p.i == len(p.tokens), text
    return v


# --- random expressions ----------------------------------------------------------------------------------------------
class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def num(self, v, static):
        return ("_%d" if static else "%d") % v

    def pow2(self, lo, hi):
        return 2 ** self.r.randint(lo, hi)

    def any_size(self):
        return self.r.choice([1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16])

    def shape(self, depth, static_p, sizes):
        if depth == 0 or self.r.random() < 0.4:
            return self.num(sizes(), self.r.random() < static_p)
        return "(" + ",".join(self.shape(depth - 1, static_p, sizes) for _ in range(self.r.randint(1, 3))) + ")"

    def leaves(self, s):
        return re.findall(r"_?\d+", s)

    def compact(self, shape, static_p=1.0, zero_p=0.1, holes=True):
        """Strides for a shape: a random order of modes, compact or with holes, some zeros."""
        leaves = self.leaves(shape)
        order = list(range(len(leaves)))
        if self.r.random() < 0.6:
            self.r.shuffle(order)
        strides, cur = [0] * len(leaves), 1
        for i in order:
            if self.r.random() < zero_p:
                continue
            strides[i] = cur
            cur *= int(leaves[i].lstrip("_")) * (self.r.choice([1, 1, 1, 2]) if holes else 1)
        it = iter(strides)
        return re.sub(r"_?\d+", lambda _: self.num(next(it), self.r.random() < static_p), shape)

    def layout(self, depth=2, static_p=0.85, zero_p=0.1, pow2=False, holes=True):
        sizes = (lambda: self.pow2(0, 3)) if pow2 else self.any_size
        s = self.shape(depth, static_p, sizes)
        if s[0] != "(" and self.r.random() < 0.5:
            s = "(" + s + "," + self.shape(1, static_p, sizes) + ")"
        return s + ":" + self.compact(s, 1.0 if static_p == 1 else 0.85, zero_p, holes)

    def tuple_layout(self, n, **kw):
        parts = [self.layout(1, **kw).split(":") for _ in range(n)]
        s = "(" + ",".join(p[0] for p in parts) + ")"
        return s + ":" + self.compact(s, 1.0, kw.get("zero_p", 0.0))

    def tiler(self, n):
        def one():
            k = self.r.random()
            if k < 0.5:
                return "_%d" % self.pow2(0, 2)
            if k < 0.85:
                return "%s:%s" % ("_%d" % self.pow2(0, 2), "_%d" % self.pow2(0, 1))
            return "_"
        return "(" + ",".join(one() for _ in range(n)) + ")"

    def expression(self):
        r = self.r
        kind = r.randint(0, 21)
        if kind == 0:
            return "coalesce(%s)" % self.layout(3)
        if kind == 1:
            return "coalesce(%s,(_1,_1))" % self.tuple_layout(r.randint(2, 3))
        if kind == 2:
            return "filter(%s)" % self.layout(3, zero_p=0.4)
        if kind in (3, 4):
            return "composition(%s,%s)" % (self.layout(2, 0.95, pow2=True), self.layout(1, 0.95, pow2=True))
        if kind == 5:
            return "composition(%s,%s)" % (self.tuple_layout(2, pow2=True), self.tiler(2))
        if kind == 6:
            return "complement(%s,%s)" % (self.layout(2, 1, zero_p=0.2, pow2=True), self.num(self.pow2(4, 8), r.random() < .7))
        if kind == 7:
            return "complement(%s)" % self.layout(2, 1, zero_p=0.1)
        if kind == 8:
            return "right_inverse(%s)" % self.layout(2, 0.9)
        if kind == 9:
            return "left_inverse(%s)" % self.layout(2, 1, pow2=True)
        if kind in (10, 11):
            op = r.choice(["logical", "zipped", "tiled", "flat"])
            return "%s_divide(%s,%s)" % (op, self.tuple_layout(2, pow2=True), self.tiler(r.randint(1, 2)).replace("_)", "_1)"))
        if kind == 12:
            return "logical_divide(%s,%s)" % (self.layout(2, 1, pow2=True), "_%d:_%d" % (self.pow2(0, 2), self.pow2(0, 2)))
        if kind == 13:
            op = r.choice(["logical", "zipped", "tiled", "flat"])
            return "%s_product(%s,%s)" % (op, self.tuple_layout(2, pow2=True, static_p=1), self.tiler(2).replace("_)", "_1)").replace("(_,", "(_2,"))
        if kind == 14:
            return "logical_product(%s,%s)" % (self.layout(2, 1, pow2=True), self.layout(1, 1, pow2=True))
        if kind in (15, 16):
            op = r.choice(["blocked", "raked"])
            return "%s_product(%s,%s)" % (op, self.tuple_layout(2, pow2=True, static_p=1), self.tuple_layout(2, pow2=True, static_p=1))
        if kind == 17:
            a, b = self.pow2(0, 3), self.pow2(0, 3)
            order = r.choice(["", ",(_2,_1)", ",(_1,_2)"])
            static = r.random() < 0.6
            m, n = a * self.pow2(0, 2), b * self.pow2(0, 2)
            return "tile_to_shape((_%d,_%d):%s,(%s,%s)%s)" % (a, b, r.choice(["(_1,_%d)" % a, "(_%d,_1)" % b]),
                                                            self.num(m, static), self.num(n, static), order)
        if kind == 18:
            n = self.pow2(0, 3)
            return "upcast<%d>(%s)" % (n, self.layout(2, 1, pow2=True))
        if kind == 19:
            return "max_common_layout(%s,%s)" % (self.layout(1, 1, pow2=True), self.layout(1, 1, pow2=True))
        if kind == 20:
            s = self.shape(2, 0.8, self.any_size)
            return r.choice(["make_layout(%s)", "make_layout(%s,LayoutRight)", "make_identity_layout(%s)",
                             "cosize(%s)" ]) % s if r.random() < 0.8 else "cosize(%s)" % self.layout(2)
        layout = self.tuple_layout(3)
        coord = ",".join(r.choice(["_", "_", "0", "1", "_1"]) for _ in range(3))
        return "slice((%s),%s)" % (coord, layout)


# --- compile and run -------------------------------------------------------------------------------------------------
PROLOGUE = """#include <cuda_runtime.h>
#include <cute/tensor.hpp>
#include <cutlass/numeric_types.h>
using namespace cute;
"""


def run(cases, opts, work):
    src, exe = os.path.join(work, "t.cpp"), os.path.join(work, "t")
    with open(src, "w") as f:
        f.write(PROLOGUE)
        for i, c in enumerate(cases):
            f.write("static void f%d() { auto v = %s; print(v); printf(\"\\n\"); }\n" % (i, translate(c)))
        f.write("int main() {%s}\n" % " ".join("f%d();" % i for i in range(len(cases))))
    cmd = ["g++", "-std=c++17", "-O0", "-w", "-I%s/include" % opts.cuda, "-I%s/include/cccl" % opts.cuda,
           "-I%s/include" % opts.cutlass, src, "-o", exe]
    if subprocess.run(cmd, stderr=subprocess.DEVNULL).returncode != 0:
        if len(cases) == 1:
            return ["error"]
        half = len(cases) // 2
        return run(cases[:half], opts, work) + run(cases[half:], opts, work)
    out = subprocess.run([exe], capture_output=True, text=True)
    lines = out.stdout.splitlines()
    if out.returncode != 0 or len(lines) != len(cases):
        if len(cases) == 1:
            return ["crash"]
        half = len(cases) // 2
        return run(cases[:half], opts, work) + run(cases[half:], opts, work)
    return lines


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--cutlass", required=True)
    p.add_argument("--cuda", required=True)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=300)
    p.add_argument("--cases", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.txt"))
    opts = p.parse_args()
    cases = []
    if os.path.exists(opts.cases):
        cases += [l.strip() for l in open(opts.cases) if l.strip() and not l.startswith("#")]
    g = Generator(opts.seed)
    while opts.count > 0:
        e = g.expression()
        if e not in cases:
            cases.append(e)
            opts.count -= 1
    with tempfile.TemporaryDirectory() as work:
        for i in range(0, len(cases), 40):
            batch = cases[i:i + 40]
            for c, r in zip(batch, run(batch, opts, work)):
                print("%s => %s" % (c, r), flush=True)


if __name__ == "__main__":
    main()
