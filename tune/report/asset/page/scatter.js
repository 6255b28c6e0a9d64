// Every configuration: a parameter against the measure, coloured by another one.

function scatterSection() {
  const part = section("scatter", "Each parameter", "Every point is a correct configuration. Points of one value stand side by side, by their colour.", "Parameters");
  const chart = el("div", { class: "chart tall", role: "img", "aria-label": "Parameter against measure" });
  part.body.append(chart);
  let x = null, color = null;
  part.update = () => {
    const run = state.run, choices = run.important();
    chart.hidden = choices.length === 0;
    if (!choices.length) return;
    const named = (name) => choices.find((p) => p.name === name);
    const px = named(x) || choices[0], pc = color === "" ? null : named(color) || choices.find((p) => p !== px) || null;
    const options = run.varied.map((p) => [p.name, p.name]);
    patch(part.controls, 
      select("across", options, px.name, (v) => { x = v; part.update(); }),
      select("colour", [["", "none"], ...options], pc ? pc.name : "", (v) => { color = v; part.update(); }));
    const measure = run.measure(state.measure), scale = scaleOf([[run.column(measure.column), run.correct]], state.log);
    const drawn = sample(run.correct, mostPoints), groups = pc ? pc.values.length : 1;
    const data = Array.from({ length: groups }, () => []);
    const xColumn = run.column(px.column), xRank = ranks(px), values = run.column(measure.column);
    const cColumn = pc && run.column(pc.column), cRank = pc && ranks(pc);
    const apart = pc && pc !== px && groups <= 8; // colours side by side
    const place = (row) => xRank[xColumn[row]] + 0.8 * (apart ? (cRank[cColumn[row]] + 0.1 + 0.8 * spread(row)) / groups - 0.5 : spread(row) - 0.5);
    for (const row of drawn) {
      if (Number.isNaN(values[row])) continue;
      data[pc ? cRank[cColumn[row]] : 0].push([place(row), scale.to(values[row]), row]);
    }
    const colors = pc ? valueColors(pc) : [runColor(0)];
    const many = drawn.length > 3000, best = run.summary.best && run.summary.best.row;
    const series = data.map((points, i) => ({
      type: "scatter", name: pc ? pc.values[pc.order[i]] : "configurations", data: points, symbolSize: many ? 3.5 : 6,
      itemStyle: { color: colors[i], opacity: many ? 0.6 : 0.75 }, large: many, largeThreshold: 1000, emphasis: { disabled: true },
    }));
    if (run.summary.best) {
      series.push({ type: "scatter", name: "best", symbol: "diamond", symbolSize: 14, z: 5, silent: true, itemStyle: { color: "transparent", borderColor: css("text"), borderWidth: 2 },
        data: [[place(best), scale.to(values[best]), best]] });
    }
    const n = px.values.length;
    draw(chart, {
      grid: grid({ top: pc ? 56 : 16 }), series,
      legend: { show: Boolean(pc), type: "scroll", top: 0, left: 0, itemWidth: 12, itemHeight: 12, formatter: (t) => short(t, 20), textStyle: { color: css("soft") }, pageTextStyle: { color: css("soft") }, data: pc ? pc.order.map((i) => ({ name: pc.values[i], icon: "circle" })) : [] },
      title: pc ? { text: plain(pc.name), left: 0, top: 26, textStyle: { color: css("soft"), fontSize: 12, fontWeight: "normal" } } : undefined,
      xAxis: { ...axisStyle(), type: "value", min: -0.6, max: n - 0.4, name: px.name, nameGap: 30, splitLine: { show: false }, axisTick: { show: false },
        axisLabel: { ...axisStyle().axisLabel, customValues: px.order.map((_, i) => i), formatter: (v) => short(px.values[px.order[v]] ?? "", 14) } },
      yAxis: measureAxis(scale, measure),
      tooltip: { formatter: (p) => rowTooltip(run, p.data[2], measure) },
    });
    part.note.textContent = (drawn.length < run.correct.length ? `${formatCount(drawn.length)} of ${formatCount(run.correct.length)} configurations are drawn, evenly chosen. ` : "") + (run.summary.best ? "The diamond is the best." : "");
  };
  return part;
}

// spread is a number from 0 to 1 that looks random and is the same each time.
function spread(row) {
  let h = Math.imul(row + 1, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b);
  return ((h ^ (h >>> 13)) >>> 0) / 2 ** 32;
}
