// Why configurations failed.

const mostFailures = 30;

function failuresSection() {
  const part = section("failures", "Failures by reason", "Reasons that differ in numbers and names of files only are one.", "Failures");
  part.update = () => {
    const run = state.run, most = run.failures.length ? run.failures[0].count : 0;
    part.root.hidden = most === 0;
    const opened = new Set([...part.body.querySelectorAll("details[open]")].map((d) => d.dataset.failure));
    patch(part.body, run.failures.slice(0, mostFailures).map((f) => {
      const bar = el("i"), dot = el("i", { class: "dot" });
      bar.style.width = (100 * f.count / most) + "%";
      bar.style.background = dot.style.background = statusColor(f.status);
      return el("details", { class: "failure", "data-failure": f.status + " " + f.text },
        el("summary", {}, el("span", { class: "count" }, formatCount(f.count)), el("span", { class: "bar" }, bar),
          el("span", { class: "status" }, dot, statusTexts[f.status]), el("span", { class: "reason" }, f.text)),
        el("p", { class: "note" }, "First: " + run.configuration(f.first)),
        el("pre", {}, run.reason(f.first) || f.text),
        el("button", { type: "button", "data-filter": "status=" + f.status, onclick: (e) => state.table.filter(e.currentTarget.dataset.filter) }, "show these in the table"));
    }));
    for (const d of part.body.children) d.open = opened.has(d.dataset.failure); // also where they changed places
    const left = run.failures.slice(mostFailures);
    part.note.textContent = left.length ? `${countNoun(left.length, "further reason")}, of ${countNoun(left.reduce((n, f) => n + f.count, 0), "configuration")}: see the table.` : "";
  };
  return part;
}
