"""Random grammars with an Indenter: blocks, parentheses, comments, and what is ignored beside newlines."""

from __future__ import annotations

from typing import Any

from fuzz.grammars import GrammarMaker
from fuzz.patterns import quoted

NEWLINES = [
    r"/\n */",
    r"/\n[ \t]*/",
    r"/(\r?\n[\t ]*)+/",
    r"/(\r?\n[\t ]*)+/",
    r"/\n+ */",
    r"/[\r\n]+[ \t]*/",
    r"/(\n *)+/",
    r"/\n(    )*/",
    r"/\n {0,8}/",
    r"/\n(  )*/",
    r"/\n\t*/",
    r"/\n/",
    r"/(\n[ \t]*|#[^\n]*)+/",
    r"/([ \t]*(#[^\n]*)?\n[ \t]*)+/",
    r"/(\n *)+?/",
    r"/\n *(#[^\n]*\n *)*/",
    r"/(;|\n) */",
    r"/\n *|;/",
    r"/\n[ a]*/",
    r"/(?:\n *){1,2}/",
    r"/\n *?/",
    r"/(\n|\n  )+/",
]
LOOKING_NEWLINES = [
    r"/\n *(?!\n)/",
    r"/\n *(?=a)/",
    r"/(?<!;)\n */",
    r"/\n *+/",
    r"/^\n */",
    r"/(?<=;)\n */",
    r"/\n(?= ) */",
    r"/\n *$/",
]
IGNORED = [
    '" "',
    r"/[\t ]+/",
    r"/[\t \f]+/",
    r"/#[^\n]*/",
    r"/\\\n/",
    r"/\\[\t ]*\r?\n/",
    r"/ +/",
    '"b"',
    r"/#[^#]{1,3}#/",
    r"/\s+/",
    r"/\n/",
    r"/[\t ]+(?=\n)/",
    r"/ (?! )/",
    r"/\/\*(.|\n)*?\*\//",
]


