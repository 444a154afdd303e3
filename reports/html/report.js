"use strict";
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
