#include "report/page/page_script.hpp"

#include <cstdint>

#include "core/text/digest.hpp"

namespace halmark::report {
namespace {

int digit_of(char hexadecimal) {
  return hexadecimal <= '9' ? hexadecimal - '0' : hexadecimal - 'a' + 10;
}

// RFC 4648, of the bytes that hexadecimal digits say.
std::string base64_of(std::string_view hexadecimal) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : hexadecimal) {
    bits = bits << 4 | static_cast<std::uint32_t>(digit_of(c));
    count += 4;
    if (count < 6) continue;
    count -= 6;
    out += letters[bits >> count & 63];
  }
  if (count > 0) out += letters[bits << (6 - count) & 63];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

}  // namespace

// Cells carry the figure itself in data-v; text is what a reader sees. No "<" stands in it, so that
// it needs no escapes inside the page.
std::string_view page_script() {
  return R"js('use strict';
const figure = (cell) => {
  const text = cell.dataset.v ?? cell.textContent;
  return /^-?[0-9.]+(e[+-]?[0-9]+)?$/.test(text) ? Number(text) : null;
};
const leftOut = new WeakSet();
const shown = (table) => [...table.tBodies[0].rows].filter((row) => !leftOut.has(row));
const made = (name, text, attributes = {}) => {
  const out = document.createElement(name);
  if (text) out.textContent = text;
  for (const [key, value] of Object.entries(attributes)) out.setAttribute(key, value);
  return out;
};

// A heading sorts: first press smallest first, second press largest first; what is absent last.
function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = made('button', head.textContent, {type: 'button'});
    head.replaceChildren(button);
    const key = (row) => {
      const cell = row.cells[column], text = cell.textContent.trim();
      return figure(cell) ?? (text === '-' || text === '' ? null : text);
    };
    const before = (a, b) => typeof a === 'number' && typeof b === 'number'
      ? a - b : String(a).localeCompare(String(b), 'en', {numeric: true});
    button.addEventListener('click', () => {
      const sign = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
      heads.forEach((other) => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', sign === 1 ? 'ascending' : 'descending');
      const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
      rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : sign * before(a, b));
      table.tBodies[0].append(...rows.map(([, row]) => row));
    });
  });
}

// Rows that have every word; a word with a minus in front must be absent. Laying out a thousand rows
// takes longer than a key may: those below the first screens follow once the typing rests.
function filterable(table, changed) {
  const box = made('div', '', {class: 'controls'}), label = made('label', 'filter rows ');
  const input = made('input', '', {type: 'search', placeholder: 'int8 tp2 -refused'});
  const count = made('output', '', {'aria-live': 'polite'});
  label.append(input);
  box.append(label, count);
  const texts = new Map([...table.tBodies[0].rows].map((row) =>
    [row, ' ' + [...row.cells].map((cell) => cell.textContent).join(' ').toLowerCase()]));
  const all = texts.size, atOnce = 100, rest = 150;
  let later = 0;
  const apply = () => {
    clearTimeout(later);
    const words = input.value.toLowerCase().split(/\s+/).filter((word) => word && word !== '-');
    for (const [row, text] of texts) {
      const isLeft = words.every((word) => word[0] === '-' ? !text.includes(word.slice(1)) : text.includes(word));
      leftOut[isLeft ? 'delete' : 'add'](row);
    }
    const left = shown(table);
    for (const row of table.tBodies[0].rows) row.hidden = true;
    for (const row of left.slice(0, atOnce)) row.hidden = false;
    later = setTimeout(() => left.forEach((row) => { row.hidden = false; }), rest);
    count.value = `${left.length} of ${all} rows`;
    changed();
  };
  input.addEventListener('input', apply);
  count.value = `${all} of ${all} rows`;
  table.closest('.scroll').before(box);
}

function drawn(name, attributes, text) {
  const out = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) out.setAttribute(key, value);
  if (text !== undefined) out.textContent = text;
  return out;
}

// Logarithmic where all values are positive and span more than a factor of four, else even.
function scale(values, from, to) {
  let low = Math.min(...values), high = Math.max(...values);
  const isLog = low > 0 && high / low > 4;
  if (low === high) { low -= Math.abs(low) / 2 || 1; high += Math.abs(high) / 2 || 1; }
  const room = isLog ? Math.pow(high / low, 0.06) : (high - low) * 0.06;
  low = isLog ? low / room : low - room;
  high = isLog ? high * room : high + room;
  const place = isLog ? Math.log : (v) => v;
  const at = (v) => from + (to - from) * (place(v) - place(low)) / (place(high) - place(low));
  return {at, ticks: ticks(low, high, isLog), isLog};
}

function ticks(low, high, isLog) {
  const out = [];
  if (isLog) {
    const digits = high / low > 1000 ? [1] : [1, 2, 5];
    for (let power = Math.floor(Math.log10(low)); high > Math.pow(10, power); ++power) {
      for (const digit of digits) out.push(digit * Math.pow(10, power));
    }
  } else {
    const raw = (high - low) / 5, power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = power * [1, 2, 5, 10].find((factor) => power * factor >= raw);
    for (let i = Math.ceil(low / step); high > i * step; ++i) out.push(i * step);
  }
  return out.filter((value) => value >= low && high >= value);
}

// The text of a figure as its column has it: what the page wrote, with the value divided alike.
const short = (value) => Math.abs(value) >= 1e4 || (value !== 0 && 0.01 > Math.abs(value))
  ? value.toExponential(1).replace('e+', 'e') : String(Number(value.toPrecision(3)));
