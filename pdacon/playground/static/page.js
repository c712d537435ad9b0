// The page: what the parts do when something is typed, clicked, or answered.

import { Editor } from "./editor.js";
import { forgetColours, showFindings, showLexemes, showPicture, showPlace, showTokens, showWhy, Strip } from "./panels.js";
import { ask, end, Ended, first, isLive, packed, unpacked } from "./state.js";

const $ = (id) => document.getElementById(id);
const NOTATIONS = {
  lark: "Lark", "json-schema": "JSON Schema", gbnf: "GBNF (llama.cpp)", ebnf: "EBNF (XGrammar)", llguidance: "llguidance", regex: "regular expression",
};
const VIEWS = ["next", "rules", "automaton", "conflict", "parser", "samples"];
const TYPING = 60, CHECKING = 200, KEEPING = 300; // milliseconds of rest before work begins

const grammar = new Editor($("grammar"), "Grammar", { numbered: true });
const text = new Editor($("text"), "Text");
const strip = new Strip((token) => why(token));
const OPTIONS = ["start", "postlex", "conflicts", "lookahead"];
const POLICIES = { gbnf: ["conflicts"], ebnf: ["conflicts"], llguidance: ["conflicts", "lookahead"] }; // of other notations
let start, builtin = "", view = "next", findings = [], conflicts = [], seed = 1, most = 0, reading = null, marked = -1;
const timers = new Map();

function later(name, wait, act) {
  clearTimeout(timers.get(name));
  timers.set(name, setTimeout(act, wait));
}

// Runs what asks the server. What a later question has ended says nothing; other failures stand at the top.
function guarded(act) {
  return async (...given) => {
    try {
      await act(...given);
      $("trouble").hidden = true;
    } catch (error) {
      if (error instanceof Ended) return;
      $("trouble").textContent = error.message;
      $("trouble").hidden = false;
    }
  };
}

function source() {
  const notation = $("notation").value;
  const given = { text: grammar.text, notation };
  if (notation !== "lark") {
    const takes = POLICIES[notation] ?? [];
    if (takes.includes("conflicts") && $("conflicts").checked) given.conflicts = "shift";
    if (takes.includes("lookahead") && $("lookahead").checked) given.lookahead = "commit";
    return given;
  }
  return {
    ...given, builtin, start: $("start").value.trim(), postlex: $("postlex").value,
    conflicts: $("conflicts").checked ? "shift" : "error", lookahead: $("lookahead").checked ? "commit" : "reject",
  };
}

const question = () => ({ source: source(), tokenizer: $("tokenizer").value, text: text.text });

// Of a grammar that is new the next tokens come first: to say which terminals may come can take longer than to compile.
const look = guarded(async () => {
  const asked = { ...question(), wanted: $("find").value, most };
  end("look");
  if (isLive && isNew()) {
    const early = await ask("mask", asked);
    if (!early.text) return showRefusal(early);
    sayCompiled();
    showEarly(early.text);
  }
  const answer = await ask("look", asked);
  if (!answer.text) return showRefusal(answer);
  if (isNew()) sayCompiled();
  showReading(answer.text);
  goOn();
});

// What made the text no grammar is over; findings about its rules stay, pale, until the checker has its own.
function sayCompiled() {
  say($("verdict"), "compiled; the checker is at work ...", "");
  if (findings.every((finding) => finding.id)) return;
  findings = findings.filter((finding) => finding.id);
  showAll();
}

const isNew = () => $("verdict").dataset.of !== key();

function goOn() {
  if (isNew()) later("check", CHECKING, check);
  if (view !== "next") later("view", TYPING, showView);
}

function showRefusal({ report, error }) {
  showNothing();
  if (report) {
    showReport(report);
    return goOn();
  }
  const { message, span, pointer } = error;
  findings = [{ level: "error", id: "", title: "this is no grammar that can be used", message: pointer ? `${pointer}: ${message}` : message, span }];
  showAll();
  say($("verdict"), span ? `line ${span[0]}, column ${span[1]}: ${message.split("\n")[0]}` : message.split("\n")[0], "bad");
  $("verdict").dataset.of = "";
  if (view !== "next") later("view", TYPING, showView);
}

const key = () => JSON.stringify(source());

const check = guarded(async () => {
  const asked = key();
  const answer = await ask("check", { source: source() });
  if (answer.error) return say($("verdict"), answer.error.message.split("\n")[0], "bad");
  $("verdict").dataset.of = asked;
  showReport(answer.report);
});

