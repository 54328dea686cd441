"""Writes the launch files of the families that are held back since 26 November: one a module, a [[launch]] for each size."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from plans import K, M, plan, triton  # noqa: E402


plan("gemv", dict(a="f32[8388608]:random", x="f32[262144]:random", y="f32[262144]:zeros", ah="f16[8388608]:random", xh="f16[8192]:random"), [
    *[(f"gemv_warp-{r}x{c}", "gemv_warp", r // 8, 256, 0, f"@a @x @y u32:{r} u32:{c}") for r, c in ((1024, 1024), (2048, 4096))],
    *[(f"gemv_batched-{b}", "gemv_batched", b, 64, 0, "@a @x @y") for b in (128, 2048)],
    *[(f"gemv_half-{r}x{c}", "gemv_half", r, 128, 0, f"@ah @xh @y u32:{c // 8}") for r, c in ((512, 2048), (1024, 8192))]])
plan("box", dict(x="f32[4194304]:random", y="f32[4194304]:zeros"), [
    *[(f"box_tile-{n}", "box_tile", (n // 32, n // 16), (32, 16), 0, f"@x @y u32:{n} u32:{n}") for n in (512, 2048)],
    *[(f"box_columns-{n}", "box_columns", (n // 128, n // 64), 128, 0, f"@x @y u32:{n} u32:{n} u32:4") for n in (512, 2048)]])
plan("rope", dict(q="f32[4194304]:random", c="f32[262144]:random", s="f32[262144]:random", k="bf16[4194304]:random", v="bf16[4194304]:random", cache="bf16[8388608]:zeros", slot="u32[4096]:random"), [
    *[(f"rope_halves-{t}x{h}", "rope_halves", t, 256, 0, f"@q @c @s u32:{h} u32:128") for t, h in ((128, 16), (1024, 32))],
    *[(f"rope_angles-{t}", "rope_angles", t, 256, 0, f"@q u32:1024 f32:0.2") for t in (128, 2048)],
    *[(f"rope_append-{t}", "rope_append", t, (64, 4), 0, "@k @v @c @s @cache @slot u32:16") for t in (128, 2048)]])
plan("topk", dict(x="f32[4194304]:random", b="f32[65536]:zeros", i="u32[65536]:zeros"), [
    *[(f"topk_rounds-{r}x{n}x{k}", "topk_rounds", r, 256, 4 * n, f"@x @b @i u32:{n} u32:{k}") for r, n, k in ((128, 1024, 8), (512, 4096, 16))],
    *[(f"topk_warp-{r}x{n}", "topk_warp", r // 4, 128, 0, f"@x @b u32:{r} u32:{n}") for r, n in ((1024, 256), (4096, 1024))]])
plan("permute", dict(x="f32[4194304]:random", y="f32[4194304]:zeros"), [
    *[(f"permute_021-{a}x{n}x{n}", "permute_021", (n // 32, n // 32, a), (32, 8), 0, f"@x @y u32:{n} u32:{n}") for a, n in ((16, 128), (64, 256))],
    *[(f"permute_102-{a}x{b}x128", "permute_102", a * b * 32 // 256, 256, 0, f"@x @y u32:{a} u32:{b} u32:32") for a, b in ((32, 64), (256, 128))],
    *[(f"permute_210-{n}", "permute_210", n**3 // 256, 256, 0, f"@x @y u32:{n} u32:{n} u32:{n}") for n in (64, 128)]])
plan("kmeans", dict(p="f32[4194304]:random", c="f32[512]:random", l="u32[524288]:random", s="f32[512]:zeros", n="u32[64]:zeros", o="u32[524288]:zeros"), [
    *[(f"kmeans_assign-{n // K}k-{k}", "kmeans_assign", n // 256, 256, 0, f"@p @c @o u32:{n} u32:{k}") for n, k in ((64 * K, 16), (512 * K, 64))],
    *[(f"kmeans_sum-{n // K}k", "kmeans_sum", 132, 256, 0, f"@p @l @s @n u32:{n}") for n in (64 * K, 512 * K)]])
plan("optimizer", dict(w="f32[4194304]:random", g="f32[4194304]:random", m="f32[4194304]:zeros", v="f32[4194304]:zeros"), [
    *[(f"adam-{n // K}k", "adam", n // 256, 256, 0, f"@w @g @m @v u32:{n} f32:0.001 f32:0.1 f32:0.01") for n in (128 * K, 4 * M)],
    *[(f"adam4-{n // K}k", "adam4", min(n // 1024, 528), 256, 0, f"@w @g @m @v u32:{n // 4} f32:0.001") for n in (256 * K, 4 * M)],
    *[(f"momentum-{n // K}k", "momentum", n // 512, 256, 0, f"@w @g @m u32:{n} f32:0.001") for n in (128 * K, 2 * M)]])
plan("segments", dict(x="f32[4194304]:random", l="u32[65536]:random", y="f32[4194304]:zeros"), [
    *[(f"segment_warp-{s}x{n}", "segment_warp", s // 8, 256, 0, f"@x @l @y u32:{s} u32:{n}") for s, n in ((2048, 128), (8192, 512))],
    *[(f"segment_runs-{n // K}k", "segment_runs", n // 16 // 128, 128, 0, f"@x @y u32:100 u32:16") for n in (128 * K, 2 * M)],
    *[(f"bag_mean-{b}x{k}x{w}", "bag_mean", b, w, 0, f"@x @l @y u32:{k} u32:{w} u32:{M * 4 // w - 1}") for b, k, w in ((256, 16, 128), (2048, 32, 256))]])
plan("factor", dict(a="f32[4194304]:random", l="f32[4194304]:zeros", x="f32[131072]:random"), [
    *[(f"cholesky32-{b}", "cholesky32", b // 4, 128, 0, "@a @l") for b in (512, 4096)],
    *[(f"solve32-{b}", "solve32", b // 4, 128, 0, "@a @x") for b in (512, 4096)],
    *[(f"fft256-{b}", "fft256", b, 128, 0, "@a @l") for b in (256, 8192)]])
plan("life", dict(a="u32[1048576]:random", b="u32[1048576]:zeros"), [
    *[(f"life_bytes-{n}", "life_bytes", (n // 64, n // 4), (64, 4), 0, f"@a @b u32:{n}") for n in (512, 2048)],
    *[(f"life_bits-{n}", "life_bits", n * n // 32 // 128, 128, 0, f"@a @b u32:{n // 32} u32:{n}") for n in (1024, 4096)]])
plan("hash", dict(k="u32[1048576]:random", t="u32[2097152]:zeros", r="u32[2097152]:random", f="u32[1048576]:zeros"), [
    *[(f"hash_insert-{n // K}k", "hash_insert", n // 256, 256, 0, f"@k @t u32:{n} u32:{2 * n - 1}") for n in (64 * K, M)],
    *[(f"hash_find-{n // K}k", "hash_find", n // 256, 256, 0, f"@k @r @f u32:{n} u32:{2 * n - 1}") for n in (64 * K, M)]])
plan("experts", dict(x="f32[4194304]:random", w="f32[65536]:zeros", e="u32[131072]:random", c="u32[64]:zeros", s="u32[131072]:zeros", o="u32[131072]:zeros", y="f32[4194304]:zeros"), [
    *[(f"route_top2-{t}", "route_top2", t // 4, 128, 0, f"@x @w @o u32:{t}") for t in (1024, 32768)],
    *[(f"expert_slots-{n // K}k", "expert_slots", n // 256, 256, 0, f"@e @c @s u32:{n}") for n in (16 * K, 128 * K)],
    *[(f"combine_two-{t}x{w}", "combine_two", t, 128, 0, f"@x @w @e @y u32:{w // 4} u32:{4 * M // w - 1}") for t, w in ((256, 1024), (2048, 2048))]])
triton("t_rope", dict(q="bf16[4194304]:random", c="f32[65536]:random", s="f32[65536]:random"), [(f"t_rope-{t}x{h}", (t, h), f"@q @c @s u32:{h}") for t, h in ((128, 8), (1024, 32))], threads=32)
triton("t_adam", dict(w="f32[4194304]:random", g="f32[4194304]:random", m="f32[4194304]:zeros", v="f32[4194304]:zeros"), [(f"t_adam-{n // K}k", n // 1024, f"@w @g @m @v u32:{n} f32:0.001") for n in (128 * K, 4 * M)])
triton("t_gemv", dict(a="f16[8388608]:random", x="f16[8192]:random", y="f32[8192]:zeros"), [(f"t_gemv-{r}x{c}", r // 8, f"@a @x @y u32:{c}") for r, c in ((1024, 1024), (2048, 4096))], smem=1024)
triton("t_experts", dict(a="f16[2097152]:random", b="f16[8388608]:random", c="f16[2097152]:zeros", e="u32[64]:random"), [(f"t_experts-{m}x{n}x{k}", (m // 64, n // 128), f"@a @b @c @e u32:{k} u32:{n}") for m, n, k in ((512, 512, 512), (2048, 1024, 1024))], smem=73728)
triton("t_permute", dict(x="f16[4194304]:random", y="f16[4194304]:zeros"), [(f"t_permute-{a}x{n}x{n}", (n // 64, n // 64, a), f"@x @y u32:{n} u32:{n}") for a, n in ((16, 128), (64, 256))], smem=8192)
triton("t_beam", dict(x="f16[4194304]:random", p="u32[1024]:random", y="f16[4194304]:zeros"), [(f"t_beam-{b}x{c}", b, f"@x @p @y u32:{c}") for b, c in ((128, 2048), (512, 8192))])
