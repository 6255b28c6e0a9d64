// All configurations: sorted, filtered, exported. Only the rows that can be seen are elements.

const rowHeight = 30; // px, as in the style sheet

function tableSection() {
  const part = section("table", "All configurations", null, "Table");
  const head = el("div", { class: "row head", role: "row" }), rows = el("div", { class: "rows", role: "rowgroup" });
  const view = el("div", { class: "table", tabindex: "0", role: "table", "aria-label": "All configurations" }, head, rows);
  const query = el("input", { type: "search", id: "query", placeholder: "filter: block_size_x=16 time<0.5 status=compile …", spellcheck: "false", oninput: () => part.update() });
  const count = el("output", { id: "shown" });
  part.controls.append(query, el("button", { type: "button", id: "csv", onclick: () => exportCSV(state.run, found) }, "export CSV"), count);
  part.body.append(view);
  let fields = [], found = [], sort = null, chosen = null, shown = null, asked = "";

  part.update = () => {
    if (shown !== state.run) {
      shown = state.run;
      chosen = null;
    }
    sort = chosen || defaultSort(shown);
    fields = fieldsOf(shown);
    const test = parseQuery(shown, query.value), brushed = state.brushed;
    found = [];
    for (let row = 0; row < shown.count; row++) {
      if ((!brushed || brushed[row]) && test(row)) found.push(row);
    }
    sortRows();
    count.textContent = `${formatCount(found.length)} of ${formatCount(shown.count)}${brushed ? ", brushed above" : ""}`;
    drawHead();
    rows.style.height = found.length * rowHeight + "px";
    const asks = [shown.place, query.value, sort.field, sort.down, Boolean(brushed)].join(" ");
    if (asked !== asks) view.scrollTop = 0; // and where only results have come, it stays
    asked = asks;
    drawRows();
  };

  part.filter = (text) => {
    query.value = text;
    part.update();
    part.root.scrollIntoView();
  };

  function sortRows() {
    const field = fields.find((f) => f.name === sort.field) || fields[0], sign = sort.down ? -1 : 1;
    found.sort((a, b) => {
      const x = field.key(a), y = field.key(b);
      if (typeof x === "number" && typeof y === "number") {
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b; // those without one last
        return sign * (x - y) || a - b;
      }
      return sign * (x < y ? -1 : x > y ? 1 : 0) || a - b;
    });
  }

  function drawHead() {
    const columns = fields.map((f) => f.width + "px").join(" ");
    view.style.setProperty("--columns", columns);
    view.style.setProperty("--width", fields.reduce((sum, f) => sum + f.width, 0) + "px");
    patch(head, fields.map((f) => el("button", {
      type: "button", role: "columnheader", class: f.number ? "number" : "", title: f.name, "data-field": f.name,
      "aria-sort": sort.field === f.name ? (sort.down ? "descending" : "ascending") : "none",
      onclick: (e) => {
        const field = e.currentTarget.dataset.field;
        chosen = { field, down: sort.field === field && !sort.down };
        part.update();
      },
    }, f.title || f.name, sort.field === f.name ? (sort.down ? " ↓" : " ↑") : "")));
  }

  function drawRows() {
    const first = Math.max(0, Math.floor(view.scrollTop / rowHeight) - 5);
    const last = Math.min(found.length, first + Math.ceil(view.clientHeight / rowHeight) + 12);
    const best = shown.summary.best ? shown.summary.best.row : -1, list = [];
    for (let i = first; i < last; i++) {
      const row = found[i], line = el("div", { class: "row" + (row === best ? " chosen" : ""), role: "row", "data-row": row },
        fields.map((f) => el("span", { role: "cell", class: f.number ? "number" : "", title: f.long ? f.text(row) : null }, f.text(row))));
      line.style.top = i * rowHeight + "px";
      list.push(line);
    }
    patch(rows, list);
  }

  view.addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
  new ResizeObserver(drawRowsIfAny).observe(view);
  function drawRowsIfAny() { if (shown) drawRows(); }
  return part;
}