function showReport(report) {
  findings = report.findings;
  conflicts = findings.filter((finding) => finding.picture).map((finding) => String(finding.picture));
  const late = report.unfinished.length ? "; not looked for to the end: " + report.unfinished.join(", ") : "";
  say($("verdict"), report.summary + late, report.ok ? "good" : "bad");
  showAll();
  if (view === "conflict") showView();
}

function showAll() {
  marked = -1;
  $("findings").classList.remove("stale");
  showFindings(findings, grammar, {
    chosen: choose,
    take: (change) => {
      if (change.conflicts) $("conflicts").checked = true;
      if (change.lookahead) $("lookahead").checked = true;
      if (change.text) grammar.replace(change.text);
      changed();
    },
    draw: (number) => {
      $("what").value = number;
      chosenPicture = String(number);
      open("conflict");
      $("tabs").scrollIntoView({ block: "nearest" });
    },
  });
}

function choose(number) {
  const { span } = findings[number];
  if (span) grammar.select(grammar.offset(span[0], span[1]), grammar.offset(span[2], span[3]));
  mark(number);
}

function mark(number) {
  marked = number;
  [...$("findings").children].forEach((item, k) => item.classList.toggle("chosen", k === number));
  $("findings").children[number]?.scrollIntoView({ block: "nearest" });
}

function say(place, message, kind) {
  place.textContent = message;
  place.className = `status ${kind}`;
}

function showReading(answer) {
  reading = answer;
  showLexemes(answer, text);
  const { line, column } = answer;
  $("tokens").hidden = false;
  if (!answer.viable) {
    say($("reading"), `${line}:${column}: ${answer.reason}`, "bad");
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: "Why?" });
    button.addEventListener("click", () => { open("next"); showWhy({ allowed: false, title: "The text is refused", text: answer.why }); });
    $("reading").append(button);
  }
  else say($("reading"), answer.whole ? "a whole text" : "the beginning of a text", answer.whole ? "good" : "");
  $("complete").disabled = !answer.viable || !(answer.forced || answer.completion);
  showPlace(answer);
  showChips(answer.tokens, addPiece);
  showWhy(null);
}

// The next tokens alone; the rest is that of the grammar before, and soon that of this one.
function showEarly({ viable, tokens }) {
  if (!viable) return say($("reading"), "the text is refused; looking for the reason ...", "bad");
  if (reading === null || !reading.viable) say($("reading"), "the beginning of a text", "");
  $("tokens").hidden = false;
  showChips(tokens, (piece) => { text.replace(text.text + piece); textChanged(); });
}

function showChips(tokens, append) {
  showTokens(tokens, { append, why, more: () => { most = 2000; look(); } });
  strip.show(tokens);
}

function showNothing() {
  reading = null;
  text.show([]);
  say($("reading"), "the grammar is refused, so no text can be read", "");
  $("complete").disabled = true;
  $("place").replaceChildren();
  $("tokens").hidden = true;
  showWhy(null);
}

// Goes on from what is the beginning of a text: what is refused is replaced.
function addPiece(piece) {
  const viable = reading ? reading.lexemes.map((lexeme) => lexeme.text).join("") : text.text;
  text.replace(viable + piece);
  textChanged();
}

const why = guarded(async (token, typed = "") => {
  const answer = await ask("explain", { ...question(), token, typed });
  if (answer.error) throw new Error(answer.error.message);
  const id = answer.token === null ? "" : `token ${answer.token} `;
  showWhy({ ...answer, title: `${id}${answer.name} is ${answer.allowed ? "allowed" : "refused"}` });
  $("why").scrollIntoView({ block: "nearest" });
});

// The views beside the next tokens.

let chosenPicture = "", subject = "";

