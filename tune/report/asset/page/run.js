// The data: a report of runs, and of each run columns of one number a configuration.

const flagVerified = 1, flagEarly = 2;

// parseVisible reads JSON. Characters that change the direction of writing, with which a text may look like another one, become escapes.
function parseVisible(text) {
  return JSON.parse(text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => "\\\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")));
}

// readReport reads what the page holds.
async function readReport() {
  const report = parseVisible(document.getElementById("report").textContent);
  if (report.live) return report; // there is nothing in it yet
  const buffer = await unpack(document.getElementById("columns").textContent.trim());
  report.runs = report.runs.map((data, i) => new Run(data, buffer, i));
  return report;
}

// unpack is the bytes of a text: gzipped, in base64.
async function unpack(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

const arrays = { u32: Uint32Array, f64: Float64Array };

class Run {
  constructor(data, buffer, place) {
    this.place = place;
    this.take(data, buffer, 0);
  }

  // take reads a run, or, of one that goes on, the rows from one on and all else as it is with
  // them.
  take(data, buffer, from) {
    const { parameters, reasons, columns, ...rest } = data, before = this.table;
    Object.assign(this, rest);
    this.table = new Map();
    for (const c of columns) {
      const added = new arrays[c.type](buffer, c.offset, c.length);
      this.table.set(c.name, from ? joined(before.get(c.name), added, from) : added);
    }
    this.count = this.column("status").length;
    this.reasons = from ? this.reasons.concat(reasons) : reasons;
    if (!from) {
      this.parameters = parameters.map((p, i) => ({ ...p, place: i, column: "p" + i, order: valueOrder(p) }));
      this.varied = this.parameters.filter((p) => p.values.length > 1);
    }
    this.order = undefined; // of ranked
    const objective = this.column("objective");
    this.correct = Int32Array.from({ length: this.count }, (_, i) => i).filter((i) => !Number.isNaN(objective[i]));
  }

  column(name) { return this.table.get(name); }

  // value is the text of a parameter's value.
  value(row, parameter) { return parameter.values[this.column(parameter.column)[row]]; }

  configuration(row) { return this.parameters.map((p) => p.name + "=" + this.value(row, p)).join(", "); }

  // measure is the measure of this name, else the objective.
  measure(name) { return this.measures.find((m) => m.name === name) || this.measures[0]; }

  better(a, b) { return this.objective.maximize ? a > b : a < b; }

  status(row) { return statuses[this.column("status")[row]]; }

  flag(row, flag) { return (this.column("flags")[row] & flag) !== 0; }

  reason(row) {
    const at = this.column("reason")[row];
    return at ? this.reasons[at - 1].text : "";
  }

  // line is the line of the reason that says most.
  line(row) {
    const at = this.column("reason")[row];
    return at ? this.reasons[at - 1].line : "";
  }

  title() { return [this.kernel, this.device.name.trim()].filter(Boolean).join(" on ") || this.name; }

  // ranked are the correct rows, the best first: by their ranks, or, before there was a final
  // measurement, by the objective.
  ranked() {
    const ranks = this.column("rank"), by = ranks || this.column("objective"), sign = !ranks && this.objective.maximize ? -1 : 1;
    return this.order ??= this.correct.slice().sort((a, b) => sign * (by[a] - by[b]));
  }

  // important are the varied parameters, the most important first.
  important() {
    const found = this.importance.parameters;
    return found.length ? found.map((f) => this.parameters[f.parameter]) : this.varied;
  }
}

// joined is a column with more behind its first rows. One that was not there has no numbers; one
// of indices takes the type of what is added, which has room for all of them.
function joined(before, added, from) {
  const all = new added.constructor(from + added.length);
  if (before) all.set(before);
  else if (all instanceof Float64Array) all.fill(NaN, 0, from);
  all.set(added, from);
  return all;
}

// valueOrder are the places of a parameter's values, numbers in ascending order.
function valueOrder(parameter) {
  const places = parameter.values.map((_, i) => i);
  if (parameter.numeric) places.sort((a, b) => parameter.numbers[a] - parameter.numbers[b]);
  return places;
}

// ranks says for each place of a value where it stands in the order.
function ranks(parameter) {
  const of = new Uint32Array(parameter.values.length);
  parameter.order.forEach((place, rank) => { of[place] = rank; });
  return of;
}

// sample keeps at most so many of the rows, spread evenly, and always the first keep ones.
function sample(rows, most, keep = 0) {
  if (rows.length <= most) return rows;
  const kept = new Int32Array(most);
  for (let i = 0; i < keep; i++) kept[i] = rows[i];
  const step = (rows.length - keep) / (most - keep);
  for (let i = keep; i < most; i++) kept[i] = rows[keep + Math.floor((i - keep) * step)];
  return kept;
}
