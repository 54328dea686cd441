"""Writes the launch files of the corpus: one a module, a [[launch]] for each size."""
import hashlib
FAMILY = {}
def plan(module, family, buffers, launches, maps=None):
    FAMILY[module] = family
    out = [f'module = "{module}.ptx"', "", "[buffers]"] + [f'{k} = "{v}"' for k, v in buffers.items()]
    if maps: out += ["", "[maps]"] + [f'{k} = "{v}"' for k, v in maps.items()]
    for name, entry, grid, block, smem, args in launches:
        grid = [grid] if isinstance(grid, int) else list(grid); block = [block] if isinstance(block, int) else list(block)
        out += ["", "[[launch]]", f'name = "{name}"', f'entry = "{entry}"', f"grid = {grid}", f"block = {block}"]
        if smem: out += [f"smem = {smem}"]
        out += ["args = [" + ", ".join(f'"{a}"' for a in args.split()) + "]"]
    open(module + ".toml", "w").write("\n".join(out) + "\n")
K = 1024; M = K * K
plan("reduce", "reduce", dict(x="f32[16777216]:random", o="f32[65536]:zeros"), [
  *[(f"sum_shuffle-{n//K}k", "sum_shuffle", min(n // 1024, 1056), 256, 0, f"@x @o u32:{n}") for n in (64*K, M, 16*M)],
  *[(f"sum_float4-{n//K}k", "sum_float4", min(n // 4096, 2112), 256, 0, f"@x @o u32:{n//4}") for n in (256*K, 4*M)],
  *[(f"sum_tree-{n//K}k", "sum_tree", n // 512, 256, 0, f"@x @o u32:{n}") for n in (128*K, 4*M)],
  ("column_sum-1024x1024", "column_sum", (8, 16), 128, 0, "@x @o u32:1024 u32:1024"), ("column_sum-4096x4096", "column_sum", (16, 32), 256, 0, "@x @o u32:4096 u32:4096")])
plan("transpose", "transpose", dict(x="f32[4194304]:random", y="f32[4194304]:zeros"), [
  *[(f"{e}-{n}", e, (n // 32, n // 32), (32, 8), 0, f"@x @y u32:{n} u32:{n}") for e in ("transpose_naive", "transpose_tiled", "transpose_conflicts") for n in (512, 2048)],
  *[(f"transpose_float4-{n}", "transpose_float4", (n // 64, n // 64), 256, 0, f"@x @y u32:{n} u32:{n}") for n in (512, 2048)]])
plan("stencil", "stencil", dict(x="f32[8388608]:random", y="f32[8388608]:zeros"), [
  *[(f"stencil5-{n}", "stencil5", (n // 32, n // 8), (32, 8), 0, f"@x @y u32:{n} u32:{n}") for n in (512, 2048)],
  *[(f"stencil5_tile-{n}", "stencil5_tile", (n // 32, n // 16), 256, 0, f"@x @y u32:{n} u32:{n}") for n in (512, 2048)],
  *[(f"stencil7-{n}", "stencil7", (n // 32, n // 8), (32, 8), 0, f"@x @y u32:{n}") for n in (64, 192)]])
plan("scan", "scan", dict(x="u32[4194304]:random", y="u32[4194304]:zeros", s="u32[65536]:zeros"), [
  *[(f"scan_warp-{n//K}k", "scan_warp", n // 512, 512, 0, f"@x @y @s u32:{n}") for n in (128*K, 2*M)],
  *[(f"scan_four-{n//K}k", "scan_four", n // 1024, 256, 0, "@x @y @s") for n in (256*K, 4*M)],
  *[(f"scan_blelloch-{n//K}k", "scan_blelloch", n // 1024, 512, 0, "@x @y") for n in (128*K, M)]])
plan("histogram", "histogram", dict(x="u32[4194304]:random", b="u32[1048576]:zeros"), [
  ("histogram_global-256bins-256k", "histogram_global", 256, 256, 0, f"@x @b u32:{256*K} u32:255"), ("histogram_global-64kbins-1024k", "histogram_global", 528, 256, 0, f"@x @b u32:{M} u32:65535"),
  ("histogram_global-8bins-64k", "histogram_global", 128, 256, 0, f"@x @b u32:{64*K} u32:7"),
  *[(f"histogram_shared-{n//K}k", "histogram_shared", g, 256, 0, f"@x @b u32:{n}") for n, g in ((128*K, 132), (2*M, 528))],
  *[(f"histogram_match-{n//K}k", "histogram_match", g, 256, 0, f"@x @b u32:{n}") for n, g in ((64*K, 132), (512*K, 528))]])
plan("sort", "sort", dict(x="u32[4194304]:random", y="u32[4194304]:zeros"), [
  *[(f"bitonic-{n//K}k", "bitonic", n // 1024, 512, 0, "@x") for n in (64*K, 512*K)],
  *[(f"radix_pass-{n//K}k", "radix_pass", n // 256, 256, 0, "@x @y u32:4") for n in (64*K, M)]])
plan("softmax", "softmax", dict(x="f32[8388608]:random", y="f32[8388608]:zeros"), [
  *[(f"softmax_warp-{r}x512", "softmax_warp", r // 4, 128, 0, f"@x @y u32:{r}") for r in (1024, 16384)],
  ("softmax_cta-512x1024", "softmax_cta", 512, 256, 0, "@x @y u32:1024"), ("softmax_cta-512x8192", "softmax_cta", 512, 512, 0, "@x @y u32:8192"),
  ("softmax_online-512x1024", "softmax_online", 512, 256, 0, "@x @y u32:1024"), ("softmax_online-1024x4096", "softmax_online", 1024, 512, 0, "@x @y u32:4096")])
plan("norm", "norm", dict(x="f32[8388608]:random", g="f32[16384]:random", b="f32[16384]:random", y="f32[8388608]:zeros", xh="bf16[8388608]:random", gh="bf16[16384]:random"), [
  ("layer_norm-1024x1024", "layer_norm", 1024, 256, 0, "@x @g @b @y u32:1024"), ("layer_norm-512x8192", "layer_norm", 512, 512, 0, "@x @g @b @y u32:8192"),
  ("rms_norm_bf16-1024x2048", "rms_norm_bf16", 1024, 256, 0, "@xh @gh @y u32:1024"), ("rms_norm_bf16-1024x8192", "rms_norm_bf16", 1024, 512, 0, "@xh @gh @y u32:4096")])
plan("elementwise", "elementwise", dict(x="f32[8388608]:random", y="f32[8388608]:zeros"), [
  *[(f"axpy-{n//K}k", "axpy", n // 256, 256, 0, f"@x @y f32:0.5 u32:{n}") for n in (64*K, M, 8*M)],
  *[(f"gelu4-{n//K}k", "gelu4", min(n // 1024, 1056), 256, 0, f"@x @y u32:{n//4}") for n in (256*K, 2*M)],
  *[(f"half_chain-{n//K}k", "half_chain", n // 256, 256, 0, f"@x @y u32:{n}") for n in (128*K, 2*M)],
  *[(f"poly-{n//K}k", "poly", n // 128, 128, 0, f"@x @y u32:{n}") for n in (64*K, M)]])
plan("gather", "gather", dict(t="f32[8388608]:random", i="u32[1048576]:random", o="f32[8388608]:zeros"), [
  ("gather_rows-4096x512", "gather_rows", 4096, 128, 0, "@t @i @o u32:128 u32:8191"), ("gather_rows-1024x4096", "gather_rows", 1024, 256, 0, "@t @i @o u32:1024 u32:2047"),
  ("scatter_add-2048x256", "scatter_add", 2048, 128, 0, "@t @i @o u32:256 u32:1023"), ("scatter_add-4096x512-64rows", "scatter_add", 4096, 256, 0, "@t @i @o u32:512 u32:63"),
  ("gather_words-1024k-2MiB", "gather_words", 4096, 256, 0, f"@t @i @o u32:{M} u32:{512*K-1}"), ("gather_words-1024k-32MiB", "gather_words", 4096, 256, 0, f"@t @i @o u32:{M} u32:{8*M-1}"),
  ("gather_words-64k-16KiB", "gather_words", 256, 256, 0, f"@t @i @o u32:{64*K} u32:4095")])
plan("gemm", "gemm", dict(a="f32[1048576]:random", b="f32[1048576]:random", c="f32[1048576]:zeros", ah="f16[1048576]:random", bh="f16[1048576]:random"), [
  *[(f"gemm_tile32-{n}", "gemm_tile32", (n // 32, n // 32), (32, 32), 0, f"@a @b @c u32:{n}") for n in (256, 512)],
  *[(f"gemm_8x8-{n}", "gemm_8x8", (n // 128, n // 128), 256, 0, f"@a @b @c u32:{n}") for n in (512, 1024)],
  *[(f"gemm_wmma-{n}", "gemm_wmma", (n // 64, n // 64), 128, 0, f"@ah @bh @c u32:{n}") for n in (512, 1024)]])
plan("random", "random", dict(x="f32[4194304]:random", y="f32[4194304]:zeros"), [
  *[(f"philox_words-{n//K}k", "philox_words", min(n // 1024, 1056), 256, 0, f"@y u32:{n//4} u32:77") for n in (256*K, 4*M)],
  *[(f"philox_normal-{n//K}k", "philox_normal", min(n // 1024, 1056), 256, 0, f"@y u32:{n//4} u32:77") for n in (256*K, 4*M)],
  *[(f"dropout-{n//K}k", "dropout", n // 1024, 256, 0, f"@x @y u32:{n//4} u32:77") for n in (256*K, 4*M)]])
plan("quantize", "quantize", dict(x="bf16[8388608]:random", xf="f32[4194304]:random", y="u8[8388608]:zeros", s="f32[131072]:zeros"), [
  ("rows_e4m3-1024x1024", "rows_e4m3", 1024, 128, 0, "@x @y @s u32:512"), ("rows_e4m3-1024x8192", "rows_e4m3", 1024, 512, 0, "@x @y @s u32:4096"),
  *[(f"blocks_mxfp8-{n//K}k", "blocks_mxfp8", n // 1024, 256, 0, f"@xf @y @s u32:{n//4}") for n in (256*K, 4*M)]])
plan("attention", "attention", dict(q="f32[2097152]:random", k="f32[4194304]:random", v="f32[4194304]:random", o="f32[2097152]:zeros"), [
  ("attention-8x512", "attention", (4, 8), 128, 0, "@q @k @v @o u32:512"), ("attention-32x512", "attention", (4, 32), 128, 0, "@q @k @v @o u32:512"),
  ("decode-64x256", "decode", 64, 128, 0, "@q @k @v @o u32:256"), ("decode-16x2048", "decode", 16, 128, 0, "@q @k @v @o u32:2048")])
plan("irregular", "irregular", dict(c="u32[4194304]:random", w="f32[4194304]:random", x="f32[1048576]:random", y="f32[1048576]:zeros", z="u32[2097152]:zeros", p="f32[65536]:random", q="f32[65536]:zeros"), [
  ("mandelbrot-256", "mandelbrot", (8, 32), (32, 8), 0, "@z u32:256 u32:256 u32:200"), ("mandelbrot-512", "mandelbrot", (16, 64), (32, 8), 0, "@z u32:512 u32:512 u32:100"),
  ("sparse_thread-32k", "sparse_thread", 128, 256, 0, f"@c @w @x @y u32:{32*K} u32:65535"), ("sparse_thread-192k", "sparse_thread", 768, 256, 0, f"@c @w @x @y u32:{192*K} u32:{M-1}"),
  ("sparse_warp-4k", "sparse_warp", 512, 256, 0, f"@c @w @x @y u32:{4*K} u32:65535"), ("sparse_warp-24k", "sparse_warp", 3072, 256, 0, f"@c @w @x @y u32:{24*K} u32:{M-1}"),
  ("search-64k", "search", 256, 256, 0, f"@c @z u32:{64*K} u32:{16*K}"), ("search-512k", "search", 2048, 256, 0, f"@c @z u32:{512*K} u32:{M}"),
  ("bodies-2k", "bodies", 16, 128, 0, "@p @q u32:2048"), ("bodies-8k", "bodies", 64, 128, 0, "@p @q u32:8192")])
plan("convolution", "convolution", dict(x="f32[8388608]:random", y="f32[8388608]:zeros", f="f16[4096]:random"), [
  *[(f"conv3x3-{n}", "conv3x3", (n // 32, n // 8), (32, 8), 0, f"@x @y u32:{n} u32:{n}") for n in (512, 1024)],
  *[(f"conv_row17-{n}", "conv_row17", (n // 256, n), 256, 0, f"@x @y u32:{n}") for n in (512, 2048)],
  ("depthwise_half-28x28x128", "depthwise_half", (28, 28), 64, 0, "@x @f @y u32:28 u32:64"), ("depthwise_half-56x56x256", "depthwise_half", (56, 56), 128, 0, "@x @f @y u32:56 u32:128")])
plan("copy", "copy", dict(x="f32[16777216]:random", y="f32[8388608]:zeros"), [
  *[(f"copy_words-{n//K}k", "copy_words", n // 256, 256, 0, f"@x @y u32:{n}") for n in (256*K, 4*M)],
  *[(f"copy_vectors-{n//K}k", "copy_vectors", min(n // 1024, 1056), 256, 0, f"@x @y u32:{n//4}") for n in (256*K, 8*M)],
  *[(f"copy_strided-{s}-256k", "copy_strided", 1024, 256, 0, f"@x @y u32:{256*K} u32:{s}") for s in (2, 8, 33)],
  *[(f"copy_async-{g}x{t}", "copy_async", g, 128, 0, f"@x @y u32:{t}") for g, t in ((132, 16), (1024, 8))],
  *[(f"fill-{n//K}k", "fill", min(n // 1024, 1056), 256, 0, f"@y u32:{n//4}") for n in (256*K, 8*M)],
  ("empty-1", "empty", 1, 32, 0, ""), ("empty-132", "empty", 132, 128, 0, ""), ("empty-20000", "empty", 20000, 128, 0, "")])
def t(name, family, buffers, launches, entry=None, threads=128, smem=0, maps=None):
    plan(name, family, dict(**buffers, g0="u8[128]:zeros"), [(n, entry or name, grid, threads, smem, f"{args} @g0 @g0") for n, grid, args in launches], maps)
t("t_add", "elementwise", dict(x="f32[4194304]:random", y="f32[4194304]:random", z="f32[4194304]:zeros"), [(f"t_add-{n//K}k", n // 1024, f"@x @y @z u32:{n}") for n in (96*K, 4*M)])
t("t_swiglu", "elementwise", dict(x="bf16[4194304]:random", y="bf16[4194304]:random", z="bf16[4194304]:zeros"), [(f"t_swiglu-{n//K}k", n // 2048, f"@x @y @z u32:{n}") for n in (256*K, 4*M)])
R = dict(x="f32[4194304]:random", y="f32[4194304]:zeros")
t("t_softmax_1k", "softmax", R, [(f"t_softmax-{r}x{c}", r, f"@x @y u32:{c}") for r, c in ((512, 1024), (4096, 784))], "t_softmax", 128, 16)
t("t_softmax_4k", "softmax", R, [(f"t_softmax-{r}x{c}", r, f"@x @y u32:{c}") for r, c in ((128, 4096), (1024, 4096))], "t_softmax", 256, 32)
t("t_layer_norm", "norm", dict(x="bf16[4194304]:random", g="f32[2048]:random", b="f32[2048]:random", y="bf16[4194304]:zeros"), [(f"t_layer_norm-{r}x2048", r, "@x @g @b @y u32:2048") for r in (256, 2048)], None, 256, 32)
t("t_cross_entropy", "softmax", dict(x="f32[8388608]:random", l="u32[4096]:random,of=1|5|77|1023", o="f32[4096]:zeros"), [(f"t_cross_entropy-{r}x{c}", r, f"@x @l @o u32:{c}") for r, c in ((128, 4096), (256, 32768))], None, 128, 16)
SM = dict(t_matmul_f16_128x128=98304, t_matmul_f16_64x64=24576, t_matmul_f16_128x256=147456, t_matmul_bf16_128x64=98304, t_matmul_tf32=98304, t_matmul_f8=98304, t_matmul_small_mma=8192)
for name, a, c, bm, bn, th in (("t_matmul_f16_128x128", "f16", "f16", 128, 128, 128), ("t_matmul_f16_64x64", "f16", "f16", 64, 64, 128), ("t_matmul_f16_128x256", "f16", "f16", 128, 256, 256), ("t_matmul_bf16_128x64", "bf16", "f32", 128, 64, 128), ("t_matmul_tf32", "f32", "f32", 128, 128, 128), ("t_matmul_f8", "u8", "f16", 128, 128, 128), ("t_matmul_small_mma", "f16", "f16", 32, 32, 128)):
    sizes = ((256, 256, 256), (512, 512, 1024)) if "small" in name else ((512, 512, 512), (2048, 2048, 1024)) if name != "t_matmul_f16_64x64" else ((512, 512, 512), (1024, 1024, 2048))
    fill = ":random,of=1|56|184|48|60|200" if a == "u8" else ":random"
    t(name, "matmul", dict(a=f"{a}[2097152]{fill}", b=f"{a}[2097152]{fill}", c=f"{c}[4194304]:zeros"), [(f"{name}-{m}x{n}x{k}", (m // bm, n // bn), f"@a @b @c u32:{m} u32:{n} u32:{k}") for m, n, k in sizes], "t_matmul", th, SM[name])
for name, d, th, sm, sizes in (("t_attention_full", 64, 128, 65536, ((4, 512), (16, 1024))), ("t_attention_causal", 64, 128, 65536, ((4, 1024), (16, 1024))), ("t_attention_d128", 128, 256, 131072, ((4, 512), (8, 1024)))):
    b = {k: f"f16[2097152]:random" for k in "qkv"}
    t(name, "attention", dict(**b, o="f16[2097152]:zeros"), [(f"{name}-{h}x{n}", (n // 128, h), f"@q @k @v @o u32:{n} f32:0.18") for h, n in sizes], "t_attention", th, sm)
t("t_dropout", "random", R, [(f"t_dropout-{n//K}k", n // 1024, f"@x @y u32:{n} u32:42") for n in (96*K, 2*M)])
G = dict(t="f32[4194304]:random", i="u32[8192]:random", o="f32[4194304]:zeros")
t("t_embedding", "gather", G, [(f"t_embedding-{r}x{c}", r, f"@t @i @o u32:{c} u32:1023") for r, c in ((512, 1024), (4096, 768))])
t("t_scatter_add", "gather", G, [(f"t_scatter_add-{r}x{c}", r, f"@t @i @o u32:{c} u32:{m}") for r, c, m in ((512, 1024, 1023), (2048, 768, 63))])
t("t_quantize", "quantize", dict(x="bf16[4194304]:random", y="u8[4194304]:zeros", s="f32[65536]:zeros"), [(f"t_quantize-{r}x{c}", (r // 16, c // 128), f"@x @y @s u32:{c}") for r, c in ((256, 1024), (2048, 2048))], None, 128, 64)
t("t_cumsum", "scan", R, [(f"t_cumsum-{r}x2048", r, "@x @y u32:2048") for r in (128, 1024)], None, 128, 64)
t("t_sort", "sort", R, [(f"t_sort-{r}x512", r, "@x @y") for r in (128, 1024)], None, 128, 2048)
t("t_histogram", "histogram", dict(x="u32[2097152]:random", y="u32[256]:zeros"), [(f"t_histogram-{n//K}k", n // 2048, f"@x @y u32:{n}") for n in (256*K, 2*M)], None, 128, 1024)
t("t_transpose", "transpose", R, [(f"t_transpose-{n}", (n // 64, n // 64), f"@x @y u32:{n} u32:{n}") for n in (512, 2048)], None, 128, 16384)
t("t_column_sum", "reduce", R, [(f"t_column_sum-{r}x{c}", c // 64, f"@x @y u32:{r} u32:{c}") for r, c in ((256, 8192), (1024, 4096))], None, 128, 1024)
TM = "u64:0 u64:0"
def desc(m, d0, d1): return f"map:{m} u32:{d1} u32:{d0} u64:{d0} u64:1"
maps = {}
L = []
for m, n, k in ((512, 512, 512), (2048, 2048, 1024)):
    maps.update({f"a{m}": f"a,dims={k}x{m},box=64x128,swizzle=128B,strides={2*k},type=f16", f"b{m}": f"b,dims={k}x{n},box=64x128,swizzle=128B,strides={2*k},type=f16", f"c{m}": f"c,dims={n}x{m},box=64x128,swizzle=128B,strides={2*n},type=f16"})
    L.append((f"t_matmul_tma-{m}x{n}x{k}", (m // 128, n // 128), f"{desc(f'a{m}', k, m)} {desc(f'b{m}', k, n)} {desc(f'c{m}', n, m)} u32:{m} u32:{n} u32:{k}"))
t("t_matmul_tma", "matmul", dict(a="f16[2097152]:random", b="f16[2097152]:random", c="f16[4194304]:zeros"), L, "t_matmul_desc", 128, 98328, maps)
families = sorted(set(FAMILY.values()), key=lambda f: hashlib.sha256(f.encode()).hexdigest())
print("fit:", families[: len(families) // 2]); print("check:", families[len(families) // 2 :])
