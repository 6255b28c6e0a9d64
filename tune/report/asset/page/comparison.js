// One problem on several devices: what the best of each costs on the others, and which
// configuration is best over all. Tables are texts, which are those of the terminal.

function drawComparison(root, report) {
  const c = report.comparison;
  root.hidden = !c && !report.noComparison;
  if (!c) {
    root.replaceChildren(...(report.noComparison ? [el("p", { class: "notice hint" }, "There is no comparison of these devices: " + report.noComparison)] : []));
    return;
  }
  const table = (name) => c.tables.find((t) => t.name === name);
  const devices = table("devices"), matrix = table("matrix");
  root.replaceChildren(...[
    el("div", { class: "title" }, el("h1", {}, c.title)),
    comparedCard("compare-devices", devices.title, null, textTable(devices), footnotes(devices)),
    matrix && el("div", { class: "pair" + (c.devices.length > 4 ? " many" : "") }, matrixCard(c, matrix), overallCard(c)),
    c.notices.length > 0 && el("div", { id: "compare-notices" }, c.notices.map((text) => el("p", { class: "notice warning" }, text))),
    el("h2", {}, "Each record by itself"),
  ].filter(Boolean));
}

function comparedCard(id, title, about, ...children) {
  return el("div", { class: "card", id }, el("h2", {}, capital(title)), about && el("p", { class: "about" }, about), children);
}

function capital(text) { return text.charAt(0).toUpperCase() + text.slice(1); }

// textTable is a table as it is; the first text of a row is its head. Where a screen is narrow, a
// row is a block, in which each text has the head of its column before it.
function textTable(t) {
  const kind = (i) => (t.number[i] ? "number" : null);
  return el("table", { class: "texts" },
    el("thead", {}, el("tr", {}, t.head.map((text, i) => el("th", { scope: "col", class: kind(i) }, text)))),
    el("tbody", {}, t.rows.map((row) => el("tr", {}, row.map((text, i) => (i === 0
      ? el("th", { scope: "row" }, text)
      : el("td", { class: kind(i), "data-head": t.head[i] }, text)))))));
}

function footnotes(t) {
  return t.notes && t.notes.length ? el("ul", { class: "footnotes" }, t.notes.map((text) => el("li", {}, text))) : null;
}

// matrixCard has a row for the best of each device, and one for the best over all.
function matrixCard(c, t) {
  const overall = c.tables.find((o) => o.name === "overall");
  const rows = c.matrix.filter((cells) => cells.length > 0).map((cells, i) => ({ cells, texts: t.rows[i] }));
  if (overall) rows.push({ cells: c.best_over_all.cells, texts: ["best over all", ...overall.rows[0].slice(1)], over: true });
  const worst = rows.flatMap((r) => r.cells).reduce((worst, cell) => Math.max(worst, cell.slowdown || 1), leastWorst);
  const [title, about] = t.title.split(": ", 2);
  const line = (r) => el("tr", { class: r.over ? "over" : null }, el("th", { scope: "row" }, r.texts[0]),
    r.cells.map((cell, j) => matrixCell(cell, r.texts[j + 1], worst)));
  const strip = el("i", {});
  strip.style.background = `linear-gradient(to right, ${ramp().join(", ")})`;
  return comparedCard("compare-matrix", title, about && capital(about) + ".",
    el("div", { class: "sideways" }, el("table", { class: "matrix" },
      el("thead", {}, el("tr", {}, el("td", {}), c.devices.map((d, j) => el("th", { scope: "col", title: d.label }, t.head[j + 1], el("small", {}, short(d.label, 40)))))),
      el("tbody", {}, rows.map((r) => [r.over && el("tr", { class: "gap", "aria-hidden": "true" }, el("td", { colspan: c.devices.length + 1 })), line(r)])))),
    el("p", { class: "scale", "aria-hidden": "true" }, "1×", strip, formatNumber(worst) + "×"),
    footnotes(t));
}

// leastWorst is the least slow-down that has the bad end of the colours: some percent are no alarm.
const leastWorst = 2;

function matrixCell(cell, text, worst) {
  const under = [], td = el("td", { class: cell.state, title: cell.reason });
  if (cell.state === "measured") {
    const color = along(Math.log(cell.slowdown) / Math.log(worst));
    td.style.background = color;
    td.style.color = ink(color);
    under.push(formatTime(cell.time_ms) + " ms");
    if (cell.percent_of_limit !== null) under.push(formatMeasure({ name: "% of limit" }, cell.percent_of_limit) + " % of limit");
    if (!cell.verified) under.push("unverified");
  } else {
    under.push(cell.state === "failed" ? statusTexts[cell.status] : "not measured");
  }
  td.append(el("b", {}, text), ...under.map((line) => el("small", {}, line)));
  return td;
}

function overallCard(c) {
  const best = c.best_over_all;
  if (!best) return comparedCard("compare-overall", "No best over all", null, el("p", {}, capital(c.no_overall) + "."));
  const table = c.tables.find((t) => t.name === "overall"), of = best.best_of.map((i) => c.devices[i].letter);
  return comparedCard("compare-overall", table.title.split(": ", 1)[0], null,
    el("div", { class: "paste" }, el("span", {}, "values"), el("code", { class: "chosen" }, best.configuration), copyButton()),
    el("p", { class: "note" }, capital(c.candidates) + (of.length ? `. It is the best of ${of.join(", ")}.` : ". It is the best of no device by itself.")),
    el("p", { class: "note" }, `Performance portability ${formatNumber(best.portability)}: the harmonic mean of the best known time over its time.`));
}
