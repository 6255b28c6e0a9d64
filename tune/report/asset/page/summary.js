// The first screen: what is best, how good it is, and whether it can be trusted.

function drawSummary(root, run) {
  const parts = [title(run)];
  if (run.summary.best) {
    parts.push(el("div", { class: "hero" }, bestCard(run), el("div", { class: "side" }, goodCard(run), trustCard(run))));
  } else {
    parts.push(el("div", { class: "card" }, el("h2", {}, run.progress && !run.progress.ended ? "No configuration is correct yet" : "No configuration is correct"), notices(run)));
  }
  parts.push(outcomes(run), facts(run));
  patch(root, parts);
}

function title(run) {
  const about = [run.device.name.trim(), run.device.driver && "driver " + run.device.driver, run.started.slice(0, 10)];
  return el("div", { class: "title" },
    el("h1", {}, run.kernel || run.name), el("p", {}, about.filter(Boolean).join(" · ")));
}

function bestCard(run) {
  const best = run.summary.best, yaml = el("code", {}, best.yaml.trimEnd());
  const objective = run.measures[0];
  const figures = best.metrics.map((m) => el("span", { class: "figure" },
    el("b", {}, formatNumber(m.value)), " " + m.name, m.atTime ? null : el("small", {}, " in the search")));
  return el("div", { class: "card best" },
    el("h2", {}, "Best configuration"),
    el("p", { class: "big", id: "best-time" }, formatTime(best.time), el("span", {}, " ms")),
    el("p", { class: "figures" }, figures),
    el("p", { class: "note" }, origin(run, best)),
    el("dl", { class: "chips", id: "best-values" }, run.parameters.map((p) =>
      el("div", { class: p.values.length > 1 ? "" : "fixed" }, el("dt", {}, p.name), el("dd", {}, run.value(best.row, p))))),
    el("div", { class: "paste" }, el("span", {}, "options"), el("code", {}, best.options), copyButton()),
    (best.sizes || []).map((sizes) => el("div", { class: "paste" }, el("span", {}, "launch"), el("code", {}, sizes), copyButton())),
    el("div", { class: "paste" }, el("span", {}, "YAML"), el("pre", {}, yaml), copyButton()),
    objective.name.startsWith("time") ? null : el("p", { class: "note" },
      `Ranked by ${objective.name}, ${run.objective.maximize ? "more" : "less"} is better: ${withUnit(objective, formatMeasure(objective, best.objective))}${best.final ? "" : " in the search"}.`));
}

// origin says which measurement the time is.
function origin(run, best) {
  if (!best.final) return best.launches === 1 ? "Of one launch in the search." : `The median of ${best.launches} launches in the search.`;
  const others = best.finalists > 1 ? `, taken in turn with those of ${formatCount(best.finalists - 1)} next best` : "";
  return `The median of ${best.launches} launches${others}; in the search the median was ${formatTime(best.searchTime)} ms.`;
}

function goodCard(run) {
  const s = run.summary, measure = run.measures[0];
  const rows = [["best", s.best.searchObjective, 1], ["median", s.median, s.overMedian], ["worst", s.worst, s.overWorst]];
  if (s.overBaseline) rows.splice(1, 0, ["baseline", s.baseline, s.overBaseline]);
  const over = countNoun(run.correct.length, "correct configuration");
  const longest = Math.max(...rows.map(([, , ratio]) => ratio || 1));
  const gain = s.overBaseline ? `${times(s.overBaseline)} better than the baseline` : "";
  const words = s.overMedian ? `${s.best.final ? "In the search " : ""}${times(s.overMedian)} better than the median configuration, ${times(s.overWorst)} better than the worst` : "";
  return el("div", { class: "card good" }, el("h2", {}, "How good is it"),
    gain && el("p", { id: "baseline-gain" }, gain),
    words && el("p", { id: "gain" }, words),
    el("table", { class: "bars" }, rows.map(([name, value, ratio]) => {
      const bar = el("i");
      bar.style.width = (ratio ? 100 * (run.objective.maximize ? 1 / ratio : ratio / longest) : 0) + "%";
      return el("tr", {}, el("th", { scope: "row" }, name),
        el("td", {}, withUnit(measure, formatMeasure(measure, value))), el("td", { class: "bar" }, bar));
    })),
    el("p", { class: "note" }, `By ${measure.name} of the search, over ${over}.` + (s.overBaseline && s.best.final ? " The baseline is of the final measurement, as is the gain over it." : "")));
}

