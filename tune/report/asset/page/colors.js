// Colours, for readers who do not tell all of them apart, in the light and in the dark.

// Okabe and Ito (Color Universal Design, 2008), without yellow and black; those of the dark
// scheme are a little lighter.
const distinct = {
  light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b27700", "#3a93c9", "#5f5f5f"],
  dark: ["#4aa8e0", "#ff8a3d", "#2cc79a", "#e39cc4", "#f0b840", "#8fd0f5", "#a9a9a9"],
};

// Viridis (van der Walt and Smith, 2015) at nine places: even steps of lightness, also without
// colour. Good is light in the dark and dark in the light.
const viridis = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];

// Of the statuses, the same everywhere.
const statusColors = {
  light: { correct: "#009e73", constraints: "#9a9a9a", compile: "#d55e00", runtime: "#cc79a7", correctness: "#b27700", timeout: "#0072b2" },
  dark: { correct: "#2cc79a", constraints: "#7d7d7d", compile: "#ff8a3d", runtime: "#e39cc4", correctness: "#f0b840", timeout: "#4aa8e0" },
};

function dark() {
  const chosen = document.documentElement.dataset.scheme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// css is a colour of the style sheet.
function css(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }

function runColor(place) {
  const all = distinct[dark() ? "dark" : "light"];
  return all[place % all.length];
}

function statusColor(status) { return statusColors[dark() ? "dark" : "light"][status]; }

// ramp is viridis from the good end to the bad one, without the end that the paper has.
function ramp() { return dark() ? viridis.slice(1).reverse() : viridis.slice(0, 8); }

// along is a colour of the ramp, at from 0 to 1.
function along(at) { return mixed(ramp(), at); }

function mixed(all, at) {
  const place = at * (all.length - 1), i = Math.min(all.length - 2, Math.floor(place)), f = place - i;
  const parts = [1, 3, 5].map((k) => {
    const a = parseInt(all[i].slice(k, k + 2), 16), b = parseInt(all[i + 1].slice(k, k + 2), 16);
    return Math.round(a + (b - a) * f);
  });
  return "#" + parts.map((v) => v.toString(16).padStart(2, "0")).join("");
}

// ink is black or white, whichever has the higher contrast with a colour, which is at least 4.58
// then (relative luminance and contrast ratio of WCAG 2.2).
function ink(color) {
  const [r, g, b] = [1, 3, 5].map((k) => parseInt(color.slice(k, k + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05) ** 2 > 1.05 * 0.05 ? "#000" : "#fff";
}

// valueColors are the colours of a parameter's values in their order: steps of a ramp for numbers.
function valueColors(parameter) {
  const n = parameter.values.length;
  return parameter.order.map((_, i) => (parameter.numeric && n > 2 ? along(i / (n - 1)) : runColor(i)));
}

// setScheme chooses light or dark, or leaves it to the system (""); it is kept where the
// browser keeps anything of files.
function setScheme(scheme) {
  if (scheme) document.documentElement.dataset.scheme = scheme;
  else delete document.documentElement.dataset.scheme;
  try {
    localStorage.setItem("ndtune-scheme", scheme);
  } catch { /* a page from a file may have no storage */ }
}

function keptScheme() {
  try {
    return localStorage.getItem("ndtune-scheme") || "";
  } catch {
    return "";
  }
}
