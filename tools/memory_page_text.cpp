// The page of `drywell tmem show` and `drywell smem show`: style and script. The data are inserted between the two parts as `D`.
#include "tools/memory_page.h"

namespace drywell::tools {

const char* const kMemoryPageHead = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>drywell</title>
<style>
:root { --ink:#1c2430; --dim:#5b6676; --line:#d9dee6; --paper:#fff; --page:#f5f7fa; --grid:#eef1f6; --held:#c9d1dc; color-scheme:light }
:root.dark { --ink:#e8ebf0; --dim:#a3adbb; --line:#333c4a; --paper:#1a1f28; --page:#12161c; --grid:#20262f; --held:#3a4453; color-scheme:dark }
* { box-sizing:border-box }
body { margin:0; font:14px/1.45 system-ui,"DejaVu Sans",sans-serif; color:var(--ink); background:var(--page) }
main { max-width:1360px; margin:0 auto; padding:16px 20px 40px }
h1 { font-size:19px; margin:0 } h2 { font-size:14px; margin:0 0 6px }
.dim { color:var(--dim) } .mono { font-family:ui-monospace,"DejaVu Sans Mono",monospace; font-size:12px }
section { background:var(--paper); border:1px solid var(--line); border-radius:8px; padding:10px 14px; margin-top:12px }
.bar { display:flex; gap:10px; align-items:center; flex-wrap:wrap } .bar input[type=range] { flex:1 1 320px }
button, input[type=text], select { font:inherit; font-size:13px; color:var(--ink); background:var(--paper); border:1px solid var(--line); border-radius:5px; padding:3px 9px }
button { cursor:pointer } canvas { width:100%; display:block; touch-action:none; cursor:crosshair }
.legend { display:flex; flex-wrap:wrap; gap:4px 16px; font-size:12.5px } .legend i { display:inline-block; width:13px; height:13px; margin-right:5px; vertical-align:-2px }
table { border-collapse:collapse; width:100% } td,th { padding:2px 12px 2px 0; text-align:left; vertical-align:top; font-size:13px } th { color:var(--dim); font-weight:500 }
#tip { position:fixed; pointer-events:none; background:#10151c; color:#fff; border-radius:5px; padding:6px 9px; font-size:12.5px; display:none; max-width:460px; z-index:9 }
</style></head><body><main>
<div class="bar"><div><h1 id="title"></h1><div class="dim" id="sub"></div></div><button id="theme" style="margin-left:auto">dark / light</button></div>
<section><div class="bar"><button id="before">◀ event</button><button id="after">event ▶</button><input type="range" id="slider" aria-label="time"><b id="now"></b></div>
<div class="bar" style="margin-top:8px"><label>colour by <select id="mode"><option value="role">last writer</option><option value="row">row of the element</option><option value="age">time since the write</option></select></label>
<label><input type="checkbox" id="flying" checked> operations in flight</label>
<label id="overlay" hidden><input type="checkbox" id="differences" checked> what differs from the expected layout</label>
<label>element <select id="operand"></select></label><input type="text" id="element" size="9" placeholder="m, n" aria-label="element"><button id="find">find</button><span id="found" class="dim"></span>
<button id="whole">whole</button><span class="dim">wheel zooms, dragging moves, a click pins a cell</span></div></section>
<section><div id="grids"></div><div class="legend" id="legend"></div></section>
<section id="barriers" hidden><h2>mbarriers</h2><div id="states"></div></section>
<section><h2 id="cell">No cell is pinned: click one</h2><div id="story"></div></section>
<div id="tip"></div></main>
<script>
const D = )page";

const char* const kMemoryPageTail = R"page(;
// ---- the model: what a cell holds at a time. Needs no browser.
// A grid of cells of 32 bits: lanes and columns of tensor memory, or lines of 128 bytes and banks of shared memory.
const G = D.grid, LANES = G.lanes, COLUMNS = G.columns, TMEM = G.kind === "tmem";
const S = D.steps.map((s, i) => ({i, role:D.role_names[s[0]], writes:!!s[1], cta:s[2], lane:s[3], lanes:s[4], column:s[5], columns:s[6], issued:s[7], done:s[8],
 place:D.places[s[9]], warp:s[10], form:s[11] < 0 ? null : D.forms[s[11]], baseLane:s[12], baseColumn:s[13], byte:s[14], values:s[15], rectangles:s[16] || null, row:s[17] || 0, index:s[18] || 0}));
const writers = S.filter(s => s.writes && s.done).sort((a, b) => a.done - b.done || a.i - b.i);
const inRectangles = (s, lane, column) => s.rectangles.some(r => lane >= r[0] && lane < r[0] + r[1] && column >= r[2] && column < r[2] + r[3]);
const holds = (s, lane, column) => s.rectangles ? inRectangles(s, lane, column) : lane >= s.lane && lane < s.lane + s.lanes && column >= s.column && column < s.column + s.columns && (!s.form || !!block(s, lane, column));
const places = new Map(); // of forms with many blocks: cell -> blocks; several where the rows of elements run along memory
function placesOf(form) { if (!places.has(form)) { const m = new Map(); for (const b of form.blocks) for (let l = 0; l < b[2]; ++l) for (let c = 0; c < b[4]; ++c) { const k = (b[1] + l) * COLUMNS + b[3] + c, there = m.get(k); if (there) there.push(b); else m.set(k, [b]); } places.set(form, m); } return places.get(form); }
const blocksAt = (s, lane, column) => s.rectangles ? placesOf(s.form).get(lane * COLUMNS + column) || [] : [block(s, lane, column)].filter(b => b);
function block(s, lane, column) { // the block of a step's operand at a cell
  const part = s.form.ctas === 2 ? s.cta & 1 : 0, l = lane - s.baseLane, c = column - s.baseColumn;
  return s.form.blocks.find(b => b[0] === part && l >= b[1] && l < b[1] + b[2] && c >= b[3] && c < b[3] + b[4]);
}
function elements(s, lane, column) { // of one cell, as the step uses it: row, index, first bit, bits
  const out = []; for (const b of s.form ? blocksAt(s, lane, column) : []) for (let e = 0; e < b[7]; ++e) out.push({row:s.row + b[5] + lane - s.baseLane - b[1], index:s.index + b[6] + (column - s.baseColumn - b[3]) * b[7] + e, low:b[8] + e * b[10] + 8 * s.byte, bits:b[9], copy:b[11]});
  return out.filter(e => e.low + e.bits <= 32);
}
const bin = typeof atob === "function" ? s => Uint8Array.from(atob(s), c => c.charCodeAt(0)) : s => Uint8Array.from(Buffer.from(s, "base64"));
const cache = new Map();
function wordOf(s, lane, column) { // the 32 bits that a write left, or null
  if (s.values < 0) return null;
  if (!cache.has(s.values)) { const b = bin(D.values[s.values]); cache.set(s.values, new DataView(b.buffer, b.byteOffset, b.byteLength)); }
  return cache.get(s.values).getUint32(4 * ((lane - s.lane) * s.columns + column - s.column), true);
}
const small = (e, m, bias, inf) => (v, bits) => { const sign = v >> (e + m) & 1 ? -1 : 1, x = v >> m & ((1 << e) - 1), f = v & ((1 << m) - 1);
  if (inf === "ieee" && x === (1 << e) - 1) return f ? NaN : sign * Infinity; if (inf === "fn" && x === (1 << e) - 1 && f === (1 << m) - 1) return NaN;
  return sign * (x ? (1 + f / (1 << m)) * Math.pow(2, x - bias) : f / (1 << m) * Math.pow(2, 1 - bias)); };
const f32 = v => { const d = new DataView(new ArrayBuffer(4)); d.setUint32(0, v >>> 0); return d.getFloat32(0); };
const DECODE = {f32, tf32:v => f32(v & 0xffffe000), bf16:v => f32(v << 16), f16:small(5, 10, 15, "ieee"), e4m3:small(4, 3, 7, "fn"), e5m2:small(5, 2, 15, "ieee"), e2m3:small(2, 3, 1), e3m2:small(3, 2, 3), e2m1:small(2, 1, 1),
 ue8m0:v => v === 255 ? NaN : Math.pow(2, v - 127), ue4m3:v => small(4, 3, 7, "fn")(v & 127), s32:v => v | 0, u8:v => v & 255, s8:v => v << 24 >> 24};
const value = (type, word, e) => { const bits = type === "f16" || type === "bf16" ? 16 : e.bits, raw = e.bits === 32 && bits === 32 ? word >>> 0 : word >>> e.low & (bits === 32 ? 0xffffffff : (1 << bits) - 1); return (DECODE[type] || (v => v))(raw); };
const number = x => Number.isInteger(x) && Math.abs(x) < 1e9 ? String(x) : Number.isFinite(x) ? String(+x.toPrecision(7)) : String(x);
function lastWrite(cta, lane, column, t) { for (let i = upto(t) - 1; i >= 0; --i) if (writers[i].cta === cta && holds(writers[i], lane, column)) return writers[i]; return null; }
function upto(t) { let lo = 0, hi = writers.length; while (lo < hi) { const m = lo + hi >> 1; if (writers[m].done <= t) lo = m + 1; else hi = m; } return lo; }
// The elements of a cell: as its writer has them, else as the next tcgen05.mma reads them, else as the last one did.
function meaning(cta, lane, column, t, w) {
  if (w && w.form) return {step:w, elements:elements(w, lane, column)};
  let best = null; for (const s of S) { if (s.cta !== cta || !s.form || !holds(s, lane, column)) continue; const late = s.issued < (w ? w.done : t);
    if (!best || (best.late && !late) || (best.late && late && s.issued > best.step.issued)) best = {step:s, late}; if (!late) break; }
  return best && {step:best.step, elements:elements(best.step, lane, column)};
}
const roleOf = w => D.roles[w] ? D.roles[w] + " (warp " + w + ")" : "warp " + w;
const readersOf = lane => { const out = []; if (!TMEM) return out; for (let w = lane >> 5; w < D.warps; w += 4) out.push(roleOf(w)); return out; };
const heldAt = (cta, column, t) => D.held.find(h => h[0] === cta && column >= h[1] && column < h[1] + h[2] && h[3] <= t && (!h[4] || t < h[4]));
const named = (s, lane, column) => elements(s, lane, column).map(e => `${s.form.operand}(${s.form.names[0]} ${e.row}, ${s.form.names[1]} ${e.index})`);
// The elements as which the next operation reads a cell, else the last one.
function readAs(cta, lane, column, t) { const all = TMEM ? [] : S.filter(s => s.cta === cta && !s.writes && s.form && holds(s, lane, column)), s = all.find(s => !s.done || s.done > t) || all[all.length - 1];
  return s ? {place:s.place, names:named(s, lane, column)} : null; }
// The mbarriers of a CTA at a time: [offset, state], or that of a cell.
function barriersAt(cta, t) { const m = new Map(); for (const b of D.barriers) if (b.cta === cta && b.at <= t) b.what === "inval" ? m.delete(b.offset) : m.set(b.offset, b); return [...m.values()].sort((a, b) => a.offset - b.offset); }
const barrierAt = (cta, lane, column, t) => barriersAt(cta, t).find(b => { const o = lane * 128 + column * 4 - b.offset; return o >= 0 && o < 8; }) || null;
function describe(cta, lane, column, t) {
  const w = lastWrite(cta, lane, column, t), m = meaning(cta, lane, column, t, w), word = w && wordOf(w, lane, column), n = m && m.step.form.names;
  return {cta, lane, column, allocated:!!heldAt(cta, column, t), operand:m && m.step.form.operand, type:m && m.step.form.type,
    elements:m ? m.elements.map(e => ({name:`${m.step.form.operand}(${n[0]} ${e.row}, ${n[1]} ${e.index})`, row:e.row, index:e.index, value:word === null || word === undefined ? null : value(m.step.form.type, word, e)})) : [],
    bytes:word === null || word === undefined ? null : "0x" + (word >>> 0).toString(16).padStart(8, "0"), written:w && {by:w.place, role:w.role, warp:roleOf(w.warp), at:w.done, issued:w.issued},
    differs:!!D.expect && differs(cta, lane, column, t), readers:readersOf(lane), read:readAs(cta, lane, column, t), barrier:D.barriers.length ? barrierAt(cta, lane, column, t) : null, flying:S.filter(s => s.cta === cta && s.issued <= t && (!s.done || t < s.done) && holds(s, lane, column)).map(s => s.role + " " + s.place)};
}
// The cells of a CTA that have other elements than the expected layout: rectangles lane, lanes, column, columns, of each operand's last use at or before t.
function differing(cta, t) { const last = new Map(); for (const s of S) if (s.cta === cta && s.issued <= t && s.form && s.form.differs) last.set(TMEM ? s.baseLane + ":" + s.baseColumn : s.form, s);
  return [...last.values()].flatMap(s => s.form.differs.map(r => [s.baseLane + r[0], r[1], s.baseColumn + r[2], r[3]])); }
const differs = (cta, lane, column, t) => differing(cta, t).some(r => lane >= r[0] && lane < r[0] + r[1] && column >= r[2] && column < r[2] + r[3]);
// Every cell of an element: {cta, lane, column} of the operand's uses at or before t, else of its first use.
function find(operand, row, index, t) {
  const uses = S.filter(s => s.form && s.form.operand === operand), before = uses.filter(s => s.issued <= t), out = [], seen = new Set();
  for (const s of before.length ? before.reverse() : uses) for (const b of s.form.blocks) {
    if (b[0] !== (s.form.ctas === 2 ? s.cta & 1 : 0) || row < s.row + b[5] || row >= s.row + b[5] + b[2] || index < s.index + b[6] || index >= s.index + b[6] + b[4] * b[7]) continue;
    const c = {cta:s.cta, lane:s.baseLane + b[1] + row - s.row - b[5], column:s.baseColumn + b[3] + Math.floor((index - s.index - b[6]) / b[7])}, k = c.cta + ":" + c.lane + ":" + c.column;
    if (!seen.has(k)) { seen.add(k); out.push(c); }
  }
  return out;
}
const moments = [...new Set([D.from, D.to, ...D.barriers.map(b => b.at), ...S.flatMap(s => s.done ? [s.issued, s.done] : [s.issued]), ...D.held.flatMap(h => h[4] ? [h[3], h[4]] : [h[3]])])].sort((a, b) => a - b);
if (typeof module !== "undefined") module.exports = {describe, differing, find, moments, barriersAt, D};

// ---- the view
if (typeof document !== "undefined") {
const $ = id => document.getElementById(id), esc = s => String(s).replace(/[&<>]/g, c => ({"&":"&amp;", "<":"&lt;", ">":"&gt;"}[c]));
const ROLE = {D:"#0072B2", cp:"#E69F00", st:"#009E73", shift:"#CC79A7", ld:"#56B4E9", A:"#D55E00", SFA:"#F0E442", SFB:"#CC79A7", metadata:"#7F7F7F", B:"#009E73", "TMA load":"#0072B2", "bulk copy":"#56B4E9", "cp.async":"#CC79A7", "remote store":"#F0E442", "tcgen05.cp":"#E69F00"};
const WORDS = TMEM ? {D:"D, written by tcgen05.mma", cp:"written by tcgen05.cp", st:"written by tcgen05.st", shift:"tcgen05.shift"} : {st:"written by a warp", "TMA load":"written by TMA"};
const WRONG = "#FF2E8A", BANDS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F7F7F"];
document.title = "drywell: " + G.title.toLowerCase() + " of " + D.title; $("title").textContent = G.title + ": " + D.title;
$("sub").textContent = D.arch + " · " + S.length + " uses by " + D.places.length + " instructions, " + D.clock + "s " + D.from + " to " + D.to + (D.truncated ? " (the first uses only: there are more)" : "") + (D.dropped ? " · values of early writes are not kept (--value-bytes)" : "") + " · drywell " + D.version;
let t = writers.length ? writers[writers.length - 1].done : D.to, view = {x:0, y:0, w:COLUMNS, h:LANES}, pinned = null, marked = [];
const dark = matchMedia("(prefers-color-scheme: dark)").matches; document.documentElement.classList.toggle("dark", dark);
const LEFT = TMEM ? 46 : 64, RIGHT = TMEM ? 118 : 24, TOP = 24, BOTTOM = 40, TALL = TMEM ? 384 : 640;
const grids = D.ctas.map((name, k) => { const c = document.createElement("canvas"); $("grids").append(c); return {cta:D.first + k, name, c, g:c.getContext("2d")}; });
const rolesAt = lane => { const all = readersOf(lane); return all.length ? all.slice(0, 3).map(r => r.replace("(warp ", "(w").replace("warp ", "w")) : ["no warp"]; };
const color = v => getComputedStyle(document.documentElement).getPropertyValue(v);
const wide = p => p.c.clientWidth - LEFT - RIGHT, X = (p, c) => LEFT + (c - view.x) / view.w * wide(p), Y = l => TOP + (l - view.y) / view.h * TALL;
const step = (span, pixels, least) => { let s = 1; while (s / span * pixels < least) s *= 2; return s; };
let now = {}; // by CTA: the last writer of each cell at `t`
function state(cta) { const of = new Int32Array(LANES * COLUMNS).fill(-1); let left = LANES * COLUMNS; for (let i = upto(t) - 1; i >= 0 && left; --i) { const w = writers[i]; if (w.cta !== cta) continue;
  for (const r of rectangles(w)) for (let l = r[0]; l < r[0] + r[1]; ++l) for (let c = r[2]; c < r[2] + r[3]; ++c) { const k = l * COLUMNS + c; if (of[k] < 0) { of[k] = w.i; --left; } } } return of; }
function rectangles(s) { if (s.rectangles) return s.rectangles; if (!s.form) return [[s.lane, s.lanes, s.column, s.columns]]; return s.form.blocks.filter(b => b[0] === (s.form.ctas === 2 ? s.cta & 1 : 0)).map(b => [s.baseLane + b[1], b[2], s.baseColumn + b[3], b[4]]); }
const uses = new Map(); // by writer: what it is, for the legend and the colours: its role, or the operand that a tcgen05.mma reads it as
function use(w) { if (!TMEM && w.form) return w.form.operand; if (!uses.has(w.i)) { const m = w.form ? null : meaning(w.cta, w.lane, w.column, w.done, w); uses.set(w.i, m && m.elements.length ? m.step.form.operand : w.role); } return uses.get(w.i); }
const TENSOR = /^T(\d+)$/, BARRIER = "#6A3D9A";
const colorOf = (what, role) => { const t = TENSOR.exec(what); return t ? BANDS[t[1] % 8] : ROLE[what] || ROLE[role] || "#888"; };
const ink = c => { const v = parseInt(c.slice(1), 16); return c[0] === "#" && .299 * (v >> 16) + .587 * (v >> 8 & 255) + .114 * (v & 255) > 140 ? "#000" : "#fff"; };
function paint(cta, w, lane, column) { const mode = $("mode").value; if (mode === "role") return colorOf(use(w), w.role);
  if (mode === "age") { const a = Math.min(1, Math.log2(1 + t - w.done) / Math.log2(2 + D.to - D.from)); return `hsl(${210 - 170 * a} 75% ${42 + 18 * a}%)`; }
  const m = meaning(cta, lane, column, t, w), e = m && m.elements[0]; return e ? BANDS[(e.row >> 4) % 8] : "#888"; }
function draw() {
  for (const p of grids) { const q = devicePixelRatio || 1, g = p.g, W = p.c.clientWidth, H = TOP + TALL + BOTTOM; p.c.style.height = H + "px"; p.c.width = W * q; p.c.height = H * q; g.setTransform(q, 0, 0, q, 0, 0); g.clearRect(0, 0, W, H);
    g.font = "12px system-ui, sans-serif"; g.fillStyle = color("--ink"); g.textAlign = "left"; g.fillText("CTA " + p.name + (D.ctas.length > 1 ? (p.cta & 1 ? ": odd CTA of the pair" : ": even CTA of the pair") : ""), LEFT, 15);
    g.save(); g.beginPath(); g.rect(LEFT, TOP, wide(p), TALL); g.clip(); g.fillStyle = color("--grid"); g.fillRect(LEFT, TOP, wide(p), TALL);
    g.fillStyle = color("--held"); for (const h of D.held) if (h[0] === p.cta && h[3] <= t && (!h[4] || t < h[4])) g.fillRect(X(p, h[1]), Y(0), X(p, h[1] + h[2]) - X(p, h[1]), Y(LANES) - Y(0));
    cells(p); if ($("flying").checked) flying(p); if (D.expect && $("differences").checked) unexpected(p); lines(p);
    for (const m of marked.concat(pinned ? [pinned] : [])) if (m.cta === p.cta) { g.strokeStyle = color("--ink"); g.lineWidth = 2; const w = Math.max(5, X(p, m.column + 1) - X(p, m.column)), h = Math.max(5, Y(m.lane + 1) - Y(m.lane)); g.strokeRect(X(p, m.column + .5) - w / 2, Y(m.lane + .5) - h / 2, w, h); }
    g.restore(); axes(p); }
  $("now").textContent = D.clock + " " + t;
}
function cells(p) { const of = now[p.cta] || (now[p.cta] = state(p.cta)), g = p.g, c0 = Math.max(0, Math.floor(view.x)), c1 = Math.min(COLUMNS, Math.ceil(view.x + view.w)), l0 = Math.max(0, Math.floor(view.y)), l1 = Math.min(LANES, Math.ceil(view.y + view.h));
  const big = wide(p) / view.w > 46 && TALL / view.h > 15;
  for (let l = l0; l < l1; ++l) for (let c = c0; c < c1;) { const w = of[l * COLUMNS + c]; if (w < 0) { ++c; continue; } let e = c + 1; while (e < c1 && of[l * COLUMNS + e] === w) ++e;
    g.fillStyle = paint(p.cta, S[w], l, c); g.fillRect(X(p, c), Y(l), X(p, e) - X(p, c) + .3, Y(l + 1) - Y(l) + .3);
    if (big) for (let k = c; k < e; ++k) { const d = describe(p.cta, l, k, t), f = d.elements[0]; g.fillStyle = ink(paint(p.cta, S[w], l, c)); g.textAlign = "center"; g.font = "11px ui-monospace, monospace";
      if (f) g.fillText(`${f.row},${f.index}` + (f.value !== null && wide(p) / view.w > 110 ? " = " + number(f.value) : ""), (X(p, k) + X(p, k + 1)) / 2, (Y(l) + Y(l + 1)) / 2 + 4, X(p, k + 1) - X(p, k) - 4); }
    c = e; } g.font = "12px system-ui, sans-serif"; barrierMarks(p); if (!big) labels(p, of); }
// At least three pixels high, so that they are seen beside kilobytes of tiles.
function barrierMarks(p) { p.g.fillStyle = BARRIER; for (const b of barriersAt(p.cta, t)) { const l = b.offset >> 7, c = (b.offset & 127) >> 2; p.g.fillRect(X(p, c), Y(l), X(p, c + 2) - X(p, c), Math.max(3, Y(l + 1) - Y(l))); } }
const range = (from, count) => count > 1 ? from + "-" + (from + count - 1) : String(from);
// What the parts of the last writes hold: a block of an operand in tensor memory, a tile in shared memory.
function parts(w) { const n = w.form.names; if (w.rectangles) return frames(w).map(r => [r, [`${w.form.operand} from (${n[0]} ${w.row}, ${n[1]} ${w.index}) on`, w.form.operand]]);
  return w.form.blocks.filter(b => b[0] === (w.form.ctas === 2 ? w.cta & 1 : 0)).map(b => [[w.baseLane + b[1], b[2], w.baseColumn + b[3], b[4]], [`${w.form.operand}: ${n[0]} ${range(b[5], b[2])}, ${n[1]} ${range(b[6], b[4] * b[7])}`, w.form.operand]]); }
function labels(p, of) { const g = p.g, seen = new Set(of); g.textAlign = "center"; for (const i of seen) { if (i < 0 || !S[i].form) continue;
  for (const [r, texts] of parts(S[i])) { const mine = (l, c) => of[l * COLUMNS + c] === i; if (![[r[0], r[2]], [r[0] + r[1] - 1, r[2] + r[3] - 1], [r[0] + (r[1] >> 1), r[2] + (r[3] >> 1)]].every(q => mine(...q))) continue;
   const x = X(p, r[2]), w = X(p, r[2] + r[3]) - x, y = Y(r[0]), h = Y(r[0] + r[1]) - y, text = texts.find(s => g.measureText(s).width + 6 <= w); if (!text || h < 14) continue;
   g.fillStyle = ink(paint(p.cta, S[i], r[0], r[2])); g.fillText(text, x + w / 2, y + h / 2 + 4); } } }
function frames(s) { const out = []; for (const r of rectangles(s)) { const l = out.find(o => o[2] === r[2] && o[3] === r[3] && o[0] + o[1] === r[0]); if (l) l[1] += r[1]; else out.push([...r]); } return out; }
function flying(p) { const g = p.g; g.lineWidth = 2; for (const s of S) if (s.cta === p.cta && s.issued <= t && (!s.done || t < s.done)) for (const r of frames(s)) { g.strokeStyle = s.writes ? "#000" : "#fff"; g.setLineDash(s.writes ? [] : [5, 4]); g.lineWidth = X(p, r[2] + r[3]) - X(p, r[2]) > 24 ? 2 : 1; g.strokeRect(X(p, r[2]) + 1, Y(r[0]) + 1, X(p, r[2] + r[3]) - X(p, r[2]) - 2, Y(r[0] + r[1]) - Y(r[0]) - 2); } g.setLineDash([]); }
function unexpected(p) { const g = p.g; for (const r of differing(p.cta, t)) { const x = X(p, r[2]), y = Y(r[0]), w = X(p, r[2] + r[3]) - x, h = Y(r[0] + r[1]) - y; g.save(); g.beginPath(); g.rect(x, y, w, h); g.clip(); g.strokeStyle = WRONG; g.lineWidth = 1.5; g.beginPath(); for (let d = -h; d < w; d += 7) { g.moveTo(x + d, y + h); g.lineTo(x + d + h, y); } g.stroke(); g.lineWidth = 3; g.strokeRect(x, y, w, h); g.restore(); } }
function lines(p) { const g = p.g; g.strokeStyle = color("--dim"); g.lineWidth = 1; g.setLineDash([4, 3]); for (let l = G.rule; l < LANES; l += G.rule) { g.beginPath(); g.moveTo(LEFT, Y(l)); g.lineTo(LEFT + wide(p), Y(l)); g.stroke(); } g.setLineDash([]);
  if (wide(p) / view.w > 9 && TALL / view.h > 9) { g.globalAlpha = .35; g.beginPath(); for (let c = Math.ceil(view.x); c <= view.x + view.w; ++c) { g.moveTo(X(p, c), TOP); g.lineTo(X(p, c), TOP + TALL); } for (let l = Math.ceil(view.y); l <= view.y + view.h; ++l) { g.moveTo(LEFT, Y(l)); g.lineTo(LEFT + wide(p), Y(l)); } g.stroke(); g.globalAlpha = 1; } }
function axes(p) { const g = p.g; g.fillStyle = color("--dim"); g.strokeStyle = color("--dim"); g.lineWidth = 1; const sx = step(view.w, wide(p), 38), sy = step(view.h, TALL, 26), mx = wide(p) / view.w > 30 ? .5 : 0, my = TALL / view.h > 24 ? .5 : 0;
  g.textAlign = "center"; for (let c = Math.ceil(view.x / sx) * sx; c <= view.x + view.w - (mx ? 1 : 0); c += sx) { g.beginPath(); g.moveTo(X(p, c + mx), TOP + TALL); g.lineTo(X(p, c + mx), TOP + TALL + 4); g.stroke(); g.fillText(c, X(p, c + mx), TOP + TALL + 17); }
  g.textAlign = "right"; for (let l = Math.ceil(view.y / sy) * sy; l <= view.y + view.h - (my ? 1 : 0); l += sy) { g.beginPath(); g.moveTo(LEFT - 4, Y(l + my)); g.lineTo(LEFT, Y(l + my)); g.stroke(); g.fillText(l, LEFT - 7, Y(l + my) + 4); }
  g.fillStyle = color("--ink"); g.textAlign = "center"; g.fillText(G.column, LEFT + wide(p) / 2, TOP + TALL + 34); g.save(); g.translate(11, TOP + TALL / 2); g.rotate(-Math.PI / 2); g.fillText(G.lane, 0, 0); g.restore();
  g.fillStyle = color("--dim"); g.textAlign = "left"; for (let k = 0; k < (TMEM ? 4 : 0); ++k) { const a = Math.max(TOP, Y(32 * k)), b = Math.min(TOP + TALL, Y(32 * k + 32)); if (b - a > 14) rolesAt(32 * k).forEach((r, i, all) => { if (16 * all.length < b - a + 10) g.fillText(r, LEFT + wide(p) + 8, (a + b) / 2 + 4 + 15 * (i - (all.length - 1) / 2), RIGHT - 10); }); } }
function legend() { const mode = $("mode").value, used = new Set(writers.map(w => w.role)); let s = [["var(--held)", TMEM ? "allocated, not written" : "not written"]];
  if (mode === "role") for (const r of new Set(writers.map(w => use(w) + "|" + w.role))) { const [u, by] = r.split("|"); s.push([colorOf(u, by), u === by ? WORDS[u] || u : u + ", " + (WORDS[by] || "by " + by)]); } if (mode === "row") for (let b = 0; b < 8; ++b) s.push([BANDS[b], "rows " + 16 * b + "-" + (16 * b + 15) + (b ? "" : ", and so on every 128")]);
  if (mode === "age") s.push(["hsl(210 75% 42%)", "just written"], ["hsl(40 75% 60%)", "long ago"]);
  if (D.barriers.length) s.push([BARRIER, "mbarrier"]);
  if (D.expect) s.push([`repeating-linear-gradient(135deg, ${WRONG} 0 2px, transparent 2px 5px)`, "differs from " + D.expect]);
  $("legend").innerHTML = s.map(e => `<span><i style="background:${e[0]}"></i>${esc(e[1])}</span>`).join("") + (used.size ? "<span>frame: in flight, a write; white dashes: in flight, a read</span>" : ""); }
function words(d) { const e = d.elements.slice(0, 8).map(e => esc(e.name) + (e.value === null ? "" : " = <b>" + number(e.value) + "</b>")).join("<br>");
  return (TMEM ? `lane ${d.lane}, column ${d.column}<br>` : `byte 0x${(d.lane * 128 + d.column * 4).toString(16)}, line ${d.lane}, bank ${d.column}<br>`) + (e ? e + (d.type ? " <span class=dim>" + d.type + "</span>" : "") + "<br>" : d.allocated ? "" : "not allocated<br>") + (d.bytes ? "bits " + d.bytes + "<br>" : "") +
   (d.written ? `written by ${esc(d.written.by)}, ${esc(d.written.warp)}, at ${d.written.at} (issued ${d.written.issued})<br>` : "not written yet<br>") + (d.written && d.bytes === null ? "its value is not kept<br>" : "") +
   (d.differs ? "<b>not the element that the expected layout has here</b><br>" : "") + (d.readers.length ? "may be read by " + esc(d.readers.join(", ")) : "") + (d.read ? "read as " + esc(d.read.names.slice(0, 8).join(", ")) + " by " + esc(d.read.place) : "") +
   (d.barrier ? `<br>mbarrier: phase ${d.barrier.phase}, ${d.barrier.pending} of ${d.barrier.expected} arrivals missing, ${d.barrier.tx} bytes missing` : "") + (d.flying.length ? "<br>in flight: " + esc(d.flying.join("; ")) : ""); }
function story() { if (!pinned) return; const {cta, lane, column} = pinned, d = describe(cta, lane, column, t); $("cell").textContent = `CTA ${D.ctas[cta - D.first]}: ` + (TMEM ? `lane ${lane}, column ${column}` : `line ${lane}, bank ${column}`);
  const rows = S.filter(s => s.cta === cta && holds(s, lane, column)); $("story").innerHTML = `<p>${words(d)}</p><table><tr><th>issued</th><th>complete</th><th>what</th><th>instruction</th><th>warp</th><th>bits after it</th></tr>` + rows.slice(0, 400).map(s => { const v = s.writes ? wordOf(s, lane, column) : null;
   return `<tr${s.issued > t ? ' class="dim"' : ""}><td>${s.issued}</td><td>${s.done || "in flight"}</td><td>${s.writes ? "write" : "read"} ${s.role}</td><td class="mono">${esc(s.place)}</td><td>${esc(roleOf(s.warp))}</td><td class="mono">${v === null ? "" : "0x" + v.toString(16).padStart(8, "0")}</td></tr>`; }).join("") + "</table>" + (rows.length > 400 ? "<p class=dim>the first 400 of " + rows.length + "</p>" : ""); }
const at = (p, e) => ({cta:p.cta, lane:Math.floor(view.y + (e.offsetY - TOP) / TALL * view.h), column:Math.floor(view.x + (e.offsetX - LEFT) / wide(p) * view.w)});
const inside = c => c.lane >= 0 && c.lane < LANES && c.column >= 0 && c.column < COLUMNS;
const clamp = () => { view.w = Math.min(COLUMNS, Math.max(4, view.w)); view.h = Math.min(LANES, Math.max(4, view.h)); view.x = Math.min(COLUMNS - view.w, Math.max(0, view.x)); view.y = Math.min(LANES - view.h, Math.max(0, view.y)); };
for (const p of grids) { let from = null, moved = false; p.c.onwheel = e => { e.preventDefault(); const f = e.deltaY > 0 ? 1.25 : .8, c = view.x + (e.offsetX - LEFT) / wide(p) * view.w, l = view.y + (e.offsetY - TOP) / TALL * view.h; view.x = c - (c - view.x) * f; view.y = l - (l - view.y) * f; view.w *= f; view.h *= f; clamp(); draw(); };
  p.c.onpointerdown = e => { from = [e.clientX, e.clientY]; moved = false; p.c.setPointerCapture(e.pointerId); }; p.c.onpointerup = e => { from = null; const c = at(p, e); if (!moved && inside(c)) { pinned = c; draw(); story(); } };
  p.c.onpointermove = e => { if (from && (moved || Math.abs(e.clientX - from[0]) + Math.abs(e.clientY - from[1]) > 4)) { moved = true; view.x -= (e.clientX - from[0]) / wide(p) * view.w; view.y -= (e.clientY - from[1]) / TALL * view.h; from = [e.clientX, e.clientY]; clamp(); draw(); return; }
   const c = at(p, e), tip = $("tip"); tip.style.display = inside(c) ? "block" : "none"; if (inside(c)) tip.innerHTML = words(describe(c.cta, c.lane, c.column, t)); tip.style.left = Math.min(e.clientX + 14, innerWidth - 470) + "px"; tip.style.top = Math.min(e.clientY + 16, innerHeight - 150) + "px"; };
  p.c.onpointerleave = () => $("tip").style.display = "none"; }
function states() { $("barriers").hidden = !D.barriers.length; $("states").innerHTML = "<table><tr><th>CTA</th><th>byte</th><th>phase</th><th>arrivals missing</th><th>bytes missing</th><th>last change</th></tr>" + D.ctas.flatMap((name, k) => barriersAt(D.first + k, t).map(b =>
  `<tr><td>${esc(name)}</td><td class="mono">0x${b.offset.toString(16)}</td><td>${b.phase}</td><td>${b.pending} of ${b.expected}</td><td>${b.tx}</td><td>${esc(b.what)} at ${b.at}</td></tr>`)).join("") + "</table>"; }
function go(to) { t = Math.min(D.to, Math.max(D.from, to)); $("slider").value = t; now = {}; draw(); story(); states(); }
$("slider").min = D.from; $("slider").max = D.to; $("slider").value = t; $("slider").oninput = e => go(+e.target.value);
$("after").onclick = () => go(moments.find(m => m > t) ?? D.to); $("before").onclick = () => go([...moments].reverse().find(m => m < t) ?? D.from);
onkeydown = e => { if (e.target.tagName === "INPUT" && e.target.type === "text") return; if (e.key === "ArrowRight") { e.preventDefault(); $("after").click(); } if (e.key === "ArrowLeft") { e.preventDefault(); $("before").click(); } };
$("mode").onchange = () => { legend(); draw(); }; $("flying").onchange = $("differences").onchange = draw; $("overlay").hidden = !D.expect; $("whole").onclick = () => { view = {x:0, y:0, w:COLUMNS, h:LANES}; draw(); }; $("theme").onclick = () => { document.documentElement.classList.toggle("dark"); draw(); };
const operands = [...new Set(D.forms.map(f => f.operand))]; $("operand").innerHTML = operands.map(o => `<option>${o}</option>`).join("");
$("find").onclick = () => { const [row, index] = $("element").value.split(",").map(Number); marked = Number.isInteger(row) && Number.isInteger(index) ? find($("operand").value, row, index, t) : []; $("found").textContent = marked.length ? marked.length + (marked.length === 1 ? " cell: " : " cells, the first: ") + "CTA " + D.ctas[marked[0].cta - D.first] + " lane " + marked[0].lane + " column " + marked[0].column : "no such element"; if (marked.length) { pinned = marked[0]; view.x = pinned.column - view.w / 2; view.y = pinned.lane - view.h / 2; clamp(); story(); } draw(); };
$("element").onkeydown = e => { if (e.key === "Enter") $("find").click(); };
onresize = draw; legend(); draw(); states();
}
</script></body></html>
)page";

}  // namespace drywell::tools
