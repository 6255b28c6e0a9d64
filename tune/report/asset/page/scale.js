// Scales. A chart's axis is linear in what Scale.to gives, so that a logarithmic axis has round
// labels also where it spans less than a power of ten.

class Scale {
  // The scale of a measure over values, from low to high.
  constructor(low, high, log) {
    this.log = log && low > 0;
    // What differs by rounding alone is alike: no number could stand between.
    if (!(high - low > 1e-10 * Math.max(Math.abs(low), Math.abs(high)))) {
      const room = Math.abs(low) * 0.1 || 1;
      low = this.log ? low / 1.1 : low - room;
      high = this.log ? high * 1.1 : high + room;
    }
    this.low = this.to(low);
    this.high = this.to(high);
    const room = (this.high - this.low) * 0.04;
    this.min = this.low - room;
    if (!this.log && low >= 0) this.min = Math.max(0, this.min);
    this.max = this.high + room;
  }

  to(v) { return this.log ? Math.log10(v) : v; }

  from(v) { return this.log ? 10 ** v : v; }

  ticks() {
    const low = this.from(this.min), high = this.from(this.max);
    return (this.log ? logTicks(low, high) : linearTicks(low, high)).map((v) => this.to(v));
  }
}

function linearTicks(low, high) {
  const rough = (high - low) / 6, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const ticks = [];
  for (let n = Math.ceil(low / step); n * step <= high; n++) ticks.push(Number((n * step).toPrecision(12)));
  return ticks;
}

// logTicks are round numbers, as many as there is room for.
function logTicks(low, high) {
  if (high / low < 2.5) return linearTicks(low, high);
  for (const steps of [[1, 1.5, 2, 3, 4, 5, 6, 8], [1, 2, 3, 5], [1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
      for (const s of steps) {
        const v = Number((s * 10 ** e).toPrecision(3));
        if (v >= low && v <= high) ticks.push(v);
      }
    }
    if (ticks.length <= 8) return ticks;
  }
  return [low, high].map((v) => 10 ** Math.round(Math.log10(v)));
}

// scaleOf is the scale of all values of these rows, given as [column, rows].
function scaleOf(parts, log) {
  let low = Infinity, high = -Infinity;
  for (const [column, rows] of parts) {
    for (const row of rows) {
      const v = column[row];
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  return Number.isFinite(low) && Number.isFinite(high) ? new Scale(low, high, log) : new Scale(0, 1, false);
}

// label is a number on an axis: short, without zeros behind it.
function label(v) {
  if (v === 0) return "0";
  const size = Math.abs(v);
  if (size >= 1e7 || size < 1e-5) return v.toExponential(1).replace(".0e", "e");
  return String(Number(v.toPrecision(4)));
}