const showView = guarded(async () => {
  const own = view;
  $("next").hidden = view !== "next";
  $("drawn").hidden = view === "next";
  if (view === "next") return;
  $("samples").hidden = view !== "samples";
  $("canvas").hidden = view === "samples";
  $("again").hidden = view !== "samples";
  $("what-label").hidden = view !== "automaton" && view !== "conflict";
  $("which").hidden = view === "rules" || view === "parser";
  $("what-label").firstChild.textContent = view === "conflict" ? "Conflict " : "Terminal ";
  if (view !== "conflict") $("drawn-note").textContent = "";
  const failed = (message) => {
    $("canvas").replaceChildren();
    $("drawn-note").textContent = message.split("\n")[0];
  };
  if (view === "samples") return showSamples();
  if (view === "automaton") await listTerminals();
  else if (view === "conflict") {
    listChoices(conflicts);
    if (!conflicts.length) return failed("The grammar has no conflict.");
  }
  if (view !== own) return;
  const name = view === "automaton" || view === "conflict" ? $("what").value : "";
  const answer = await ask("picture", { ...question(), kind: view, name });
  if (answer.error) return failed(answer.error.message);
  $("drawn-note").textContent = "";
  showPicture(answer.svg, { rules: "Railroad diagrams of the rules", automaton: `The automaton of ${name}`, conflict: "Two readings of one sentence", parser: "The parser's state after the text" }[own]);
});

async function listTerminals() {
  const asked = `terminals ${key()}`;
  if (subject !== asked) {
    const answer = await ask("names", { source: source() });
    const names = answer.error ? [] : answer.terminals;
    chosenPicture ||= [...(reading?.unfinished ?? []), ...(reading?.expected ?? [])].find((name) => names.includes(name)) ?? "";
    listChoices(names);
    subject = asked;
  }
}

function listChoices(names) {
  subject = "";
  const kept = chosenPicture || $("what").value;
  $("what").replaceChildren(...names.map((name) => new Option(name, name)));
  if (names.includes(kept)) $("what").value = kept;
  chosenPicture = "";
}

async function showSamples() {
  const answer = await ask("samples", { source: source(), seed });
  $("drawn-note").textContent = answer.error ? answer.error.message.split("\n")[0] : "Random texts of the grammar: a click takes one over.";
  $("samples").replaceChildren(
    ...(answer.samples ?? []).map((sample) => {
      const item = document.createElement("li"), button = document.createElement("button");
      button.type = "button";
      button.textContent = sample || "(the empty text)";
      button.addEventListener("click", () => { text.replace(sample); textChanged(); });
      item.append(button);
      return item;
    }),
  );
}

function open(name) {
  view = name;
  for (const each of VIEWS) {
    const tab = $(`tab-${each}`);
    tab.setAttribute("aria-selected", each === name);
    tab.tabIndex = each === name ? 0 : -1;
  }
  $("view").setAttribute("aria-labelledby", `tab-${name}`);
  showView();
  keep();
}

// What is typed.

function changed() {
  $("findings").classList.add("stale");
  $("verdict").dataset.of = "";
  most = 0;
  later("look", TYPING, look);
  keep();
}

function textChanged() {
  most = 0;
  look();
  keep();
}

function setNotation(name) {
  $("notation").value = name;
  grammar.notation = name;
  const takes = name === "lark" ? OPTIONS : POLICIES[name] ?? [];
  $("options").hidden = !takes.length;
  for (const id of OPTIONS) $(id).closest("label").hidden = !takes.includes(id);
  grammar.draw();
}

// The address of the page.

function keep() {
  later("keep", KEEPING, async () => {
    const given = source();
    if (builtin && start.builtins.find((own) => own.name === builtin)?.text === given.text) delete given.text;
    const state = { s: given, t: text.text, k: $("tokenizer").value, v: view };
    history.replaceState(null, "", `#${await packed(state)}`);
  });
}

function take({ s, t, k, v }) {
  builtin = s.builtin ?? "";
  setNotation(NOTATIONS[s.notation] ? s.notation : "lark");
  grammar.text = s.text ?? start.builtins.find((own) => own.name === builtin)?.text ?? "";
  $("start").value = s.start ?? "";
  $("postlex").value = s.postlex ?? "";
  $("conflicts").checked = s.conflicts === "shift";
  $("lookahead").checked = s.lookahead === "commit";
  text.text = t ?? "";
  findings = [];
  showAll();
  forgetColours();
  if (k && start.tokenizers.some((own) => own.name === k)) $("tokenizer").value = k;
  changed();
  open(VIEWS.includes(v) ? v : view);
}

async function fromAddress() {
  const fragment = location.hash.slice(1);
  if (!fragment) return false;
  try {
    take(await unpacked(fragment));
    return true;
  } catch {
    $("trouble").textContent = "The link is not whole, so the page begins with an example.";
    $("trouble").hidden = false;
    return false;
  }
}

