// The page.

const state = {
  report: null, run: null, // the run of the summary, of the parameters and of the table
  measure: "", log: false,
  brush: new Map(), brushed: null, // areas by axis; of each row, whether it is in them
  table: null, parts: [],
};

async function main() {
  setScheme(keptScheme());
  state.report = await readReport();
  state.run = state.report.runs[0];
  state.measure = state.run.measures[0].name;
  state.log = wide(state.report.runs);
  state.parts = [progressSection(), distributionSection(), importanceSection(), scatterSection(), heatmapSection(), parallelSection(), failuresSection(), spentSection()];
  state.table = tableSection();
  state.parts.push(state.table);
  document.getElementById("sections").append(...state.parts.map((p) => p.root));
  document.getElementById("nav").append(...state.parts.map((p) => el("a", { href: "#" + p.root.id }, p.short)));
  document.getElementById("footer").append(
    `Made ${state.report.created.slice(0, 10)} by ${state.report.tool}. Charts: Apache ECharts, Apache License 2.0. This page needs no network and asks for none.`);
  bindControls();
  update();
  document.documentElement.dataset.ready = "yes";
}

// wide reports whether the objectives span so much that a logarithmic scale shows more.
function wide(runs) {
  const ends = runs.filter((r) => r.correct.length).flatMap((r) => [r.ranked()[0], r.ranked().at(-1)].map((row) => r.column("objective")[row]));
  return Math.min(...ends) > 0 && Math.max(...ends) / Math.min(...ends) > 5;
}

function bindControls() {
  const measure = document.getElementById("measure"), log = document.getElementById("log"), scheme = document.getElementById("scheme");
  measure.addEventListener("change", () => { state.measure = measure.value; drawParts(); });
  log.addEventListener("change", () => { state.log = log.checked; drawParts(); });
  scheme.addEventListener("click", () => { setScheme(dark() ? "light" : "dark"); update(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
}

// update draws everything for the chosen run.
function update() {
  const { report, run } = state;
  document.getElementById("scheme").textContent = dark() ? "☀ light" : "☾ dark";
  const measure = document.getElementById("measure");
  measure.replaceChildren(...run.measures.map((m) => el("option", { value: m.name, selected: m.name === state.measure }, m.name)));
  document.getElementById("log").checked = state.log;
  const runs = document.getElementById("runs");
  runs.hidden = report.runs.length < 2;
  runs.replaceChildren(...report.runs.map((r) => {
    const dot = el("i", { class: "dot" });
    dot.style.background = runColor(r.place);
    return el("button", { type: "button", "aria-pressed": String(r === run), onclick: () => { state.run = r; update(); } }, dot, r.name);
  }));
  drawSummary(document.getElementById("summary"), run);
  drawParts();
}

function drawParts() {
  for (const part of state.parts) part.update();
  const links = document.getElementById("nav").children;
  state.parts.forEach((part, i) => { links[i].hidden = part.root.hidden; });
}

// For tests, and for a program that shows a run while it goes on.
window.ndtune = { state, update, formatNumber, formatTime, csvOf };

main().catch((error) => {
  const trouble = document.getElementById("trouble");
  trouble.hidden = false;
  trouble.textContent = typeof DecompressionStream === "undefined"
    ? "This browser is too old for this page: it lacks DecompressionStream (Chrome 80, Firefox 113, Safari 16.4 have it)."
    : "The page could not be drawn: " + error.message;
  throw error;
});
