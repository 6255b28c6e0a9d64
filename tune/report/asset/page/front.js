// Two objectives against each other, and the front: the configurations that no other one beats in all objectives.

function frontSection() {
  const part = section("front", "Front", "Every point is a correct configuration. Those on the line are beaten by no other one in all objectives.");
  const chart = el("div", { class: "chart tall", role: "img", "aria-label": "One objective against another" });
  let x = null, y = null;
  part.update = () => {
    const run = state.run, front = run.front;
    part.root.hidden = !front;
    if (!front) return;
    if (!chart.isConnected) part.body.append(chart);
    const names = front.objectives.map((o) => o.name);
    const across = names.includes(x) ? x : names[0], up = names.includes(y) && y !== across ? y : names.find((n) => n !== across);
    const options = names.map((n) => [n, n]);
    patch(part.controls, names.length < 3 ? [] : [
      select("across", options, across, (v) => { x = v; part.update(); }),
      select("up", options.filter(([n]) => n !== across), up, (v) => { y = v; part.update(); }),
    ]);
    const axes = [across, up].map((name) => {
      const measure = run.measures.find((m) => m.name === name), column = run.column(measure.column), at = names.indexOf(name);
      const values = Float64Array.from([...Array.from(run.correct, (row) => column[row]).filter(Number.isFinite), ...front.points.map((p) => p.values[at])]);
      return { measure, column, at, scale: spanningScale(values) };
    });
    const place = (values) => axes.map((a, i) => a.scale.to(values[i]));
    const drawn = Array.from(sample(run.correct, mostPoints)).filter((row) => axes.every((a) => Number.isFinite(a.scale.to(a.column[row]))));
    const ofFront = (p) => [...place(axes.map((a) => p.values[a.at])), p.row];
    const points = front.points.map(ofFront).sort((a, b) => a[0] - b[0]);
    const mark = (name, symbol, chosen) => ({ type: "scatter", name, symbol, symbolSize: 15, z: 5, silent: true, data: front.points.filter(chosen).map(ofFront),
      itemStyle: { color: "transparent", borderColor: css("text"), borderWidth: 2 } });
    const step = front.objectives[axes[0].at].maximize ? "start" : "end"; // around what the front dominates
    draw(chart, {
      grid: grid({ top: 36 }),
      legend: { top: 0, left: 0, itemWidth: 14, itemHeight: 12, textStyle: { color: css("soft") }, data: ["configurations", "front", "winner", ...(front.points.some((p) => p.knee) ? ["knee"] : [])] },
      series: [
        { type: "scatter", name: "configurations", data: drawn.map((row) => [...place(axes.map((a) => a.column[row])), row]), symbolSize: drawn.length > 3000 ? 3.5 : 6, itemStyle: { color: runColor(0), opacity: 0.5 }, emphasis: { disabled: true } },
        { type: "line", name: "front", step: names.length === 2 && step, data: points, symbolSize: 8, color: runColor(1), lineStyle: { width: names.length === 2 ? 2 : 0 }, emphasis: { disabled: true } },
        mark("winner", "diamond", (p) => p.winner), mark("knee", "circle", (p) => p.knee),
      ],
      xAxis: scaleAxis(axes[0].scale, axisName(axes[0].measure), { nameGap: 30 }),
      yAxis: measureAxis(axes[1].scale, axes[1].measure),
      tooltip: { formatter: (p) => rowTooltip(run, p.data[2], axes[0].measure) + "\n" + plain(axes[1].measure.name + " = " + withUnit(axes[1].measure, formatMeasure(axes[1].measure, axes[1].column[p.data[2]]))) },
    });
    part.note.textContent = [`${countNoun(front.points.length, "configuration")} on the front.`, front.choose && `The winner is chosen by ${front.choose}.`, front.unmet && "None of them meets that bound.", front.saving].filter(Boolean).join(" ");
  };
  return part;
}

// spanningScale is logarithmic if the values are positive and differ by more than five times.
function spanningScale(values) {
  const scale = scaleOf([[values, values.keys()]], true);
  return scale.log && scale.high - scale.low > Math.log10(5) ? scale : scaleOf([[values, values.keys()]], false);
}
