// Numbers for people, and elements by one call each.

export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

// Three significant digits without an exponent.
export function digits(value) {
  if (!Number.isFinite(value)) return "-";
  if (Math.abs(value) < 5e-7) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.min(6, Math.max(0, 2 - size)));
}

const scales = {
  "tokens/s": [[1e6, "M tokens/s"], [1e4, "k tokens/s", 1e3], [0, "tokens/s"]],
  "FLOP/s": [[1e15, "PFLOP/s"], [1e12, "TFLOP/s"], [1e9, "GFLOP/s"], [0, "MFLOP/s", 1e6]],
  "W": [[1e6, "MW"], [1e3, "kW"], [0, "W"]],
  "J": [[1e3, "kJ"], [1, "J"], [1e-3, "mJ"], [0, "uJ", 1e-6]],
  "ns": [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [0, "ns"]],
  "B": [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [0, "B"]],
  "B/s": [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"], [0, "B/s"]],
};

// ["12.3", "ms"]
export function shown(value, unit) {
  if (value === null || value === undefined) return ["-", ""];
  if (unit === "1") return [digits(value * 100), "%"];
  const scale = scales[unit];
  if (!scale) return [digits(value), unit];
  const [from, name, by] = scale.find(([least]) => Math.abs(value) >= least);
  return [digits(value / (by || from || 1)), name];
}

export function text(value, unit) {
  const [number, name] = shown(value, unit);
  return name === "%" ? `${number} %` : `${number} ${name}`.trim();
}

// "4.28 to 5.73 ms"
export function range_text(low, high, unit) {
  const [from, from_unit] = shown(low, unit), [, to_unit] = shown(high, unit);
  return from_unit === to_unit ? `${from} to ${text(high, unit)}` : `${text(low, unit)} to ${text(high, unit)}`;
}

// What a reader opened stays open when its figures change.
export function was_open(id) { return Boolean(document.querySelector(`#${id} details`)?.open); }

export function replaced(id, ...children) {
  const node = typeof id === "string" ? document.getElementById(id) : id;
  node.replaceChildren(...children.flat(Infinity).filter((child) => child));
  return node;
}

// Rows of a table: columns are [title or what makes it, cell of a row, is a number, class].
export function table(caption, columns, rows, foot) {
  const cell = (name, column, content) =>
    element(name, {class: [column[2] ? "n" : "", column[3] || ""].join(" ").trim() || undefined,
      scope: name === "th" ? "col" : undefined}, content);
  const body = rows.map((row) => element("tr", {class: row.mark},
    columns.map((column) => cell("td", column, column[1](row)))));
  const parts = [element("caption", {}, caption),
    element("thead", {}, element("tr", {}, columns.map((column) => cell("th", column, typeof column[0] === "function" ? column[0]() : column[0])))),
    element("tbody", {}, body)];
  if (foot) parts.push(element("tfoot", {}, element("tr", {}, foot.map((content, i) => cell("td", columns[i], content)))));
  return element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption}, element("table", {}, parts));
}
