// Parallel coordinates: a line is a configuration. What is brushed is what the table shows.

const mostLines = 2000, mostBest = 300;

function parallelSection() {
  const part = section("parallel", "All parameters together", "Each line is a correct configuration, its colour its rank. Drag along an axis to keep only lines that cross it there; click the axis to let go. The table below follows.", "Together");
  const chart = el("div", { class: "chart tall", role: "img", "aria-label": "Parallel coordinates" });
  const scroll = el("div", { class: "sideways" }, chart);
  part.body.append(scroll);
  let drawnFor = "", axes = [];
  part.update = () => {
    const run = state.run, about = [run.place, state.measure, state.log].join(" ");
    const kept = about === drawnFor && state.brush.size ? state.brush : new Map(); // of a run that goes on
    drawnFor = about;
    if (!kept.size) axes = run.important().slice().reverse(); // else they stay where the areas are
    part.root.hidden = axes.length === 0 || run.correct.length === 0;
    if (part.root.hidden) return;
    const measure = run.measure(state.measure), values = run.column(measure.column);
    const scale = scaleOf([[values, run.correct]], state.log);
    const drawn = Array.from(sample(run.ranked(), mostLines, mostBest)).filter((row) => !Number.isNaN(values[row]));
    const columns = axes.map((p) => [run.column(p.column), ranks(p)]);
    const ticks = scale.ticks(), last = axes.length;
    const tag = { color: css("text"), fontSize: 11, hideOverlap: true, textBorderColor: css("card"), textBorderWidth: 3 };
    state.brush = kept;
    chart.style.minWidth = Math.max(0, 110 * (axes.length + 1)) + "px";
    const object = draw(chart, {
      parallel: { left: 60, right: 90, top: 40, bottom: 24, parallelAxisDefault: { nameLocation: "end", nameGap: 14, nameTextStyle: { color: css("soft"), fontSize: 12 }, axisLine: { lineStyle: { color: css("soft") } }, axisTick: { show: false }, z: 20, areaSelectStyle: { width: 22, color: runColor(0), opacity: 0.25, borderColor: runColor(0) } } },
      parallelAxis: [
        ...axes.map((p, dim) => ({ dim, id: "axis" + dim, name: short(p.name, 18), type: "value", min: -0.4, max: p.values.length - 0.6, axisLabel: { ...tag, customValues: p.order.map((_, i) => i), formatter: (v) => short(p.values[p.order[v]] ?? "", 10) } })),
        { dim: last, id: "axis" + last, name: axisName(measure), type: "value", min: scale.min, max: scale.max, axisLabel: { ...tag, customValues: ticks, formatter: (v) => label(scale.from(v)) } },
      ],
      series: [{
        type: "parallel", progressive: 0, silent: true, lineStyle: { width: 1, opacity: drawn.length > 500 ? 0.22 : 0.5 }, inactiveOpacity: 0.015, activeOpacity: drawn.length > 500 ? 0.4 : 0.7, smooth: 0.12,
        // Spread a little, so that lines of one value are more than one line. The worst first: the best is on top.
        // The colour is the rank.
        data: drawn.map((row, i) => ({
          value: [...columns.map(([c, rank], k) => rank[c[row]] + 0.3 * (spread(row * 31 + k) - 0.5)), scale.to(values[row])],
          lineStyle: { color: along(drawn.length > 1 ? i / (drawn.length - 1) : 0) },
        })).reverse(),
      }],
    });
    object.off("axisareaselected");
    object.on("axisareaselected", (e) => {
      const at = Number(String(e.parallelAxisId).slice(4));
      if (e.intervals && e.intervals.length) state.brush.set(at, e.intervals);
      else state.brush.delete(at);
      state.brushed = brushedRows(run, columns, values, scale);
      state.table.update();
    });
    state.brushed = brushedRows(run, columns, values, scale);
    for (const [at, intervals] of kept) object.dispatchAction({ type: "axisAreaSelect", parallelAxisId: "axis" + at, intervals });
    part.note.textContent = drawn.length < run.correct.length ? `${formatCount(drawn.length)} of ${formatCount(run.correct.length)} configurations are drawn: the ${mostBest} best, and of the others an even choice.` : "";
  };
  return part;
}

// brushedRows says of each row whether it is in the areas that are selected; null where
// nothing is.
function brushedRows(run, columns, values, scale) {
  if (!state.brush.size) return null;
  const kept = new Uint8Array(run.count);
  for (const row of run.correct) {
    kept[row] = 1;
    for (const [at, intervals] of state.brush) {
      const v = at < columns.length ? columns[at][1][columns[at][0][row]] : scale.to(values[row]);
      if (!intervals.some(([a, b]) => v >= Math.min(a, b) && v <= Math.max(a, b))) {
        kept[row] = 0;
        break;
      }
    }
  }
  return kept;
}
