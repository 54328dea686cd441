"""Writes mech.toml."""
K=1024;M=K*K
out=['module = "mech.ptx"','','[buffers]','x = "f32[8388608]:random"','t = "u32[8388608]:random"','i = "u32[1048576]:random"','o = "f32[8388608]:zeros"']
def L(n,e,g,b,a):
  global out; out+=['','[[launch]]',f'name = "{n}"',f'entry = "{e}"',f'grid = [{g}]',f'block = [{b}]','args = ['+', '.join(f'"{q}"' for q in a.split())+']']
for n in (0,1,2,4,64,256): L(f'chase-16KiB-{n}','chase',1,1,f'@t @o u32:{n} u32:{4*K-1}')
for n in (64,256): L(f'chase-4MiB-{n}','chase',1,1,f'@t @o u32:{n} u32:{M-1}'); L(f'chase-32MiB-{n}','chase',1,1,f'@t @o u32:{n} u32:{8*M-1}'); L(f'chase-132-4MiB-{n}','chase',132,1,f'@t @o u32:{n} u32:{M-1}'); L(f'chase-132-32MiB-{n}','chase',132,1,f'@t @o u32:{n} u32:{8*M-1}')
for n in (64,256):
  for w in (32,128,512): L(f'exps-{w}-{n}','exps',132,w,f'@o u32:{n}')
for g in (1,2,132):
  for n in (1024,8192): L(f'stores-{g}-{n*16//K}KiB','stores',g,256,f'@o u32:{n}')
for g in (132,512,1024):
  for b in (256,512): L(f'rows-{g}x8192-{b}','rows',g,b,'@x @o u32:8192 u32:1')
for r in (1,4,16): L(f'rows-132x{r}x2048','rows',132,256,f'@x @o u32:2048 u32:{r}')
for w in (32,128,256):
  for n in (64,192): L(f'stream-132x{w}-{n}','stream',132,w,f'@x @o u32:{n}')
for m in (2,8,32): L(f'gather-1024k-{m}MiB','gather',4096,256,f'@t @i @o u32:{m*M//4-1}')
L('gather-128k-32MiB','gather',512,256,f'@t @i @o u32:{8*M-1}')
for m in (1,64,4096):
  for v in (0,1): L(f'reds-{m}lines-v{v}','reds',1024,256,f'@o @i u32:{m-1} u32:{v}')
open('mech.toml','w').write('\n'.join(out)+'\n')
