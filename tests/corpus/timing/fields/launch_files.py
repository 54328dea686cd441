"""Writes various.toml."""
out=['module = "various.ptx"','','[buffers]','u = "u32[8388608]:random"','t = "u32[1024]:random"','f = "f32[8388608]:random"','g = "f32[8388608]:random"','o = "u32[8388608]:zeros"','z = "f32[8388608]:zeros"','b = "bf16[8388608]:random"','d = "bf16[8388608]:random"']
n=0
def L(e,tag,g,b,args):
  global out,n; n+=1
  out+=['','[[launch]]',f'name = "{e}-{tag}"',f'entry = "{e}"',f'grid = {g}',f'block = {b}','args = ['+', '.join(f'"{q}"' for q in args.split())+']']
for w in (64,1024): L('nf4_dequant',f'{w}k',[w*4],[256],f'@u @f @o u32:{w*1024}')
for w,h in ((256,256),(2048,1024)): L('noise',f'{w}x{h}',[w//32,h//8],[32,8],f'@z u32:{w} u32:{h} f32:0.013')
for c in (64,256): L('rounds',f'{c}k',[c*4],[256],f'@t @u @o u32:10 u32:{c*1024}')
for r,e in ((4096,16),(32768,24)): L('spmm64',f'{r}x{e}',[r//8],[256],f'@u @f @g @z u32:{r} u32:{e} u32:65535')
for m in (1,8): L('swiglu',f'{m}M',[528],[256],f'@b @d @o u32:{m*131072}')
for p,h in ((512,8),(2048,32)): L('rotate_pairs',f'{p}x{h}',[p,h],[64],f'@b @o u32:{h} u32:64 u32:{p} f32:13.28')
for r,c in ((512,2048),(4096,1536)): L('welford_norm',f'{r}x{c}',[r],[256],f'@f @g @z u32:{c}')
for t,e in ((16896,128),(131072,64)): L('eight_least',f'{t}x{e}',[t//128],[128],f'@f @z u32:{e} u32:{t}')
for w,h in ((512,512),(2048,2048)): L('wave_tile',f'{w}x{h}',[w//32,h//16],[32,16],f'@f @g @z u32:{w} u32:{h} f32:0.2')
for p in (132,1056): L('edit_distance',f'{p}',[p],[256],f'@u @f @o u32:256')
for m,k in ((512,512),(1536,1024)): L('gemm_dp4a',f'{m}x{k}',[m//64,m//64],[256],f'@u @t2 @o u32:{m} u32:{k//4}')
for h,l in ((64,1024),(256,512)): L('one_query',f'{h}x{l}',[h],[256],f'@f @b @d @z u32:{l}')
for k in (64,512): L('lorenz',f'{k}k',[k*4],[256],f'@f u32:{k*1024} u32:50 f32:0.01')
for w,s in ((16,64),(64,64)): L('hash_strings',f'{w}x{s}k',[s*4],[256],f'@u @o u32:{w} u32:{s*1024}')
for w,h in ((512,256),(1920,1088)): L('bilateral',f'{w}x{h}',[w//32,h//8],[32,8],f'@f @z u32:{w} u32:{h} f32:0.1 f32:2')
for m,k in ((768,512),(2048,1024)): L('gemm_wmma',f'{m}x{k}',[m//64,m//64],[128],f'@b @d @z u32:{m} u32:{k}')
for m in (1,8): L('count_digits',f'{m}M',[264],[256],f'@u @o u32:{m*1024*1024} u32:8')
s='\n'.join(out)+'\n'
s=s.replace('@t2','@t3'); s=s.replace('t = "u32[1024]:random"','t = "u32[1024]:random"\nt3 = "u32[1048576]:random"')
open('various.toml','w').write(s); print(n)