function takeExample(name) {
  const [kind, own] = [name.slice(0, 2), name.slice(2)];
  const example = kind === "e:" ? start.examples.find((each) => each.name === own) : { builtin: own, grammar: "", notation: "lark", text: "" };
  const text = example.builtin ? {} : { text: example.grammar };
  take({ s: { ...text, notation: example.notation, builtin: example.builtin }, t: example.text });
}

// Themes: of the system, or one of one's own.

function showTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  $("theme").textContent = `Theme: ${theme}`;
  strip.draw();
}

function stored(theme) {
  try {
    if (theme) localStorage.setItem("pdacon-theme", theme);
    return localStorage.getItem("pdacon-theme") ?? "system";
  } catch {
    return theme ?? "system"; // a browser may keep nothing
  }
}

function listen() {
  grammar.input.addEventListener("input", changed);
  text.input.addEventListener("input", textChanged);
  for (const id of OPTIONS) $(id).addEventListener("input", changed);
  $("notation").addEventListener("change", () => { builtin = ""; setNotation($("notation").value); changed(); });
  $("tokenizer").addEventListener("change", textChanged);
  $("example").addEventListener("change", () => { takeExample($("example").value); });
  $("find").addEventListener("input", () => { most = 0; look(); });
  $("find").addEventListener("keydown", (event) => {
    const asked = $("find").value;
    if (event.key !== "Enter" || !asked) return;
    const id = /^#\d+$/.test(asked) ? Number(asked.slice(1)) : null;
    why(id, id === null ? asked : "");
  });
  $("why-close").addEventListener("click", () => showWhy(null));
  $("clear").addEventListener("click", () => { text.replace(""); textChanged(); });
  $("complete").addEventListener("click", complete);
  $("what").addEventListener("change", showView);
  $("again").addEventListener("click", () => { seed++; showView(); });
  $("help").addEventListener("click", () => $("about").showModal());
  $("share").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      $("share").textContent = "Copied";
    } catch {
      $("share").textContent = "Copy it from the address bar";
    }
    later("share", 1500, () => { $("share").textContent = "Copy link"; });
  });
  $("theme").addEventListener("click", () => {
    const order = ["system", "light", "dark"];
    showTheme(stored(order[(order.indexOf(stored()) + 1) % 3]));
  });
  $("tabs").addEventListener("click", (event) => { if (event.target.id.startsWith("tab-")) open(event.target.id.slice(4)); });
  $("tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    open(VIEWS[(VIEWS.indexOf(view) + step + VIEWS.length) % VIEWS.length]);
    $(`tab-${view}`).focus();
  });
  document.addEventListener("click", (event) => {
    if (!$("options").contains(event.target)) $("options").open = false;
  });
  document.addEventListener("selectionchange", () => {
    if (document.activeElement !== grammar.input || !findings.length) return;
    const at = grammar.input.selectionStart;
    const here = findings.findIndex(({ span }) => span && grammar.offset(span[0], span[1]) <= at && at <= grammar.offset(span[2], span[3]));
    if (here !== marked) mark(here);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") $("options").open = false;
    else if (event.key === "F8" && findings.length) {
      event.preventDefault();
      choose((marked + 1) % findings.length);
    } else if (event.ctrlKey && event.key === ".") {
      event.preventDefault();
      const items = [...$("findings").children];
      (items[marked] ?? items.find((item) => item.querySelector(".take")))?.querySelector(".take")?.click();
    } else if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
      event.preventDefault();
      complete();
    }
  });
}

function complete() {
  if (reading?.viable && (reading.forced || reading.completion)) addPiece(reading.forced || reading.completion);
}

async function begin() {
  start = await first();
  $("notation").replaceChildren(...start.notations.map((name) => new Option(NOTATIONS[name], name)));
  $("tokenizer").replaceChildren(...start.tokenizers.map(({ name, size }) => new Option(`${name} (${size.toLocaleString("en")})`, name)));
  $("postlex").replaceChildren(new Option("none", ""), ...start.indenters.map((name) => new Option(name, name)));
  const group = (label, options) => {
    const made = document.createElement("optgroup");
    made.label = label;
    made.append(...options);
    return made;
  };
  $("example").replaceChildren(
    group("Examples", start.examples.map(({ name, about }) => new Option(`${name}: ${about}`, `e:${name}`))),
    group("Grammars that come with pdacon", start.builtins.map(({ name }) => new Option(name, `b:${name}`))),
  );
  showTheme(stored());
  strip.say(-1);
  listen();
  if (await fromAddress()) $("example").selectedIndex = -1;
  else takeExample($("example").value);
}

guarded(begin)();
