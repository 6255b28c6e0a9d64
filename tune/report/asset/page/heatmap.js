// Two parameters at a time.

function heatmapSection() {
  const part = section("heatmap", "Two parameters", "A cell is all configurations with these two values. Empty cells have no correct one.", "Pairs");
  const chart = el("div", { class: "chart tall", role: "img", "aria-label": "Heat map of two parameters" });
  part.body.append(chart);
  let x = null, y = null, of = "best";
  part.update = () => {
    const run = state.run, choices = run.important();
    part.root.hidden = choices.length < 2;
    if (choices.length < 2) return;
    const named = (name) => choices.find((p) => p.name === name);
    const broad = [...choices.filter((p) => p.values.length > 2), ...choices]; // two by two shows little
    const px = named(x) || broad[0], py = (named(y) !== px && named(y)) || broad.find((p) => p !== px);
    const options = run.varied.map((p) => [p.name, p.name]);
    patch(part.controls, 
      select("across", options, px.name, (v) => { x = v; part.update(); }),
      select("up", options.filter(([v]) => v !== px.name), py.name, (v) => { y = v; part.update(); }),
      select("colour", [["best", "best"], ["median", "median"], ["count", "number of correct"], ["failed", "share of failures"]], of, (v) => { of = v; part.update(); }));
    const measure = run.measure(state.measure), cells = cellsOf(run, px, py, measure, of);
    chart.hidden = cells.length === 0;
    part.note.textContent = cells.length ? "" : "No configuration is correct.";
    if (!cells.length) return;
    const shown = cells.map((c) => c.value), log = state.log && of !== "count" && of !== "failed";
    const scale = new Scale(shown.reduce((a, b) => Math.min(a, b)), shown.reduce((a, b) => Math.max(a, b)), log);
    const text = (v) => (of === "count" ? formatCount(v) : of === "failed" ? percent(v) : formatMeasure(measure, v));
    const few = px.values.length * py.values.length <= (innerWidth < 700 ? 30 : 150);
    const what = { best: axisName(measure) + ", best", median: axisName(measure) + ", median", count: "correct configurations", failed: "share of failures" }[of];
    const good = (of === "best" || of === "median") && measure.column === "objective" && run.objective.maximize;
    const colors = of === "count" || good ? ramp().slice().reverse() : ramp();
    chart.style.height = Math.min(760, Math.max(300, 170 + 30 * py.values.length)) + "px";
    draw(chart, {
      grid: grid({ left: 8, right: 20, top: 54, bottom: 36, containLabel: true }),
      xAxis: valueAxis(px), yAxis: valueAxis(py, { nameLocation: "end", nameGap: 10, nameTextStyle: { align: "left", color: css("soft") } }),
      visualMap: {
        type: "continuous", min: scale.low, max: scale.high > scale.low ? scale.high : scale.low + 1, dimension: 2, calculable: false, orient: "horizontal", right: 0, top: 0, itemWidth: 12, itemHeight: 130,
        inRange: { color: colors }, text: [text(scale.from(scale.high)), (innerWidth < 600 ? "" : what + "  ") + text(scale.from(scale.low))], textStyle: { color: css("soft") }, hoverLink: false,
      },
      series: [{
        type: "heatmap", progressive: 0, emphasis: { disabled: true },
        data: cells.map((c) => ({ value: [c.x, c.y, scale.to(c.value)], cell: c, label: { color: ink(mixed(colors, (scale.to(c.value) - scale.low) / (scale.high - scale.low || 1))) } })),
        itemStyle: { borderColor: css("card"), borderWidth: 1, borderRadius: 2 },
        label: { show: few, fontSize: 11, formatter: (p) => text(p.data.cell.value) },
      }],
      tooltip: { formatter: (p) => { const c = p.data.cell; return plain(`${px.name} = ${px.values[px.order[c.x]]}\n${py.name} = ${py.values[py.order[c.y]]}\n${what}: ${text(c.value)}\n${countNoun(c.correct, "correct configuration")}, ${formatCount(c.all - c.correct)} failed`); } },
    });
  };
  return part;
}

// cellsOf are the pairs of values that occur, with their figure.
function cellsOf(run, px, py, measure, of) {
  const xs = run.column(px.column), ys = run.column(py.column), xRank = ranks(px), yRank = ranks(py);
  const objective = run.column("objective"), values = run.column(measure.column), cells = new Map();
  for (let row = 0; row < run.count; row++) {
    const cx = xRank[xs[row]], cy = yRank[ys[row]], key = cy * px.values.length + cx;
    let c = cells.get(key);
    if (!c) cells.set(key, c = { x: cx, y: cy, all: 0, correct: 0, best: -1, rows: [] });
    c.all++;
    if (Number.isNaN(objective[row]) || Number.isNaN(values[row])) continue;
    c.correct++;
    if (of === "median") c.rows.push(values[row]);
    if (c.best < 0 || run.better(objective[row], objective[c.best])) c.best = row;
  }
  const found = [];
  for (const c of cells.values()) {
    if (of === "failed") c.value = 1 - c.correct / c.all;
    else if (of === "count") c.value = c.correct;
    else if (c.best < 0) continue;
    else if (of === "best") c.value = values[c.best];
    else {
      const sorted = Float64Array.from(c.rows).sort();
      c.value = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
    }
    found.push({ x: c.x, y: c.y, all: c.all, correct: c.correct, value: c.value });
  }
  return found;
}
