"""Random grammars in Lark's language, with every feature that it has."""

from __future__ import annotations

from random import Random
from typing import Any

from fuzz.patterns import PatternMaker, quoted

PALETTES = [
    "ab",
    "abc",
    "abcd",
    "ab ",
    "a1_",
    "ab\n",
    "a#\n ",
    "aAb",
    "xyz()",
    "a,;=",
    "/*a",
    "'\"a\\",
    ".0e+",
    "a-b",
    "01.",
    "<a/>",
    "[,]a",
    "{a:}",
    "a\t \n",
    "a\r\n",
    "éa",
    "aé漢",
    "a😀b",
    "iIıİ",
    "kK\u212a",
    "sSſß",
    "a\u0301e",
    "_a\x00",
    "a\xa0 ",
    "a\u2028\x85",
]
COMMON = [
    "INT",
    "DIGIT",
    "LETTER",
    "WS",
    "CNAME",
    "WORD",
    "NUMBER",
    "ESCAPED_STRING",
    "NEWLINE",
    "SIGNED_INT",
    "LCASE_LETTER",
    "HEXDIGIT",
    "WS_INLINE",
    "SH_COMMENT",
    "C_COMMENT",
    "FLOAT",
]


class GrammarMaker:
    """One random grammar, in the order in which it is written: terminals, rules, directives."""

    def __init__(self, rng: Random, looking: bool) -> None:
        self.rng = rng
        self.features: set[str] = set()
        self.options: dict[str, Any] = {}
        self.use_bytes = rng.random() < 0.05
        if self.use_bytes:
            self.letters = rng.choice(["ab", "a\x00", "a1_", "ab\n", "a\x7f"])
        else:
            self.letters = rng.choice(PALETTES[:20] if rng.random() < 0.75 else PALETTES)
        self.patterns = PatternMaker(rng, self.letters, looking, self.features, unicode=not self.use_bytes)
        self.lines: list[str] = []
        self.terminals: list[str] = []
        self.rules: list[str] = []
        self.templates: list[str] = []
        self.guarded = rng.random() < 0.5

    # Terminals

    def string(self) -> str:
        rng = self.rng
        text = "".join(rng.choice(self.letters) for _ in range(rng.choice([1, 1, 1, 2, 2, 3])))
        flag = ""
        if rng.random() < 0.06:
            self.features.add("case-insensitive string")
            flag = "i"
        return quoted(text) + flag

    def regex(self) -> str:
        pattern, flags = self.patterns.terminal(self.rng.choice([1, 1, 2, 2, 3]))
        return f"/{pattern}/{flags}"

    def terminal_expression(self, depth: int = 1) -> str:
        rng = self.rng
        roll = rng.random()
        if roll < 0.34:
            return self.string()
        if roll < 0.78 or depth == 0:
            return self.regex()
        if roll < 0.82:
            self.features.add("range")
            first, last = sorted(rng.choice("abcdxyz0159") for _ in range(2))
            return f'"{first}".."{last}"'
        self.features.add("terminal of terminals")
        parts = []
        for _ in range(rng.choice([1, 2, 2, 3])):
            part = rng.choice(self.terminals) if self.terminals and rng.random() < 0.3 else self.terminal_expression(0)
            roll = rng.random()
            if roll < 0.35:
                part = f"({part} | {self.terminal_expression(0)}){rng.choice(['', '', '+', '*', '?', '~2', '~1..2'])}"
            elif roll < 0.5:
                part += rng.choice(["+", "?", "*", "~2", "~0..2"])
            parts.append(part)
        joined = " ".join(parts)
        return f"{joined} | {self.terminal_expression(0)}" if rng.random() < 0.2 else joined

    def add_terminal(self) -> None:
        rng = self.rng
        name = rng.choice("ABCDEFXYZ") + rng.choice(["", "", "1", "_B"])
        if rng.random() < 0.1:
            name = "_" + name
        if name in self.terminals:
            name += str(len(self.terminals))
        priority = ""
        if rng.random() < 0.15:
            self.features.add("terminal priority")
            priority = f".{rng.choice([1, 1, 2, 5, -1])}"
        self.lines.append(f"{name}{priority}: {self.terminal_expression()}")
        self.terminals.append(name)

    def add_imports(self) -> None:
        rng = self.rng
        name = rng.choice(COMMON)
        self.features.add("%import")
        roll = rng.random()
        if roll < 0.6:
            self.lines.append(f"%import common.{name}")
        elif roll < 0.8:
            self.lines.append(f"%import common.{name} -> {name}_X")
            name += "_X"
        else:
            other = rng.choice(COMMON)
            self.lines.append(f"%import common ({name}, {other})")
            if other not in self.terminals and other != name:
                self.terminals.append(other)
        if name not in self.terminals:
            self.terminals.append(name)
        if rng.random() < 0.3:
            kind = rng.choice(["%override", "%extend"])
            self.features.add(kind)
            self.lines.append(f"{kind} {name}: {self.terminal_expression(0)}")

    # Rules

    def symbol(self) -> str:
        """A terminal in a rule: named, or in place."""
        rng = self.rng
        roll = rng.random()
        if self.terminals and roll < 0.6:
            return rng.choice(self.terminals)
        if roll < 0.9:
            return self.string()
        self.features.add("pattern in a rule")
        return self.regex()

    def item(self, depth: int) -> str:
        rng = self.rng
        roll = rng.random()
        if roll < 0.52:
            item = self.symbol()
        elif roll < 0.78 or depth == 0:
            item = rng.choice(self.rules)
        elif roll < 0.83 and self.templates:
            self.features.add("template")
            name, count = rng.choice(self.templates).split("/")
            arguments = ", ".join(
                self.symbol() if rng.random() < 0.7 else rng.choice(self.rules) for _ in range(int(count))
            )
            item = f"{name}{{{arguments}}}"
        elif roll < 0.93:
            item = f"({self.expansions(depth - 1)})"
        else:
            self.features.add("[optional]")
            return f"[{self.expansions(depth - 1)}]"
        roll = rng.random()
        if roll < 0.2:
            self.features.add("EBNF")
            item += rng.choice(["?", "*", "+", "+", "~2", "~1..2", "~0..2"])
            if rng.random() < 0.02:
                item = item.rstrip("?*+") if item[-1] in "?*+" else item
                if "~" not in item:
                    item += f"~{rng.choice([10, 25, 60])}"
        return item

    def expansion(self, depth: int, guard: str | None) -> str:
        rng = self.rng
        count = rng.choice([0, 1, 1, 1, 2, 2, 3]) if guard is None else rng.choice([0, 0, 1, 1, 2, 2])
        items = [self.item(depth) for _ in range(count)]
        if guard is not None:
            items.insert(0, guard)
        if not items:
            self.features.add("empty alternative")
        return " ".join(items)

    def expansions(self, depth: int) -> str:
        alternatives = [self.expansion(depth, None) for _ in range(self.rng.choice([1, 1, 2]))]
        return " | ".join(alternatives) if any(alternatives) else self.symbol()

    def rule_body(self) -> str:
        rng = self.rng
        count = rng.choice([1, 1, 2, 2, 3])
        guards: list[str | None] = [None] * count
        if self.guarded:
            pool = [*self.terminals, *(self.string() for _ in range(3))]
            rng.shuffle(pool)
            guards = [pool.pop() if pool and rng.random() < 0.85 else None for _ in range(count)]
        alternatives = []
        for guard in guards:
            text = self.expansion(2, guard)
            if rng.random() < 0.06:
                self.features.add("alias")
                text += f" -> alias{rng.randrange(9)}"
            alternatives.append(text)
        return "\n    | ".join(alternatives)

    def add_rule(self, name: str) -> None:
        rng = self.rng
        mark = ""
        if rng.random() < 0.15:
            mark = rng.choice(["?", "!", "!?"]) if name != "start" else "!"
            self.features.add(f"{mark[0]}rule")
        priority = ""
        if rng.random() < 0.08:
            self.features.add("rule priority")
            priority = f".{rng.choice([1, 2, -1])}"
        self.lines.append(f"{mark}{name}{priority}: {self.rule_body()}")
        if rng.random() < 0.02:
            kind = rng.choice(["%extend", "%override"])
            self.features.add(kind)
            self.lines.append(f"{kind} {name}: {self.rule_body()}")

    def add_templates(self) -> None:
        rng = self.rng
        shape = rng.choice(
            [
                "_sep{x, y}: x (y x)*",
                "pair{x, y}: x y",
                "_many{x}: x+",
                "both{x, y}: x y | y x",
                'deep{x}: x | "(" deep{x} ")"',
                "maybe{x}: x?",
                "twice{x}: x x",
                "_sep_many{x, y}: _sep_many{x, y} y x | x",
            ]
        )
        head = shape.partition("{")
        self.lines.append(shape)
        self.templates.append(f"{head[0]}/{head[2].partition('}')[0].count(',') + 1}")

    # The whole

    def ignored(self) -> None:
        rng = self.rng
        for _ in range(rng.choice([0, 0, 1, 1, 1, 2])):
            self.features.add("%ignore")
            roll = rng.random()
            if roll < 0.3 and self.terminals:
                self.lines.append(f"%ignore {rng.choice(self.terminals)}")
            elif roll < 0.5:
                self.lines.append('%ignore " "')
            elif roll < 0.75:
                self.lines.append(f"%ignore {self.string()}")
            else:
                self.lines.append(f"%ignore {self.regex()}")

    def set_options(self) -> None:
        rng = self.rng
        if self.use_bytes:
            self.options["use_bytes"] = True
            self.features.add("use_bytes")
        if rng.random() < 0.6:
            self.options["conflicts"] = "shift"
        if rng.random() < (0.3 if self.patterns.looking else 0.12):
            self.options["lookahead"] = "commit"
        if rng.random() < 0.15:
            self.options["lexer"] = "basic"
        if rng.random() < 0.15:
            self.options["maybe_placeholders"] = False
        if rng.random() < 0.05:
            self.options["g_regex_flags"] = int(rng.choice([2, 8, 16, 18]))
            self.features.add("g_regex_flags")
        if rng.random() < 0.04:
            self.options["priority"] = rng.choice([None, "normal", "invert"])
            self.features.add("priority option")
        for name in ("conflicts", "lookahead", "lexer"):
            if name in self.options:
                self.features.add(f"{name}={self.options[name]}")

    def make(self) -> tuple[str, dict[str, Any]]:
        rng = self.rng
        names = ["start", *(f"r{index}" for index in range(rng.choice([0, 1, 1, 2, 2, 3, 4, 6])))]
        self.rules = names
        if rng.random() < 0.12:
            self.add_imports()
        for _ in range(rng.choice([1, 1, 2, 2, 3, 4])):
            self.add_terminal()
        if rng.random() < 0.12:
            self.add_templates()
        for name in names:
            self.add_rule(name)
        self.ignored()
        if rng.random() < 0.03:
            self.features.add("%declare")
            self.lines.append("%declare GHOST")
            if rng.random() < 0.7:
                self.lines[-2:] = [*self.lines[-2:], "spare: GHOST"]
        self.set_options()
        if len(names) > 1 and rng.random() < 0.12:
            self.features.add("several starts")
            self.options["start"] = rng.sample(names, rng.choice([1, 2, 2]))
        if rng.random() < 0.3:
            rng.shuffle(self.lines)
        else:
            self.lines.reverse()
        # Directives that change a definition come after it.
        self.lines.sort(key=lambda line: line.startswith(("%override", "%extend")))
        return "\n".join(self.lines) + "\n", self.options


