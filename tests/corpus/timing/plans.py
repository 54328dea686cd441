"""Launch files from plans: a module, its buffers, and a [[launch]] for each size. The lists of launches import it."""
K = 1024
M = K * K


def listed(x):
    return [x] if isinstance(x, int) else list(x)


def plan(module, buffers, launches, smem=0):
    out = [f'module = "{module}.ptx"', "", "[buffers]"] + [f'{k} = "{v}"' for k, v in buffers.items()]
    for name, entry, grid, block, shared, args in launches:
        out += ["", "[[launch]]", f'name = "{name}"', f'entry = "{entry}"', f"grid = {listed(grid)}", f"block = {listed(block)}"]
        if shared:
            out += [f"smem = {shared}"]
        out += ["args = [" + ", ".join(f'"{a}"' for a in args.split()) + "]"]
    open(module + ".toml", "w").write("\n".join(out) + "\n")


def triton(module, buffers, launches, smem=0, threads=128):
    plan(module, dict(**buffers, g0="u8[128]:zeros"), [(n, module, g, threads, smem, a + " @g0 @g0") for n, g, a in launches])
