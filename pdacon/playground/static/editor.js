// A text area with its text painted below it: syntax, underlines, lexemes. The text area itself is the browser's own, so
// that typing, undo, selection and screen readers work as everywhere.

const SYNTAX = {
  lark: [
    ["comment", /\/\/[^\n]*|#(?!\d)[^\n]*/y],
    ["text", /"(?:\\.|[^"\\\n])*"i?/y],
    ["pattern", /\/(?!\/)(?:\\.|[^/\\\n])+\/[imslux]*/y],
    ["order", /%[a-z]+|->/y],
    ["name", /_?[A-Z][A-Z0-9_]*\b/y],
    ["rule", /^[?!]*_?[a-z]\w*(?=[^:\n|"/]*:)/my],
    ["plain", /\w+|\s+/y],
  ],
  gbnf: [
    ["comment", /#[^\n]*/y],
    ["text", /"(?:\\.|[^"\\\n])*"/y],
    ["pattern", /\[(?:\\.|[^\]\\\n])*\]/y],
    ["rule", /^[\w-]+(?=\s*::=)/my],
    ["plain", /[\w-]+|\s+/y],
  ],
  "json-schema": [
    ["name", /"(?:\\.|[^"\\\n])*"(?=\s*:)/y],
    ["text", /"(?:\\.|[^"\\\n])*"/y],
    ["pattern", /-?\d[\d.eE+-]*|\b(?:true|false|null)\b/y],
    ["plain", /\w+|\s+/y],
  ],
};
SYNTAX.llguidance = SYNTAX.lark;
SYNTAX.ebnf = SYNTAX.gbnf;

function coloured(text, notation) {
  const table = SYNTAX[notation];
  const marks = [];
  if (!table) return marks;
  let at = 0;
  while (at < text.length) {
    let end = at + 1;
    for (const [kind, pattern] of table) {
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (match && match[0]) {
        end = at + match[0].length;
        if (kind !== "plain") marks.push({ from: at, to: end, kind: `k-${kind}` });
        break;
      }
    }
    at = end;
  }
  return marks;
}

export class Editor {
  constructor(root, label, { numbered = false } = {}) {
    this.root = root;
    this.notation = "";
    this.marks = [];
    this.gutter = numbered ? root.appendChild(element("div", "gutter")) : null;
    if (this.gutter) this.gutter.setAttribute("aria-hidden", "true");
    const area = root.appendChild(element("div", "area"));
    this.paint = area.appendChild(element("pre", "paint"));
    this.paint.setAttribute("aria-hidden", "true");
    this.input = area.appendChild(document.createElement("textarea"));
    Object.assign(this.input, { spellcheck: false, autocomplete: "off", ariaLabel: label });
    this.input.setAttribute("aria-label", label);
    this.input.setAttribute("autocapitalize", "off");
    this.input.setAttribute("autocorrect", "off");
    if (numbered) this.input.setAttribute("wrap", "off");
    this.input.addEventListener("input", () => {
      this.marks = [];
      this.draw();
    });
  }

  get text() {
    return this.input.value;
  }

  set text(text) {
    this.input.value = text;
    this.marks = [];
    this.draw();
  }

  // Replaces what differs, so that undo takes it back and the cursor stands at the change.
  replace(text) {
    const old = this.text;
    let from = 0;
    while (from < old.length && from < text.length && old[from] === text[from]) from++;
    let end = old.length;
    let to = text.length;
    while (end > from && to > from && old[end - 1] === text[to - 1]) end--, to--;
    this.input.focus();
    this.input.setSelectionRange(from, end);
    const piece = text.slice(from, to);
    const done = piece ? document.execCommand("insertText", false, piece) : document.execCommand("delete");
    if (!done || this.text !== text) {
      this.text = text;
      this.input.setSelectionRange(to, to);
      this.input.dispatchEvent(new Event("input"));
    }
  }

  append(piece) {
    this.replace(this.text + piece);
    this.input.setSelectionRange(this.text.length, this.text.length);
    this.root.scrollTop = this.root.scrollHeight;
  }

  show(marks) {
    this.marks = marks;
    this.draw();
  }

  offset(line, column) {
    let at = 0;
    for (let k = 1; k < line; k++) {
      const next = this.text.indexOf("\n", at);
      if (next < 0) return this.text.length;
      at = next + 1;
    }
    // Columns are characters, and offsets halves of some.
    const points = [...this.text.slice(at, at + 2 * column)].slice(0, column - 1);
    return Math.min(at + points.join("").length, this.text.length);
  }

  select(from, to) {
    this.input.focus();
    this.input.setSelectionRange(from, to);
    const line = this.text.slice(0, from).split("\n").length - 1;
    const height = parseFloat(getComputedStyle(this.paint).lineHeight);
    if (this.gutter) this.root.scrollTop = Math.max(0, line * height - this.root.clientHeight / 2);
  }

  draw() {
    const text = this.text;
    const marks = [...coloured(text, this.notation), ...this.marks];
    const cuts = [...new Set([0, text.length, ...marks.flatMap((mark) => [mark.from, mark.to])])].sort((a, b) => a - b);
    const begin = new Map();
    for (const mark of marks) if (mark.to > mark.from) begin.set(mark.from, [...(begin.get(mark.from) ?? []), mark]);
    let open = [];
    const pieces = [];
    for (let k = 0; k + 1 < cuts.length; k++) {
      open = [...open.filter((mark) => mark.to > cuts[k]), ...(begin.get(cuts[k]) ?? [])];
      const piece = text.slice(cuts[k], cuts[k + 1]);
      if (!open.length) pieces.push(piece);
      else {
        const span = element("i", open.map((mark) => mark.kind).join(" "));
        span.textContent = piece;
        pieces.push(span);
      }
    }
    this.paint.replaceChildren(...pieces, "\u200b\n");
    if (this.gutter) {
      const lines = text.split("\n").length;
      if (this.lines !== lines) this.gutter.textContent = Array.from({ length: lines }, (_, k) => k + 1).join("\n");
      this.lines = lines;
    }
  }
}

export function element(name, kind = "", text = "") {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  if (text) made.textContent = text;
  return made;
}
