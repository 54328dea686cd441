"""Writes the launch files of the third set that is held back since 27 November: one a module, a [[launch]] for each size."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from plans import K, M, plan, triton  # noqa: E402

E4M3 = "|".join(str(x) for x in (24, 40, 48, 52, 56, 58, 60, 61, 152, 168, 176, 180, 184, 186, 188, 189))  # 0.0625 to 3.25, and their negatives
SCALES = "|".join(str(x) for x in (40, 44, 48, 50, 52, 54, 56, 57))                                       # 0.25 to 1.125


plan("training", dict(w="bf16[8388608]:zeros", p="f32[8388608]:random", g="bf16[8388608]:random", m="f32[8388608]:zeros", v="f32[8388608]:zeros", n="f32[32]:random", x="bf16[8388608]:random", b="f32[4096]:random",
                      dy="bf16[8388608]:random", dx="bf16[8388608]:zeros", db="f32[4096]:zeros"), [
    *[(f"adamw_mixed-{n // K}k", "adamw_mixed", c, b, 0, f"@w @p @g @m @v @n f32:0.0003 f32:0.9 f32:0.95 f32:1e-8 f32:0.1 f32:1.2 f32:1.05 u32:{n // 8}") for n, c, b in ((264 * K, 132, 256), (2 * M, 528, 256), (8 * M, 2112, 128))],
    *[(f"bias_gelu_back-{r}x{c}", "bias_gelu_back", (c // 64, r // e), 256, 0, f"@x @b @dy @dx @db u32:{c // 2} u32:{e}") for r, c, e in ((256, 1024, 32), (1024, 3072, 64), (2048, 4096, 64))]])
plan("flashdecode", dict(q="f16[131072]:random", k="u8[8388608]:random", v="u8[8388608]:random", ks="f32[65536]:random", vs="f32[65536]:random", o="f32[2097152]:zeros", s="f32[65536]:zeros"), [
    (f"decode_split-{s}x{n}-{p}", "decode_split", (8, p, s), 128, 0, f"@q @k @v @ks @vs @o @s u32:{n} u32:{n // p} f32:0.0884") for s, n, p in ((1, 1024, 16), (3, 1024, 8), (8, 1024, 4))])
plan("fourbit", dict(x="bf16[12582912]:random", y="u8[6291456]:zeros", s="u8[786432]:zeros", w="u32[6291456]:random", ws=f"u8[3145728]:random,of={SCALES}", v="f16[8192]:random", o="f32[16384]:zeros"), [
    *[(f"quantise_nvfp4-{n // K}k", "quantise_nvfp4", n // 16 // b, b, 0, f"@x @y @s f32:4.5 u32:{n // 16}") for n, b in ((528 * K, 256), (4 * M, 128), (12 * M, 256))],
    *[(f"gemv_nvfp4-{n}x{k}", "gemv_nvfp4", n // 4, 128, 0, f"@w @ws @v @o u32:{k // 32} f32:0.125") for n, k in ((528, 2048), (4096, 4096), (12288, 4096))]])
plan("ntt", dict(x="u32[1892352]:random", w="u32[512]:random", y="u32[1892352]:zeros"), [(f"ntt1024-{n}", "ntt1024", n, 256, 0, "@x @w @y") for n in (132, 660, 1848)])
plan("sparse", dict(c="u32[8388608]:random", v="f64[8388608]:random", x="f64[131072]:random", y="f64[262144]:zeros", i="u32[4194304]:iota", e="f32[4194304]:random", z="f32[1048576]:random", s="f32[655360]:zeros"), [
    *[(f"ell_f64-{r}x{w}", "ell_f64", r // b, b, 0, f"@c @v @x @y u32:{r} u32:{w} u32:131071") for r, w, b in ((16896, 16, 128), (131072, 24, 256), (262144, 32, 256))],
    *[(f"coo_warp-{n // K}k", "coo_warp", c, 256, 0, f"@i @c @e @z @s u32:{n} u32:{m}") for n, c, m in ((66 * K, 132, 65535), (M, 528, 1048575), (4 * M, 1056, 1048575))]])
plan("tridiagonal", dict(a="f32[6291456]:random", b="f32[6291456]:random", c="f32[6291456]:random", d="f32[6291456]:random", t="f32[6291456]:zeros", x="f32[6291456]:zeros"), [
    *[(f"pcr512-{n}", "pcr512", n, 512, 0, "@a @b @c @d @x") for n in (132, 528, 1320)],
    *[(f"thomas-{s}x{n}", "thomas", s // b, b, 0, f"@a @b @c @d @t @x u32:{s} u32:{n}") for s, n, b in ((4224, 64, 32), (32768, 64, 64), (98304, 64, 128))]])
plan("volumes", dict(u="f64[8653320]:random", f="f64[8653320]:random", n="f64[8653320]:zeros", r="f64[16]:zeros", d="f32[9961472]:random", e="f32[9961472]:zeros"), [
    *[(f"jacobi3_f64-{x * 32}x{y * 8}x{z * 8}", "jacobi3_f64", (x, y, z), (32, 8), 0, f"@u @f @n @r u32:{x * 32 + 2} u32:{y * 8 + 2} u32:{z * 8 + 2} f64:0.01") for x, y, z in ((4, 8, 4), (4, 16, 8), (8, 32, 16))],
    *[(f"lbm_d3q19-{x}x{y}x{z}", "lbm_d3q19", (x // 128, y, z), 128, 0, f"@d @e u32:{x} u32:{y} u32:{z} f32:1.6") for x, y, z in ((128, 32, 4), (128, 64, 32), (256, 64, 32))]])
plan("particles", dict(p="f64[33792]:random", a="f64[33792]:zeros", q="f32[524288]:random", l="u32[7340032]:random", f="f32[524288]:zeros"), [
    *[(f"nbody_f64-{n}x{s}", "nbody_f64", n // 64, 64, 0, f"@p @a u32:{s}") for n, s in ((2112, 256), (8448, 512), (8448, 1536))],
    *[(f"lj_neighbours-{n // K}kx{m}", "lj_neighbours", n // 128, 128, 0, f"@q @l @f u32:{n} u32:{m} f32:4 f32:2.5 u32:{w}") for n, m, w in ((16 * K, 24, 511), (64 * K, 48, 1023), (128 * K, 56, 4095))]])
plan("ising", dict(a="u8[2097152]:random", b="u8[2097152]:random"), [(f"ising_half-{4 * w}x{h}", "ising_half", (w // b, h), b, 0, f"@a @b u32:{w} u32:{h} u32:1 f32:0.44 u32:77777") for w, h, b in ((64, 132, 64), (256, 512, 128), (512, 1024, 256))])
plan("ranking", dict(i="u32[262145]:iota", e="u32[3145984]:random", r="f32[262144]:random", s="f32[262144]:random", n="f32[262144]:zeros", d="f32[32]:zeros", x="u32[135168]:random", c="u32[32]:zeros"), [
    *[(f"pagerank_pull-{n}", "pagerank_pull", n // 64, 256, 0, f"@i @e @r @s @n @d u32:{n} f32:0.85 u32:{m}") for n, m in ((8448, 8191), (65536, 65535), (262144, 262143))],
    *[(f"triangles-{n}", "triangles", n // w, 32 * w, 0, f"@x @c u32:{n}") for n, w in ((1056, 8), (2112, 4), (4224, 8))]])
plan("bytes", dict(t="u32[4194304]:random", s="u32[524288]:zeros", q="u32[524288]:zeros", a="u8[64]:random", y="u32[4194304]:zeros"), [
    *[(f"json_mask-{c * 8}k", "json_mask", c, 256, 0, "@t @s @q") for c in (132, 768, 2048)],
    *[(f"base64-{n * 12 // K}k", "base64", c, 256, 0, f"@t @y @a u32:{n}") for n, c in ((33 * K, 132), (256 * K, 528), (M, 1056))]])
plan("camera", dict(r="u16[3145728]:random", o="u32[3145728]:zeros", a="u32[2097152]:random", b="u32[2097152]:zeros"), [
    *[(f"demosaic-{w}x{h}", "demosaic", (w // 32, h // 8), (32, 8), 0, f"@r @o u32:{w} u32:{h}") for w, h in ((352, 96), (1024, 768), (1536, 1024))],
    *[(f"median3_bytes-{4 * w}x{h}", "median3_bytes", (w // 32, h // 8), (32, 8), 0, f"@a @b u32:{w} u32:{h}") for w, h in ((352, 96), (512, 512), (1024, 1024))]])
plan("integral", dict(x="u32[2097152]:random", s="u32[8388608]:zeros"), [
    *[(f"integral_rows-{4 * w}x{h}", "integral_rows", h, 256, 0, f"@x @s u32:{w}") for w, h in ((256, 132), (480, 1080), (960, 2160))],
    *[(f"integral_columns-{w}x{h}", "integral_columns", w // b, b, 0, f"@s u32:{w} u32:{h}") for w, h, b in ((4224, 64, 32), (1920, 1080, 128), (16384, 512, 128))]])
plan("bits", dict(a="u32[131072]:random", b="u32[131072]:random", c="u32[2359296]:zeros", x="u32[4194304]:random", y="u32[4194304]:zeros"), [
    *[(f"xnor_gemm-{m}x{n}x{k}", "xnor_gemm", (n // 64, m // 64), 256, 0, f"@a @b @c u32:{n} u32:{k // 128}") for m, n, k in ((704, 768, 1024), (1024, 1024, 1024), (1536, 1536, 1024))],
    *[(f"bit_transpose-{n}", "bit_transpose", c, b, 0, f"@x @y u32:{n}") for n, c, b in ((1056, 132, 256), (32768, 1024, 128), (131072, 1056, 256))]])
plan("bulk", dict(x="f32[8650752]:random", y="f32[8388608]:random", z="f32[8388608]:zeros", i="u32[16896]:random", t="f32[524288]:zeros"), [
    *[(f"bulk_axpy-{n}x{c}", "bulk_axpy", c, 256, 0, f"@x @y @z f32:1.5 u32:{n}") for n, c in ((264, 132), (2112, 264), (8192, 528))],
    *[(f"bulk_add_rows-{c}x{e}", "bulk_add_rows", c, 128, 0, f"@x @i @t u32:{e} u32:1023") for c, e in ((132, 4), (264, 16), (1056, 16))]])
plan("handmade", dict(a="bf16[1048576]:random", b="bf16[1048576]:random", c="bf16[4194304]:zeros", p=f"u8[1048576]:random,of={E4M3}", q=f"u8[1048576]:random,of={E4M3}", s="f32[32]:random", d="f16[4194304]:zeros"), [
    *[(f"gemm_bf16-{m}x{n}x{k}", "gemm_bf16", (n // 128, m // 128), 256, 65536, f"@a @b @c u32:{n} u32:{k}") for m, n, k in ((1024, 1024, 512), (1408, 1536, 512), (2048, 2048, 512))],
    *[(f"gemm_e4m3-{m}x{n}x{k}", "gemm_e4m3", (n // 128, m // 64), 128, 0, f"@p @q @d @s u32:{n} u32:{k}") for m, n, k in ((704, 1536, 256), (1024, 2048, 256), (1408, 1536, 512))]])
plan("flash", dict(q="f16[2097152]:random", k="f16[2097152]:random", v="f16[2097152]:random", o="f16[2097152]:zeros"), [
    (f"flash64-{n}x{h}", "flash64", (n // 64, h), 128, 0, f"@q @k @v @o u32:{n} f32:0.18") for n, h in ((704, 12), (1024, 16), (2048, 8))])
triton("t_matmul_gelu", dict(a="f16[2097152]:random", b="f16[4194304]:random", v="f32[4096]:random", r="f16[4194304]:random", c="f16[4194304]:zeros"), [(f"t_matmul_gelu-{m}x{n}x{k}", -(-m // 128) * -(-n // 128), f"@a @b @v @r @c u32:{m} u32:{n} u32:{k}") for m, n, k in ((1408, 1536, 256), (1000, 2000, 1040), (2048, 2048, 512))], smem=98304, threads=256)
triton("t_matmul_persistent", dict(a="bf16[4194304]:random", b="bf16[4194304]:random", c="bf16[8388608]:zeros"), [(f"t_matmul_persistent-{m}x{n}x{k}", g, f"@a @b @c u32:{m} u32:{n} u32:{k}") for m, n, k, g in ((1024, 1024, 512, 64), (2048, 1536, 512, 132), (3072, 2048, 512, 132))], smem=131072)
triton("t_grouped_gemm", dict(a="f16[4194304]:random", b="f16[8388608]:random", c="f16[8388608]:zeros", s="u32[32]:random"), [(f"t_grouped_gemm-{g}x{n}x{k}", 132, f"@a @b @c @s u32:{g} u32:{n} u32:{k}") for g, n, k in ((4, 512, 512), (8, 1024, 512), (16, 1024, 512))], smem=73728)
triton("t_gate_up", dict(x="bf16[1048576]:random", g="bf16[4194304]:random", u="bf16[4194304]:random", y="bf16[4194304]:zeros"), [(f"t_gate_up-{m}x{n}x{k}", (m // 64, n // 128), f"@x @g @u @y u32:{n} u32:{k}") for m, n, k in ((64, 4096, 1024), (512, 2048, 1024), (1024, 4096, 512))], smem=122880)
triton("t_conv2d", dict(x="f16[2097152]:random", w="f16[147456]:random", y="f16[4194304]:zeros"), [(f"t_conv2d-{b}x{h}x{w}-{f}", (b * h * w // 128, f // 64), f"@x @w @y u32:{h} u32:{w} u32:{f}") for b, h, w, f in ((2, 56, 56, 128), (8, 32, 32, 256), (8, 56, 56, 128))], smem=73728)
triton("t_decode_gqa", dict(q="bf16[262144]:random", k="bf16[33554432]:random", v="bf16[33554432]:random", o="f32[2097152]:zeros", s="f32[16384]:zeros"), [(f"t_decode_gqa-{h}x{n}-{p}", (h, p), f"@q @k @v @o @s u32:{n} u32:{n // p} f32:0.1275") for h, n, p in ((8, 2048, 16), (64, 1024, 4), (128, 2048, 4))], smem=38912)
triton("t_add_rms_fp8", dict(x="bf16[16777216]:random", r="bf16[16777216]:random", w="f32[4096]:random", y="u8[16777216]:zeros", s="f32[8192]:zeros"), [(f"t_add_rms_fp8-{r}x{c}", r, f"@x @r @w @y @s u32:{c}") for r, c in ((132, 4096), (1024, 2560), (4096, 4096))], smem=8192, threads=256)
triton("t_quant_tile", dict(x="bf16[16777216]:random", y="u8[16777216]:zeros", s="f32[2048]:zeros"), [(f"t_quant_tile-{r}x{c}", (-(-r // 128), c // 128), f"@x @y @s u32:{r} u32:{c}") for r, c in ((1408, 1536), (2000, 4096), (4096, 4096))], smem=32, threads=256)
triton("t_ssm_scan", dict(x="bf16[8388608]:random", d="bf16[8388608]:random", a="f32[4096]:random", y="bf16[8388608]:zeros"), [(f"t_ssm_scan-{b}x{t}x{c}", (c // 32, b), f"@x @d @a @y u32:{t} u32:{c}") for b, t, c in ((2, 128, 2048), (4, 512, 2048), (8, 512, 2048))], smem=1024)
triton("t_argmax", dict(x="bf16[33554432]:random", t="u32[1024]:zeros", v="f32[1024]:zeros"), [(f"t_argmax-{r}x{c}", r, f"@x @t @v u32:{c}") for r, c in ((66, 32000), (256, 50272), (1000, 32000))], smem=64, threads=256)
triton("t_bag", dict(t="f16[33554432]:random", i="u32[196608]:random", w="f32[196608]:random", y="f16[8388608]:zeros"), [(f"t_bag-{r}x{c}", (r, -(-c // 512)), f"@t @i @w @y u32:{c} u32:{n}") for r, c, n in ((264, 256, 65535), (4096, 768, 32767), (8192, 1024, 32767))])