class IndentedMaker(GrammarMaker):
    """Grammars for ``lark.indenter.Indenter``, most of which open and close in one rule, as pdacon asks."""

    def make_indented(self) -> tuple[str, dict[str, Any], dict[str, Any]]:
        rng = self.rng
        self.use_bytes = False
        if rng.random() < 0.7:
            self.letters = self.patterns.letters = rng.choice(
                ["ab", "abc", "a#", "ab:", "a ", "a;", "b\n", "a\\\n", "a( ", "é:"]
            )
        newline = rng.choice(LOOKING_NEWLINES if self.patterns.looking and rng.random() < 0.2 else NEWLINES)
        names = {"NL": rng.choice(["_NL", "_NL", "_NEWLINE", "NL"]), "IN": "_INDENT", "OUT": "_DEDENT"}
        parens = rng.random() < 0.6
        self.rules = ["atom"]
        for _ in range(rng.choice([0, 1, 1, 2, 3])):
            self.add_terminal()
        self.features.add("Indenter")
        lines = [f"{names['NL']}: {newline}", f"%declare {names['IN']} {names['OUT']}"]
        if rng.random() < 0.05:
            lines[0] = f"{names['NL']}.{rng.choice([1, 2, -1])}: {newline}"
        lines += self._rules(names, parens)
        if parens:
            self.features.add("parentheses of an Indenter")
            lines += ['LPAR: "("', 'RPAR: ")"']
            if rng.random() < 0.15:
                lines += ['LSQB: "["', 'RSQB: "]"']
        for _ in range(rng.choice([0, 1, 1, 1, 2])):
            self.features.add("%ignore")
            if rng.random() < 0.75:
                lines.append(f"%ignore {rng.choice(IGNORED)}")
            else:
                lines.append(f"%ignore {self.terminal_expression(0)}")
        attributes: dict[str, Any] = {
            "NL_type": names["NL"],
            "OPEN_PAREN_types": ["LPAR", "LSQB"] if parens and "LSQB" in "".join(lines) else ["LPAR"] if parens else [],
            "CLOSE_PAREN_types": ["RPAR", "RSQB"]
            if parens and "LSQB" in "".join(lines)
            else ["RPAR"]
            if parens
            else [],
            "INDENT_type": names["IN"],
            "DEDENT_type": names["OUT"],
            "tab_len": rng.choice([8, 8, 4, 1, 2]),
        }
        if rng.random() < 0.15:
            self.features.add("FixedWidthIndenter")
            attributes["indent_len"] = rng.choice([1, 2, 4])
        self.set_options()
        self.options.pop("use_bytes", None)
        self.features.discard("use_bytes")
        return "\n".join([*lines, *self.lines]) + "\n", self.options, attributes

    def word(self) -> str:
        rng = self.rng
        if self.terminals and rng.random() < 0.45:
            return rng.choice(self.terminals)
        return self.string() if rng.random() < 0.8 else self.regex()

    def _rules(self, names: dict[str, str], parens: bool) -> list[str]:
        rng = self.rng
        nl, into, out = names["NL"], names["IN"], names["OUT"]
        head = self.word()
        first = rng.choice([f"{nl}? ", "", "", ""])
        block = rng.choice(
            [
                f"{nl} {into} stmt+ {out}",
                f"{nl} {into} stmt+ {out}",
                f"{nl} {into} stmt {out}",
                f"{nl} {into} {nl}? stmt+ {out}",
                f"{nl} {into} (stmt | {nl})+ {out}",
                f"{nl} [{into} stmt+ {out}]",
                f"{nl} ({into} stmt+ {out})?",
                f"({nl} | {quoted(';')} {nl}) {into} stmt* {out}",
            ]
        )
        shape = rng.random()
        if shape < 0.1:
            # No rule has a newline or a block, but the postlexer is there.
            self.features.add("Indenter without blocks")
            return [f"start: atom{rng.choice(['', '+', '*'])}", *self._atoms(parens, None)]
        if shape < 0.3:
            # An outline: a line and perhaps its block.
            self.features.add("outline")
            return [
                f"start: {first}stmt{rng.choice(['+', '*', ''])}",
                f"stmt: {rng.choice(['atom', 'atom+', 'atom'])} {nl} [{into} stmt+ {out}]",
                *self._atoms(parens, nl),
            ]
        if shape < 0.4:
            # A block that more than one rule opens.
            return [
                f"start: {first}(stmt | {nl})*",
                f"stmt: simple | {head} suite",
                f"simple: atom+ {nl}",
                f"suite: simple | {block}",
                f"{rng.choice(['', '?'])}atom2: atom",
                *self._atoms(parens, nl),
            ]
        if shape < 0.47:
            # Blocks in places that grammars seldom have them in.
            self.features.add("odd blocks")
            start = rng.choice(
                [
                    f"{into} atom {out} {nl}",
                    f"{nl} {into} atom {nl} {out} start?",
                    f"atom ({nl} {into} atom {out})* {nl}?",
                    f"({nl} {into} start {out} | atom)+",
                ]
            )
            return [f"start: {start}", *self._atoms(parens, nl)]
        return [
            f"start: {first}stmt{rng.choice(['+', '*', '+'])}",
            f"stmt: atom{rng.choice(['', '+', '*'])} {nl} | {head} {block}",
            *self._atoms(parens, nl),
        ]

    def _atoms(self, parens: bool, nl: str | None) -> list[str]:
        rng = self.rng
        alternatives = [self.word() for _ in range(rng.choice([1, 1, 2, 3]))]
        if parens:
            inner = rng.choice(["atom*", "atom", "atom+", "[atom]", "atom2*", ""])
            if "atom2" in inner:
                inner = inner.replace("atom2", "atom")
            alternatives.append(f"LPAR {inner} RPAR")
            if rng.random() < 0.1 and nl:
                alternatives.append(f"LPAR {nl} RPAR")
        if rng.random() < 0.1:
            alternatives.append(f"{self.word()} {self.word()}?")
        return [f"{rng.choice(['', '?', '!'])}atom: {' | '.join(alternatives)}"]
