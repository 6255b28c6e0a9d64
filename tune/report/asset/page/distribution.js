// How the measure is distributed over the correct configurations.

function distributionSection() {
  const part = section("distribution", "Distribution", "How many configurations are how good: whether a good one is rare says how much the search matters.");
  const chart = el("div", { class: "chart", role: "img", "aria-label": "Distribution" });
  part.body.append(chart);
  let form = "histogram";
  part.update = () => {
    const runs = state.report.runs.filter((r) => r.correct.length);
    patch(part.controls, select("as", [["histogram", "histogram"], ["share", "cumulative share"]], form, (v) => { form = v; part.update(); }));
    const measure = runs[0] ? runs[0].measure(state.measure) : { name: "time", unit: "ms" };
    const scale = scaleOf(runs.map((r) => [r.column(r.measure(state.measure).column), r.correct]), state.log);
    const share = form === "share" || runs.length > 1;
    const series = runs.flatMap((run) => (form === "share" ? [cumulative(run, scale)] : histogram(run, scale, share)));
    draw(chart, {
      grid: grid({ top: runs.length > 1 ? 40 : 28 }), series,
      legend: { show: runs.length > 1, type: "scroll", top: 0, textStyle: { color: css("soft") }, pageTextStyle: { color: css("soft") }, data: runs.map((r) => r.name) },
      xAxis: scaleAxis(scale, axisName(measure), { nameGap: 30 }),
      yAxis: { ...axisStyle(), type: "value", min: 0, max: form === "share" ? 100 : null, name: share ? "configurations (%)" : "configurations", nameGap: 46, minInterval: share ? 0 : 1 },
      tooltip: { formatter: (p) => plain(p.data && p.data[2] ? p.data[2] : "") },
    });
  };
  return part;
}

function histogram(run, scale, share) {
  const measure = run.measure(state.measure), column = run.column(measure.column);
  const bins = Math.max(10, Math.min(60, Math.ceil(2 * Math.cbrt(run.correct.length))));
  const counts = new Float64Array(bins), width = (scale.high - scale.low) / bins || 1;
  for (const row of run.correct) {
    const v = column[row];
    if (!Number.isNaN(v)) counts[Math.min(bins - 1, Math.max(0, Math.floor((scale.to(v) - scale.low) / width)))]++;
  }
  const text = (i) => {
    const from = formatMeasure(measure, scale.from(scale.low + i * width)), to = formatMeasure(measure, scale.from(scale.low + (i + 1) * width));
    return `${run.name}\n${from} to ${withUnit(measure, to)}: ${countNoun(counts[i], "configuration")} (${percent(counts[i] / run.correct.length)})`;
  };
  const data = Array.from(counts, (n, i) => [scale.low + (i + 0.5) * width, share ? 100 * n / run.correct.length : n, text(i)]);
  const color = runColor(run.place);
  if (share) {
    return [{ type: "line", name: run.name, data, step: "middle", symbol: "none", symbolSize: 8, lineStyle: { color, width: 2 }, itemStyle: { color }, areaStyle: { color, opacity: 0.12 }, emphasis: { disabled: true } }];
  }
  return [{
    type: "bar", name: run.name, data, barWidth: "94%", itemStyle: { color, opacity: 0.85 }, emphasis: { disabled: true },
    markLine: {
      silent: true, symbol: "none", lineStyle: { color: css("text"), type: "dashed", width: 1 },
      data: [["best", "right", scale.to(column[run.summary.best.row])], ["median", "left", medianOf(column, run.correct, scale)]].map(([name, align, xAxis]) => ({ name, xAxis, label: { color: css("text"), fontSize: 12, align, formatter: (p) => p.name } })),
    },
  }];
}

function medianOf(column, rows, scale) {
  const sorted = Float64Array.from(rows, (row) => column[row]).filter((v) => !Number.isNaN(v)).sort();
  return scale.to((sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2);
}

function cumulative(run, scale) {
  const measure = run.measure(state.measure), column = run.column(measure.column);
  const sorted = Float64Array.from(run.correct, (row) => column[row]).filter((v) => !Number.isNaN(v)).sort();
  const most = 500, step = Math.max(1, sorted.length / most), data = [];
  for (let i = 0; i < sorted.length; i += step) push(Math.floor(i));
  push(sorted.length - 1);
  function push(i) {
    const share = 100 * (i + 1) / sorted.length;
    data.push([scale.to(sorted[i]), share, `${run.name}\n${percent(share / 100)} have at most ${withUnit(measure, formatMeasure(measure, sorted[i]))}`]);
  }
  const color = runColor(run.place);
  return { type: "line", name: run.name, data, step: "end", symbol: "circle", symbolSize: 2, lineStyle: { color, width: 2.2 }, itemStyle: { color }, emphasis: { disabled: true } };
}