function trustCard(run) {
  const s = run.summary, best = s.best, stated = []; // what else is doubtful is among the notices
  const spread = best.searchTime > 0 ? best.deviation / best.searchTime : 0;
  if (s.verified === run.correct.length) stated.push(["Every correct output was compared with a reference.", false]);
  if (run.cache === "cold") stated.push(["Launched with cold caches: data came from memory.", false]);
  if (run.device.timer === "event") stated.push(["Timed by the device's profiling events.", false]);
  const launches = run.column("launches")[best.row];
  if (launches > 1) stated.push([`The ${launches} launches of the best in the search scatter by ${percent(spread)}.`, spread > 0.05]);
  if (best.final) stated.push([`The ${formatCount(best.finalists)} best were measured again in turn${best.finalDevice && " on " + best.finalDevice}, ${best.launches} launches each.`, false]);
  if (s.earlyStopped) stated.push([`${countNoun(s.earlyStopped, "configuration")} far slower than the best ${s.earlyStopped === 1 ? "was" : "were"} launched once only.`, false]);
  return el("div", { class: "card trust" }, el("h2", {}, "Can I trust it"),
    el("ul", { class: "checks" }, stated.map(([text, doubt]) => el("li", { class: doubt ? "doubt" : "" }, el("span", { class: "sign", "aria-hidden": "true" }, doubt ? "!" : "✓"), text))),
    run.device.timer ? null : el("p", { class: "note" }, "The record does not say which clock was used."),
    notices(run));
}

function notices(run) {
  return run.notices.map((n) => el("p", { class: "notice " + n.level }, n.text));
}

// outcomes is the strip of what became of the configurations.
function outcomes(run) {
  const s = run.summary;
  const strip = el("div", { class: "strip", "aria-hidden": "true" }, s.statuses.map((c) => {
    const part = el("i", { title: `${c.count} ${c.text}` });
    part.style.width = (100 * c.count / s.evaluations) + "%";
    part.style.background = statusColor(c.status);
    return part;
  }));
  const list = s.statuses.map((c) => {
    const dot = el("i", { class: "dot" });
    dot.style.background = statusColor(c.status);
    return el("li", { "data-status": c.status }, dot, el("b", {}, formatCount(c.count)), " " + c.text);
  });
  const of = s.combinations !== String(s.evaluations) ? ` of ${s.combinations.replace(/\B(?=(\d{3})+$)/g, "\u2009")} combinations before restrictions` : "";
  return el("div", { class: "card outcomes" },
    el("p", {}, el("b", { id: "evaluations" }, formatCount(s.evaluations)), ` configuration${s.evaluations === 1 ? "" : "s"}${of}`), strip, el("ul", { class: "legend" }, list));
}

function facts(run) {
  const d = run.device, known = [
    ["device", d.name.trim()], ["platform", [d.platform, d.version].filter(Boolean).join(", ")], ["driver", d.driver], ["measured at most", peaks(d)],
    ["kernel", [run.kernel, run.source].filter(Boolean).join(", ")],
    ["problem size", run.problemSize.join(" × ")],
    ["constants", run.constants.map((c) => `${c.name}=${c.value}`).join(", ")],
    ["strategy", run.strategy && `${run.strategy}, seed ${run.seed}`],
    ["launches", run.iterations ? String(run.iterations) + " of each configuration" : ""],
    ["caches", run.cache],
    ["objective", `${run.objective.name}, ${run.objective.maximize ? "more" : "less"} is better`],
    ["started", run.started.replace("T", " ").replace("Z", " UTC")],
    ["record", `${run.name} (${run.format})`], ["made by", run.tool],
  ].filter(([, value]) => value);
  return el("details", { class: "facts" }, el("summary", {}, "Device, kernel and search"),
    el("dl", {}, known.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}

// peaks are what the device was measured to give, where that was done.
function peaks(device) {
  const figures = device.peaks ? Object.entries(device.peaks.figures) : [];
  return figures.filter(([, f]) => f.value).map(([name, f]) => `${name.replaceAll("_", " ")} ${formatNumber(f.value)} ${f.unit}`).join(", ");
}