const units = {latency: [1e6, 'ms'], run: [1e6, 'ms'], memory: [2 ** 30, 'GiB'], MFU: [0.01, '%'],
  'of sheet': [0.01, '%'], 'on the front': [0.01, '%'], prediction: [0.01, '%']};

class Chart {
  constructor(picture, table) {
    this.picture = picture;
    this.table = table;
    this.titles = [...table.tHead.rows[0].cells].map((head) => head.textContent);
    const hasFigure = this.titles.map((_, column) =>
      [...table.tBodies[0].rows].some((row) => figure(row.cells[column]) !== null));
    this.box = made('div', '', {class: 'controls'});
    this.keys = {};
    const first = picture.closest('figure').dataset;
    [this.x, this.y] = [['x: ', first.x ?? 'latency'], ['y: ', first.y ?? 'tokens/s']].map(([text, first]) => {
      const label = made('label', text), select = made('select', '');
      this.titles.forEach((title, column) => {
        if (hasFigure[column]) select.append(new Option(title, column, title === first, title === first));
      });
      select.addEventListener('change', () => this.draw());
      label.append(select);
      this.box.append(label);
      return select;
    });
    if (this.x.options.length > 1) picture.before(this.box);
  }

  title(column) {
    const title = this.titles[column], unit = units[title];
    return unit ? `${title} [${unit[1]}]` : title;
  }

  draw() {
    const [x, y] = [Number(this.x.value), Number(this.y.value)];
    const points = shown(this.table).map((row) => ({row, x: this.figure(row, x), y: this.figure(row, y)}))
      .filter((point) => point.x !== null && point.y !== null);
    const svg = drawn('svg', {viewBox: '0 0 600 440', role: 'group',
      'aria-label': `${this.title(x)} against ${this.title(y)}: ${points.length} configurations`});
    if (points.length > 0) this.plot(svg, points, x, y);
    else svg.append(drawn('text', {x: 300, y: 220, 'text-anchor': 'middle'}, 'no row has both figures'));
    this.picture.replaceWith(svg);
    this.picture = svg;
  }

  figure(row, column) {
    const value = figure(row.cells[column]), unit = units[this.titles[column]];
    return value === null || !unit ? value : value / unit[0];
  }

  plot(svg, points, x, y) {
    const across = scale(points.map((p) => p.x), 66, 590), up = scale(points.map((p) => p.y), 392, 12);
    for (const value of across.ticks) {
      svg.append(drawn('line', {class: 'grid', x1: across.at(value), x2: across.at(value), y1: 12, y2: 392}),
        drawn('text', {class: 'tick', x: across.at(value), y: 408, 'text-anchor': 'middle'}, short(value)));
    }
    for (const value of up.ticks) {
      svg.append(drawn('line', {class: 'grid', x1: 66, x2: 590, y1: up.at(value), y2: up.at(value)}),
        drawn('text', {class: 'tick', x: 60, y: up.at(value) + 4, 'text-anchor': 'end'}, short(value)));
    }
    svg.append(drawn('rect', {class: 'frame', x: 66, y: 12, width: 524, height: 380}),
      drawn('text', {class: 'axis', x: 328, y: 432, 'text-anchor': 'middle'}, this.title(x) + (across.isLog ? ' (log)' : '')),
      drawn('text', {class: 'axis', x: 14, y: 202, 'text-anchor': 'middle', transform: 'rotate(-90 14 202)'},
        this.title(y) + (up.isLog ? ' (log)' : '')));
    // Those on the front last, above the others.
    points.sort((a, b) => a.row.classList.contains('on') - b.row.classList.contains('on'));
    for (const point of points) svg.append(this.marker(point, across.at(point.x), up.at(point.y), x, y));
  }

  // The shape of its data type, as the legend below has it.
  marker(point, x, y, xColumn, yColumn) {
    const {row} = point, isOn = row.classList.contains('on');
    const look = [...row.classList].find((name) => /^k\d$/.test(name)) ?? 'k7';
    this.keys[look] ??= this.box.closest('figure')?.querySelector(`svg.key .${look}`);
    const key = this.keys[look];
    const shape = key ? key.cloneNode() : drawn('circle', {cx: 7, cy: 7, r: 5});
    shape.setAttribute('class', (isOn ? 'm ' : 'h faint ') + look);
    const group = drawn('g', {transform: `translate(${x - 7} ${y - 7})`, class: 'point'});
    const cell = (column) => row.cells[column].textContent;
    shape.append(drawn('title', {}, `${cell(0)}: ${this.titles[xColumn]} ${cell(xColumn)}, ${this.titles[yColumn]} ${cell(yColumn)}`));
    const link = row.cells[0].querySelector('a');
    if (!link) { group.append(shape); return group; }
    const a = drawn('a', {href: link.getAttribute('href')});
    a.append(shape);
    group.append(a);
    return group;
  }
}

for (const table of document.querySelectorAll('table.rows')) {
  const picture = document.querySelector(`figure[data-of="${table.id}"] > svg`);
  const chart = picture ? new Chart(picture, table) : null;
  filterable(table, () => chart?.draw());
  sortable(table);
}
for (const table of document.querySelectorAll('table:not(.rows)')) if (table.tBodies[0].rows.length > 2) sortable(table);
// A link into a folded part opens it.
const unfold = () => document.getElementById(location.hash.slice(1))?.closest('details')?.setAttribute('open', '');
addEventListener('hashchange', unfold);
unfold();
)js";
}

std::string page_script_source() { return "'sha256-" + base64_of(sha256_of(page_script())) + '\''; }

}  // namespace halmark::report
