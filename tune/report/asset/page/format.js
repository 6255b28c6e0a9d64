// Numbers as the terminal writes them (internal/figure).

// fixed is v with so many decimals, of two nearest the one that ends in an even digit.
function fixed(v, decimals) {
  if (Math.abs(v) >= 1e21) return BigInt(v) + (decimals ? "." + "0".repeat(decimals) : ""); // toFixed gives up there
  const text = v.toFixed(decimals);
  const long = Math.abs(v).toFixed(Math.min(100, decimals + 50));
  const tail = decimals ? long.slice(long.indexOf(".") + 1 + decimals) : long.slice(long.indexOf(".") + 1);
  if (!/^50*$/.test(tail) || "02468".includes(text.at(-1))) return text;
  const down = long.slice(0, long.length - tail.length);
  return (v < 0 ? "-" : "") + (decimals ? down : down.slice(0, -1));
}

// formatNumber has four significant digits, and never fewer than the whole part has.
function formatNumber(v) {
  if (Number.isNaN(v)) return "NaN";
  if (!Number.isFinite(v)) return v > 0 ? "+Inf" : "-Inf";
  if (v === 0) return "0";
  const [digits, exponent] = v.toExponential().split("e");
  const decimals = 3 - Number(exponent);
  if (decimals > 12) {
    const [head, e] = v.toExponential(3).split("e");
    const size = String(Math.abs(Number(e))).padStart(2, "0");
    return head.replace(/\.?0+$/, "") + "e" + (Number(e) < 0 ? "-" : "+") + size;
  }
  return fixed(v, Math.max(0, decimals));
}

// formatTime is a time in milliseconds, without its unit.
function formatTime(ms) {
  return ms >= 1 || ms === 0 ? fixed(ms, 3) : formatNumber(ms);
}

// formatMeasure is a figure of a measure, without its unit. From 105 % of the limit on, the limit is wrong.
function formatMeasure(measure, v) {
  if (measure.name === "% of limit" && v > 105) return "beaten";
  return measure.unit === "ms" ? formatTime(v) : formatNumber(v);
}

// withUnit is a text with the unit of a measure behind it.
function withUnit(measure, text) {
  return measure.unit ? text + " " + measure.unit : text;
}

// formatSpan is how long something took, in the unit that suits it.
function formatSpan(ms) {
  if (ms >= 3600e3) return Math.floor(ms / 3600e3) + "\u00a0h " + Math.floor((ms % 3600e3) / 60e3) + "\u00a0min";
  if (ms >= 120e3) return Math.floor(ms / 60e3) + "\u00a0min " + Math.floor((ms % 60e3) / 1e3) + "\u00a0s";
  if (ms >= 1e3) return (ms / 1e3).toFixed(1) + "\u00a0s";
  return formatNumber(ms) + "\u00a0ms";
}

function formatCount(n) {
  return n >= 10000 ? String(n).replace(/\B(?=(\d{3})+$)/g, "\u2009") : String(n);
}

function countNoun(n, noun) {
  return formatCount(n) + " " + noun + (n === 1 ? "" : "s");
}

function percent(share) {
  const p = 100 * share;
  if (p > 0 && p < 0.1) return "< 0.1\u00a0%";
  return (p >= 10 || p === 0 ? Math.round(p) : p.toFixed(1)) + "\u00a0%";
}

// times is a ratio for people: 1.5×, 12×.
function times(ratio) {
  return (ratio < 10 ? ratio.toFixed(2) : ratio < 100 ? ratio.toFixed(1) : formatCount(Math.round(ratio))) + "×";
}
