// Elements of the page. Texts go in as texts: nothing here reads HTML.

// el makes an element; of its attributes, on… are listeners. Children are elements, texts or
// nothing.
function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (value === true) e.setAttribute(key, "");
    else if (value !== false && value != null) e.setAttribute(key, value);
  }
  e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

// select makes a choice. Options are [value, text].
function select(label, options, value, onchange) {
  const s = el("select", { onchange: () => onchange(s.value) },
    options.map(([v, text]) => el("option", { value: v, selected: String(v) === String(value) }, text)));
  return el("label", { class: "pick" }, label + " ", s);
}

// section makes a part of the page: a heading, words about it, controls and a place for more.
// The short title is that of its link.
function section(id, title, about, short) {
  const controls = el("div", { class: "controls" });
  const body = el("div", { class: "body" });
  const note = el("p", { class: "note" });
  const root = el("section", { id, class: "card" },
    el("h2", {}, title), about ? el("p", { class: "about" }, about) : null, controls, body, note);
  return { root, controls, body, note, short: short || title };
}

// patch makes the children of an element what they should be, and keeps those that are that
// already: what a reader has opened, focused or selected stays. A listener that stays must not
// know more than its element says.
function patch(root, ...children) {
  const wanted = children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false)
    .map((c) => (typeof c === "string" ? document.createTextNode(c) : c));
  wanted.forEach((want, i) => {
    const have = root.childNodes[i];
    if (!have) root.append(want);
    else if (have.nodeName !== want.nodeName) have.replaceWith(want);
    else if (!have.isEqualNode(want)) patchNode(have, want);
    if (have && have.nodeName === "SELECT" && have.value !== want.value) have.value = want.value;
  });
  while (root.childNodes.length > wanted.length) root.lastChild.remove();
}

function patchNode(have, want) {
  if (have.nodeType === Node.TEXT_NODE) {
    have.data = want.data;
    return;
  }
  for (const { name } of [...have.attributes]) {
    if (!want.hasAttribute(name) && name !== "open") have.removeAttribute(name);
  }
  for (const { name, value } of want.attributes) {
    if (name === "style") have.style.cssText = want.style.cssText; // as an attribute the policy refuses it
    else if (have.getAttribute(name) !== value) have.setAttribute(name, value);
  }
  patch(have, [...want.childNodes]);
}

// copyButton hands the text before it to the clipboard; where a browser keeps that from files, it
// selects the text instead.
function copyButton() {
  const button = el("button", { type: "button", class: "copy", onclick: async () => {
    const from = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(from.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(from);
      button.textContent = "selected";
    }
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  } }, "copy");
  return button;
}
