#!/bin/sh
# Makes a page of every kind of picture that the command draws: pictures.sh BINARY FOLDER (the target drywell_pictures: build/pictures).
set -eu
drywell=$1 folder=$2
mkdir -p "$folder"
page=$folder/index.html
cat > "$page" <<'END'
<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Drywell's pictures</title>
<style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:1400px;margin:24px auto;padding:0 20px}
figure{margin:28px 0}figcaption{margin-bottom:8px}code{font-size:13px}img,iframe{border:1px solid #8884;max-width:100%}iframe{width:100%;height:720px}</style></head><body>
<h1>Every kind of picture</h1><p>Made by <code>tools/pictures.sh</code> with the commands above each; SVG follows the reader's dark or light setting where a picture has both.</p>
END
# Adds a picture: FILE, caption, words of the command behind which the file's option stands.
picture() {
  file=$1 caption=$2
  shift 2
  "$drywell" "$@" > /dev/null
  words=$(printf '%s ' "$@" | sed -e "s|$folder/||g" -e 's/&/\&amp;/g' -e 's/</\&lt;/g')
  case $file in
    *.svg) body="<img src=\"$file\" alt=\"$caption\">" ;;
    *) body="<iframe src=\"$file\" title=\"$caption\"></iframe>" ;;
  esac
  printf '<figure><figcaption>%s<br><code>drywell %s</code></figcaption>%s</figure>\n' "$caption" "$words" "$body" >> "$page"
}
svg() {
  file=$1 caption=$2
  shift 2
  picture "$file" "$caption" "$@" --svg "$folder/$file"
}
svg layout.svg "A layout of CuTe's algebra" layout '((4,2),8):((1,32),4)'
svg fragment.svg "Fragments of mma.sync" fragment mma.m16n8k16.f32.bf16.bf16.f32
svg banks.svg "Banks of an access" smem banks 'lane*16' --access ld.v4.b32
svg tile.svg "A swizzled tile of shared memory" smem tile --rows 8 --swizzle 128B
svg scales.svg "Scale factors of an MMA" sf mma nvf4
svg desc.svg "An operand through a shared-memory descriptor" desc smem 0x4000404000010040 --tile 8x64
svg tensor-map.svg "The box of a tensor map, in part outside the tensor" desc tensor-map --make type=bf16,dims=64x6,box=64x8,swizzle=128B
svg copy.svg "Where tcgen05.cp puts rows" fragment tcgen05.cp.64x128b.warpx2::01_23 --max-rows 8
svg tmem-map.svg "What a kernel does with tensor memory" tmem map gemm-blockscaled --m=128 --n=128 --k=256
svg tmem-d.svg "D of a pair of CTAs in tensor memory" tmem layout --m=128 --n=256 --cta-group=2
svg tmem-sf.svg "Scale factors in tensor memory" tmem layout --operand=sfa --kind=nvf4 --m=128 --n=128
picture tmem.html "Tensor memory over the cycles of a run" tmem show gemm-bf16 --m=256 --n=128 --k=256 --cta-group=2 -o "$folder/tmem.html"
svg tmem-state.svg "Tensor memory at one cycle" tmem show gemm-blockscaled --m=128 --n=128 --k=256 -o "$folder/tmem-state.html"
picture smem.html "Shared memory over the cycles of a run" smem show gemm-bf16 --m=128 --n=128 --k=256 -o "$folder/smem.html"
picture report.html "The report of a timed run" run fused-rht --m=256 --n=512 --driver=timed --report="$folder/report.html"
"$drywell" run fused-rht --m=256 --n=512 --driver=timed --json="$folder/a.json" > /dev/null
"$drywell" run fused-rht --m=256 --n=1024 --driver=timed --json="$folder/b.json" > /dev/null
picture compare.html "Two runs compared" compare "$folder/a.json" "$folder/b.json" --html="$folder/compare.html"
"$drywell" trace record fused-rht --m=256 --n=256 --driver=timed -o "$folder/rht.trace" > /dev/null
picture timeline.svg "A trace as a timeline" trace export "$folder/rht.trace" --format svg -o "$folder/timeline.svg"
echo '</body></html>' >> "$page"
echo "$page"
