// Shows answers: findings with their repairs, the place in a text, the next tokens, the strip over the vocabulary.

import { element } from "./editor.js";

const $ = (id) => document.getElementById(id);

// A colour for each terminal, in the order in which texts bring them, so that neighbours differ where they can.
const colours = new Map();

export function colourOf(terminal) {
  if (!colours.has(terminal)) colours.set(terminal, `c${colours.size % 8}`);
  return colours.get(terminal);
}

export function forgetColours() {
  colours.clear();
}

export function showFindings(findings, editor, { chosen, take, draw }) {
  $("findings").replaceChildren(
    ...findings.map((finding, number) => {
      const item = element("li", finding.level);
      const place = finding.span ? `${finding.span[0]}:${finding.span[1]} ` : "";
      const head = element("button", "where");
      head.type = "button";
      head.append(place, element("b", "", `${finding.level}${finding.id ? ` ${finding.id}` : ""}`), ` ${finding.title}`);
      head.addEventListener("click", () => chosen(number));
      item.append(head, element("p", "", finding.message));
      if (finding.example) {
        const example = element("p");
        example.append("for example ", element("code", "", finding.example));
        item.append(example);
      }
      if (finding.repair) {
        const more = element("details");
        more.append(element("summary", "", "Repair"), element("p", "", finding.repair));
        more.open = finding.level !== "note" && !finding.offers?.length;
        item.append(more);
      }
      for (const offer of finding.offers ?? []) {
        const row = element("div", "offer");
        const button = element("button", "take", "Take it");
        button.type = "button";
        button.addEventListener("click", () => take(offer.change));
        row.append(element("pre", "", offer.label), button);
        item.append(row);
      }
      if (finding.picture) {
        const button = element("button", "", "Draw both readings");
        button.type = "button";
        button.addEventListener("click", () => draw(finding.picture));
        item.append(button);
      }
      return item;
    }),
  );
  editor.show(
    findings
      .filter((finding) => finding.span)
      .map(({ span, level }) => {
        const from = editor.offset(span[0], span[1]);
        return { from, to: Math.max(editor.offset(span[2], span[3]), from + 1), kind: `m-${level}` };
      }),
  );
}

export function showLexemes(reading, editor) {
  const marks = [];
  let at = 0;
  for (const piece of reading.lexemes) {
    const kinds = [];
    if (piece.fate !== "ignored" && piece.fate !== "earlier") kinds.push(colourOf(piece.terminal), "l-edge");
    if (piece.fate === "unfinished") kinds.push("l-unfinished");
    if (kinds.length) marks.push({ from: at, to: at + piece.text.length, kind: kinds.join(" "), piece });
    else marks.push({ from: at, to: at + piece.text.length, kind: "l-ignored", piece });
    at += piece.text.length;
  }
  if (!reading.viable) marks.push({ from: at, to: editor.text.length, kind: "l-refused" });
  editor.show(marks);
}

const tags = (names, kind = "tag") => names.map((name) => element("span", kind, name));

export function showPlace(reading) {
  const rows = [];
  const add = (name, ...content) => {
    if (!content.length) return;
    const value = element("dd");
    value.append(...content);
    rows.push(element("dt", "", name), value);
  };
  const lexemes = reading.lexemes.filter((piece) => piece.fate !== "ignored" && piece.fate !== "earlier");
  const last = lexemes.slice(-8);
  const more = lexemes.length - last.length;
  add(
    "lexemes",
    ...(more ? [element("span", "none", `${more} more,`)] : []),
    ...last.map((piece) => {
      const tag = element("span", `tag lexeme ${colourOf(piece.terminal)}`);
      const text = shortened(piece.text);
      tag.append(text);
      if (piece.terminal !== JSON.stringify(piece.text)) tag.append(" ", element("small", "", piece.terminal));
      return tag;
    }),
  );
  if (reading.unfinished.length && reading.lexeme) add("unfinished", ...tags(reading.unfinished.slice(0, 8)));
  const expected = reading.expected.slice(0, 24);
  if (reading.expected.length > expected.length) expected.push(`${reading.expected.length - expected.length} more`);
  if (reading.whole) expected.push("the end");
  add("expected", ...tags(expected.length ? expected : reading.lexeme ? ["only the rest of it"] : reading.ignored));
  if (reading.schema.length) add("schema", ...reading.schema.map((line) => element("span", "rule", line)));
  else add("parsing", ...reading.rules.slice(0, 3).map((rule) => element("span", "rule", rule)));
  const deeper = reading.deeper ? [`${reading.deeper} more`] : [];
  add("stack", ...tags([...deeper, ...reading.stack]));
  if (reading.forced) add("forced", element("span", "tag", visible(reading.forced)));
  if (reading.completion) add("shortest end", element("span", "tag", visible(reading.completion)));
  $("place").replaceChildren(...rows);
}

