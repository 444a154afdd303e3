"use strict";
// A number with an SI prefix, as the tables have them.
const si = (v, unit) => {
  const power = v > 0 ? Math.max(-4, Math.min(4, Math.floor(Math.log10(v) / 3 + 1e-9))) : 0;
  return +(v / 10 ** (3 * power)).toPrecision(4) + " " + ["p", "n", "u", "m", "", "k", "M", "G", "T"][power + 4] + unit;
};
const svgPart = (name, to, attributes, text) => {
  const one = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  if (text !== undefined) one.textContent = text;
  to.append(one);
  return one;
};
// Headings of tables become buttons that sort; without a script the tables stay as they are.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, column) => {
    const cell = row.cells[column] || row.cells[0];
    return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b, "en", { numeric: true });
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const rows = [...body.rows].map((row) => [key(row, column), row]);
      rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
      body.append(...rows.map((pair) => pair[1]));
    });
  });
}
// Tables of many rows can be filtered, and rows picked to be compared side by side.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const name = table.caption ? table.caption.textContent : "table";
  if (body.rows.length < 4) continue;
  const tools = document.createElement("div");
  tools.className = "tools";
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("output");
  input.type = "search";
  input.size = 26; // as its placeholder is long
  label.append("Filter rows ", input);
  input.setAttribute("aria-label", "Filter rows of: " + name);
  input.placeholder = "text, or > 10 of any column";
  const clear = document.createElement("button");
  clear.type = "button";
  clear.textContent = "Show picked rows only";
  clear.setAttribute("aria-pressed", "false");
  clear.hidden = true;
  const show = () => {
    const wanted = input.value.trim().toLowerCase();
    const bound = /^([<>])\s*([0-9.e+-]+)$/.exec(wanted);
    const only = clear.getAttribute("aria-pressed") === "true";
    let shown = 0;
    for (const row of body.rows) {
      const fits = bound
        ? [...row.cells].some((c) => c.dataset.v !== undefined && (bound[1] === ">" ? c.dataset.v > +bound[2] : c.dataset.v < +bound[2]))
        : row.textContent.toLowerCase().includes(wanted);
      row.hidden = !fits || (only && !row.classList.contains("picked"));
      shown += !row.hidden;
    }
    count.value = shown < body.rows.length ? shown + " of " + body.rows.length : "";
  };
  input.addEventListener("input", show);
  clear.addEventListener("click", () => {
    clear.setAttribute("aria-pressed", clear.getAttribute("aria-pressed") === "true" ? "false" : "true");
    show();
  });
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (!row || getSelection().toString()) return;
    row.classList.toggle("picked");
    clear.hidden = !body.querySelector(".picked");
    if (clear.hidden) clear.setAttribute("aria-pressed", "false");
    show();
  });
  tools.append(label, clear, count);
  table.parentElement.before(tools);
}
// A figure's data under the pointer: the row of its table whose place along the plot is nearest.
for (const figure of document.querySelectorAll("figure")) {
  const svg = figure.querySelector("svg");
  const table = figure.querySelector("table.sortable");
  const place = figure.querySelector("[data-rows]");
  if (!svg || !table || !place) continue;
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  figure.append(tip);
  const rows = [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells].map((c) => c.textContent);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const down = place.dataset.rows === "down";
    const at = down ? (event.clientY - box.top) / box.height : (event.clientX - box.left) / box.width;
    const part = (at - place.dataset.from) / (place.dataset.to - place.dataset.from);
    let row = rows[Math.floor(part * rows.length)];
    if (!down && row) {
      const time = +place.dataset.t0 + part * (place.dataset.t1 - place.dataset.t0);
      row = rows.filter((one) => +one.cells[0].dataset.v <= time).pop();
    }
    tip.hidden = !row;
    if (row) tip.textContent = [...row.cells].map((c, i) => heads[i] + " " + c.textContent).filter((t) => !/ (0|-|0\.0 %)$/.test(t)).join("\n");
  });
  svg.addEventListener("pointerleave", () => (tip.hidden = true));
}
// Time charts zoom: dragging over one, or its two sliders by keyboard, choose a span, which is drawn from the figure's table.
for (const figure of document.querySelectorAll("figure")) {
  const svg = figure.querySelector("svg"), table = figure.querySelector("table.sortable"), place = figure.querySelector("[data-rows=along]");
  if (!svg || !table || !place || table.tBodies[0].rows.length < 4) continue;
  const W = 480, H = 240, LEFT = 56, RIGHT = 12, TOP = 22, BOTTOM = 34, NS = "http://www.w3.org/2000/svg";
  const t0 = +place.dataset.t0, t1 = +place.dataset.t1, heads = [...table.tHead.rows[0].cells].map((c) => c.textContent);
  const row = [...table.tBodies[0].rows].map((r) => [...r.cells].map((c) => +c.dataset.v || 0)).sort((a, b) => a[0] - b[0]);
  const colours = {};
  for (const one of figure.querySelectorAll(".legend li")) colours[one.textContent.trim()] = getComputedStyle(one, "::before").backgroundColor;
  const series = heads.map((name, i) => i).filter((i) => colours[heads[i]]);
  if (!series.length) continue;
  const zoomed = document.createElementNS(NS, "svg"), tools = document.createElement("div"), whole = document.createElement("button");
  zoomed.setAttribute("viewBox", `0 0 ${W} ${H}`);
  zoomed.setAttribute("role", "img");
  zoomed.style.display = "none";
  svg.after(zoomed);
  tools.className = "tools";
  const make = (name, attributes, text) => svgPart(name, zoomed, attributes, text);
  const slider = (label, at) => {
    const box = document.createElement("label"), input = document.createElement("input");
    Object.assign(input, { type: "range", min: 0, max: 1000, step: 5 });
    input.value = at;
    box.append(label + " ", input);
    tools.append(box);
    input.addEventListener("input", () => draw());
    return input;
  };
  const low = slider("Zoom from", 0), high = slider("to", 1000);
  whole.type = "button";
  whole.textContent = "Show all";
  whole.addEventListener("click", () => { low.value = 0; high.value = 1000; draw(); });
  tools.append(whole);
  zoomed.after(tools);
  const time = (input) => t0 + (input.value / 1000) * (t1 - t0);
  const draw = () => {
    const a = Math.min(time(low), time(high)), b = Math.max(time(low), time(high)), all = a <= t0 && b >= t1;
    for (const input of [low, high]) input.setAttribute("aria-valuetext", si(time(input), "s"));
    svg.style.display = all ? "" : "none";
    zoomed.style.display = all ? "none" : "";
    whole.hidden = all;
    if (all || b <= a) return;
    zoomed.replaceChildren();
    zoomed.setAttribute("aria-label", `From ${si(a, "s")} to ${si(b, "s")}; the table below has the data`);
    const part = row.map((r, i) => [Math.max(r[0], a), Math.min(i + 1 < row.length ? row[i + 1][0] : t1, b), r]).filter((p) => p[1] > p[0]);
    const most = Math.max(...part.map((p) => series.reduce((sum, i) => sum + p[2][i], 0))) || 1;
    const px = (t) => LEFT + ((t - a) / (b - a)) * (W - LEFT - RIGHT), py = (v) => H - BOTTOM - (v / most) * (H - TOP - BOTTOM);
    const unit = (/[a-zA-Z]+$/.exec(table.tBodies[0].rows[0].cells[series[0]].textContent) || [""])[0].replace(/^[pnumkMG](?=[a-zA-Z]|$)/, "");
    for (const [from, to, r] of part) {
      let sum = 0;
      for (const i of series) {
        const box = { x: px(from), y: py(sum + r[i]), width: px(to) - px(from), height: py(sum) - py(sum + r[i]) };
        const tip = document.createElementNS(NS, "title");
        tip.textContent = `${heads[i]} ${si(r[i], unit)}, from ${si(r[0], "s")}`;
        make("rect", { ...box, fill: colours[heads[i]], "shape-rendering": "crispEdges" }).append(tip);
        sum += r[i];
      }
    }
    const style = { fill: "var(--fg)", "font-size": 12 };
    make("text", { ...style, x: LEFT - 6, y: TOP + 4, "text-anchor": "end" }, si(most, unit));
    make("text", { ...style, x: LEFT - 6, y: H - BOTTOM + 4, "text-anchor": "end" }, "0");
    for (const part of [0, 0.5, 1])
      make("text", { ...style, x: LEFT + part * (W - LEFT - RIGHT), y: H - 12, "text-anchor": ["start", "middle", "end"][2 * part] }, si(a + part * (b - a), "s"));
  };
  // Where a pointer is along the time that is shown.
  const along = (event, of) => {
    const box = of.getBoundingClientRect(), at = (event.clientX - box.left) / box.width;
    const from = of === svg ? +place.dataset.from : LEFT / W, to = of === svg ? +place.dataset.to : 1 - RIGHT / W;
    const left = of === svg ? 0 : Math.min(+low.value, +high.value), right = of === svg ? 1000 : Math.max(+low.value, +high.value);
    return left + Math.max(0, Math.min(1, (at - from) / (to - from))) * (right - left);
  };
  for (const of of [svg, zoomed])
    of.addEventListener("pointerdown", (down) => {
      const a = along(down, of);
      addEventListener("pointerup", (up) => {
        const b = along(up, of);
        if (Math.abs(b - a) < 10) return;
        low.value = Math.min(a, b);
        high.value = Math.max(a, b);
        draw();
      }, { once: true });
      down.preventDefault();
    });
  draw();
}
// The timeline zooms by two sliders, or by dragging over it: spans move, and the numbers below them change.
for (const place of document.querySelectorAll("[data-spans]")) {
  const svg = place.previousElementSibling.querySelector("svg"), left = +place.dataset.left, right = +place.dataset.right, end = +place.dataset.end;
  const spans = [...svg.querySelectorAll("rect[data-from]")], grid = [...svg.querySelectorAll(".grid")];
  const numbers = [...svg.querySelectorAll("text")].slice(0, grid.length), label = svg.querySelectorAll("text")[grid.length];
  const shown = numbers.map((one) => one.textContent), places = numbers.map((one) => +one.getAttribute("x")), unit = label.textContent;
  const tools = document.createElement("div"), whole = document.createElement("button");
  tools.className = "tools";
  const input = ["Zoom from", "to"].map((name, i) => {
    const box = document.createElement("label"), one = document.createElement("input");
    Object.assign(one, { type: "range", min: 0, max: 1000, step: 1 });
    one.value = 1000 * i;
    box.append(name + " ", one);
    tools.append(box);
    one.addEventListener("input", () => draw());
    return one;
  });
  whole.type = "button";
  whole.textContent = "Show all";
  whole.addEventListener("click", () => { input[0].value = 0; input[1].value = 1000; draw(); });
  tools.append(whole);
  place.after(tools);
  const range = () => { const at = input.map((one) => +one.value).sort((a, b) => a - b); return [at[0] / 1000 * end, Math.max(at[1], at[0] + 1) / 1000 * end]; };
  const draw = () => {
    const [a, b] = range(), px = (t) => left + (Math.max(a, Math.min(b, t)) - a) / (b - a) * (right - left), all = a <= 0 && b >= end;
    for (const one of input) one.setAttribute("aria-valuetext", si(one.value / 1000 * end, "s"));
    whole.hidden = all;
    for (const one of spans) {
      const from = +one.dataset.from, to = +one.dataset.to;
      one.style.display = to < a || from > b ? "none" : "";
      one.setAttribute("x", px(from));
      one.setAttribute("width", Math.max(0.4, px(to) - px(from)));
    }
    numbers.forEach((one, i) => { one.textContent = all ? shown[i] : si(a + (places[i] - left) / (right - left) * (b - a), "s"); });
    label.textContent = all ? unit : "time";
  };
  svg.addEventListener("pointerdown", (down) => {
    const at = (event) => { const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width; const [a, b] = range(); return (a + Math.max(0, Math.min(1, (x - left) / (right - left))) * (b - a)) / end * 1000; };
    const first = at(down);
    addEventListener("pointerup", (up) => {
      const second = at(up);
      if (Math.abs(second - first) < 3) return;
      input[0].value = Math.min(first, second);
      input[1].value = Math.max(first, second);
      draw();
    }, { once: true });
  });
  draw();
}
// Points of a sweep as a picture that its reader chooses: two columns against each other, or all beside each other as
// parallel coordinates; colour by a third. Dragging zooms, or marks a range of an axis. The table holds the same data.
for (const place of document.querySelectorAll("[data-explore]")) {
  let next = place.nextElementSibling;
  while (next && !next.querySelector("table")) next = next.nextElementSibling;
  const table = next && next.querySelector("table");
  if (!table || table.tBodies[0].rows.length < 2) continue;
  const W = Math.max(300, Math.min(1200, place.clientWidth - 20)), H = 420, LEFT = 80, RIGHT = 24, TOP = 24, BOTTOM = 48;
  const make = svgPart;
  const rows = [...table.tBodies[0].rows];
  const columns = [...table.tHead.rows[0].cells].map((head, i) => {
    const cell = rows.map((row) => row.cells[i]);
    const number = cell.map((c) => (!c ? NaN : c.dataset.v !== undefined ? +c.dataset.v : c.textContent.trim() === "" ? NaN : +c.textContent));
    const absent = cell.map((c) => !c || ["", "-"].includes(c.textContent.trim())); // of a point that is invalid
    const numeric = number.every((v, i) => Number.isFinite(v) || absent[i]) && number.some((v) => Number.isFinite(v));
    const names = numeric ? [] : [...new Set(cell.map((c) => (c ? c.textContent : "-")))];
    const value = numeric ? number : cell.map((c) => names.indexOf(c ? c.textContent : "-"));
    return { name: head.textContent, value, names, numeric, distinct: new Set(value.filter((v) => Number.isFinite(v))).size, text: cell.map((c) => (c ? c.textContent : "-")), sample: cell[Math.max(0, absent.indexOf(false))]?.textContent || "" };
  });
  const varied = columns.filter((c, i) => c.distinct > 1 && i > 0);
  if (varied.length < 2) continue;
  const choose = (label, options, at) => {
    const box = document.createElement("label"), select = document.createElement("select");
    options.forEach((text, i) => select.append(new Option(text, i, false, i === at)));
    box.append(label + " ", select);
    tools.append(box);
    select.addEventListener("change", () => { range = {}; draw(); });
    return select;
  };
  const tools = document.createElement("div");
  tools.className = "tools";
  let range = {};
  const names = varied.map((c) => c.name);
  const measured = varied.map((c, i) => i).filter((i) => place.dataset.objectives.split("\n").includes(names[i]));
  const view = choose("View", ["two columns", "all columns (parallel)"], 0);
  const x = choose("across", names, measured[0] ?? 0);
  const y = choose("up", names, measured[1] ?? (measured[0] === undefined ? 1 : measured[0] ? 0 : 1));
  const colour = choose("colour", names, 0);
  const whole = document.createElement("button");
  whole.type = "button";
  whole.textContent = "Show all";
  whole.addEventListener("click", () => { range = {}; draw(); });
  const said = document.createElement("output");
  tools.append(whole, said);
  const frame = document.createElement("div"), legend = document.createElement("ul"), tip = document.createElement("div");
  frame.className = "explorer";
  legend.className = "legend";
  tip.className = "tip";
  tip.hidden = true;
  const svg = make("svg", frame, { viewBox: `0 0 ${W} ${H}`, role: "img" });
  frame.append(tip);
  place.append(tools, frame, legend);
  const span = (c) => {
    const known = c.value.filter((v) => Number.isFinite(v)), low = Math.min(...known), high = Math.max(...known), pad = (high - low) * 0.04 || 1;
    return range[c.name] || [low - pad, high + pad];
  };
  const ticks = (c, [low, high]) => {
    if (!c.numeric) return c.names.map((name, i) => [i, name]).filter(([i]) => i >= low && i <= high);
    const raw = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(raw)), step = unit * ([1, 2, 5].find((k) => k * unit >= raw) || 10);
    const out = [];
    for (let v = Math.ceil(low / step) * step; v <= high; v += step) out.push([v, short(c, v)]);
    return out;
  };
  // The unit of a column is that of its cells.
  const short = (c, v) => {
    if (/%$/.test(c.sample)) return +(100 * v).toPrecision(3) + " %";
    const unit = (/[a-zA-Z]+$/.exec(c.sample) || [""])[0].replace(/^[pnumkMGT](?=[a-zA-Z])/, "");
    const power = v === 0 || !unit ? 0 : Math.max(-4, Math.min(4, Math.floor(Math.log10(Math.abs(v)) / 3 + 1e-9)));
    return +(v / 10 ** (3 * power)).toPrecision(4) + (unit ? " " + ["p", "n", "u", "m", "", "k", "M", "G", "T"][power + 4] + unit : "");
  };
  const inside = (i) => varied.every((c) => !range[c.name] || (c.value[i] >= range[c.name][0] && c.value[i] <= range[c.name][1]));
  const shade = (c) => {
    const order = [...new Set(c.value.filter((v) => Number.isFinite(v)))].sort((a, b) => a - b);
    const told = (v) => (c.numeric ? c.text[c.value.indexOf(v)] : c.names[v]), texts = [...new Set(order.map(told))]; // values that are shown alike are one
    if (texts.length <= 8) return { of: (v) => `var(--c${texts.indexOf(told(v)) + 1})`, list: texts.map((text, i) => [i + 1, text]) };
    const [low, high] = [order[0], order[order.length - 1]];
    return { of: (v) => `color-mix(in srgb, var(--c4) ${Math.round((100 * (v - low)) / (high - low))}%, var(--c2))`, list: [[2, short(c, low)], [4, short(c, high)]] };
  };
  const show = (event, i) => {
    tip.hidden = i === undefined;
    if (i !== undefined) tip.textContent = columns.map((c) => c.name + " " + c.text[i]).join("\n");
  };
  const drag = (from, axis, done) => {
    const point = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    from.addEventListener("pointerdown", (down) => {
      const a = point(down), box = make("rect", svg, { fill: "var(--accent)", "fill-opacity": 0.15 });
      const move = (event) => {
        const b = point(event);
        box.setAttribute("x", axis ? axis - 8 : Math.min(a.x, b.x));
        box.setAttribute("y", Math.min(a.y, b.y));
        box.setAttribute("width", axis ? 16 : Math.abs(a.x - b.x));
        box.setAttribute("height", Math.abs(a.y - b.y));
      };
      const up = (event) => {
        removeEventListener("pointermove", move);
        removeEventListener("pointerup", up);
        box.remove();
        done(a, point(event));
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", up);
      down.preventDefault();
    });
  };
  const scatter = (paint) => {
    const a = varied[x.value], b = varied[y.value], sa = span(a), sb = span(b);
    const px = (v) => LEFT + ((v - sa[0]) / (sa[1] - sa[0])) * (W - LEFT - RIGHT), py = (v) => H - BOTTOM - ((v - sb[0]) / (sb[1] - sb[0])) * (H - TOP - BOTTOM);
    const ground = make("rect", svg, { x: LEFT, y: TOP, width: W - LEFT - RIGHT, height: H - TOP - BOTTOM, fill: "var(--card)", stroke: "var(--line)" });
    for (const [v, text] of ticks(a, sa)) {
      make("line", svg, { x1: px(v), x2: px(v), y1: TOP, y2: H - BOTTOM, stroke: "var(--grid)" });
      make("text", svg, { x: px(v), y: H - BOTTOM + 18, "text-anchor": "middle" }, text);
    }
    for (const [v, text] of ticks(b, sb)) {
      make("line", svg, { x1: LEFT, x2: W - RIGHT, y1: py(v), y2: py(v), stroke: "var(--grid)" });
      make("text", svg, { x: LEFT - 8, y: py(v) + 4, "text-anchor": "end" }, text);
    }
    make("text", svg, { x: (LEFT + W) / 2, y: H - 6, "text-anchor": "middle" }, a.name);
    make("text", svg, { x: 8, y: 15 }, b.name);
    drag(ground, 0, (p, q) => {
      if (Math.abs(p.x - q.x) < 6 || Math.abs(p.y - q.y) < 6) return;
      const vx = (at) => sa[0] + ((at - LEFT) / (W - LEFT - RIGHT)) * (sa[1] - sa[0]), vy = (at) => sb[0] + ((H - BOTTOM - at) / (H - TOP - BOTTOM)) * (sb[1] - sb[0]);
      range = { [a.name]: [vx(Math.min(p.x, q.x)), vx(Math.max(p.x, q.x))], [b.name]: [vy(Math.max(p.y, q.y)), vy(Math.min(p.y, q.y))] };
      draw();
    });
    rows.forEach((row, i) => {
      if (!inside(i) || ![a, b, varied[colour.value]].every((c) => Number.isFinite(c.value[i]))) return;
      const dot = make("circle", svg, { cx: px(a.value[i]), cy: py(b.value[i]), r: row.classList.contains("picked") ? 8 : 5, fill: paint.of(varied[colour.value].value[i]), stroke: "var(--card)" });
      dot.addEventListener("pointerenter", (event) => show(event, i));
      dot.addEventListener("pointerleave", (event) => show(event));
      dot.addEventListener("click", () => { row.click(); draw(); });
    });
  };
  const parallel = (paint) => {
    const at = (k) => LEFT + (k * (W - LEFT - RIGHT - 40)) / (varied.length - 1);
    const spans = varied.map((c) => c.value.filter((v) => Number.isFinite(v))).map((known) => [Math.min(...known), Math.max(...known)]);
    const place = (k, v) => H - BOTTOM - ((v - spans[k][0]) / (spans[k][1] - spans[k][0])) * (H - TOP - BOTTOM);
    const order = rows.map((row, i) => i).filter((i) => varied.every((c) => Number.isFinite(c.value[i]))).sort((a, b) => inside(a) - inside(b));
    for (const i of order) {
      const d = varied.map((c, k) => (k ? "L" : "M") + at(k) + " " + place(k, c.value[i])).join("");
      const line = make("path", svg, { d, fill: "none", stroke: inside(i) ? paint.of(varied[colour.value].value[i]) : "var(--grid)", "stroke-width": rows[i].classList.contains("picked") ? 4 : 1.5, "stroke-opacity": inside(i) ? 0.8 : 0.3 });
      line.addEventListener("pointerenter", (event) => show(event, i));
      line.addEventListener("pointerleave", (event) => show(event));
      line.addEventListener("click", () => { rows[i].click(); draw(); });
    }
    varied.forEach((c, k) => {
      make("line", svg, { x1: at(k), x2: at(k), y1: TOP, y2: H - BOTTOM, stroke: "var(--fg)" });
      make("text", svg, { x: at(k), y: H - BOTTOM + (k % 2 ? 34 : 18), "text-anchor": "middle" }, c.name);
      const ends = c.numeric ? spans[k].map((v) => [v, short(c, v)]) : c.names.map((name, i) => [i, name]);
      for (const [v, text] of ends) make("text", svg, { x: at(k) + 5, y: place(k, v) + (v === spans[k][1] ? 12 : -3), "font-size": 12 }, text);
      const grip = make("rect", svg, { x: at(k) - 8, y: TOP, width: 16, height: H - TOP - BOTTOM, fill: "transparent" });
      drag(grip, at(k), (p, q) => {
        const v = (y) => spans[k][0] + ((H - BOTTOM - y) / (H - TOP - BOTTOM)) * (spans[k][1] - spans[k][0]);
        if (Math.abs(p.y - q.y) < 4) delete range[c.name];
        else range[c.name] = [v(Math.max(p.y, q.y)), v(Math.min(p.y, q.y))];
        draw();
      });
    });
  };
  const draw = () => {
    svg.replaceChildren();
    const paint = shade(varied[colour.value]), both = view.value === "0";
    x.parentElement.hidden = y.parentElement.hidden = !both;
    svg.setAttribute("aria-label", (both ? names[y.value] + " against " + names[x.value] : "Parallel coordinates of " + names.join(", ")) + "; the table below has the data");
    both ? scatter(paint) : parallel(paint);
    legend.replaceChildren(...paint.list.map(([n, text]) => {
      const one = document.createElement("li");
      one.className = "s" + n;
      one.textContent = names[colour.value] + " " + text;
      return one;
    }));
    const n = rows.filter((row, i) => inside(i)).length;
    said.value = n < rows.length ? n + " of " + rows.length + " points" : "";
    whole.hidden = n === rows.length;
  };
  draw();
}
// The launch that a reader picks: its limits, roofline and memory chart, from the tables of launches of its section.
for (const place of document.querySelectorAll("[data-launches]")) {
  const tables = [...place.closest("section").querySelectorAll("table.sortable")];
  const read = (caption) => {
    const table = tables.find((t) => t.caption && t.caption.textContent.startsWith(caption));
    if (!table) return null;
    const heads = [...table.tHead.rows[0].cells].map((c) => c.textContent), of = new Map();
    for (const row of table.tBodies[0].rows)
      of.set(row.cells[0].dataset.v, new Map([...row.cells].map((c, i) => [heads[i], { v: c.dataset.v === undefined ? NaN : +c.dataset.v, text: c.textContent, percent: / %$/.test(c.textContent) }])));
    return { table, heads, of };
  };
  const light = read("Speed of light by launch"), roofs = read("Roofline by launch"), memory = read("Memory by launch");
  if (!light || !roofs || !memory || !light.of.size) continue;
  const launches = [...light.of.keys()], tools = document.createElement("div"), grid = document.createElement("div");
  const peaks = place.dataset.peaks.split(";").filter(Boolean).map((t) => [t.split(" ")[0], +t.split(" ")[1]]);
  const bytes = place.dataset.bytes.split(" ").map(Number), levels = ["L1", "L2", "DRAM"], shades = ["var(--c2)", "var(--c5)", "var(--c4)"];
  const choose = (label, options) => {
    const box = document.createElement("label"), select = document.createElement("select");
    for (const [value, text] of options) select.append(new Option(text, value));
    box.append(label + " ", select);
    tools.append(box);
    select.addEventListener("change", () => draw());
    box.hidden = options.length < 2;
    return select;
  };
  tools.className = "tools";
  grid.className = "grid picked-launch";
  const launch = choose("Launch", launches.map((n) => [n, n + " " + light.of.get(n).get("kernel").text + ", " + light.of.get(n).get("time").text]));
  const kind = choose("Roofline of", [...(peaks.length ? [["operations", "floating-point operations"]] : []), ["instructions", "warp instructions"]]);
  place.append(tools, grid);
  light.table.tBodies[0].addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (!row || !row.cells[0].dataset.v) return;
    launch.value = row.cells[0].dataset.v;
    draw();
  });
  const W = Math.max(280, Math.min(560, (place.clientWidth > 1000 ? place.clientWidth / 2 : place.clientWidth) - 40));
  const column = () => grid.appendChild(document.createElement("div"));
  const figure = (to, title, height) => {
    const box = document.createElement("figure"), caption = document.createElement("figcaption");
    caption.textContent = title;
    box.append(caption);
    to.append(box);
    const svg = svgPart("svg", box, { viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": title + "; the tables have the data" });
    svg.classList.add("drawn");
    return svg;
  };
  const tip = (to, text) => svgPart("title", to, {}, text);
  const limits = (to, one) => {
    const parts = light.heads.filter((head, i) => i > 1 && one.get(head).percent);
    const H = 26 * parts.length + 40, left = 150, right = 58, at = (v) => left + Math.min(v, 1) * (W - left - right);
    const svg = figure(to, "Speed of light of launch " + launch.value, H);
    parts.forEach((head, i) => {
      const v = one.get(head).v, y = 8 + 26 * i;
      svgPart("text", svg, { x: left - 8, y: y + 14, "text-anchor": "end" }, head);
      svgPart("rect", svg, { x: left, y, width: W - left - right, height: 18, fill: "var(--grid)" });
      tip(svgPart("rect", svg, { x: left, y, width: Math.max(0, at(v) - left), height: 18, fill: v > 0.6 ? "var(--c4)" : "var(--c2)" }), head + " " + one.get(head).text + (v > 1 ? ", above it" : ""));
      if (v > 1) svgPart("text", svg, { x: left + 6, y: y + 14, fill: "var(--card)", "font-weight": 700 }, "above");
      svgPart("text", svg, { x: W - right + 6, y: y + 14 }, one.get(head).text);
    });
    svgPart("line", svg, { x1: at(0.6), x2: at(0.6), y1: 4, y2: H - 32, stroke: "currentColor", "stroke-dasharray": "4 3" });
    for (const v of [0, 0.6, 1]) svgPart("text", svg, { x: at(v), y: H - 14, "text-anchor": "middle" }, 100 * v + " %");
  };
  const roofline = (to, one) => {
    const flops = kind.value === "operations" && one.get("operations a second").v > 0, rate = flops ? "operations a second" : "warp instr. a second", per = flops ? "per byte of " : "per sector of ";
    const unit = flops ? "op/s" : "inst/s", tops = flops ? peaks : [["schedulers", +place.dataset.issue]], slope = bytes.map((b) => (flops ? b : b / 32)), H = 330;
    const all = launches.map((n) => [n, roofs.of.get(n)]), points = (r) => levels.map((l) => [r.get(per + l).v, r.get(rate).v]);
    const svg = figure(to, "Roofline of launch " + launch.value + ": " + (flops ? "floating-point operations" : "warp instructions"), H);
    const top = Math.max(...tops.map((t) => t[1])), ridges = slope.filter((s) => s > 0).map((s) => top / s);
    const seen = all.flatMap(([, r]) => points(r)).filter(([x, y]) => x > 0 && y > 0);
    if (!points(one).some(([x, y]) => x > 0 && y > 0) || !(top > 0)) {
      svgPart("text", svg, { x: W / 2, y: H / 2, "text-anchor": "middle" }, "not known");
      return;
    }
    const xs = [Math.min(...seen.map((p) => p[0]), ...ridges) / 3, Math.max(...seen.map((p) => p[0]), ...ridges) * 4];
    const ys = [Math.min(...seen.map((p) => p[1]), ...slope.filter((s) => s > 0).map((s) => s * xs[0])) / 2, top * 3];
    const left = 84, right = 12, up = 12, down = 44, log = Math.log10;
    const px = (v) => left + (log(v / xs[0]) / log(xs[1] / xs[0])) * (W - left - right), py = (v) => H - down - (log(v / ys[0]) / log(ys[1] / ys[0])) * (H - up - down);
    const decades = ([a, b], most) => {
      const from = Math.ceil(log(a)), to = Math.floor(log(b)), step = Math.max(1, Math.ceil((to - from + 1) / most));
      return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => 10 ** (from + i * step));
    };
    for (const v of decades(xs, W / 60)) {
      svgPart("line", svg, { x1: px(v), x2: px(v), y1: up, y2: H - down, stroke: "var(--grid)" });
      svgPart("text", svg, { x: px(v), y: H - down + 16, "text-anchor": "middle" }, +v.toPrecision(3));
    }
    for (const v of decades(ys, 8)) {
      svgPart("line", svg, { x1: left, x2: W - right, y1: py(v), y2: py(v), stroke: "var(--grid)" });
      svgPart("text", svg, { x: left - 6, y: py(v) + 4, "text-anchor": "end" }, si(v, unit));
    }
    svgPart("text", svg, { x: (left + W - right) / 2, y: H - 8, "text-anchor": "middle" }, flops ? "operations per byte" : "warp instructions per sector");
    tops.forEach(([name, v], i) => {
      const line = svgPart("line", svg, { x1: left, x2: W - right, y1: py(v), y2: py(v), stroke: "currentColor", "stroke-dasharray": "5 3", "stroke-width": 1.5 });
      tip(line, name + ", at most " + si(v, unit));
      svgPart("text", svg, { class: "lv", x: W - right - 4 - (i % 2) * 60, y: py(v) - 5, "text-anchor": "end" }, name);
    });
    slope.forEach((s, i) => {
      if (!(s > 0)) return;
      const from = Math.max(xs[0], ys[0] / s), to = top / s;
      tip(svgPart("line", svg, { x1: px(from), y1: py(s * from), x2: px(to), y2: py(top), stroke: shades[i], "stroke-width": 2 }), levels[i] + ", at most " + si(bytes[i], "B/s"));
    });
    for (const [n, r] of all)
      for (const [i, [x, y]] of points(r).entries())
        if (x > 0 && y > 0 && n !== launch.value) {
          const dot = svgPart("circle", svg, { cx: px(x), cy: py(y), r: 3, fill: shades[i], "fill-opacity": 0.35 });
          tip(dot, "launch " + n + ", " + levels[i]);
          dot.addEventListener("click", () => { launch.value = n; draw(); });
        }
    const taken = [];
    points(one).forEach(([x, y], i) => {
      if (!(x > 0 && y > 0)) return;
      const dot = svgPart("circle", svg, { cx: px(x), cy: py(y), r: 10 - 2.5 * i, fill: shades[i], stroke: "var(--card)", "stroke-width": 2 });
      tip(dot, `${levels[i]}: ${si(y, unit)} at ${+x.toPrecision(4)} ${flops ? "operations per byte" : "warp instructions per sector"}`);
      // above its point; where another one's label is, or a roof, higher
      let at = py(y) - 14;
      while (taken.some(([tx, ty]) => Math.abs(tx - px(x)) < 44 && Math.abs(ty - at) < 14)) at -= 14;
      taken.push([px(x), at]);
      svgPart("text", svg, { class: "lv", x: px(x), y: at, "text-anchor": "middle" }, levels[i]);
    });
  };
  const chart = (to, one, seconds) => {
    const H = 560, tall = 56, gap = (H - 4 * tall - 8) / 3, x = W / 2, svg = figure(to, "Memory of launch " + launch.value, H);
    const flows = levels.map((l) => ["read", "written"].map((way) => one.get(l + " " + way))), most = Math.max(...flows.flat().map((f) => f.v || 0), 1);
    const hits = [one.get("L1 hits").text + " hits", one.get("L2 hits").text + " hits", one.get("in open rows").text + " in open rows"];
    const passes = one.get("shared passes"), shared = passes.v > 0 ? `shared memory: ${passes.text} passes, ${one.get("for conflicts").text} for conflicts` : "no shared memory";
    [["SMs", shared], ...levels.map((l, i) => [l, hits[i]])].forEach(([name, text], i) => {
      const y = 4 + i * (tall + gap);
      svgPart("rect", svg, { x: 4, y, width: W - 8, height: tall, rx: 6, fill: "none", stroke: "currentColor", "stroke-width": 1.5 });
      svgPart("text", svg, { x, y: y + 21, "text-anchor": "middle", "font-weight": 600, "font-size": 14 }, name);
      svgPart("text", svg, { x, y: y + 40, "text-anchor": "middle" }, text);
    });
    flows.forEach((pair, i) =>
      pair.forEach((flow, way) => {
        const top = 4 + i * (tall + gap) + tall, at = x + (way ? 1 : -1) * 16, wide = 1.5 + (10 * flow.v) / most, tipAt = way ? top + gap - 3 : top + 3, back = way ? -1 : 1;
        const text = `${levels[i]} ${way ? "written" : "read"}: ${flow.text}`;
        if (flow.v > 0) {
          const d = `M${at} ${way ? top + 3 : top + gap - 3}V${tipAt + back * 8}M${at - 7} ${tipAt + back * 8}H${at + 7}L${at} ${tipAt}Z`;
          tip(svgPart("path", svg, { d: d.split("M").slice(0, 2).join("M"), stroke: way ? "var(--c4)" : "var(--c2)", "stroke-width": wide, "stroke-linecap": "butt", fill: "none" }), text);
          svgPart("path", svg, { d: "M" + d.split("M")[2], fill: way ? "var(--c4)" : "var(--c2)" });
        }
        const end = way ? "start" : "end", label = x + (way ? 1 : -1) * 30;
        svgPart("text", svg, { x: label, y: top + gap / 2 - 3, "text-anchor": end }, (way ? "written " : "read ") + flow.text);
        svgPart("text", svg, { x: label, y: top + gap / 2 + 14, "text-anchor": end, fill: "var(--muted)" }, si((flow.v || 0) / seconds, "B/s"));
      }));
  };
  const draw = () => {
    grid.replaceChildren();
    for (const row of light.table.tBodies[0].rows) row.toggleAttribute("aria-current", row.cells[0].dataset.v === launch.value);
    const first = column(), second = column(), alone = launches.length === 1;
    limits(first, light.of.get(launch.value));
    roofline(alone ? second : first, roofs.of.get(launch.value));
    if (!alone) chart(second, memory.of.get(launch.value), light.of.get(launch.value).get("time").v); // of one launch the page shows it below
  };
  draw();
}
