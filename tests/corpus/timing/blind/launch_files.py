"""Writes the launch files of the families that are held back since 27 November: one a module, a [[launch]] for each size."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from plans import K, M, plan, triton  # noqa: E402


plan("options", dict(s="f32[1048576]:random", k="f32[1048576]:random", t="f32[1048576]:zeros", c="f32[1048576]:zeros", p="f32[1048576]:zeros"), [
    *[(f"black_scholes-{n // K}k", "black_scholes", n // 128, 128, 0, f"@s @k @t @c @p f32:0.02 f32:0.3 u32:{n}") for n in (96 * K, M)],
    *[(f"binomial-{o}x{t}", "binomial", o, 256, 0, f"@s @c u32:{t}") for o, t in ((264, 128), (2048, 250))]])
plan("image", dict(x="f32[4194304]:random", y="f32[4194304]:zeros", a="u32[4194304]:random", b="u32[4194304]:random", o="u32[4194304]:zeros"), [
    *[(f"resize-{w}to{v}", "resize", (v // 32, v // 8), (32, 8), 0, f"@x @y u32:{w} u32:{w} u32:{v} u32:{v}") for w, v in ((512, 768), (2048, 1536))],
    *[(f"blend-{n // K}k", "blend", n // 256, 256, 0, f"@a @b @o u32:{n}") for n in (256 * K, 4 * M)],
    *[(f"max_pool-{c}x{w}", "max_pool", (w * w // 4 // 128, c), 128, 0, f"@x @y u32:{w} u32:{w // 2} u32:{w // 2}") for c, w in ((64, 64), (64, 256))]])
plan("recurrent", dict(z="f32[4194304]:random", c="f32[1048576]:random", h="f32[4194304]:zeros", a="f32[4194304]:random"), [
    *[(f"lstm_cell-{b}x{w}", "lstm_cell", b * w // 256, 256, 0, f"@z @c @h u32:{w} u32:{b * w}") for b, w in ((64, 1024), (1024, 1024))],
    *[(f"recurrence-{b}x{t}x{c}", "recurrence", (c // 64, b), 64, 0, f"@a @z @h u32:{c} u32:{t}") for b, t, c in ((4, 64, 1024), (8, 256, 2048))]])
plan("blocks", dict(x="f32[4194304]:random", y="f32[4194304]:zeros", a="u32[1048576]:random", b="u32[1048576]:random", o="u32[65536]:zeros"), [
    *[(f"dct_blocks-{w}", "dct_blocks", w * w // 64 // 32, 256, 0, f"@x @y u32:{w}") for w in (512, 2048)],
    *[(f"differences-{w}", "differences", (w // 8 // 32, w // 8), 32, 0, f"@a @b @o u32:{w // 4}") for w in (512, 2048)]])
plan("graph", dict(e="u32[2097152]:random", l="u32[131072]:random", n="u32[131072]:zeros", c="u32[16]:zeros"), [
    *[(f"bfs_step-{n // K}k", "bfs_step", n // 256, 256, 0, f"@e @l @n @c u32:16 u32:{n} u32:1") for n in (16 * K, 128 * K)],
    *[(f"least_label-{n // K}k", "least_label", n // 32, 256, 0, f"@e @l @n u32:16 u32:{n}") for n in (16 * K, 128 * K)]])
plan("align", dict(a="u8[262144]:random", b="u8[262144]:random", s="u32[4096]:zeros", e="f32[4194304]:random", w="f32[4096]:random", o="f32[65536]:zeros"), [
    *[(f"smith_waterman-{p}x{n}", "smith_waterman", p, 128, 0, f"@a @b @s u32:{n}") for p, n in ((132, 128), (1024, 256))],
    *[(f"viterbi-{b}x{t}", "viterbi", b, 64, 0, f"@e @w @o u32:{t}") for b, t in ((132, 32), (1024, 64))]])
plan("packed", dict(x="f32[4194304]:random", y="u32[1048576]:zeros", s="f32[4096]:zeros", w="u32[1048576]:random", h="f16[65536]:random", o="u32[4194304]:zeros", q="u32[256]:random", d="u32[1048576]:zeros"), [
    *[(f"rows_s8-{r}x{n}", "rows_s8", r, 256, 0, f"@x @y @s u32:{n // 4}") for r, n in ((128, 2048), (2048, 2048))],
    *[(f"weights_u4-{n // K}k", "weights_u4", n // 256, 256, 0, f"@w @h @o u32:16") for n in (64 * K, M)],
    *[(f"hamming-{q}x{n // K}k", "hamming", (n // 256, q), 256, 0, f"@q @o @d u32:{n}") for q, n in ((1, 32 * K), (8, 128 * K))]])
plan("losses", dict(x="f32[4194304]:random", y="f32[4194304]:random", l="u32[4096]:random", g="f32[4194304]:zeros", o="f32[4096]:zeros"), [
    *[(f"xent_grad-{r}x{n}", "xent_grad", r, 256, 0, f"@x @l @g @o u32:{n}") for r, n in ((256, 1000), (1024, 4096))],
    *[(f"squares-{n // K}k", "squares", 264, 256, 0, f"@x @y @o u32:{n // 4}") for n in (256 * K, 4 * M)]])
plan("physics", dict(u="f32[4718592]:random", v="f32[4718592]:random", w="f32[4718592]:zeros"), [
    *[(f"wave3-{n}x{n}x{z}", "wave3", (n // 32, n // 8), (32, 8), 0, f"@u @v @w u32:{n} u32:{n} u32:{z}") for n, z in ((128, 32), (256, 64))],
    *[(f"lattice-{w}x{h}", "lattice", (w // 128, h), 128, 0, f"@u @v u32:{w} u32:{h}") for w, h in ((256, 128), (1024, 512))],
    *[(f"cell_forces-{c}", "cell_forces", c, 64, 0, f"@u @v u32:{c}") for c in (256, 4096)]])
plan("text", dict(d="u32[2097152]:random", t="u32[256]:random", o="u32[1048576]:zeros", c="u32[16]:zeros"), [
    *[(f"crc_blocks-{n}x{w}", "crc_blocks", n // 256, 256, 0, f"@d @t @o u32:{w}") for n, w in ((33792, 16), (131072, 16))],
    *[(f"classes-{n // K}k", "classes", 264, 256, 0, f"@d @c u32:{n // 16}") for n in (512 * K, 8 * M)],
    *[(f"compact-{n // K}k", "compact", n // 256, 256, 0, f"@d @o @c u32:{n}") for n in (64 * K, M)]])
plan("batched", dict(a="f16[4194304]:random", b="f16[4194304]:random", c="f32[4194304]:zeros", x="f32[4194304]:random", y="f32[4194304]:random"), [
    *[(f"batched16-{m}x{k}", "batched16", m // 4, 128, 0, f"@a @b @c u32:{k}") for m, k in ((1056, 64), (2048, 128))],
    *[(f"batched8-{m // K}k", "batched8", m // 32, 256, 0, "@x @y @c") for m in (8 * K, 64 * K)],
    *[(f"outer_sums-{r}x{n}", "outer_sums", (n // 32, n // 32), (32, 8), 0, f"@x @y @c u32:{r} u32:{n}") for r, n in ((128, 512), (1024, 1024))]])
plan("sampling", dict(o="f32[1048576]:zeros", p="f32[4194304]:random", u="f32[4096]:random", t="u32[4096]:zeros"), [
    *[(f"walks-{n // K}kx{t}", "walks", n // 256, 256, 0, f"@o f32:0.001 f32:0.02 u32:{t}") for n, t in ((64 * K, 32), (256 * K, 64))],
    *[(f"draw_token-{r}x{n}", "draw_token", r, 256, 0, f"@p @u @t u32:{n}") for r, n in ((128, 8192), (1024, 4096))],
    *[(f"disc-{n // K}kx{r}", "disc", n // 128, 128, 0, f"@o u32:{r}") for n, r in ((64 * K, 32), (512 * K, 32))]])
triton("t_geglu", dict(x="f16[4194304]:random", y="f16[2097152]:zeros"), [(f"t_geglu-{r}x{n}", r, f"@x @y u32:{n}") for r, n in ((256, 1024), (1024, 2048))])
triton("t_group_norm", dict(x="f32[4194304]:random", g="f32[16]:random", b="f32[16]:random", y="f32[4194304]:zeros"), [(f"t_group_norm-{r}", r, "@x @g @b @y") for r in (128, 1024)], smem=32, threads=256)
triton("t_matmul_s8", dict(a="u8[4194304]:random", b="u8[4194304]:random", c="u32[4194304]:zeros"), [(f"t_matmul_s8-{m}x{n}x{k}", (m // 64, n // 128), f"@a @b @c u32:{k} u32:{n}") for m, n, k in ((512, 512, 1024), (2048, 2048, 2048))], smem=73728)
triton("t_bias_dropout_add", dict(x="f32[4194304]:random", b="f32[1024]:random", r="f32[4194304]:random", y="f32[4194304]:zeros"), [(f"t_bias_dropout_add-{n // K}k", n // 512, f"@x @b @r @y u32:{n} u32:1024 u32:7") for n in (128 * K, 2 * M)])
triton("t_conv1d", dict(x="bf16[4194304]:random", w="f32[8192]:random", y="bf16[4194304]:zeros"), [(f"t_conv1d-{c}x{n}", (n // 1024, c), f"@x @w @y u32:{n}") for c, n in ((128, 1024), (1024, 4096))])
triton("t_amax_scale", dict(x="bf16[4194304]:random", y="u8[4194304]:zeros", s="f32[4096]:zeros"), [(f"t_amax_scale-{r}x{c}", r, f"@x @y @s u32:{c}") for r, c in ((128, 4096), (1024, 3072))], smem=32, threads=256)
