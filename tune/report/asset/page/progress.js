// Best so far: the measure of the best configuration found until then.

const mostPoints = 50000; // that a chart draws; what is left out is said

function progressSection() {
  const part = section("progress", "Best so far", "Each point is a correct configuration, the line the best until then.");
  let over = "evaluations";
  const chart = el("div", { class: "chart", role: "img", "aria-label": "Best so far" });
  part.body.append(chart);
  part.update = () => {
    const runs = state.report.runs.filter((r) => r.correct.length);
    const timed = runs.length > 0 && runs.every((r) => r.column("end"));
    if (!timed) over = "evaluations";
    patch(part.controls, timed ? select("against", [["evaluations", "evaluations"], ["time", "time"]], over, (v) => { over = v; part.update(); }) : "");
    const measure = runs[0] ? runs[0].measure(state.measure) : { name: "time", unit: "ms" };
    const scale = scaleOf(runs.map((r) => [r.column(r.measure(state.measure).column), r.correct]), state.log);
    const unit = over === "time" ? spanUnit(runs) : { factor: 1, name: "evaluations, failures included" };
    const series = [];
    let dropped = 0;
    for (const run of runs) {
      const found = curveOf(run, over, unit.factor, scale);
      const color = runColor(run.place);
      if (runs.length === 1) {
        dropped = found.points.length - Math.min(found.points.length, mostPoints);
        const step = Math.max(1, Math.ceil(found.points.length / mostPoints));
        series.push({
          type: "scatter", name: "configurations", data: found.points.filter((_, i) => i % step === 0), symbolSize: found.points.length > 2000 ? 3 : 5,
          itemStyle: { color, opacity: found.points.length > 2000 ? 0.35 : 0.45 }, large: found.points.length > 3000, largeThreshold: 3000, emphasis: { disabled: true },
        });
      }
      series.push({
        type: "line", name: run.name, data: found.line, step: "end", symbol: "circle", symbolSize: (_, p) => (found.turns.has(p.dataIndex) ? 6 : 0),
        lineStyle: { color, width: 2.2, type: ["solid", "dashed", "dotted"][Math.floor(run.place / 7) % 3] }, itemStyle: { color }, emphasis: { disabled: true }, z: 3,
      });
    }
    draw(chart, {
      grid: grid({ top: runs.length > 1 ? 40 : 16 }), series,
      legend: { show: runs.length > 1, type: "scroll", top: 0, textStyle: { color: css("soft") }, pageTextStyle: { color: css("soft") }, data: runs.map((r) => r.name) },
      xAxis: { ...axisStyle(), type: "value", min: 0, max: "dataMax", name: over === "time" ? `time since the start (${unit.name})` : unit.name, nameGap: 30, splitLine: { show: false } },
      yAxis: measureAxis(scale, measure),
      tooltip: { formatter: (p) => (Array.isArray(p.data) && p.data.length > 2 ? rowTooltip(runs.find((r) => r.place === p.data[3]), p.data[2], runs.find((r) => r.place === p.data[3]).measure(state.measure)) : "") },
    });
    part.note.textContent = dropped > 0 ? `${formatCount(mostPoints)} points at most are drawn, evenly chosen; the line is of all.` : "";
  };
  return part;
}

// curveOf are the points of the correct configurations and the line of the best.
function curveOf(run, over, factor, scale) {
  const end = run.column("end"), objective = run.column("objective"), measure = run.column(run.measure(state.measure).column);
  const byTime = over === "time";
  const rows = byTime ? Array.from(run.correct).sort((a, b) => end[a] - end[b]) : run.correct;
  const at = (row) => (byTime ? end[row] / factor : row + 1);
  const points = [], line = [], turns = new Set();
  let best = -1, last = 0;
  for (const row of rows) {
    if (Number.isNaN(measure[row])) continue;
    points.push([at(row), scale.to(measure[row]), row, run.place]);
    if (best < 0 || run.better(objective[row], objective[best])) {
      best = row;
      turns.add(line.length);
      line.push(points.at(-1));
    }
  }
  last = byTime ? end.reduce((a, b) => Math.max(a, b), 0) / factor : run.count;
  if (best >= 0) line.push([last, scale.to(measure[best]), best, run.place]);
  return { points, line, turns };
}

// spanUnit is the unit in which a whole run reads well.
function spanUnit(runs) {
  const longest = Math.max(...runs.map((r) => r.column("end").reduce((a, b) => Math.max(a, b), 0)));
  if (longest > 3 * 3600e3) return { factor: 3600e3, name: "hours" };
  if (longest > 5 * 60e3) return { factor: 60e3, name: "minutes" };
  if (longest > 3e3) return { factor: 1e3, name: "s" };
  return { factor: 1, name: "ms" };
}
