// The page.

const state = {
  report: null, run: null, // the run of the summary, of the parameters and of the table
  measure: "", log: false, logChosen: false, // by the reader
  brush: new Map(), brushed: null, // areas by axis; of each row, whether it is in them
  table: null, parts: [],
};

async function main() {
  setScheme(keptScheme());
  const report = state.report = await readReport();
  state.parts = [progressSection(), frontSection(), distributionSection(), importanceSection(), scatterSection(), heatmapSection(), parallelSection(), failuresSection(), spentSection()];
  state.table = tableSection();
  state.parts.push(state.table);
  document.getElementById("sections").append(...state.parts.map((p) => p.root));
  document.getElementById("nav").append(...state.parts.map((p) => el("a", { href: "#" + p.root.id }, p.short)));
  document.getElementById("footer").append(`Made ${report.created.slice(0, 10)} by ${report.tool}. Charts: Apache ECharts, Apache License 2.0. `,
    report.live ? "This page asks the program that made it, and nobody else." : "This page needs no network and asks for none.");
  bindControls();
  if (report.live) follow(report.live);
  else choose(report.runs[0]);
  update();
  document.documentElement.dataset.ready = "yes";
}

// choose makes a run the one that the page is about.
function choose(run) {
  state.run = run;
  state.measure = run.measure(state.measure).name;
  if (!state.logChosen) state.log = wide(state.report.runs);
}

// wide reports whether the objectives span so much that a logarithmic scale shows more.
function wide(runs) {
  const ends = runs.filter((r) => r.correct.length).flatMap((r) => [r.ranked()[0], r.ranked().at(-1)].map((row) => r.column("objective")[row]));
  return Math.min(...ends) > 0 && Math.max(...ends) / Math.min(...ends) > 5;
}

function bindControls() {
  const measure = document.getElementById("measure"), log = document.getElementById("log"), scheme = document.getElementById("scheme");
  measure.addEventListener("change", () => { state.measure = measure.value; drawParts(); });
  log.addEventListener("change", () => { state.log = log.checked; state.logChosen = true; drawParts(); });
  scheme.addEventListener("click", () => { setScheme(dark() ? "light" : "dark"); update(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
}

// update draws everything for the chosen run.
function update() {
  drawComparison(document.getElementById("comparison"), state.report);
  drawTop();
  drawParts();
}

// drawTop draws what is above the charts.
function drawTop() {
  const { report, run } = state;
  document.getElementById("scheme").textContent = dark() ? "☀ light" : "☾ dark";
  if (!run) return; // none has begun
  const measure = document.getElementById("measure");
  patch(measure, run.measures.map((m) => el("option", { value: m.name }, m.name)));
  measure.value = state.measure;
  document.getElementById("log").checked = state.log;
  const runs = document.getElementById("runs");
  runs.hidden = report.runs.length < 2;
  patch(runs, report.runs.map((r) => {
    const dot = el("i", { class: "dot" });
    dot.style.background = runColor(r.place);
    return el("button", { type: "button", "aria-pressed": String(r === run), onclick: () => { choose(state.report.runs[r.place]); update(); } }, dot, r.name);
  }));
  drawSummary(document.getElementById("summary"), run);
}

function drawParts() {
  if (!state.run) return;
  for (const part of state.parts) {
    part.update();
    part.stale = false;
  }
  showLinks();
}

// showLinks are the links to the sections that are shown.
function showLinks() {
  const links = document.getElementById("nav").children;
  state.parts.forEach((part, i) => { links[i].hidden = part.root.hidden; });
}

// For tests, and for a program that shows a run while it goes on.
window.ndtune = { state, update, formatNumber, formatTime, csvOf };

main().catch((error) => {
  showTrouble(typeof DecompressionStream === "undefined"
    ? "This browser is too old for this page: it lacks DecompressionStream (Chrome 80, Firefox 113, Safari 16.4 have it)."
    : "The page could not be drawn: " + error.message);
  throw error;
});

function showTrouble(text) {
  const trouble = document.getElementById("trouble");
  trouble.hidden = false;
  trouble.textContent = text;
}