const visible = (text) => text.replace(/ /g, "␣").replace(/\n/g, "⏎").replace(/\t/g, "⇥");
const shortened = (text) => visible(text.length > 30 ? `${text.slice(0, 14)}…${text.slice(-14)}` : text);

export function showTokens(tokens, { append, why, more }) {
  const number = (n) => n.toLocaleString("en");
  $("count").textContent = `Next tokens: ${number(tokens.allowed)} of ${number(tokens.size)}`;
  const fill = (id, chips, all, act) => {
    const made = chips.map((chip) => {
      const button = element("button", chip.adds === null ? "chip special" : "chip", chip.text);
      button.type = "button";
      button.title = `token ${chip.id}`;
      button.dataset.token = chip.id;
      button.addEventListener("click", () => act(chip));
      return button;
    });
    if (all > chips.length) {
      const button = element("button", "", `${number(all - chips.length)} more`);
      button.type = "button";
      button.addEventListener("click", more);
      made.push(button);
    }
    $(id).replaceChildren(...(made.length ? made : [element("span", "none", "none")]));
  };
  fill("allowed", tokens.chips, tokens.fitting, (chip) => (chip.adds === null ? why(chip.id) : append(chip.adds)));
  fill("refused", tokens.refused, tokens.unfitting, (chip) => why(chip.id));
}

export function showWhy(answer) {
  $("why").hidden = !answer;
  if (!answer) return;
  $("why").className = answer.allowed ? "good" : "";
  $("why-title").textContent = answer.title;
  $("why-text").textContent = answer.text;
}

export class Strip {
  constructor(asked) {
    this.canvas = $("strip");
    this.mask = new Uint8Array();
    this.size = 0;
    this.at = -1;
    this.canvas.addEventListener("click", (event) => this.move(this.token(event), asked));
    this.canvas.addEventListener("mousemove", (event) => this.say(this.token(event)));
    this.canvas.addEventListener("mouseleave", () => this.say(this.at));
    this.canvas.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 100, PageDown: -100 }[event.key];
      if (step) this.move(Math.min(Math.max(this.at + step, 0), this.size - 1), asked);
      else if (event.key === "Home") this.move(0, asked);
      else if (event.key === "End") this.move(this.size - 1, asked);
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  token(event) {
    const box = this.canvas.getBoundingClientRect();
    const place = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 0.999999);
    return Math.floor(place * this.size);
  }

  allows(token) {
    return Boolean((this.mask[token >> 3] >> (token & 7)) & 1);
  }

  say(token) {
    $("strip-caption").textContent =
      token < 0 || token >= this.size
        ? "Each token of the vocabulary, by id: coloured where it may come next. Click, or use the arrow keys, to see why."
        : `token ${token}: ${this.allows(token) ? "allowed" : "refused"}`;
  }

  move(token, asked) {
    this.at = token;
    this.canvas.setAttribute("aria-valuenow", token);
    this.canvas.setAttribute("aria-valuetext", `token ${token}, ${this.allows(token) ? "allowed" : "refused"}`);
    this.draw();
    this.say(token);
    asked(token);
  }

  show(tokens) {
    this.mask = Uint8Array.from(atob(tokens.bits), (character) => character.charCodeAt(0));
    this.size = tokens.size;
    this.at = -1;
    this.canvas.setAttribute("aria-valuemax", this.size - 1);
    this.canvas.setAttribute("aria-valuenow", 0);
    this.canvas.setAttribute("aria-valuetext", `${tokens.allowed} of ${tokens.size} tokens may come next`);
    this.draw();
    this.say(-1);
  }

  draw() {
    const width = Math.round(this.canvas.clientWidth * devicePixelRatio);
    const height = Math.round(this.canvas.clientHeight * devicePixelRatio);
    if (!width || !this.size) return;
    Object.assign(this.canvas, { width, height });
    const brush = this.canvas.getContext("2d");
    brush.fillStyle = resolved("var(--good)");
    for (let x = 0; x < width; x++) {
      const from = Math.floor((x * this.size) / width);
      const to = Math.max(from + 1, Math.floor(((x + 1) * this.size) / width));
      let allowed = 0;
      for (let token = from; token < to; token++) allowed += this.allows(token);
      if (!allowed) continue;
      brush.globalAlpha = 0.35 + (0.65 * allowed) / (to - from);
      brush.fillRect(x, 0, 1, height);
    }
    brush.globalAlpha = 1;
    if (this.at >= 0) {
      brush.fillStyle = resolved("var(--accent)");
      brush.fillRect((this.at / this.size) * width - devicePixelRatio, 0, 3 * devicePixelRatio, height);
    }
  }
}

// A colour of the style sheet as a canvas takes it, for light and dark.
function resolved(colour) {
  const probe = element("span");
  probe.hidden = true;
  probe.style.color = colour;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

export function showPicture(svg, alt) {
  const image = element("img");
  image.alt = alt;
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  image.addEventListener("load", () => URL.revokeObjectURL(address));
  image.src = address;
  $("canvas").replaceChildren(image);
}
