// What all charts share. Tooltips are drawn, not made of HTML: nothing in a name can run.

const charts = new Map(); // by element

// draw makes or remakes the chart of an element.
function draw(element, option) {
  let chart = charts.get(element);
  if (!chart) {
    chart = echarts.init(element, null, { renderer: "canvas" });
    charts.set(element, chart);
    new ResizeObserver(() => chart.resize()).observe(element);
  }
  const legend = (chart.getOption() || {}).legend, shown = legend && legend[0] && legend[0].selected;
  if (option.legend && shown) option.legend.selected = shown; // what a reader has switched off
  const font = getComputedStyle(document.body).fontFamily;
  chart.setOption({
    animation: false,
    textStyle: { fontFamily: font, color: css("soft") },
    aria: { enabled: false },
    ...option,
    tooltip: { ...tooltip(), ...option.tooltip },
  }, { notMerge: true });
  return chart;
}

function tooltip() {
  return {
    renderMode: "richText", confine: true, trigger: "item",
    backgroundColor: css("raised"), borderColor: css("line"), borderWidth: 1, padding: [8, 10],
    textStyle: { color: css("text"), fontSize: 12, lineHeight: 17 },
  };
}

// grid leaves room for axis titles.
function grid(more = {}) { return { left: 64, right: 20, top: 24, bottom: 52, ...more }; }

function axisStyle() {
  return {
    axisLine: { show: true, onZero: false, lineStyle: { color: css("line") } },
    axisTick: { show: true, lineStyle: { color: css("line") } },
    axisLabel: { color: css("soft"), fontSize: 12, hideOverlap: true },
    splitLine: { show: true, lineStyle: { color: css("faint") } },
    nameTextStyle: { color: css("soft"), fontSize: 12 },
    nameLocation: "middle",
  };
}

// scaleAxis is the axis of a Scale.
function scaleAxis(scale, name, more = {}) {
  const style = axisStyle(), ticks = scale.ticks();
  return {
    ...style, type: "value", min: scale.min, max: scale.max, name, nameGap: 32,
    axisLabel: { ...style.axisLabel, customValues: ticks, formatter: (v) => label(scale.from(v)) },
    axisTick: { ...style.axisTick, customValues: ticks },
    splitLine: { show: false }, ...more,
  };
}

// measureAxis is the vertical axis of a measure.
function measureAxis(scale, measure) {
  return scaleAxis(scale, axisName(measure), { nameGap: 48, splitLine: { show: false } });
}

function axisName(measure) { return measure.unit ? `${measure.name} (${measure.unit})` : measure.name; }

// valueAxis is an axis of the values of a parameter: value i of its order is at i.
function valueAxis(parameter, more = {}) {
  const style = axisStyle();
  return {
    ...style, type: "category", name: parameter.name, nameGap: 30,
    data: parameter.order.map((place) => parameter.values[place]),
    splitLine: { show: false }, axisTick: { show: false }, ...more,
    axisLabel: { ...style.axisLabel, formatter: (text) => short(text, 14), ...more.axisLabel },
  };
}

// short cuts a long text for an axis or a tooltip.
function short(text, most) {
  text = text.replace(/\s+/g, " ");
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

// plain makes sure that ECharts takes a text as it is: its rich text knows {style|text}.
function plain(text) { return text.replace(/[{}|]/g, (c) => ({ "{": "\uFF5B", "}": "\uFF5D", "|": "\u2502" }[c])); }

// rowTooltip is what is said of a configuration where a pointer is on it.
function rowTooltip(run, row, measure) {
  const lines = [];
  if (state.report.runs.length > 1) lines.push(run.name);
  if (run.correct.length && !Number.isNaN(run.column("objective")[row])) {
    lines.push(measure.name + " = " + withUnit(measure, formatMeasure(measure, run.column(measure.column)[row])));
  }
  for (const p of run.varied) lines.push(p.name + " = " + short(run.value(row, p), 40));
  return plain(lines.join("\n"));
}
