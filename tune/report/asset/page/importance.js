// Which parameters matter.

function importanceSection() {
  const part = section("importance", "Which parameters matter",
    "Alone: the share of the variance of the log of the objective between the means by value (ε²), straight from the measurements. With another: what the parameter explains together with the one named, too; that counts for both, so these can add up to more than 100 %.", "Importance");
  const chart = el("div", { class: "chart", role: "img", "aria-label": "Importance of parameters" });
  part.body.append(chart);
  part.update = () => {
    const run = state.run, found = run.importance;
    chart.hidden = Boolean(found.missing);
    if (found.missing) {
      part.note.textContent = `There is no figure: ${found.missing}.`;
      return;
    }
    const shown = found.parameters.slice(0, 25), names = shown.map((p) => p.name).reverse();
    chart.style.height = 110 + 34 * shown.length + "px";
    const bar = (name, color, of) => ({
      type: "bar", name, barMaxWidth: 12, barGap: "15%", itemStyle: { color, borderRadius: [0, 3, 3, 0] }, emphasis: { disabled: true },
      data: shown.map(of).reverse(), label: { show: true, position: "right", color: css("soft"), fontSize: 11, formatter: (p) => (p.value === null ? "" : percent(p.value / 100)) },
    });
    const partner = (name) => { const { partner } = shown.find((p) => p.name === name); return partner ? `with ${partner}` : "with another"; };
    draw(chart, {
      grid: grid({ left: 8, right: 48, containLabel: true, top: 36, bottom: 40 }),
      legend: { top: 0, left: 0, textStyle: { color: css("soft") }, data: ["with another", "alone"] },
      xAxis: { ...axisStyle(), type: "value", min: 0, name: "share of the variance (%)", nameGap: 28 },
      yAxis: { ...axisStyle(), type: "category", data: names, splitLine: { show: false }, axisTick: { show: false }, axisLabel: { ...axisStyle().axisLabel, formatter: (t) => short(t, innerWidth < 600 ? 16 : 30) } },
      series: [bar("with another", runColor(0), (p) => 100 * p.with), bar("alone", runColor(4), (p) => (p.alone === null ? null : 100 * p.alone))],
      tooltip: { trigger: "axis", axisPointer: { type: "none" }, formatter: (ps) => plain(ps[0].name + "\n" + ps.map((p) => `${p.seriesName === "alone" ? "alone" : partner(ps[0].name)}: ${p.value === null || p.value === undefined ? "–" : percent(p.value / 100)}`).join("\n")) },
    });
    part.note.textContent = `Computed from ${countNoun(found.used, "configuration")}${found.used < run.correct.length ? ` of ${formatCount(run.correct.length)}, chosen at random` : ""}.`;
  };
  return part;
}
