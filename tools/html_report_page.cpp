// The page of the HTML report: style and script. The data are inserted between the two parts as `D`.
#include "tools/html_report.h"

namespace drywell::tools {

const char* const kReportHead = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>drywell report</title>
<style>
:root { --ink:#1c2430; --dim:#667085; --line:#e3e7ee; --paper:#fff; --bind:#c2410c; --bar:#4f7cac; }
* { box-sizing:border-box }
body { margin:0; font:14px/1.45 system-ui,"DejaVu Sans",sans-serif; color:var(--ink); background:#f5f7fa }
main { max-width:1320px; margin:0 auto; padding:18px 22px 40px }
h1 { font-size:20px; margin:0 0 2px } h2 { font-size:15px; margin:0 0 10px }
.dim { color:var(--dim) } .mono { font-family:ui-monospace,"DejaVu Sans Mono",monospace; font-size:12px }
section { background:var(--paper); border:1px solid var(--line); border-radius:8px; padding:14px 16px; margin-top:14px }
.cards { display:flex; gap:12px; margin-top:14px; flex-wrap:wrap }
.card { background:var(--paper); border:1px solid var(--line); border-radius:8px; padding:10px 14px; flex:1 1 150px }
.card b { display:block; font-size:20px } .card span { color:var(--dim); font-size:12px }
.card.bind b { color:var(--bind) }
.two { display:grid; grid-template-columns:1fr 1fr; gap:14px } @media (max-width:1000px) { .two { grid-template-columns:1fr } }
.two section { min-width:0 }
table { border-collapse:collapse; width:100% } td,th { padding:2px 8px 2px 0; text-align:left; vertical-align:middle; white-space:nowrap }
th { color:var(--dim); font-weight:500; font-size:12px } td.n { text-align:right; font-variant-numeric:tabular-nums }
.track { background:#eef1f6; border-radius:3px; height:12px; width:100%; min-width:120px; overflow:hidden; display:flex }
.track i { display:block; height:100% }
.legend { display:flex; flex-wrap:wrap; gap:4px 14px; margin:8px 0 0; font-size:12px; color:var(--dim) }
.legend i { display:inline-block; width:10px; height:10px; border-radius:2px; margin-right:5px; vertical-align:-1px }
#view { width:100%; display:block; cursor:grab; touch-action:none } #view.drag { cursor:grabbing }
#tip { position:fixed; pointer-events:none; background:#1c2430; color:#fff; border-radius:5px; padding:5px 8px; font-size:12px; display:none; max-width:420px; z-index:9 }
button { font:inherit; font-size:12px; border:1px solid var(--line); background:#fff; border-radius:5px; padding:2px 9px; cursor:pointer }
.bar { display:flex; gap:8px; align-items:center; margin-bottom:8px }
</style></head><body><main>
<h1 id="title"></h1><div class="dim" id="sub"></div>
<div class="cards" id="cards"></div>
<section><h2>What binds</h2><div id="advice" style="margin-bottom:8px"></div><div id="roof"></div></section>
<section><h2 id="tl"></h2><div class="bar"><button id="out">whole</button><button id="in">zoom in</button><button id="back">zoom out</button>
<label class="dim"><input type="checkbox" id="flows" checked> from issue to completion to waiter</label> <span class="dim" id="dense"></span>
<span class="dim" style="margin-left:auto">wheel zooms, dragging moves</span></div><canvas id="view"></canvas><div class="legend" id="legend"></div></section>
<div class="two"><section><h2>Where the warps' cycles went</h2><div id="stalls"></div></section>
<section><h2>Units</h2><div id="units"></div></section></div>
<section><h2>Cost of the kernel author's lines</h2><div id="lines"></div></section>
<div id="tip"></div></main>
<script>
const D = )page";

const char* const kReportTail = R"page(;
const C = {issued:"#2f9e62",not_selected:"#a7d8ba",register_dependency:"#f0b35f",memory:"#cf4a3c",pipe_busy:"#ec8250",branch:"#b9bec7",issue_cost:"#f1dc83",
 mbarrier:"#4272b0",named_barrier:"#7fb2d9",cluster_barrier:"#b5d6ea",warp_sync:"#7a4a94",tmem_wait:"#a57cc0",tmem_alloc:"#cdb3dd",bulk_wait:"#5a4fa3",sleep:"#dfe2e7",finished:"#f1f3f6"};
const U = ["#d98032","#7b3f98","#2b8a86","#8a6d3b","#c05a7c"];
const R = D.report, T = D.timeline, $ = id => document.getElementById(id), pct = x => (100*x).toFixed(1)+" %";
const num = x => x >= 1e15 ? (x/1e15).toFixed(2)+" P" : x >= 1e12 ? (x/1e12).toFixed(2)+" T" : x >= 1e9 ? (x/1e9).toFixed(2)+" G" : x >= 1e6 ? (x/1e6).toFixed(2)+" M" : x >= 1e4 ? (x/1e3).toFixed(1)+" k" : Math.round(x)+"";
const amount = (x, unit) => unit === "B" ? (/[A-Z]$/i.test(num(x)) ? num(x) + "B" : num(x) + " B") : num(x) + " " + unit;
const esc = s => String(s).replace(/[&<>]/g, c => ({"&":"&amp;","<":"&lt;",">":"&gt;"}[c]));
$("title").textContent = D.title; document.title = "drywell: " + D.title;
$("sub").textContent = D.arch + " · " + D.launch + (D.verified ? " · " + D.verified : "") + " · drywell " + D.version;
const L = R.limits || [], bind = L[0];
const card = (v, t, c) => `<div class="card ${c||""}"><b>${v}</b><span>${t}</span></div>`;
$("cards").innerHTML = card(R.us.toFixed(2)+" µs", num(R.cycles)+" cycles at "+R.ghz.toFixed(2)+" GHz; an empty launch takes "+R.launch_us.toFixed(1)+" µs more") +
 (bind ? card(esc(bind.name), (bind.fraction < 0.6 ? "is the tightest limit, and does not bind" : "binds")+": the kernel reaches "+pct(bind.fraction)+" of it", "bind") : "") +
 card(R.sms_used+" of "+R.sms, "SMs used, "+R.ctas_per_sm+" CTA"+(R.ctas_per_sm==1?"":"s")+" at a time on each, limited by "+esc(R.residency_limit)) +
 card(amount(R.hbm_read,"B"), "read from device memory, "+amount(R.hbm_written,"B")+" written to it meanwhile") + (R.values ? "" : card("no values", "tensor results were not computed"));
const bar = (w, c) => `<div class="track"><i style="width:${Math.min(100,100*w)}%;background:${c}"></i></div>`;
$("roof").innerHTML = (bind ? `<p style="margin:0 0 8px">Busy without a gap, <b>${esc(bind.name)}</b> alone would need ${num(bind.cycles)} of the ${num(R.cycles)} cycles (${esc(bind.what)}): ` +
 `the kernel runs ${(R.cycles/bind.cycles).toFixed(2)} times as long as its tightest limit.</p>` : "") +
 "<table><tr><th>limit</th><th style='width:60%'>least time of the busiest instance, as a share of the run</th><th></th><th>work</th></tr>" +
 L.slice(0,9).map((l,i) => `<tr><td>${esc(l.name)}</td><td>${bar(l.fraction, i ? "var(--bar)" : "var(--bind)")}</td><td class="n">${pct(l.fraction)}</td><td class="dim">${esc(l.what)}</td></tr>`).join("") + "</table>";
$("units").innerHTML = "<table>" + (R.units||[]).filter(u => u.work || u.utilisation).map(u =>
 `<tr><td>${esc(u.name)}</td><td style="width:45%">${bar(u.utilisation,"var(--bar)")}</td><td class="n">${pct(u.utilisation)}</td><td class="n dim">${esc(amount(u.work, u.work_unit))}</td></tr>`).join("") + "</table>";
const shown = new Set();
$("stalls").innerHTML = "<table>" + (R.roles||[]).map(r => { const sum = r.cycles.reduce((a,b)=>a+b,0)||1;
 const parts = r.cycles.map((c,i) => [D.stalls[i], c/sum]).filter(p => p[1] > 0.002); parts.forEach(p => shown.add(p[0]));
 const top = parts.slice().sort((a,b)=>b[1]-a[1]).slice(0,4).map(p => p[0].replace(/_/g," ")+" "+pct(p[1])).join(", ");
 return `<tr><td style="padding-top:7px">${esc(r.name)}</td><td class="n dim" style="padding-top:7px">${num(r.warps)} warps, ${num(r.instructions)} instructions</td></tr>` +
 `<tr><td colspan="2"><div class="track" style="height:16px">` + parts.map(p => `<i title="${p[0]} ${pct(p[1])}" style="width:${100*p[1]}%;background:${C[p[0]]}"></i>`).join("") +
 `</div><div class="dim" style="font-size:12px;white-space:normal">${top}</div></td></tr>`; }).join("") + "</table>";
$("advice").innerHTML = (R.advice||[]).map(s => `<div>${esc(s)}</div>`).join("");
$("lines").innerHTML = "<table><tr><th>line</th><th style='width:34%'>share of the warps' cycles</th><th></th><th>warp instructions</th></tr>" + (R.lines||[]).slice(0,20).map(l =>
 `<tr><td class="mono">${esc(l.where)}${l.text ? ` <span class="dim" title="${esc(l.text).replace(/"/g,"&quot;")}">${esc(l.text.slice(0,64))}</span>` : ""}</td><td>${bar(l.share,"var(--bar)")}</td><td class="n">${pct(l.share)}</td><td class="n dim">${num(l.instructions)}</td></tr>`).join("") + "</table>";

// ---- timeline
$("tl").textContent = T.seen ? "CTA " + T.cta + ", cycles " + T.from + " to " + T.to + (T.truncated ? " (the first of it: there is more)" : "") : "No CTA " + T.cta + " in this launch";
const rows = [], H = 15, GAP = 3, LEFT = 128, TOP = 22;
for (let w = 0; w < T.warps.length; ++w) {
  const s = T.warps[w].spans, a = []; let t = T.from;
  for (let i = 0; i < s.length; i += 4) { t += s[i]; a.push([t, t + s[i+1], D.stalls[s[i+2]], s[i+3]]); }
  rows.push({kind:"warp", label:"w" + w + (T.warps[w].role ? " " + T.warps[w].role : ""), spans:a, warp:w});
}
T.units.forEach((u, k) => {
  const ops = T.operations.filter(o => o[0] === k); if (!ops.length) return;
  const lanes = []; // operations overlap: each goes to the first lane that is free
  for (const o of ops.sort((a,b) => a[4]-b[4])) { let l = lanes.findIndex(e => e <= o[4]); if (l < 0) l = lanes.length < 5 ? lanes.push(0)-1 : lanes.indexOf(Math.min(...lanes)); lanes[l] = Math.max(o[6], o[4]+1); o.lane = l; }
  for (let l = 0; l < lanes.length; ++l) rows.push({kind:"unit", label: l ? "" : u, ops:ops.filter(o => o.lane === l), colour:U[k]});
});
const area = (label, k, most, unit, colour) => { if (T.levels.some(l => l[k])) rows.push({kind:"level", label, k, most, unit, colour}); };
area("SMEM of CTAs", 1, T.smem_capacity, "B", "#6b8fb8"); area("SMEM on its way", 2, Math.max(1, ...T.levels.map(l => l[2])), "B", "#d98032"); area("TMEM columns", 3, 512, "columns", "#7b3f98");
let y = TOP; for (const r of rows) { r.y = y; r.h = r.kind === "level" ? 34 : H; y += r.h + GAP; }
const view = $("view"), g = view.getContext("2d"), end = Math.max(T.to, T.from + 1); let a = T.from, b = end;
const px = () => view.clientWidth - LEFT - 8, X = t => LEFT + (t - a) / (b - a) * px(), at = x => a + (x - LEFT) / px() * (b - a);
function first(list, t, key) { let lo = 0, hi = list.length; while (lo < hi) { const m = (lo+hi)>>1; if (key(list[m]) < t) lo = m+1; else hi = m; } return lo; }
function drawWarp(r) { // each column of pixels shows what filled most of it
  const n = Math.ceil(px()), step = (b-a)/n; let i = first(r.spans, a, s => s[1]);
  if (step <= 0.5) { for (; i < r.spans.length && r.spans[i][0] < b; ++i) { const s = r.spans[i], x = Math.max(LEFT, X(s[0])); g.fillStyle = C[s[2]]; g.fillRect(x, r.y, Math.min(X(s[1]), LEFT+px()) - x, r.h); } return; }
  for (let c = 0; c < n; ++c) { const t0 = a + c*step, t1 = t0 + step, sum = {}; let best = null, most = 0;
    while (i < r.spans.length && r.spans[i][1] <= t0) ++i;
    for (let k = i; k < r.spans.length && r.spans[k][0] < t1; ++k) { const s = r.spans[k], d = Math.min(s[1],t1)-Math.max(s[0],t0); sum[s[2]] = (sum[s[2]]||0)+d; if (sum[s[2]] > most) { most = sum[s[2]]; best = s[2]; } }
    if (best) { g.fillStyle = C[best]; g.fillRect(LEFT+c, r.y, 1, r.h); } }
}
function drawUnit(r) { for (const o of r.ops) { if (o[6] < a || o[4] > b) continue; const x0 = Math.max(LEFT, X(o[4])), xs = Math.max(x0, X(o[5])), x1 = Math.min(LEFT+px(), Math.max(X(o[6]), x0+1.5));
  g.fillStyle = r.colour; g.globalAlpha = .28; g.fillRect(x0, r.y, x1-x0, r.h); g.globalAlpha = 1; g.fillRect(xs, r.y+2, Math.max(1, x1-xs), r.h-4);
  if (x1-x0 > 70) { g.fillStyle = "#fff"; g.font = "10px sans-serif"; g.fillText(o[1], Math.max(x0,xs)+4, r.y+11); } } }
function drawLevel(r) { g.fillStyle = "#f3f5f9"; g.fillRect(LEFT, r.y, px(), r.h); g.fillStyle = r.colour; const yv = v => r.h * Math.min(1, v/r.most), n = Math.ceil(px()), step = (b-a)/n; let i = 0, v = 0;
  for (let c = 0; c < n; ++c) { const t = a + (c+1)*step; let top = v; while (i < T.levels.length && T.levels[i][0] <= t) { v = T.levels[i][r.k]; top = Math.max(top, v); ++i; } if (a + c*step < end) g.fillRect(LEFT+c, r.y+r.h-yv(top), 1, yv(top)); }
  g.fillStyle = "#667085"; g.font = "10px sans-serif"; g.fillText("of " + num(r.most) + " " + r.unit, 0, r.y + 25); }
function drawFlows() { const seen = T.operations.filter(o => o.lane !== undefined && o[6] >= a && o[4] <= b && (o[7] >= 0 || o[0] < 2)); if (seen.length > 90) return false; g.lineWidth = 1;
  for (const o of seen) { const w = rows[o[2]], u = rows.find(r => r.ops && r.ops.includes(o)); if (!w || !u) continue; g.strokeStyle = "rgba(40,50,70,.45)";
    arrow(X(o[4]), w.y+w.h, X(o[4]), u.y); if (o[7] >= 0 && rows[o[7]]) { g.strokeStyle = "rgba(194,65,12,.65)"; arrow(X(o[6]), u.y, X(o[8]), rows[o[7]].y+H); } } return true; }
function arrow(x0, y0, x1, y1) { if (Math.max(x0,x1) < LEFT || Math.min(x0,x1) > LEFT+px()) return; g.save(); g.beginPath(); g.rect(LEFT, 0, px(), 1e5); g.clip(); g.beginPath(); g.moveTo(x0,y0); g.lineTo(x1,y1); g.stroke();
  g.beginPath(); g.arc(x1, y1, 2, 0, 7); g.fillStyle = g.strokeStyle; g.fill(); g.restore(); }
function draw() { const q = window.devicePixelRatio || 1; view.style.height = (y+4)+"px"; view.width = view.clientWidth*q; view.height = (y+4)*q; g.setTransform(q,0,0,q,0,0); g.clearRect(0,0,view.clientWidth,y+4);
  const raw = (b-a)/8, mag = Math.pow(10, Math.floor(Math.log10(raw))), step = [1,2,5,10].map(m => m*mag).find(s => s >= raw) || raw; g.font = "11px sans-serif"; g.fillStyle = "#667085"; g.strokeStyle = "#e3e7ee"; g.lineWidth = 1;
  for (let t = Math.ceil(a/step)*step; t <= b; t += step) { const x = Math.round(X(t))+.5; g.beginPath(); g.moveTo(x,14); g.lineTo(x,y); g.stroke(); g.fillText(Math.round(t).toLocaleString("en"), Math.min(x+3, LEFT+px()-46), 11); }
  for (const r of rows) { g.fillStyle = "#1c2430"; g.font = "11px sans-serif"; g.fillText(r.label, 0, r.y + Math.min(r.h, H) - 3); r.kind === "warp" ? drawWarp(r) : r.kind === "unit" ? drawUnit(r) : drawLevel(r); }
  $("dense").textContent = $("flows").checked && !drawFlows() ? "(too many here: zoom in)" : ""; }
function zoom(f, t) { const n = Math.max(20, Math.min(end-T.from, (b-a)*f)); a = t-(t-a)/(b-a)*n; b = a+n; if (a < T.from) { b += T.from-a; a = T.from; } if (b > end) { a = Math.max(T.from, a-(b-end)); b = end; } draw(); }
view.onwheel = e => { e.preventDefault(); zoom(e.deltaY > 0 ? 1.25 : .8, at(e.offsetX)); };
let from = null; view.onpointerdown = e => { from = e.clientX; view.setPointerCapture(e.pointerId); view.classList.add("drag"); }; view.onpointerup = () => { from = null; view.classList.remove("drag"); };
view.onpointermove = e => { if (from !== null) { const d = Math.max(T.from-a, Math.min(end-b, (from-e.clientX)/px()*(b-a))); a += d; b += d; from = e.clientX; draw(); return; } hint(e); };
view.onpointerleave = () => $("tip").style.display = "none";
function hint(e) { const t = at(e.offsetX), r = rows.find(r => e.offsetY >= r.y && e.offsetY < r.y+r.h); let s = ""; if (r && e.offsetX >= LEFT) {
  if (r.kind === "warp") { const p = r.spans[first(r.spans, t, s => s[1])]; if (p && p[0] <= t) s = `<b>${esc(r.label)}</b> ${p[2].replace(/_/g," ")}, ${p[1]-p[0]} cycles from ${p[0]}<br>${esc(T.lines[p[3]]||"")}`; }
  if (r.kind === "unit") { const o = r.ops.find(o => o[4] <= t && t <= Math.max(o[6],o[4]+(b-a)/px()*2)); if (o) s = `<b>${esc(o[1])}</b> of w${o[2]}: issued ${o[4]}, started +${o[5]-o[4]}, done +${o[6]-o[4]}${o[7]>=0?`<br>w${o[7]} saw it at +${o[8]-o[4]}`:""}<br>${esc(T.lines[o[3]]||"")}`; }
  if (r.kind === "level") { const i = first(T.levels, t+.001, l => l[0])-1; if (i >= 0) s = `<b>${esc(r.label)}</b> ${T.levels[i][r.k].toLocaleString("en")} ${r.unit}`; } }
  const tip = $("tip"); tip.style.display = s ? "block" : "none"; tip.innerHTML = s; tip.style.left = Math.min(e.clientX+12, innerWidth-440)+"px"; tip.style.top = (e.clientY+14)+"px"; }
$("out").onclick = () => { a = T.from; b = end; draw(); }; $("in").onclick = () => zoom(.5, (a+b)/2); $("back").onclick = () => zoom(2, (a+b)/2); $("flows").onchange = draw; window.onresize = draw;
for (const r of rows) if (r.spans) for (const s of r.spans) shown.add(s[2]);
$("legend").innerHTML = D.stalls.filter(s => shown.has(s)).map(s => `<span><i style="background:${C[s]}"></i>${s.replace(/_/g," ")}</span>`).join("");
if (T.seen) draw();
</script></body></html>
)page";

}  // namespace drywell::tools
