// Where the time of a run went.

const spentParts = [["build", "building"], ["verify", "verifying"], ["measure", "measuring"], ["framework", "framework"], ["search", "search strategy"]];

function spentSection() {
  const part = section("spent", "Where the time went", "Summed over all configurations. Several processes build at once, so this can be more than the clock shows.", "Time");
  const chart = el("div", { class: "chart", role: "img", "aria-label": "Where the time went" });
  const words = el("ul", { class: "plainlist" });
  part.body.append(chart, words);
  part.update = () => {
    const runs = state.report.runs.filter((r) => r.spent);
    part.root.hidden = runs.length === 0;
    if (!runs.length) return;
    const longest = Math.max(...runs.map((r) => total(r.spent)));
    const [factor, unit] = longest > 600e3 ? [60e3, "min"] : longest > 3e3 ? [1e3, "s"] : [1, "ms"];
    chart.style.height = 120 + 42 * runs.length + "px";
    draw(chart, {
      grid: grid({ left: 8, right: 24, top: innerWidth < 600 ? 62 : 36, bottom: 44, containLabel: true }),
      legend: { top: 0, left: 0, textStyle: { color: css("soft") }, itemWidth: 12, itemHeight: 12 },
      xAxis: { ...axisStyle(), type: "value", name: `time (${unit})`, nameGap: 28, splitLine: { show: false } },
      yAxis: { ...axisStyle(), type: "category", data: runs.map((r) => r.name), show: runs.length > 1, axisLabel: { ...axisStyle().axisLabel, formatter: (t) => short(t, 24) }, splitLine: { show: false }, axisTick: { show: false }, inverse: true },
      series: spentParts.map(([key, name], i) => ({ type: "bar", stack: "all", name, barMaxWidth: 30, itemStyle: { color: runColor(i), borderColor: css("card"), borderWidth: 0.5 }, emphasis: { disabled: true }, data: runs.map((r) => r.spent[key] / factor) })),
      tooltip: { formatter: (p) => plain(`${p.name}\n${p.seriesName}: ${formatSpan(p.value * factor)} (${percent(p.value * factor / total(runs[p.dataIndex].spent))})`) },
    });
    patch(words, runs.map((r) => el("li", {}, runs.length > 1 ? el("b", {}, r.name + ": ") : null, spentWords(r.spent))));
  };
  return part;
}

function total(spent) { return spentParts.reduce((sum, [key]) => sum + spent[key], 0); }

function spentWords(spent) {
  const parts = spentParts.filter(([key]) => spent[key] > 0).map(([key, name]) => `${name} ${formatSpan(spent[key])} (${percent(spent[key] / total(spent))})`).join(", ") + ".";
  if (spent.wall === null) return parts;
  return `${parts} By the clock the run took ${formatSpan(spent.wall)}; for ${formatSpan(spent.idle)} of that (${percent(spent.idle / spent.wall)}) no configuration was being evaluated.`;
}
