// A search that goes on. What arrives is put behind what is there at once, and drawn when there is
// time, where it can be seen, and not under a reader's hands.

const live = { state: "waiting", progress: null, timer: 0, at: 0, top: false, touched: new WeakMap() };
const leastPause = 250, longestPause = 5000, restAfter = 1500; // ms

// follow reads the stream of events.
function follow(url) {
  const source = new EventSource(url);
  let order = Promise.resolve(); // parts are read one after the other
  const say = (text) => { live.state = text; showLive(); };
  source.addEventListener("part", (e) => {
    order = order.then(() => takePart(parseVisible(e.data))).catch((error) => {
      source.close();
      showTrouble("The results could not be read: " + error.message);
      throw error;
    });
  });
  source.addEventListener("fleet", (e) => showFleet(parseVisible(e.data)));
  source.addEventListener("end", () => {
    source.close();
    order = order.then(() => say("ended"));
  });
  source.addEventListener("open", () => say("going"));
  source.addEventListener("error", () => say(source.readyState === EventSource.CLOSED ? "refused" : "lost"));
  for (const part of state.parts) {
    part.seen = false;
    new IntersectionObserver((entries) => { // a slow browser gets several at once: the last one holds
      part.seen = entries.at(-1).isIntersecting;
      drawSoon();
    }, { rootMargin: "200px" }).observe(part.root);
    for (const kind of ["pointermove", "pointerdown", "wheel", "keydown"]) part.root.addEventListener(kind, () => live.touched.set(part, performance.now()), { passive: true });
  }
  document.addEventListener("visibilitychange", drawSoon);
  showSections(false);
  showLive();
}

// showFleet is the table of the devices of a fleet: what each is doing, and for how long.
function showFleet(table) {
  const root = document.getElementById("fleet");
  root.hidden = false;
  patch(root, el("h2", {}, capital(table.title)), textTable(table), footnotes(table) || "");
}

// takePart puts a part where it belongs: behind the rows that are there, or in the place of all.
async function takePart(part) {
  const { report } = state, { progress, from } = part;
  const buffer = await unpack(part.columns);
  if (report.session !== progress.session) {
    Object.assign(report, { session: progress.session, runs: [] });
    state.run = null;
  }
  let run = report.runs[progress.place];
  if (from !== (run && from ? run.count : 0)) throw new Error(`rows ${from} and more came where ${run ? run.count : 0} are`);
  const latest = report.runs.length - 1;
  if (run) run.take(part.run, buffer, from);
  else report.runs.push(run = new Run(part.run, buffer, report.runs.length));
  run.progress = live.progress = progress;
  // A search that begins is shown, unless the reader looks at another one by choice.
  choose(!state.run || (state.run.place === latest && run.place > latest) ? run : state.run);
  for (const p of state.parts) p.stale = true;
  live.top = true;
  drawSoon();
}

// drawSoon draws when the last drawing is long enough ago: a slow browser has a rest of ten times
// as long as it takes, up to the longest pause.
function drawSoon() {
  if (live.timer || document.hidden || !state.run) return;
  live.timer = setTimeout(drawStale, Math.max(0, live.at - performance.now()));
}

function showSections(shown) {
  for (const id of ["sections", "nav"]) document.getElementById(id).hidden = !shown;
}

function drawStale() {
  live.timer = 0;
  const began = performance.now();
  showSections(state.run.count > 0);
  showLive();
  if (live.top) drawTop();
  live.top = false;
  let busy = false;
  for (const part of state.parts) {
    if (!part.stale || !(part.seen || part.root.hidden)) continue;
    if (inUse(part, began)) {
      busy = true;
      continue;
    }
    part.update();
    part.stale = false;
  }
  showLinks();
  const ended = performance.now();
  live.at = ended + Math.min(longestPause, Math.max(leastPause, 10 * (ended - began)));
  if (busy) drawSoon();
}

// inUse reports whether a reader is pointing at something of a part, or has selected text in it.
function inUse(part, now) {
  if (now - (live.touched.get(part) ?? -Infinity) < restAfter) return true;
  const selected = getSelection();
  return !selected.isCollapsed && part.root.contains(selected.anchorNode);
}

// showLive is the line on top: whether results still come, and how far the search is.
function showLive() {
  const root = document.getElementById("live"), p = live.progress, over = p && p.ended;
  root.hidden = false;
  root.className = live.state === "lost" || live.state === "refused" ? "lost" : live.state === "going" && !over ? "going" : "";
  const words = [stateWords(over)], parts = [];
  if (p) {
    const run = state.report.runs[p.place], done = run.count;
    if (state.report.runs.length > 1) words.push(run.name);
    words.push(p.total && !over ? `${formatCount(done)} of ${countNoun(p.total, "configuration")}` : countNoun(done, "configuration"));
    const rate = (done - p.resumed) / p.elapsed;
    if (!over && rate > 0) {
      words.push(rateWords(rate));
      if (p.total > done) words.push(`about ${formatSpan((p.total - done) / rate)} left`);
    }
    const bar = el("i");
    bar.style.width = (over ? 100 : 100 * Math.min(1, done / Math.max(1, p.total))) + "%";
    parts.push(el("div", { class: "track", "aria-hidden": "true" }, bar));
  }
  patch(root, el("div", {}, el("i", { class: "dot" }), el("b", { id: "live-state" }, words[0]), words.slice(1).map((w) => " · " + w).join("")), parts);
}

function stateWords(over) {
  switch (live.state) {
    case "lost": return over ? over : "The connection is lost; trying again";
    case "refused": return over ? over : "The program does not answer any more";
    case "waiting": return "Waiting for the search to begin";
  }
  return over || (live.progress ? "Running" : "Waiting for the search to begin");
}

// rateWords is a rate, given in configurations a millisecond.
function rateWords(rate) {
  const [n, unit] = rate * 1e3 >= 0.95 ? [rate * 1e3, "second"] : [rate * 60e3, "minute"];
  return `${Number(n.toPrecision(2))} a ${unit}`;
}
