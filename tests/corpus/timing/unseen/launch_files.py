"""Writes the launch files of the second set that is held back since 27 November: one a module, a [[launch]] for each size."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from plans import K, M, plan, triton  # noqa: E402


plan("sha", dict(m="u32[8388608]:random", d="u32[8388608]:zeros", k="u32[16]:random"), [
    *[(f"sha256-{c * b}x{n}", "sha256", c, b, 0, f"@m @d u32:{n}") for c, b, n in ((132, 64, 1), (132, 128, 4), (264, 256, 1), (512, 256, 1))],
    *[(f"chacha20-{n // K}k", "chacha20", n // b, b, 0, f"@m @d @k u32:1 u32:{n}") for n, b in ((33 * K, 256), (512 * K, 128))]])
plan("spectral", dict(x="f32[8388608]:random", t="f32[2048]:random", y="f32[8388608]:zeros"), [
    *[(f"fft1024-{n}", "fft1024", n, 256, 0, "@x @t @y") for n in (132, 1056, 4096)],
    *[(f"fft64_warp-{n}", "fft64_warp", n // (b // 32), b, 0, f"@x @y u32:{n}") for n, b in ((1056, 64), (16384, 128), (65536, 256))]])
plan("pages", dict(k="f16[8388608]:random", v="f16[8388608]:random", q="f16[131072]:random", ck="f16[16777216]:random", cv="f16[16777216]:random", t="u32[8192]:random", o="f32[131072]:zeros"), [
    *[(f"append_pages-{n}", "append_pages", n, (16, 8), 0, "@k @v @ck @cv @t u32:1023") for n in (528, 8192)],
    *[(f"paged_decode-{s}x{p * 16}", "paged_decode", (8, s), 128, 0, f"@q @ck @cv @t @o u32:{p} u32:1023 f32:0.1275") for s, p in ((17, 8), (33, 32), (128, 16), (64, 64))]])
plan("backward", dict(a="bf16[8388608]:random", b="bf16[8388608]:random", g="bf16[8388608]:random", da="bf16[8388608]:zeros", db="bf16[8388608]:zeros", x="f32[4194304]:random", w="f32[8192]:random",
                      dy="f32[4194304]:random", r="f32[4194304]:random", dx="f32[4194304]:zeros"), [
    *[(f"swiglu_back-{n // K}k", "swiglu_back", c, b, 0, f"@a @b @g @da @db u32:{n // 8}") for n, c, b in ((264 * K, 132, 256), (2 * M, 2048, 128), (8 * M, 528, 512))],
    *[(f"rms_back4-{r}x{b * 16}", "rms_back4", r, b, 0, "@x @w @dy @r @dx") for r, b in ((132, 128), (1024, 64), (1024, 256))]])
plan("pipelined", dict(a="f16[4194304]:random", b="f16[4194304]:random", c="f16[8388608]:zeros", x="u8[131072]:random", w="u8[33554432]:random", s="f32[8192]:random", y="f32[131072]:zeros"), [
    *[(f"gemm_mma-{m}x{n}x{k}", "gemm_mma", (n // 64, m // 64), 128, 0, f"@a @b @c u32:{n} u32:{k}") for m, n, k in ((704, 768, 512), (1024, 1024, 1024), (2048, 2048, 512))],
    *[(f"w8a8-{n}x{k}", "w8a8", n // 32, 256, 0, f"@x @w @s @y u32:{n} u32:{k // 4}") for n, k in ((4224, 1024), (2112, 4096), (8192, 4096))]])
plan("doubles", dict(a="f64[1048576]:random", b="f64[1048576]:random", c="f64[1048576]:zeros", m="f32[1048576]:random", e="f32[1048576]:random", p="f64[1048576]:zeros"), [
    *[(f"dgemm64-{m}x{n}x{k}", "dgemm64", (n // 64, m // 64), 256, 0, f"@a @b @c u32:{n} u32:{k}") for m, n, k in ((704, 768, 64), (512, 512, 256), (1024, 1024, 256))],
    *[(f"kepler-{n // K}kx{s}", "kepler", n // b, b, 0, f"@m @e @p u32:{s} u32:{n}") for n, b, s in ((33 * K, 256, 4), (96 * K, 128, 6), (256 * K, 192, 5))]])
plan("filters", dict(x="f32[4194304]:random", y="f32[4194304]:zeros", a="u32[2097152]:random", b="u32[2097152]:zeros"), [
    *[(f"bilateral-{w}x{h}", "bilateral", (w // 32, h // 8), (32, 8), 0, f"@x @y u32:{w} u32:{h} f32:0.05 f32:0.5") for w, h in ((352, 96), (384, 352), (1024, 768))],
    *[(f"equalise-{w}x{h}", "equalise", (w // 64, h // 64), 256, 0, f"@a @b u32:{w // 4} u32:40") for w, h in ((768, 704), (2048, 1024), (4096, 2048))]])
plan("blocksparse", dict(c="u32[524288]:random", v="f32[8388608]:random", x="f32[131072]:random", y="f32[524288]:zeros", a="f32[1048576]:random", b="f32[1048576]:random"), [
    *[(f"bsr_vector-{r}x{k}", "bsr_vector", r // (b // 32), b, 0, f"@c @v @x @y u32:{r} u32:{k} u32:32767") for r, k, b in ((1056, 16, 128), (8448, 32, 64), (32768, 16, 256))],
    *[(f"sampled_product-{n // K}k", "sampled_product", n * 8 // b, b, 0, f"@a @b @c @v @y u32:32 u32:16383") for n, b in ((33 * K // 2, 256), (128 * K, 128), (512 * K, 256))]])
plan("merge", dict(x="u32[4194304]:random", y="u32[2097152]:random", o="u32[4194304]:zeros", z="u32[4096]:zeros"), [
    *[(f"merge_path-{na // K}k+{nb // K}k", "merge_path", (na + nb) // 2048, 256, 0, f"@x @y @o u32:{na} u32:{nb}") for na, nb in ((132 * K, 132 * K), (768 * K, 256 * K), (2 * M, 2 * M))],
    *[(f"split_bit-{n // K}k", "split_bit", n // 2048, 512, 0, f"@x @o @z u32:{b}") for n, b in ((264 * K, 3), (M, 17), (4 * M, 30))]])
plan("rotations", dict(a="f32[4194304]:random", b="f32[4194304]:random", t="f32[1048576]:random", p="f32[4718592]:random", o="f32[4718592]:zeros"), [
    *[(f"slerp_turn-{n // K}k", "slerp_turn", n // b, b, 0, f"@a @b @t @p @o u32:{n}") for n, b in ((33 * K, 256), (256 * K, 64), (M, 128))],
    *[(f"polar3-{n // K}kx{s}", "polar3", n // b, b, 0, f"@p @o u32:{s} u32:{n}") for n, b, s in ((33 * K // 2, 128, 8), (128 * K, 256, 6), (512 * K, 128, 6))]])
triton("t_softmax_dropout_back", dict(p="f16[8388608]:random", dy="f16[8388608]:random", dx="f16[8388608]:zeros"), [(f"t_softmax_dropout_back-{r}x{c}", r, f"@p @dy @dx u32:{c} u32:12345") for r, c in ((132, 2048), (528, 1536), (2048, 1024), (4096, 2048))], smem=16)
triton("t_layer_norm_back", dict(x="bf16[8388608]:random", dy="bf16[8388608]:random", w="f32[1024]:random", dx="bf16[8388608]:zeros", dw="f32[2097152]:zeros", db="f32[2097152]:zeros"), [(f"t_layer_norm_back-{r}x{c}", r // 4, f"@x @dy @w @dx @dw @db u32:{c}") for r, c in ((528, 1024), (2048, 768), (4224, 1024), (8192, 1024))], smem=4096)
triton("t_matmul_splitk", dict(a="f16[2097152]:random", b="f16[16777216]:random", c="f32[2097152]:zeros"), [(f"t_matmul_splitk-{m}x{n}x{k}-{s}", (m // 64 * n // 256, s), f"@a @b @c u32:{m} u32:{n} u32:{k} u32:{k // s}") for m, n, k, s in ((64, 4096, 4096, 8), (256, 1024, 2048, 8), (1024, 2048, 1024, 2))], smem=81920, threads=256)
triton("t_matmul_grouped_f8", dict(a="u8[4194304]:random", b="u8[8388608]:random", sa="f32[32768]:random", sb="f32[4096]:random", c="bf16[4194304]:zeros"), [(f"t_matmul_grouped_f8-{m}x{n}x{k}", m // 128 * n // 128, f"@a @b @sa @sb @c u32:{m} u32:{n} u32:{k}") for m, n, k in ((512, 4224, 512), (256, 4096, 2048), (2048, 2048, 1024))], smem=98304, threads=256)
triton("t_matmul_int4", dict(a="f16[524288]:random", w="u32[4325376]:random", s="f16[540672]:random", c="f16[1048576]:zeros"), [(f"t_matmul_int4-{m}x{n}x{k}", (m // 32, n // 64), f"@a @w @s @c u32:{n} u32:{k}") for m, n, k in ((32, 4096, 1024), (128, 2048, 2048), (256, 4096, 512), (32, 8448, 4096))], smem=70016)
triton("t_attention_window", dict(q="bf16[4194304]:random", k="bf16[4194304]:random", v="bf16[4194304]:random", o="bf16[4194304]:zeros"), [(f"t_attention_window-{n}x{h}-{w}", (n // 128, h), f"@q @k @v @o u32:{n} u32:{w} f32:0.18") for n, h, w in ((1408, 12, 512), (1024, 16, 128), (2048, 32, 256))], smem=32768, threads=256)
triton("t_linear_attention", dict(q="f16[8388608]:random", k="f16[8388608]:random", v="f16[8388608]:random", o="f16[8388608]:zeros"), [(f"t_linear_attention-{n}x{h}", (2, h), f"@q @k @v @o u32:{n}") for n, h in ((256, 66), (1024, 66), (512, 256))], smem=45056)
triton("t_topk_row", dict(x="f32[8388608]:random", y="f32[131072]:zeros"), [(f"t_topk_row-{r}x{c}", r, f"@x @y u32:{c}") for r, c in ((264, 512), (4096, 384), (16384, 512))], smem=128, threads=64)
triton("t_scatter_rows", dict(x="bf16[8388608]:random", order="u32[32]:random", s="f32[8192]:random", y="bf16[8388608]:zeros"), [(f"t_scatter_rows-{r}x{c}", r, f"@x @order @s @y u32:{c} u32:2654435761 u32:{r - 1}") for r, c in ((256, 2048), (8192, 768), (2048, 4096))])
