"""Writes apart.toml, partner.toml, swaps.toml and divide.toml."""
def start(name, buffers, text):
  return [f'# {text} ({name}.cu; docs/lab/calibration.md).', f'module = "{name}.ptx"', '', '[buffers]'] + buffers
def launch(out, name, entry, grid, block, args):
  out += ['', '[[launch]]', f'name = "{name}"', f'entry = "{entry}"', f'grid = [{grid}]', f'block = [{block}]', f'args = [{", ".join(args)}]']
def end(name, out):
  open(f'{name}.toml', 'w').write('\n'.join(out) + '\n')

out = start('apart', ['y = "u32[1048576]:zeros"'], 'Lanes of a warp that go different ways')
for block in (32, 128, 512):
  for entry in ('one_2', 'one_8', 'one_32', 'two_16', 'two_32', 'ended_16', 'called', 'called_all', 'rest', 'quotient', 'sorted'):
    for mode in (0, 1, 16): launch(out, f'{entry}-{block}-{mode}', entry, 132, block, ['"@y"', f'"u32:{mode}"', '"u32:5"', '"u32:9"'])
  for entry, modes in (('deep_16', (0, 7, 28)), ('times_4', (0, 7, 24, 31)), ('times_16', (0, 7, 24, 31)), ('eight_16', (0, 1, 3, 7))):
    for mode in modes: launch(out, f'{entry}-{block}-{mode}', entry, 132, block, ['"@y"', f'"u32:{mode}"', '"u32:5"', '"u32:9"'])
end('apart', out)

out = start('partner', ['y = "u32[16777216]:zeros"', 'x = "u32[4194304]:random"'], 'Stores of parts of sectors that the same warp or another completes')
for who in ('own', 'next'):
  for lines, by in ((32, 8), (16, 4), (16, 8), (8, 2), (8, 4), (4, 2)):
    for grid, block in ((132, 256), (1056, 256)):
      for wait in ((0,) if who == 'own' else (0, 30, 300)):
        rounds = 8 if grid == 132 else 2
        if who == 'own' and by == 8 and lines == 32: rounds = 1 if grid == 1056 else 4
        launch(out, f'{who}_{lines}-{grid}x{block}-{by}-{wait}', f'{who}_{lines}', grid, block, ['"@y"', f'"u32:{rounds}"', '"u32:32"', f'"u32:{by}"', f'"u32:{wait}"', '"u32:5"'])
for words in (3, 4, 8):
  for loaded in (0, 1):
    for grid, block in ((132, 128), (132, 1024), (1056, 256)):
      launch(out, f'records-{grid}x{block}-{words}-{loaded}', 'records', grid, block, ['"@y"', '"@x"', '"u32:4"', f'"u32:{words}"', f'"u32:{loaded}"'])
for width in (512, 2048):
  for loaded in (0, 1):
    for bx, by in ((16, 16), (32, 8), (32, 32), (8, 8), (8, 32)):
      out += ['', '[[launch]]', f'name = "turned-{width}-{bx}x{by}-{loaded}"', 'entry = "turned"', f'grid = [{width // bx}, {width // by}]', f'block = [{bx}, {by}]', f'args = ["@y", "@x", "u32:{width}", "u32:{loaded}"]']
end('partner', out)

out = start('swaps', ['y = "u32[1048576]:zeros"'], 'Loops of compare-and-swap')
for entry in ('product', 'swap_once', 'swap_used', 'add_used', 'load_add', 'load_cas'):
  for grid, block in ((132, 32), (132, 256), (1056, 256)):
    for words in (4096, 1000003): launch(out, f'{entry}-{grid}x{block}-{words}', entry, grid, block, ['"@y"', f'"u32:{words}"', '"u32:4"'])
end('swaps', out)

out = start('divide', ['y = "u64[1048576]:zeros"'], 'Quotients and remainders of 64 bits')
def division(entry, block, size, small, large, divisor, mode):
  t = entry.split('_')[1]
  launch(out, f'{entry}-{block}-{size}', entry, 132, block, ['"@y"', f'"{t}:{small}"', f'"{t}:{large}"', f'"{t}:{divisor}"', f'"u32:{mode}"', f'"{t}:1"'])
for block in (32, 128, 512, 1024):
  for entry in ('div_u64', 'rem_u64', 'div_s64', 'rem_s64'):
    division(entry, block, 'small', 1000, 1000, 7, 0)
    division(entry, block, 'large', 1 << 41, 1 << 41, 77, 0)
    division(entry, block, 'both', 1000, 1 << 41, 77, 1)
    if block in (32, 512): division(entry, block, 'divisor', 1 << 51, 1 << 51, 1 << 35, 0)
  for entry in ('div_s32', 'rem_s32', 'rem_u32'): division(entry, block, 'small', 1000, 1000, 7, 0)
end('divide', out)