// defaultSort has the winner first.
function defaultSort(run) {
  return run.column("rank") ? { field: "rank", down: false } : { field: run.measures[0].name, down: run.objective.maximize };
}

// fieldsOf are the columns of the table.
function fieldsOf(run) {
  const fields = [{ name: "#", key: (row) => row, text: (row) => String(row + 1), number: true, width: 64 }];
  const ranks = run.column("rank");
  if (ranks) fields.push({ name: "rank", key: (row) => ranks[row] || NaN, text: (row) => (ranks[row] ? String(ranks[row]) : ""), number: true, width: 84 });
  const parameter = (p) => {
    const column = run.column(p.column);
    const longest = Math.max(p.name.length, ...p.values.map((v) => Math.min(24, v.length)));
    fields.push({ name: p.name, key: p.numeric ? (row) => p.numbers[column[row]] : (row) => p.values[column[row]], text: (row) => p.values[column[row]], number: p.numeric, width: 28 + 7.6 * longest, long: longest > 20 });
  };
  run.varied.forEach(parameter);
  const numbers = (name, column, format, title) => {
    const values = run.column(column);
    if (values) fields.push({ name, title, key: (row) => values[row], text: (row) => (Number.isNaN(values[row]) ? "" : format(values[row])), number: true, width: Math.max(92, 30 + 7.6 * (title || name).length) });
  };
  for (const m of run.measures) numbers(m.name, m.column, (v) => formatMeasure(m, v), axisName(m));
  fields.push({ name: "status", key: (row) => run.status(row), text: (row) => statusTexts[run.status(row)], width: 200 });
  for (const name of ["final", "min", "mean", "max", "deviation"]) numbers(name, name, formatTime, `${name} (ms)`);
  numbers("launches", "launches", String);
  for (const name of ["build", "verify", "measure"]) numbers(name, name, formatTime, `${name} (ms)`);
  fields.push({ name: "verified", key: (row) => Number(run.flag(row, flagVerified)), text: (row) => (run.flag(row, flagVerified) ? "yes" : ""), width: 84 });
  if (run.devices.length) fields.push({ name: "device", key: (row) => run.column("device")[row], text: (row) => run.devices[run.column("device")[row] - 1] || "", width: 80 });
  run.parameters.filter((p) => p.values.length < 2).forEach(parameter);
  fields.push({ name: "reason", key: (row) => run.reason(row), text: (row) => run.line(row), width: 420, long: true });
  return fields;
}

// csvOf is a table of rows: numbers to the last digit, and a text that a spreadsheet would
// take for a formula behind an apostrophe.
function csvOf(run, rows) {
  const cell = (v) => {
    let text = typeof v === "number" ? (Number.isNaN(v) ? "" : String(v)) : v;
    if (typeof v === "string" && /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = "'" + text;
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const columns = [
    ...run.parameters.map((p) => [p.name, (row) => run.value(row, p)]),
    ...(run.column("rank") ? [["rank", (row) => run.column("rank")[row] || NaN]] : []),
    ["status", (row) => run.status(row)],
    ...["time", "min", "mean", "max", "deviation", "final"].filter((name) => run.column(name)).map((name) => [name === "time" ? "time" : "time_" + name, (row) => run.column(name)[row]]),
    ["launches", (row) => run.column("launches")[row]],
    ...run.measures.filter((m) => m.name !== "time").map((m) => [m.name, (row) => run.column(m.column)[row]]),
    ["verified", (row) => String(run.flag(row, flagVerified))],
    ["early_stopped", (row) => String(run.flag(row, flagEarly))],
    ["reason", (row) => run.reason(row)],
  ];
  const lines = [columns.map(([name]) => cell(name)).join(",")];
  for (const row of rows) lines.push(columns.map(([, of]) => cell(of(row))).join(","));
  return lines.join("\n") + "\n";
}

function exportCSV(run, rows) {
  const link = el("a", { download: (run.name.replace(/\.\w+(\.gz)?$/, "").replace(/[^\w.-]+/g, "_") || "configurations") + ".csv" });
  link.href = URL.createObjectURL(new Blob([csvOf(run, rows)], { type: "text/csv" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
