"""Writes mix.toml, pairs.toml, stores.toml and frag.toml."""
K = 1024
M = K * K


class File:
    def __init__(self, module, **buffers):
        self.module = module
        self.lines = [f'module = "{module}.ptx"', "", "[buffers]"] + [f'{k} = "{v}"' for k, v in buffers.items()]

    def launch(self, name, entry, grid, block, args):
        self.lines += ["", "[[launch]]", f'name = "{name}"', f'entry = "{entry}"', f"grid = [{grid}]", f"block = [{block}]",
                       "args = [" + ", ".join(f'"{a}"' for a in args.split()) + "]"]

    def write(self):
        open(self.module + ".toml", "w").write("\n".join(self.lines) + "\n")


mix = File("mix", y="f32[1048576]:zeros")
functions = "sqrt_rn rcp_rn div_rn div_full ex2 ex2f lg2 rcpa tanh_full exp_full".split()
entries = [f"{g}_{f}" for g in functions for f in (0, 8, 24)] + "sin_full_0 i2f_0 i2f_8 f2i_0 f2i_8 steps0 steps1 steps2 steps3 steps4 wide0 wide16".split()
for e in entries:
    for b in (128, 512, 1024):
        if b != 512 or e.split("_")[-1] not in ("8", "24"):
            mix.launch(f"{e}-{b}", e, 132, b, f"@y u32:{256 if b < 1024 else 128}")
for bits in (0, 8, 3):
    for b in (128, 1024):
        mix.launch(f"parting-{bits}-{b}", "parting", 132, b, f"@y u32:64 u32:{bits}")
mix.write()

stores = File("stores", y="u32[8388608]:zeros")
for step in (1, 2, 4, 8, 16, 32):
    for words in (1, 2, 4, 8):
        threads = 132 * 256
        rounds = min(8, max(1, 8 * M // (threads * step)))
        for e in ("strided", "strided_later"):
            if words <= step and (words > 1 or e == "strided"):
                stores.launch(f"{e}-{step}-{words}x{rounds}", e, 132, 256, f"@y u32:{step} u32:{words} u32:{rounds} u32:{threads * step}")
for step in (4, 16):
    for words in (1, 2):
        stores.launch(f"strided2-{step}-{words}", "strided2", 132, 256, f"@y u32:{step // 2} u32:{words} u32:8 u32:{132 * 256 * step // 2}")
for share, pitch in ((2, 8), (4, 8), (7, 8), (4, 32), (8, 32), (12, 32), (20, 32)):
    span = 132 * 256 // share * pitch
    stores.launch(f"pieces-{share}of{pitch}", "pieces", 132, 256, f"@y u32:{share} u32:{pitch} u32:{min(8, 8 * M // span)} u32:{span}")
for step in (2, 4, 8, 16, 32):
    for b in (32, 64, 128, 256, 512, 1024):
        words, threads = min(step, 8), 132 * b
        rounds = min(8, max(1, 8 * M // (threads * step)))
        for name, n in ((f"one-{step}-1-{b}", 1), (f"all-{step}-{words}-{b}", words)):
            stores.launch(name, "strided", 132, b, f"@y u32:{step} u32:{n} u32:{rounds} u32:{threads * step}")
stores.write()

frag = File("frag", a="f16[8388608]:random", b="f16[8388608]:random", c="f32[8388608]:zeros")
for b in (32, 128, 512):
    for ld in (72, 64):
        frag.launch(f"frag_shared-{ld}-{b}", "frag_shared", 132, b, f"@a @b @c u32:64 u32:{ld} u32:16")
for grid in (132, 1056):
    for ld in (16, 64):
        frag.launch(f"frag_once-{ld}-{grid}", "frag_once", grid, 128, f"@a @b @c u32:{ld}")
frag.write()

pairs = File("pairs", y="u32[4194304]:zeros", t="u32[8388608]:random")
rounds = dict(fma=32, logic=16, imad=16, mufu=4, half=32, i2f=16, convert=4)
for e in ("logic_logic fma_fma imad_imad mufu_mufu half_half i2f_i2f convert_convert logic_fma logic_imad logic_mufu fma_imad fma_mufu fma_convert fma_half logic_half "
          "fma_i2f logic_i2f imad_half").split():
    a, b = (rounds[k] for k in e.split("_"))
    pairs.launch(f"{e}-1024", e, 132, 1024, f"@y u32:{a} u32:{b}")
    pairs.launch(f"{e}-256", e, 132, 256, f"@y u32:{2 * a} u32:{2 * b}")
for e in "turns_logic_fma bursts_logic_fma turns_imad_fma bursts_imad_fma bursts_mufu_fma bursts_logic_imad".split():
    for b in (128, 512, 1024):
        pairs.launch(f"{e}-{b}", e, 132, b, f"@y u32:{32 if b < 1024 else 16}")
for e, n in (("scattered1", 32), ("scattered4", 8)):
    for words in (4 * K, 16 * K, 32 * K, 128 * K, M, 8 * M):
        for grid in (132, 528):
            pairs.launch(f"{e}-{words * 4 // K}KiB-{grid}x256", e, grid, 256, f"@t @y u32:{words - 1} u32:{n}")
pairs.write()
