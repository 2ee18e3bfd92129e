#include "report/page/html_page.hpp"

#include <string_view>

#include "report/page/page_script.hpp"
#include "report/text/clean_text.hpp"

namespace halmark::report {
namespace {

// The style sheet of the page, inline because the page is one file.

// Colours after Okabe and Ito (2008), which stay apart for colour-blind readers; shapes, names and
// numbers say the same without them. k: marker, s: line, f: bar segment, t: text on that segment.
std::string_view style_sheet() {
  return R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1d21;--soft:#5b626d;--grid:#e6e8ec;--rule:#d3d7de;
--panel:#f6f7f9;--link:#0b5394;--bad:#b03a00;--good:#00664b;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b0669a;--c4:#3a9bdc;--c5:#c98a00;--c6:#7a7f00;--c7:#666d78}
@media (prefers-color-scheme:dark){:root{--bg:#15171b;--fg:#e8eaee;--soft:#a3abb8;--grid:#2a2e35;
--rule:#3a404a;--panel:#1d2026;--link:#8cc4ff;--bad:#ff9a5c;--good:#4fd3a8;
--c0:#4aa8e8;--c1:#f0803c;--c2:#2cc497;--c3:#d99bc6;--c4:#8fd0ff;--c5:#e8b13c;--c6:#d6d94a;--c7:#9aa3b0}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:2560px;padding:20px 24px 48px;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
h1{font-size:25px;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:19px;margin:36px 0 8px;padding-top:10px;border-top:2px solid var(--rule)}
h3{font-size:16px;margin:20px 0 6px}
p,ul{margin:6px 0}p,li{max-width:120ch}
a{color:var(--link)}
.sub{color:var(--soft);overflow-wrap:anywhere}
.badges{display:flex;flex-wrap:wrap;gap:8px;margin:10px 0}
.badge{border:1.5px solid currentColor;border-radius:4px;padding:2px 10px;font-weight:600}
.ok{color:var(--good)}.bad{color:var(--bad)}
nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin:8px 0}
.pair>figure{display:grid;grid-template-columns:minmax(0,600px) minmax(0,1fr);gap:0 24px;margin-bottom:16px}
.pair>figure>.controls{grid-column:1/-1}.pair figcaption{align-self:end}
.pair table,.rows{font-size:12.5px}.pair th,.rows th{white-space:normal;vertical-align:bottom}
.pair th,.pair td,.rows th,.rows td{padding:4px 6px}.pair td:first-child,.rows td:first-child{white-space:nowrap}
.scroll:has(>.rows){max-height:75vh;overflow-y:auto}.rows td:last-child{min-width:140px}
.controls{display:flex;flex-wrap:wrap;gap:6px 18px;align-items:center;margin:8px 0}
input,select,button{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--soft);border-radius:4px;padding:2px 6px}
input[type=search]{width:min(24em,70vw)}output{color:var(--soft)}
th button{all:unset;cursor:pointer}th button:focus-visible{outline:2px solid var(--link);outline-offset:2px}
th[aria-sort] button::after{content:" \2191"}th[aria-sort=descending] button::after{content:" \2193"}
.legend{list-style:none;padding:0}.legend li{display:grid;grid-template-columns:30px 1fr;align-items:baseline}svg.line{width:26px}
@media (min-width:1700px){.pair{display:flex;gap:24px;align-items:flex-start}.pair>figure{display:block;flex:0 0 560px}.pair>.scroll{flex:1 1 auto;min-width:0}}
@media (max-width:900px){.pair>figure{display:block}}
figure{margin:0}
figcaption,.note{color:var(--soft);font-size:13.5px}
figcaption span{white-space:nowrap;margin-right:10px}
svg{display:block;width:100%;height:auto;overflow:visible}
svg.key{display:inline-block;width:14px;height:14px;vertical-align:-2px}
svg text{fill:var(--fg);font-family:inherit}
.tick{font-size:11px;fill:var(--soft)}.axis{font-size:12.5px}
.label{font-size:12px;font-weight:600}.label,.rooflabel,.mark{paint-order:stroke;stroke:var(--bg);stroke-width:3px}
.rooflabel,.peaklabel{font-size:12px;fill:var(--fg)}
.grid{stroke:var(--grid)}.frame{fill:none;stroke:var(--rule)}
.roof{stroke:var(--soft);stroke-width:1.6}.peak{stroke-width:2;stroke-dasharray:7 3}
.ridge{fill:var(--bg);stroke:var(--soft);stroke-width:1.5}
.front{fill:none;stroke:var(--soft);stroke-width:1.6;stroke-dasharray:4 3}
.bar{stroke:var(--fg);stroke-width:1.3}.leader{stroke:var(--soft);stroke-width:.8}
.m{fill:var(--k);stroke:var(--bg);stroke-width:1}.h{fill:var(--bg);fill-opacity:.6;stroke:var(--k);stroke-width:1.5}
.faint{opacity:.4}
.k0,.s0{--k:var(--c0)}.k1,.s1{--k:var(--c1)}.k2,.s2{--k:var(--c2)}.k3,.s3{--k:var(--c3)}
.k4,.s4{--k:var(--c4)}.k5,.s5{--k:var(--c5)}.k6,.s6{--k:var(--c6)}.k7,.s7{--k:var(--c7)}
.s0,.s1,.s2,.s3,.s4,.s5,.s6,.s7{stroke:var(--k)}
.error circle{fill:none;stroke:var(--bad);stroke-width:2.2}
.error .mark{fill:var(--bad);font-size:11px;font-weight:700}
.seg{stroke:var(--bg);stroke-width:1.5}.seglabel{font-size:12px}
.f0{fill:#0072b2}.f1{fill:#e69f00}.f2{fill:#009e73}.f3{fill:#cc79a7}.f4{fill:#56b4e9}.f5{fill:#d55e00}
.f6{fill:#f0e442}.f7{fill:#8b929d}
svg .t0{fill:#fff}svg .t1,svg .t2,svg .t3,svg .t4,svg .t5,svg .t6,svg .t7{fill:#000}
.scroll{overflow-x:auto;border:1px solid var(--rule);border-radius:4px}
table{border-collapse:collapse;font-size:13px;line-height:1.35;width:100%}
th,td{padding:4px 8px;text-align:left;border-bottom:1px solid var(--grid);vertical-align:top}
th{background:var(--panel);font-weight:600;white-space:nowrap;position:sticky;top:0}
td{overflow-wrap:break-word;max-width:340px}
.n,
.r1 td:nth-child(1),.r2 td:nth-child(2),.r3 td:nth-child(3),.r4 td:nth-child(4),.r5 td:nth-child(5),
.r6 td:nth-child(6),.r7 td:nth-child(7),.r8 td:nth-child(8),.r9 td:nth-child(9),.r10 td:nth-child(10),
.r11 td:nth-child(11),.r12 td:nth-child(12),.r13 td:nth-child(13),.r14 td:nth-child(14),.r15 td:nth-child(15),
.r16 td:nth-child(16),.r17 td:nth-child(17),.r18 td:nth-child(18),.r19 td:nth-child(19),.r20 td:nth-child(20){text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
tbody tr:last-child td{border-bottom:0}
details{border:1px solid var(--rule);border-radius:4px;margin:8px 0;padding:0 12px}
details[open]{padding-bottom:12px}
summary{cursor:pointer;padding:8px 0;overflow-wrap:anywhere}
details .scroll{margin-top:10px}
.anchor:target{outline:2px solid var(--link);outline-offset:6px}
details th{white-space:normal}details table{font-size:12px}details td{overflow-wrap:anywhere}details .scroll th,details .scroll td{padding:4px 4px}.fold table{font-size:11.5px}
.fold>summary{font-weight:600}@media (min-width:1700px){.fold td:nth-child(2){min-width:290px}}
code{font:13px/1.4 ui-monospace,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 16px;margin:8px 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
@media (max-width:760px){body{padding:14px 12px 32px}dl{grid-template-columns:1fr}dd{margin-bottom:6px}
.wide-picture{overflow-x:auto}.wide-picture>svg{min-width:820px}}
@media print{@page{size:landscape}figure>svg{max-width:560px}.rows td:last-child{min-width:0}.rows,.pair table,.rows th,table{font-size:8.5px!important}body{max-width:none;padding:0;font-size:11px}nav{display:none}
.scroll,.scroll:has(>.rows){overflow:visible;border:0;max-height:none}.controls{display:none}table{font-size:8.5px}th{position:static}
h2,h3{break-after:avoid}figure,tr{break-inside:avoid}details{border:0;padding:0}details::details-content{content-visibility:visible;block-size:auto}
.pair,.pair>figure{display:block}a{color:inherit;text-decoration:none}}
)css";
}

std::string head(const std::string& title, const std::string& policy) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'" +
         policy +
         "\"/>\n<meta name=\"viewport\" content=\"width=device-width, "
         "initial-scale=1\"/>\n<meta name=\"referrer\" content=\"no-referrer\"/>\n" +
         element("title", title) + "<style>" + std::string(style_sheet()) + "</style>\n</head>\n";
}

}  // namespace

std::string element(const std::string& name, const std::string& text) {
  return '<' + name + '>' + html_text(text) + "</" + name + ">\n";
}

std::string list_element(const std::vector<std::string>& items) {
  std::string out = "<ul>\n";
  for (const std::string& item : items) out += element("li", item);
  return out + "</ul>\n";
}

std::string page_head(const std::string& title) { return head(title, ""); }

std::string scripted_page_head(const std::string& title) {
  return head(title, "; script-src " + page_script_source());
}

std::string script_element() { return "<script>" + std::string(page_script()) + "</script>\n"; }

}  // namespace halmark::report
