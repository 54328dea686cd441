// The page of the HTML report: the script of the timeline, and of the choice among launches and CTAs.
#include "tools/html_report.h"

namespace drywell::tools {

const char* const kReportTimeline = R"page(
// ---- timeline
const H = 15, GAP = 3, LEFT = 128, TOP = 22; let rows = [], y = TOP, a = 0, b = 1, end = 1;
function buildRows() { rows = [];
 for (let w = 0; w < T.warps.length; ++w) {
  const s = T.warps[w].spans, a = []; let t = T.from;
  for (let i = 0; i < s.length; i += 4) { t += s[i]; a.push([t, t + s[i+1], D.stalls[s[i+2]], s[i+3]]); }
  rows.push({kind:"warp", label:"w" + w + (T.warps[w].role ? " " + T.warps[w].role : ""), spans:a, warp:w, hazards:marksOf(w)});
 }
 T.units.forEach((u, k) => {
  const ops = T.operations.filter(o => o[0] === k); if (!ops.length) return;
  const lanes = []; // operations overlap: each goes to the first lane that is free
  for (const o of ops.sort((a,b) => a[4]-b[4])) { let l = lanes.findIndex(e => e <= o[4]); if (l < 0) l = lanes.length < 5 ? lanes.push(0)-1 : lanes.indexOf(Math.min(...lanes)); lanes[l] = Math.max(o[6], o[4]+1); o.lane = l; }
  for (let l = 0; l < lanes.length; ++l) rows.push({kind:"unit", label: l ? "" : u, ops:ops.filter(o => o.lane === l), colour:U[k]});
 });
 const area = (label, k, most, unit, colour) => { if (T.levels.some(l => l[k])) rows.push({kind:"level", label, k, most, unit, colour}); };
 area("SMEM of CTAs", 1, T.smem_capacity, "B", "#6b8fb8"); area("SMEM on its way", 2, Math.max(1, ...T.levels.map(l => l[2])), "B", "#d98032"); area("TMEM columns", 3, 512, "columns", "#9b5fbf");
 y = TOP; for (const r of rows) { r.y = y; r.h = r.kind === "level" ? 34 : H; y += r.h + GAP; }
 end = Math.max(T.to, T.from + 1); a = T.from; b = end; }
// Hazards of a warp of this CTA, at the cycle of its part in them.
const marksOf = w => D.hazards.flatMap(h => [h.here, h.other].filter(p => p && p.cta === T.cta && p.warp === w && p.kernel === kernelOf() && p.when >= T.from && p.when <= T.to).map(p => ({at:p.when, h})));
const kernelOf = () => D.launches.length > 1 ? D.launches[N].name : D.hazards.length ? D.hazards[0].here.kernel : "";
const view = $("view"), g = view.getContext("2d");
const px = () => view.clientWidth - LEFT - 8, X = t => LEFT + (t - a) / (b - a) * px(), at = x => a + (x - LEFT) / px() * (b - a);
function first(list, t, key) { let lo = 0, hi = list.length; while (lo < hi) { const m = (lo+hi)>>1; if (key(list[m]) < t) lo = m+1; else hi = m; } return lo; }
function drawWarp(r) { // each column of pixels shows what filled most of it
  const n = Math.ceil(px()), step = (b-a)/n; let i = first(r.spans, a, s => s[1]);
  if (step <= 0.5) { for (; i < r.spans.length && r.spans[i][0] < b; ++i) { const s = r.spans[i], x = Math.max(LEFT, X(s[0])); g.fillStyle = paintOf(C[s[2]]); g.fillRect(x, r.y, Math.min(X(s[1]), LEFT+px()) - x, r.h); } return; }
  for (let c = 0; c < n; ++c) { const t0 = a + c*step, t1 = t0 + step, sum = {}; let best = null, most = 0;
    while (i < r.spans.length && r.spans[i][1] <= t0) ++i;
    for (let k = i; k < r.spans.length && r.spans[k][0] < t1; ++k) { const s = r.spans[k], d = Math.min(s[1],t1)-Math.max(s[0],t0); sum[s[2]] = (sum[s[2]]||0)+d; if (sum[s[2]] > most) { most = sum[s[2]]; best = s[2]; } }
    if (best) { g.fillStyle = paintOf(C[best]); g.fillRect(LEFT+c, r.y, 1, r.h); } }
}
function drawHazards(r) { for (const m of r.hazards) { const x = X(m.at); if (x < LEFT || x > LEFT+px()) continue; g.fillStyle = css(m.h.level === "error" ? "--bad" : "--warn"); g.strokeStyle = css("--paper"); g.lineWidth = 1.5; g.beginPath(); g.moveTo(x, r.y-2); g.lineTo(x+6, r.y+10); g.lineTo(x-6, r.y+10); g.closePath(); g.fill(); g.stroke(); } }
function drawUnit(r) { for (let i = 0; i < r.ops.length; ++i) { const o = r.ops[i], next = i+1 < r.ops.length ? X(r.ops[i+1][4]) : 1e9; if (o[6] < a || o[4] > b) continue; const x0 = Math.max(LEFT, X(o[4])), xs = Math.max(x0, X(o[5])), x1 = Math.min(LEFT+px(), Math.max(X(o[6]), x0+1.5));
  g.fillStyle = r.colour; g.globalAlpha = .28; g.fillRect(x0, r.y, x1-x0, r.h); g.globalAlpha = 1; g.fillRect(xs, r.y+2, Math.max(1, x1-xs), r.h-4);
  const from = Math.max(x0, xs); g.font = "10px sans-serif"; if (Math.min(x1, next)-from > g.measureText(o[1]).width + 8) { g.fillStyle = "#fff"; g.fillText(o[1], from+4, r.y+11); } } }
function drawLevel(r) { g.fillStyle = css("--track"); g.fillRect(LEFT, r.y, px(), r.h); g.fillStyle = r.colour; const yv = v => r.h * Math.min(1, v/r.most), n = Math.ceil(px()), step = (b-a)/n; let i = 0, v = 0;
  for (let c = 0; c < n; ++c) { const t = a + (c+1)*step; let top = v; while (i < T.levels.length && T.levels[i][0] <= t) { v = T.levels[i][r.k]; top = Math.max(top, v); ++i; } if (a + c*step < end) g.fillRect(LEFT+c, r.y+r.h-yv(top), 1, yv(top)); }
  g.fillStyle = css("--dim"); g.font = "10px sans-serif"; g.fillText("of " + num(r.most) + " " + r.unit, 0, r.y + 25); }
function drawFlows() { const seen = T.operations.filter(o => o.lane !== undefined && o[6] >= a && o[4] <= b && (o[7] >= 0 || o[0] < 2)); if (seen.length > 90) return false; g.lineWidth = 1;
  for (const o of seen) { const w = rows[o[2]], u = rows.find(r => r.ops && r.ops.includes(o)); if (!w || !u) continue; g.strokeStyle = css("--dim");
    arrow(X(o[4]), w.y+w.h, X(o[4]), u.y); if (o[7] >= 0 && rows[o[7]]) { g.strokeStyle = css("--bind"); arrow(X(o[6]), u.y, X(o[8]), rows[o[7]].y+H); } } return true; }
function arrow(x0, y0, x1, y1) { if (Math.max(x0,x1) < LEFT || Math.min(x0,x1) > LEFT+px()) return; g.save(); g.beginPath(); g.rect(LEFT, 0, px(), 1e5); g.clip(); g.beginPath(); g.moveTo(x0,y0); g.lineTo(x1,y1); g.stroke();
  g.beginPath(); g.arc(x1, y1, 2, 0, 7); g.fillStyle = g.strokeStyle; g.fill(); g.restore(); }
function draw() { const q = window.devicePixelRatio || 1; view.style.height = (y+4)+"px"; view.width = view.clientWidth*q; view.height = (y+4)*q; g.setTransform(q,0,0,q,0,0); g.clearRect(0,0,view.clientWidth,y+4);
  const raw = (b-a)/8, mag = Math.pow(10, Math.floor(Math.log10(raw))), step = [1,2,5,10].map(m => m*mag).find(s => s >= raw) || raw; g.font = "11px sans-serif"; g.fillStyle = css("--dim"); g.strokeStyle = css("--line"); g.lineWidth = 1;
  for (let t = Math.ceil(a/step)*step; t <= b; t += step) { const x = Math.round(X(t))+.5; g.beginPath(); g.moveTo(x,14); g.lineTo(x,y); g.stroke(); g.fillText(Math.round(t).toLocaleString("en"), Math.min(x+3, LEFT+px()-46), 11); }
  for (const r of rows) { g.fillStyle = css("--ink"); g.font = "11px sans-serif"; g.fillText(r.label, 0, r.y + Math.min(r.h, H) - 3); r.kind === "warp" ? (drawWarp(r), drawHazards(r)) : r.kind === "unit" ? drawUnit(r) : drawLevel(r); }
  $("dense").textContent = $("flows").checked && !drawFlows() ? "(too many here: zoom in)" : ""; }
function zoom(f, t) { const n = Math.max(20, Math.min(end-T.from, (b-a)*f)); a = t-(t-a)/(b-a)*n; b = a+n; if (a < T.from) { b += T.from-a; a = T.from; } if (b > end) { a = Math.max(T.from, a-(b-end)); b = end; } draw(); }
view.onwheel = e => { e.preventDefault(); zoom(e.deltaY > 0 ? 1.25 : .8, at(e.offsetX)); };
let from = null; view.onpointerdown = e => { from = e.clientX; view.setPointerCapture(e.pointerId); view.classList.add("drag"); }; view.onpointerup = () => { from = null; view.classList.remove("drag"); };
view.onpointermove = e => { if (from !== null) { const d = Math.max(T.from-a, Math.min(end-b, (from-e.clientX)/px()*(b-a))); a += d; b += d; from = e.clientX; draw(); return; } hint(e); };
view.onpointerleave = () => $("tip").style.display = "none";
function hint(e) { const t = at(e.offsetX), r = rows.find(r => e.offsetY >= r.y && e.offsetY < r.y+r.h); let s = ""; if (r && e.offsetX >= LEFT) {
  if (r.kind === "warp") { const m = r.hazards.find(m => Math.abs(X(m.at)-e.offsetX) < 7); if (m) s = `<b>${m.h.code}</b> ${esc(m.h.rule)}`; const p = r.spans[first(r.spans, t, s => s[1])]; if (!m && p && p[0] <= t) s = `<b>${esc(r.label)}</b> ${p[2].replace(/_/g," ")}, ${p[1]-p[0]} cycles from ${p[0]}<br>${esc(T.lines[p[3]]||"")}`; }
  if (r.kind === "unit") { const o = r.ops.find(o => o[4] <= t && t <= Math.max(o[6],o[4]+(b-a)/px()*2)); if (o) s = `<b>${esc(o[1])}</b> of w${o[2]}: issued ${o[4]}, started +${o[5]-o[4]}, done +${o[6]-o[4]}${o[7]>=0?`<br>w${o[7]} saw it at +${o[8]-o[4]}`:""}<br>${esc(T.lines[o[3]]||"")}`; }
  if (r.kind === "level") { const i = first(T.levels, t+.001, l => l[0])-1; if (i >= 0) s = `<b>${esc(r.label)}</b> ${T.levels[i][r.k].toLocaleString("en")} ${r.unit}`; } }
  const tip = $("tip"); tip.style.display = s ? "block" : "none"; tip.innerHTML = s; tip.style.left = Math.min(e.clientX+12, innerWidth-440)+"px"; tip.style.top = (e.clientY+14)+"px"; }
$("out").onclick = () => { a = T.from; b = end; draw(); }; $("in").onclick = () => zoom(.5, (a+b)/2); $("back").onclick = () => zoom(2, (a+b)/2); $("flows").onchange = draw; window.onresize = draw;
function timeline() { T = D.launches[N].timelines[K]; $("tl").textContent = T.seen ? "CTA " + T.cta + ", cycles " + T.from + " to " + T.to + (T.truncated ? " (the first of it: there is more)" : "") : "No CTA " + T.cta + " in this launch";
 view.hidden = !T.seen; if (!T.seen) { $("legend").innerHTML = ""; return; } buildRows(); draw();
 const used = new Set(shown); for (const r of rows) if (r.spans) for (const s of r.spans) used.add(s[2]);
 $("legend").innerHTML = D.stalls.filter(s => used.has(s)).map(s => `<span><i style="background:${C[s]}"></i>${s.replace(/_/g," ")}</span>`).join("") + (rows.some(r => r.hazards && r.hazards.length) ? '<span class="error">▲ hazard</span>' : ""); }
function launch() { const l = D.launches[N]; R = l.report; shown.clear(); $("title").textContent = D.title; document.title = "drywell: " + D.title;
 $("sub").textContent = D.arch + " · " + (D.launches.length > 1 ? l.name + ": " : "") + l.launch + (D.verified ? " · " + D.verified : "") + " · drywell " + D.version;
 $("advice").innerHTML = (R.advice||[]).map(s => `<li>${esc(s)}</li>`).join(""); cards(); limits(); roofline(); occupancy(); stalls(); units(); lines(); hazards();
 $("whose").hidden = l.timelines.length < 2; $("cta").innerHTML = l.timelines.map((t, i) => `<option value="${i}">${esc(t.cta)}</option>`).join(""); K = Math.min(K, l.timelines.length - 1); $("cta").value = K; timeline(); }
$("which").hidden = D.launches.length < 2; $("launch").innerHTML = D.launches.map((l, i) => `<option value="${i}">${i+1}: ${esc(l.name)}, ${l.report.us.toFixed(2)} µs</option>`).join("");
$("launch").onchange = e => { N = +e.target.value; launch(); }; $("cta").onchange = e => { K = +e.target.value; timeline(); };
document.documentElement.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches); $("theme").onclick = () => { document.documentElement.classList.toggle("dark"); if (T.seen) draw(); };
launch();
</script></body></html>
)page";

}  // namespace drywell::tools
