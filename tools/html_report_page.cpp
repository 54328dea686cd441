// The page of the HTML report: style, body, and the script of everything but the timeline. The data are inserted behind `kReportHead` as `D`.
#include "tools/html_report.h"

namespace drywell::tools {

const char* const kReportHead = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>drywell report</title>
<style>
:root { --ink:#1c2430; --dim:#5b6676; --line:#e3e7ee; --paper:#fff; --page:#f5f7fa; --track:#e9edf3; --bind:#c2410c; --bar:#4f7cac; --heat:194,65,12; --bad:#b42318; --warn:#a15c07; color-scheme:light }
:root.dark { --ink:#e8ebf0; --dim:#a3adbb; --line:#333c4a; --paper:#1a1f28; --page:#12161c; --track:#2a323e; --bind:#f08a4b; --bar:#6f9fd1; --heat:240,138,75; --bad:#ff8a7a; --warn:#f0c05a; color-scheme:dark }
* { box-sizing:border-box }
body { margin:0; font:14px/1.45 system-ui,"DejaVu Sans",sans-serif; color:var(--ink); background:var(--page) }
main { max-width:1320px; margin:0 auto; padding:18px 22px 40px }
h1 { font-size:20px; margin:0 0 2px } h2 { font-size:15px; margin:0 0 10px }
.dim { color:var(--dim) } .mono { font-family:ui-monospace,"DejaVu Sans Mono",monospace; font-size:12px }
section { background:var(--paper); border:1px solid var(--line); border-radius:8px; padding:14px 16px; margin-top:14px }
.cards { display:flex; gap:12px; margin-top:14px; flex-wrap:wrap }
.card { background:var(--paper); border:1px solid var(--line); border-radius:8px; padding:10px 14px; flex:1 1 150px }
.card b { display:block; font-size:20px } .card span { color:var(--dim); font-size:12px }
.card.bind b { color:var(--bind) } .card.bad b { color:var(--bad) }
.two { display:grid; grid-template-columns:1fr 1fr; gap:14px } @media (max-width:1000px) { .two { grid-template-columns:1fr } }
.two section { min-width:0 }
table { border-collapse:collapse; width:100% } td,th { padding:2px 8px 2px 0; text-align:left; vertical-align:middle; white-space:nowrap }
th { color:var(--dim); font-weight:500; font-size:12px } th.n { text-align:right } td.n { text-align:right; font-variant-numeric:tabular-nums }
.track { background:var(--track); border-radius:3px; height:12px; width:100%; min-width:120px; overflow:hidden; display:flex }
.track i { display:block; height:100% }
.legend { display:flex; flex-wrap:wrap; gap:4px 14px; margin:8px 0 0; font-size:12px; color:var(--dim) }
.legend i { display:inline-block; width:10px; height:10px; border-radius:2px; margin-right:5px; vertical-align:-1px }
#view { width:100%; display:block; cursor:grab; touch-action:none } #view.drag { cursor:grabbing }
#tip { position:fixed; pointer-events:none; background:#10151c; color:#fff; border:1px solid #46505f; border-radius:5px; padding:5px 8px; font-size:12px; display:none; max-width:420px; z-index:9 }
button, select { font:inherit; font-size:12px; color:var(--ink); border:1px solid var(--line); background:var(--paper); border-radius:5px; padding:2px 9px; cursor:pointer }
.bar { display:flex; gap:8px; align-items:center; margin-bottom:8px; flex-wrap:wrap }
#advice { margin:0 0 8px; padding:0; list-style:none }
tr.line { cursor:pointer } tr.line:hover td { background:var(--track) } tr.line td:first-child::before { content:"▸ "; color:var(--dim) } tr.line.open td:first-child::before { content:"▾ " }
td.text { width:40%; max-width:0; overflow:hidden; text-overflow:ellipsis }
.inside { padding:6px 0 12px 16px; white-space:normal } .source { overflow-x:auto; margin:0 0 8px; border-left:3px solid var(--line); padding-left:8px; white-space:pre }
.source .at { background:rgba(var(--heat),.18) } .code td { vertical-align:top } .code td.ptx { white-space:normal; word-break:break-word; padding-right:14px }
.mark { font-weight:600; font-size:11px; margin-left:6px } .error { color:var(--bad) } .warning { color:var(--warn) } .note { color:var(--dim) }
.hazard { margin:0 0 10px; padding-left:10px; border-left:3px solid var(--line); white-space:normal } .hazard.error { border-color:var(--bad); color:inherit } .hazard.warning { border-color:var(--warn); color:inherit } .hazard.note { color:inherit }
svg text { font:11px system-ui,"DejaVu Sans",sans-serif; fill:var(--dim) } svg .ink { fill:var(--ink) }
</style></head><body><main>
<div class="bar" style="margin:0;align-items:flex-start"><div><h1 id="title"></h1><div class="dim" id="sub"></div></div><span style="margin-left:auto"></span><label id="which" class="dim" hidden>launch <select id="launch"></select></label><button id="theme">dark / light</button></div>
<div class="cards" id="cards"></div>
<section><h2>What binds</h2><ul id="advice"></ul><div id="roof"></div></section>
<div class="two"><section><h2>Roofline</h2><div id="roofline"></div></section>
<section><h2>Occupancy</h2><div id="occupancy"></div></section></div>
<section id="hazard-section"><h2 id="hazard-title">Hazards</h2><div id="hazards"></div></section>
<section><h2 id="tl"></h2><div class="bar"><label class="dim" id="whose" hidden>CTA <select id="cta"></select></label><button id="out">whole</button><button id="in">zoom in</button><button id="back">zoom out</button>
<label class="dim"><input type="checkbox" id="flows" checked> from issue to completion to waiter</label> <span class="dim" id="dense"></span>
<span class="dim" style="margin-left:auto">wheel zooms, dragging moves</span></div><canvas id="view"></canvas><div class="legend" id="legend"></div></section>
<div class="two"><section><h2>Where the warps' cycles went</h2><div id="stalls"></div></section>
<section><h2>Units</h2><div id="units"></div></section></div>
<section><h2>Cost of the kernel author's lines</h2><div class="dim" style="margin:-6px 0 8px;font-size:12px">A click on a line shows the source around it and its instructions.</div><div id="lines"></div></section>
<div id="tip"></div></main>
<script>
const D = )page";

const char* const kReportTail = R"page(;
const C = {issued:"#2f9e62",not_selected:"#a7d8ba",register_dependency:"#f0b35f",memory:"#cf4a3c",pipe_busy:"#ec8250",branch:"#b9bec7",issue_cost:"#f1dc83",
 mbarrier:"#4272b0",named_barrier:"#7fb2d9",cluster_barrier:"#b5d6ea",warp_sync:"#7a4a94",tmem_wait:"#a57cc0",tmem_alloc:"#cdb3dd",bulk_wait:"#5a4fa3",sleep:"#9aa3b2",finished:"var(--track)"};
const U = ["#d98032","#9b5fbf","#2f9a95","#8a6d3b","#c05a7c"];
const $ = id => document.getElementById(id), pct = x => (100*x).toFixed(1)+" %";
const num = x => x >= 1e15 ? (x/1e15).toFixed(2)+" P" : x >= 1e12 ? (x/1e12).toFixed(2)+" T" : x >= 1e9 ? (x/1e9).toFixed(2)+" G" : x >= 1e6 ? (x/1e6).toFixed(2)+" M" : x >= 1e4 ? (x/1e3).toFixed(1)+" k" : Number.isInteger(x) || x >= 100 ? Math.round(x)+"" : +x.toPrecision(3)+"";
const amount = (x, unit) => unit === "B" ? (/[A-Z]$/i.test(num(x)) ? num(x) + "B" : num(x) + " B") : num(x) + " " + unit;
const esc = s => String(s).replace(/[&<>"]/g, c => ({"&":"&amp;","<":"&lt;",">":"&gt;",'"':"&quot;"}[c]));
const css = v => getComputedStyle(document.documentElement).getPropertyValue(v).trim(), paintOf = c => c.startsWith("var(") ? css(c.slice(4, -1)) : c;
const plural = (n, s) => n + " " + s + (n === 1 ? "" : "s");
let R, T, N = 0, K = 0;
const bar = (w, c) => `<div class="track"><i style="width:${Math.min(100,100*w)}%;background:${c}"></i></div>`;
const card = (v, t, c) => `<div class="card ${c||""}"><b>${v}</b><span>${t}</span></div>`;
function cards() { const L = R.limits || [], bind = L[0], errors = D.hazards.filter(h => h.level === "error").length;
 $("cards").innerHTML = card(R.us.toFixed(2)+" µs", num(R.cycles)+" cycles at "+R.ghz.toFixed(2)+" GHz; an empty launch takes "+R.launch_us.toFixed(1)+" µs more") +
 (bind ? card(esc(bind.name), (bind.fraction < 0.6 ? "is the tightest limit, and does not bind" : "binds")+": the kernel reaches "+pct(bind.fraction)+" of it", "bind") : "") +
 card(R.sms_used+" of "+R.sms, "SMs used, "+plural(R.ctas_per_sm, "CTA")+" at a time on each, limited by "+esc(R.residency_limit)) +
 card(amount(R.hbm_read,"B"), "read from device memory, "+amount(R.hbm_written,"B")+" written to it meanwhile") + (R.values ? "" : card("no values", "tensor results were not computed")) +
 (D.hazards.length ? card(errors ? plural(errors, "error") : plural(D.hazards.length, "warning"), "found by the hazard checker, of "+plural(D.hazards.length, "finding"), errors ? "bad" : "") : ""); }
function limits() { const L = R.limits || [], bind = L[0]; $("roof").innerHTML = (bind ? `<p style="margin:0 0 8px">Busy without a gap, <b>${esc(bind.name)}</b> alone would need ${num(bind.cycles)} of the ${num(R.cycles)} cycles (${esc(bind.what)}): ` +
 `the kernel runs ${(R.cycles/bind.cycles).toFixed(2)} times as long as its tightest limit.</p>` : "") +
 "<table><tr><th>limit</th><th style='width:60%'>least time of the busiest instance, as a share of the run</th><th></th><th>work</th></tr>" +
 L.slice(0,9).map((l,i) => `<tr><td>${esc(l.name)}</td><td>${bar(l.fraction, i ? "var(--bar)" : "var(--bind)")}</td><td class="n">${pct(l.fraction)}</td><td class="dim">${esc(l.what)}</td></tr>`).join("") + "</table>"; }
// Operations a second over operations a byte of device memory, both axes logarithmic.
const tick = e => { const n = Math.round(e), k = Math.max(0, Math.floor(n / 3)); return (n < 0 ? Math.pow(10, n).toFixed(-n) : Math.pow(10, n - 3 * k)) + ["", " k", " M", " G", " T", " P", " E"][k]; };
function roofline() { const F = R.roofline, W = 560, H = 250, L = 62, B = 40, kinds = F.kinds; if (!kinds.length) { $("roofline").innerHTML = '<p class="dim">The launch has no floating-point arithmetic: it moves data, and its roof is the bandwidth of device memory, of which it reaches ' + pct(F.bytes / F.seconds / F.bytes_per_second) + '.</p>'; return; }
 const bytes = Math.max(F.bytes, 1), points = kinds.map(k => ({...k, x:k.operations / bytes, y:k.operations / F.seconds, ridge:k.peak / F.bytes_per_second}));
 const lo = Math.pow(10, Math.floor(Math.log10(Math.min(...points.map(p => Math.min(p.x, p.ridge)))) - .3)), hi = Math.pow(10, Math.ceil(Math.log10(Math.max(...points.map(p => Math.max(p.x, p.ridge)))) + .3));
 const top = Math.pow(10, Math.ceil(Math.log10(Math.max(...points.map(p => p.peak))))), low = Math.pow(10, Math.floor(Math.log10(Math.min(...points.map(p => p.y), lo * F.bytes_per_second * 10)) - .1));
 const X = x => L + (W - L - 26) * Math.log10(x / lo) / Math.log10(hi / lo), Y = y => 10 + (H - B - 10) * (1 - Math.log10(y / low) / Math.log10(top / low)), colour = ["var(--bind)", "var(--bar)"];
 let s = ""; for (let e = Math.log10(lo); e <= Math.log10(hi) + .01; ++e) { const x = X(Math.pow(10, e)); s += `<line x1="${x}" x2="${x}" y1="10" y2="${H - B}" stroke="var(--line)"/><text x="${x}" y="${H - B + 15}" text-anchor="middle">${tick(e)}</text>`; }
 for (let e = Math.log10(low); e <= Math.log10(top) + .01; ++e) { const y = Y(Math.pow(10, e)); s += `<line x1="${L}" x2="${W - 26}" y1="${y}" y2="${y}" stroke="var(--line)"/><text x="${L - 6}" y="${y + 4}" text-anchor="end">${tick(e)}</text>`; }
 s += `<text class="ink" x="${(L + W) / 2}" y="${H - 6}" text-anchor="middle">operations per byte of device memory</text><text class="ink" transform="translate(11 ${(H - B) / 2 + 5}) rotate(-90)" text-anchor="middle">operations / s</text>`;
 const under = points.reduce((a, p) => Math.max(a, p.ridge), 0), from = Math.max(lo, low / F.bytes_per_second); s += `<line x1="${X(from)}" y1="${Y(from * F.bytes_per_second)}" x2="${X(under)}" y2="${Y(under * F.bytes_per_second)}" stroke="var(--ink)" stroke-width="2"/>`;
 points.forEach((p, i) => { s += `<line x1="${X(p.ridge)}" y1="${Y(p.peak)}" x2="${W - 26}" y2="${Y(p.peak)}" stroke="${colour[i]}" stroke-width="2"/><circle cx="${X(p.x)}" cy="${Y(p.y)}" r="6" fill="${colour[i]}" stroke="var(--paper)" stroke-width="2"><title>${esc(p.name)}: ${num(p.y)} operations/s, ${num(p.x)} a byte</title></circle>`; });
 const roofOf = p => Math.min(p.peak, p.x * F.bytes_per_second), words = p => `<span><i style="background:${colour[points.indexOf(p)]}"></i>${esc(p.name)}: ${num(p.y)} operations/s of ${num(roofOf(p))} under the roof at ${num(p.x)} a byte (${pct(p.y / roofOf(p))}); ${p.x < p.ridge ? "left of the ridge: device memory is its roof" : "right of the ridge: the arithmetic is its roof"}</span>`;
 $("roofline").innerHTML = `<svg viewBox="0 0 ${W} ${H}" style="width:100%;display:block" role="img" aria-label="roofline">${s}</svg><div class="legend" style="display:block">${points.map(words).join("<br>")}<br><span><i style="background:var(--ink)"></i>device memory, ${num(F.bytes_per_second)}B/s; the flat roofs are all SMs with this kernel's instructions, busy without a gap</span></div>`; }
function occupancy() { const all = (R.residency || []).slice().sort((a, b) => a.ctas - b.ctas), unit = {"shared memory":"B", threads:"threads", warps:"warps", registers:"registers", CTAs:"CTAs"}, most = Math.max(...all.map(r => Math.min(r.ctas, 32)), 1);
 $("occupancy").innerHTML = `<p style="margin:0 0 8px">${plural(R.ctas_per_sm, "CTA")} at a time on an SM, limited by <b>${esc(R.residency_limit)}</b>.</p>` + (all.length ? "<table><tr><th>resource</th><th style='width:34%'>CTAs it has room for</th><th></th><th>a CTA takes, of an SM's</th></tr>" + all.map(r =>
 `<tr><td>${esc(r.what)}</td><td>${bar(Math.min(r.ctas, 32) / most, r.what === R.residency_limit ? "var(--bind)" : "var(--bar)")}</td><td class="n">${r.ctas}</td><td class="dim">${r.of_cta.toLocaleString("en")} of ${r.of_sm.toLocaleString("en")} ${unit[r.what]}</td></tr>`).join("") + "</table>" : "") +
 `<p class="dim" style="margin:8px 0 0;font-size:12px">The grid used ${R.sms_used} of ${R.sms} SMs.</p>`; }
function units() { $("units").innerHTML = "<table>" + (R.units||[]).filter(u => u.work || u.utilisation).map(u =>
 `<tr><td>${esc(u.name)}</td><td style="width:45%">${bar(u.utilisation,"var(--bar)")}</td><td class="n">${pct(u.utilisation)}</td><td class="n dim">${esc(amount(u.work, u.work_unit))}</td></tr>`).join("") + "</table>"; }
const shown = new Set();
function stalls() { $("stalls").innerHTML = "<table>" + (R.roles||[]).map(r => { const sum = r.cycles.reduce((a,b)=>a+b,0)||1;
 const parts = r.cycles.map((c,i) => [D.stalls[i], c/sum]).filter(p => p[1] > 0.002); parts.forEach(p => shown.add(p[0]));
 const top = parts.slice().sort((a,b)=>b[1]-a[1]).slice(0,4).map(p => p[0].replace(/_/g," ")+" "+pct(p[1])).join(", ");
 return `<tr><td style="padding-top:7px">${esc(r.name)}</td><td class="n dim" style="padding-top:7px">${num(r.warps)} warps, ${num(r.instructions)} instructions</td></tr>` +
 `<tr><td colspan="2"><div class="track" style="height:16px">` + parts.map(p => `<i title="${p[0]} ${pct(p[1])}" style="width:${100*p[1]}%;background:${C[p[0]]}"></i>`).join("") +
 `</div><div class="dim" style="font-size:12px;white-space:normal">${top}</div></td></tr>`; }).join("") + "</table>"; }
const atLine = where => D.hazards.filter(h => h.here.place === where || (h.other && h.other.place === where));
const marks = where => [...new Map(atLine(where).map(h => [h.code, h])).values()].map(h => `<span class="mark ${h.level}" title="${esc(h.rule)}">${h.code}</span>`).join("");
const access = a => !a ? "" : `${a.bytes}-byte ${a.store ? "stores" : "loads"}${a.uneven ? "" : ", " + Math.abs(a.stride) + " bytes apart"}: ${num(a.units)} ${a.shared ? "passes" : "sectors"} an instruction` + (a.excess >= 1.5 ? `, <b>${num(a.excess)} times what the bytes need</b>` : "");
function inside(l) { const around = l.around.length ? `<div class="dim mono" style="margin-bottom:4px">${esc(l.file)}</div><div class="mono source">` + l.around.map((s, i) => `<div${"file" in l && l.first + i === +l.where.split(":").pop() ? ' class="at"' : ""}>${String(l.first + i).padStart(5)}  ${esc(s)}</div>`).join("") + "</div>" : "";
 const code = l.code.length ? `<table class="code"><tr><th>instruction</th><th class='n'>executed</th><th class='n'>share</th><th>memory</th></tr>` + l.code.map(c => `<tr><td class="mono ptx">${esc(c.ptx)}</td><td class="n dim">${num(c.executed)}</td><td class="n">${pct(c.share)}</td><td class="dim" style="white-space:normal">${access(c.access)}</td></tr>`).join("") + "</table>" : "";
 return around + code + atLine(l.where).map(hazard).join(""); }
function lines() { const all = (R.lines||[]).slice(0, 24), most = all.length ? all[0].share : 1;
 $("lines").innerHTML = "<table><tr><th>line</th><th>source</th><th style='width:20%'>share of the warps' cycles</th><th></th><th class='n'>warp instructions</th></tr>" + all.map((l, i) =>
 `<tr class="line" data-i="${i}"><td class="mono">${esc(l.where)}${marks(l.where)}</td><td class="mono text dim" title="${esc(l.text)}">${esc(l.text)}</td><td>${bar(l.share / most,"var(--bar)")}</td><td class="n">${pct(l.share)}</td><td class="n dim">${num(l.instructions)}</td></tr><tr hidden><td colspan="5" class="inside"></td></tr>`).join("") + "</table>";
 for (const row of $("lines").querySelectorAll("tr.line")) row.onclick = () => { const next = row.nextElementSibling, cell = next.firstElementChild; if (!cell.innerHTML) cell.innerHTML = inside(all[+row.dataset.i]); next.hidden = !next.hidden; row.classList.toggle("open", !next.hidden); };
 const first = $("lines").querySelector("tr.line"); if (first) first.click(); }
const party = p => `${esc(p.role)} CTA ${esc(p.cta)} warp ${p.warp}${p.place ? " at " + esc(p.place) : ""}${p.when ? ", cycle " + p.when : ""} <span class="mono">${esc(p.ptx)}</span>`;
function hazard(h) { return `<div class="hazard ${h.level}"><b class="${h.level}">${h.code}</b> ${esc(h.rule)}${h.count > 1 ? ` <span class="dim">(${num(h.count)} times)</span>` : ""}<br>${party(h.here)}${h.other ? "<br>" + party(h.other) : ""}${h.memory ? `<br><span class="dim">${esc(h.memory)}</span>` : ""}${h.order ? `<br><span class="dim">${esc(h.order)}</span>` : ""}<br><b>fix:</b> ${esc(h.fix)} <span class="dim">PTX ISA ${esc(h.ptx_isa)}</span></div>`; }
function hazards() { $("hazard-title").textContent = "Hazards" + (D.hazards.length ? ": " + D.hazards.length + " different" : ""); $("hazards").innerHTML = D.hazards.slice(0, 20).map(hazard).join("") || `<span class="dim">${D.checked ? "None found at the level of --check of this run." : "Not looked for (--check=off)."}</span>`; if (D.hazards.length > 20) $("hazards").innerHTML += `<span class="dim">the first 20 of ${D.hazards.length}</span>`; }
)page";

}  // namespace drywell::tools
