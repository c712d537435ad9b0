// The colours of a grammar, as VS Code's own tokenizer gives them: `npm test`.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { test } = require("node:test");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const HERE = path.join(__dirname, "..");
const GRAMMARS = process.env.PDACON_GRAMMARS ?? path.join(HERE, "../../../grammars");

async function loadGrammar() {
  await oniguruma.loadWASM(fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) => {
      const file = path.join(HERE, "syntaxes/lark.tmLanguage.json");
      return scope === "source.lark" ? textmate.parseRawGrammar(fs.readFileSync(file, "utf8"), file) : null;
    },
  });
  return registry.loadGrammar("source.lark");
}

const loaded = loadGrammar();

/** The texts of a line that have scopes of their own, each with its innermost one; neighbours of one scope together. */
function colours(grammar, line) {
  const parts = [];
  for (const token of grammar.tokenizeLine(line, textmate.INITIAL).tokens) {
    const text = line.slice(token.startIndex, token.endIndex);
    const scope = token.scopes.at(-1);
    if (parts.at(-1)?.[1] === scope) parts.at(-1)[0] += text;
    else parts.push([text, scope]);
  }
  return parts.filter(([text, scope]) => text.trim() && scope !== "source.lark");
}

const LINES = {
  "// pdacon: --start program": [
    ["// ", "comment.line.lark"],
    ["pdacon:", "keyword.other.option.lark"],
    [" --start program", "string.unquoted.option.lark"],
  ],
  '?sum.2: sum "+" NAME -> add // "no string"': [
    ["?", "storage.modifier.lark"],
    ["sum", "entity.name.function.rule.lark"],
    [".", "punctuation.separator.priority.lark"],
    ["2", "constant.numeric.priority.lark"],
    [":", "punctuation.separator.definition.lark"],
    ["sum", "variable.other.rule.lark"],
    ['"+"', "string.quoted.double.lark"],
    ["NAME", "constant.other.terminal.lark"],
    ["->", "keyword.operator.alias.lark"],
    ["add", "entity.name.tag.alias.lark"],
    ['// "no string"', "comment.line.lark"],
  ],
  'KEY.-1: "a\\"b"i': [
    ["KEY", "entity.name.type.terminal.lark"],
    [".", "punctuation.separator.priority.lark"],
    ["-1", "constant.numeric.priority.lark"],
    [":", "punctuation.separator.definition.lark"],
    ['"a', "string.quoted.double.lark"],
    ['\\"', "constant.character.escape.lark"],
    ['b"', "string.quoted.double.lark"],
    ["i", "storage.modifier.flags.lark"],
  ],
  "list{item, sep}: item (sep item)~1..3": [
    ["list", "entity.name.function.rule.lark"],
    ["{", "punctuation.definition.parameters.lark"],
    ["item", "variable.parameter.lark"],
    ["sep", "variable.parameter.lark"],
    ["}", "punctuation.definition.parameters.lark"],
    [":", "punctuation.separator.definition.lark"],
    ["item", "variable.other.rule.lark"],
    ["sep", "variable.other.rule.lark"],
    ["item", "variable.other.rule.lark"],
    ["~", "keyword.operator.repeat.lark"],
    ["1", "constant.numeric.lark"],
    ["..", "keyword.operator.range.lark"],
    ["3", "constant.numeric.lark"],
  ],
  "%import common.NUMBER -> N": [
    ["%import", "keyword.control.import.lark"],
    ["common", "entity.name.namespace.lark"],
    ["NUMBER", "constant.other.terminal.lark"],
    ["->", "keyword.operator.alias.lark"],
    ["N", "entity.name.tag.alias.lark"],
  ],
  "%override start: NAME": [
    ["%override", "keyword.control.directive.lark"],
    ["start", "entity.name.function.rule.lark"],
    [":", "punctuation.separator.definition.lark"],
    ["NAME", "constant.other.terminal.lark"],
  ],
};

for (const [line, expected] of Object.entries(LINES)) {
  test(line, async () => assert.deepStrictEqual(colours(await loaded, line), expected));
}

test("an escaped slash does not end a pattern, and what is behind it is none", async () => {
  const scopes = colours(await loaded, 'SLASH: /a\\/b"/s | NAME');
  assert.deepStrictEqual(scopes.at(-1), ["NAME", "constant.other.terminal.lark"]);
  assert.ok(!scopes.some(([, scope]) => scope.startsWith("string.quoted")), JSON.stringify(scopes));
});

test("no line of a grammar that comes with pdacon runs on into the next one", async (t) => {
  if (!fs.existsSync(GRAMMARS)) return t.skip(`${GRAMMARS} is not here`);
  const grammar = await loaded;
  const files = fs.readdirSync(GRAMMARS).filter((name) => name.endsWith(".lark"));
  assert.ok(files.length > 5);
  for (const name of files) {
    for (const line of fs.readFileSync(path.join(GRAMMARS, name), "utf8").split("\n")) {
      const after = grammar.tokenizeLine(line, textmate.INITIAL).ruleStack;
      assert.strictEqual(after.depth, 1, `${name}: ${line}`);
    }
  }
});
