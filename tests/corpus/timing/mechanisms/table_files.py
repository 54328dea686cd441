"""Writes const.toml and strips.toml."""
out=['module = "const.ptx"','','[buffers]','y = "u32[1048576]:zeros"']
def L(e,b,n,d,s,a,p,m,g=132):
  global out
  out+=['','[[launch]]',f'name = "{e}-{b}-{d}x{s}-{a}-{p}-{m+1}"',f'entry = "{e}"',f'grid = [{g}]',f'block = [{b}]',f'args = ["@y", "u32:{n}", "u32:{d}", "u32:{s}", "u32:{a}", "u32:{p}", "u32:{m}"]']
for b in (32,128,512):
  for d in (1,2,4,8,16,32): L('words',b,128,d,1,0,0,255)
  for d in (2,8,32): L('words',b,128,d,16,0,0,511)
for d in (1,2,4,8,32): L('chain',32,128,d,1,0,0,255)
L('chain',32,128,32,16,0,0,511)
L('chain',512,128,32,1,0,0,255)
L('chain',1024,128,32,1,0,0,255); L('words',1024,128,32,1,0,0,255); L('words',1024,128,4,1,0,0,255)
for m in (255,511,1023,2047,4095,16383):
  L('chain',32,512,1,1,0,16,m)
  L('words',32,512,1,1,0,16,m)
  L('words',512,512,1,1,64,16,m)
  L('words',128,128,32,7,32,1,m)
for b in (64,256):
  for d in (1,4,32): L('words',b,128,d,1,0,0,255)
  L('words',b,512,1,1,64,16,1023); L('words',b,512,1,1,0,16,1023)
L('words',128,512,1,1,0,16,1023); L('words',128,512,1,1,64,16,1023); L('words',512,64,32,16,0,1,1023); L('words',32,64,32,16,0,1,1023)
for b in (32,512): L('chain_shared',b,128,32,1,0,0,255)
open('const.toml','w').write('\n'.join(out)+'\n')
out=['module = "strips.ptx"','','[buffers]','a = "u32[4194304]:zeros"','f = "f32[4194304]:random"','o = "u32[4194304]:zeros"','g = "f32[4194304]:zeros"']
def L(e,g,b,h,i,o):
  global out
  out+=['','[[launch]]',f'name = "{e}-{g}x{b}-{h}"',f'entry = "{e}"',f'grid = [{g}]',f'block = [{b}]',f'args = ["@{i}", "@{o}", "u32:{g*b}", "u32:{h}"]']
for g,b,h in ((132,32,128),(132,128,128),(132,256,64),(528,128,32)):
  for e in ('sum_rows','scan_apart','scan_in_place','scan_by_eight','walk','scan_others','scan_twice'): L(e,g,b,h,'a','o')
  L('divide_rows',g,b,h,'f','g')
open('strips.toml','w').write('\n'.join(out)+'\n')