class ShapedMaker(GrammarMaker):
    """Grammars as people write them: lists, expressions, statements, nested values, with random terminals in them."""

    SHAPES = (
        ("list", "start: item (SEP item)*\nitem: VALUE | OPEN [item (SEP item)*] CLOSE"),
        (
            "expression",
            "start: sum\n?sum: product | sum OP product\n?product: atom | product OP2 atom\n"
            "atom: VALUE | OPEN sum CLOSE",
        ),
        ("statements", "start: stmt*\nstmt: WORD VALUE END | VALUE EQ VALUE END | OPEN stmt* CLOSE"),
        ("pairs", "start: pair*\npair: VALUE EQ value SEP?\n?value: VALUE | OPEN pair* CLOSE -> block"),
        ("dangling", "start: stmt\nstmt: WORD VALUE stmt [WORD2 stmt] | VALUE"),
        ("tags", "start: element*\nelement: OPEN VALUE CLOSE element* OPEN EQ CLOSE | VALUE"),
        ("line", "start: (line END)*\nline: WORD? VALUE (SEP VALUE)* | OPEN line CLOSE |"),
        ("right", "start: VALUE start | END | OPEN start CLOSE start"),
        ("keywords", "start: stmt+\nstmt: WORD VALUE? END | WORD2 VALUE END | VALUE END"),
        ("blocks", "start: block\nblock: OPEN (stmt END)* CLOSE\n?stmt: VALUE EQ VALUE | block | WORD"),
    )

    def make(self) -> tuple[str, dict[str, Any]]:
        rng = self.rng
        name, body = rng.choice(self.SHAPES)
        self.features.add(f"shape: {name}")
        self.rules = ["start"]
        roles = ["VALUE", "SEP", "OPEN", "CLOSE", "OP", "OP2", "WORD", "WORD2", "END", "EQ"]
        usual = {
            "SEP": ",",
            "OPEN": "(",
            "CLOSE": ")",
            "OP": "+",
            "OP2": "*",
            "WORD": "if",
            "WORD2": "else",
            "END": ";",
            "EQ": "=",
        }
        if rng.random() < 0.5:
            self.letters = self.patterns.letters = rng.choice(
                ["abi", "a1(", "if )", "e=a", "a;\n", "ab*/", "0.+", "els"]
            )
        lines = body.split("\n")
        for role in roles:
            if role not in body:
                continue
            roll = rng.random()
            if role == "VALUE":
                text = (
                    self.terminal_expression()
                    if roll < 0.75
                    else rng.choice(
                        [
                            r"/[a-z]+/",
                            r"/\w+/",
                            r"/[0-9]+(\.[0-9]+)?/",
                            r'/"[^"]*"/',
                            r"/[^()]+/",
                            r"/(?!if)[a-z]+/",
                            r"/\S+/",
                        ]
                    )
                )
            elif roll < 0.65:
                text = quoted(usual[role])
            else:
                text = self.terminal_expression(0)
            priority = f".{rng.choice([1, 2, -1])}" if rng.random() < 0.08 else ""
            lines.append(f"{role}{priority}: {text}")
            self.terminals.append(role)
        self.lines = lines
        roll = rng.random()
        if roll < 0.45:
            self.features.add("%ignore")
            self.lines.append(
                "%ignore "
                + rng.choice(['" "', r"/\s+/", r"/[ \t]+/", r"/#[^\n]*/", r"/[ \n]+/", r"/\/\*(.|\n)*?\*\//"])
            )
        self.ignored()
        self.set_options()
        return "\n".join(self.lines) + "\n", self.options
