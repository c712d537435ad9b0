"""The corpus: grammars of published packages, each as the package itself gives it to Lark.

Nothing of them is in this repository: `reading` takes their texts out of what is installed. The test extra ``corpus``
installs the packages of `EXTRA`; the others want much that has nothing to do with their grammars, so that
``requirements.txt`` beside this file lists them, to be installed without their dependencies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from lark.indenter import Indenter, PythonIndenter


@dataclass(frozen=True)
class Refusal:
    """What pdacon does not take, though stock LALR does."""

    match: str  # a regular expression for its message
    reason: str


@dataclass(frozen=True)
class Entry:
    """One grammar with the options that its package gives to Lark.

    Parameters
    ----------
    name : str
        Short and unique.
    distribution : str
        The package on PyPI.
    file : str
        Where it is installed, from the folder that holds the package.
    constants : tuple of str
        For a Python file: the targets of the assignments whose strings, joined, are the grammar; a target that is
        assigned a call means its first argument.
    start : str or tuple of str
        The start rules.
    options : dict
        Further options of Lark's that change the language.
    import_paths : tuple of str
        Folders from which the grammar imports, named as ``file`` is.
    untried : str
        A regular expression: texts in which it is found are not tried, because stock Lark's ``re`` takes exponential
        time to refuse some of them.
    depth : int
        From which depth on the sampler ends its derivations.
    texts : tuple of str
        Patterns of real texts that the package brings, from the folder that holds it.
    needs : tuple of str
        Options of pdacon's that leave the defaults: ``conflicts="shift"``, ``lookahead="commit"``.
    stock_loads : bool
        Whether stock LALR loads the grammar.
    refusal : Refusal, optional
        Why pdacon does not, where stock LALR does.
    """

    name: str
    distribution: str
    file: str
    constants: tuple[str, ...] = ()
    start: str | tuple[str, ...] = "start"
    options: dict[str, Any] = field(default_factory=dict)
    import_paths: tuple[str, ...] = ()
    untried: str = ""
    depth: int = 6
    texts: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    stock_loads: bool = True
    refusal: Refusal | None = None

    @property
    def reads(self) -> bool:
        """Whether there is something to compare."""
        return self.stock_loads and self.refusal is None


class FourColumnIndenter(PythonIndenter):
    """Vyper's: Lark's PythonIndenter with narrower tabs."""

    tab_len = 4


class DocstringIndenter(Indenter):
    """Preql's for docstrings."""

    NL_type = "_NL"
    OPEN_PAREN_types: list[str] = []  # noqa: RUF012 - as Lark declares them
    CLOSE_PAREN_types: list[str] = []  # noqa: RUF012
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 1


_PLAIN: dict[str, Any] = {"maybe_placeholders": False}
_OPTIMADE = "optimade/grammar/v{}.lark"
_WHATRECORD = "whatrecord/grammar/{}.lark"
_SYNCODE = "syncode/parsers/grammars/{}.lark"
_CQL = ("pygeofilter/parsers",)
_SHIFT = ("conflicts",)
_COMMIT = ("lookahead",)
_BOTH = ("conflicts", "lookahead")
_WDL_STARTS = ("document", "expr", "tasks")

#: What the extra ``corpus`` installs.
EXTRA = (
    Entry("lark: common", "lark", "lark/grammars/common.lark", stock_loads=False),
    Entry("lark: lark", "lark", "lark/grammars/lark.lark", needs=_COMMIT),
    Entry(
        "lark: python",
        "lark",
        "lark/grammars/python.lark",
        start=("file_input", "eval_input", "single_input"),
        options={"postlex": PythonIndenter()},
        needs=_SHIFT,
    ),
    Entry("lark: unicode", "lark", "lark/grammars/unicode.lark", stock_loads=False),
    Entry(
        "sympy: latex", "sympy", "sympy/parsing/latex/lark/grammar/latex.lark", start="latex_string", stock_loads=False
    ),
    Entry("sympy: greek symbols", "sympy", "sympy/parsing/latex/lark/grammar/greek_symbols.lark", stock_loads=False),
    Entry(
        "hcl2",
        "python-hcl2",
        "hcl2/hcl2.lark",
        refusal=Refusal("backreference", "the terminal HEREDOC_TEMPLATE has a backreference, which is not regular"),
    ),
    Entry("poetry: markers", "poetry-core", "poetry/core/version/grammars/markers.lark"),
    Entry("poetry: pep508", "poetry-core", "poetry/core/version/grammars/pep508.lark", needs=_SHIFT),
    Entry(
        "mapfile",
        "mappyfile",
        "mappyfile/mapfile.lark",
        needs=_BOTH,
    ),
    *(
        Entry(
            f"optimade: {version}",
            "optimade",
            _OPTIMADE.format(version),
            start="filter",
            options=_PLAIN,
            untried=r'(?s)"[^"]{16,}\Z|(?:\\.*){6}',
        )
        for version in ("1.0.0", "1.0.1", "1.1.0", "1.2.0")
    ),
    Entry("cql2", "pygeofilter", "pygeofilter/parsers/cql2_text/grammar.lark", options=_PLAIN, import_paths=_CQL),
    Entry("ecql", "pygeofilter", "pygeofilter/parsers/ecql/grammar.lark", options=_PLAIN, import_paths=_CQL),
    Entry("wkt", "pygeofilter", "pygeofilter/parsers/wkt.lark", start="ewkt_geometry", options=_PLAIN),
    Entry("iso8601", "pygeofilter", "pygeofilter/parsers/iso8601.lark", stock_loads=False),
    Entry("beancount", "beancount-parser", "beancount_parser/grammar/beancount.lark", needs=_BOTH),
    *(
        Entry(f"pylogics: {logic}", "pylogics", f"pylogics/parsers/{logic}.lark", needs=needs)
        for logic, needs in (("pl", ()), ("ltl", ()), ("pltl", ()), ("ldl", _SHIFT))
    ),
    Entry("ldf", "ldfparser", "ldfparser/grammars/ldf.lark", needs=_SHIFT),
    Entry(
        "iri",
        "rfc3987-syntax",
        "rfc3987_syntax/syntax_rfc3987.lark",
        start=("iri", "iri_reference", "absolute_iri"),
        stock_loads=False,
    ),
    Entry("mistql", "mistql", "mistql/grammar.lark", stock_loads=False),
    Entry(
        "vyper",
        "vyper",
        "vyper/ast/grammar.lark",
        start="module",
        options={"postlex": FourColumnIndenter()},
        texts=("vyper/builtins/interfaces/*.vyi", "vyper/builtins/stdlib/*.vy"),
        needs=_SHIFT,
    ),
    Entry("venom", "vyper", "vyper/venom/parser.py", ("VENOM_GRAMMAR",), needs=_SHIFT),
    Entry(
        "wdl: draft-2",
        "miniwdl",
        "WDL/_grammar_old.py",
        ("productions_common1", "productions_pre_1_0"),
        start=_WDL_STARTS,
        options=_PLAIN,
        needs=_BOTH,
    ),
    Entry(
        "wdl: 1.0",
        "miniwdl",
        "WDL/_grammar_old.py",
        ("productions_common1", "productions_1_0"),
        start=_WDL_STARTS,
        options=_PLAIN,
        needs=_BOTH,
    ),
    Entry(
        "wdl: 1.1",
        "miniwdl",
        "WDL/_grammar_old.py",
        ("productions_1_1",),
        start=_WDL_STARTS,
        options=_PLAIN,
        needs=_BOTH,
    ),
    Entry(
        "wdl: development",
        "miniwdl",
        "WDL/_grammar.py",
        ("versions['development']",),
        start=_WDL_STARTS,
        options=_PLAIN,
        needs=_BOTH,
    ),
    Entry("outlines: json", "outlines", "outlines/grammars/json.lark"),
    Entry("outlines: arithmetic", "outlines", "outlines/grammars/arithmetic.lark"),
    Entry("outlines: common", "outlines", "outlines/grammars/common.lark", stock_loads=False),
    Entry("ucum", "ucumvert", "ucumvert/ucum_grammar.lark", start="main_term", needs=_SHIFT),
    Entry("cypher", "grand-cypher", "grandcypher/__init__.py", ("_GrandCypherGrammar",), stock_loads=False),
    Entry(
        "verilog netlist",
        "circuitgraph",
        "circuitgraph/parsing/verilog.lark",
        texts=("circuitgraph/netlists/c17*.v", "circuitgraph/netlists/c4*.v"),
    ),
    Entry(
        "eql",
        "eql",
        "eql/etc/eql.g",
        start=(
            "piped_query",
            "definition",
            "definitions",
            "field_parts",
            "query_with_definitions",
            "expr",
            "signed_single_atom",
        ),
        needs=_BOTH,
    ),
    Entry(
        "liberty functions",
        "liberty-parser",
        "liberty/boolean_functions.py",
        ("boolean_function_grammar",),
        needs=_SHIFT,
    ),
)

#: What ``requirements.txt`` installs.
FURTHER = (
    Entry("dotmotif", "dotmotif", "dotmotif/parsers/v2/grammar.lark", stock_loads=False),
    Entry(
        "storm",
        "synapse",
        "synapse/data/lark/storm.lark",
        start=("query", "lookup", "cmdrargs", "evalvalu", "search"),
        options=_PLAIN,
        stock_loads=False,
    ),
    Entry(
        "storm: command line", "synapse", "synapse/lib/parser.py", ("CmdStringGrammar",), start="cmdstring", needs=_BOTH
    ),
    Entry("imap", "synapse", "synapse/data/lark/imap.lark", start="input", options=_PLAIN),
    Entry(
        "pddl",
        "pddl",
        "pddl/parser/grammar.lark",
        start=("domain", "problem", "plan"),
        import_paths=("pddl/parser",),
        needs=_SHIFT,
    ),
    Entry(
        "cel",
        "cel-python",
        "celpy/cel.lark",
        start="expr",
        options={**_PLAIN, "g_regex_flags": re.M, "priority": "invert"},
        untried=r"(?s)(?:\\.*){6}",
        needs=_BOTH,
    ),
    Entry("ast patterns", "pyoak", "pyoak/match/grammar.py", ("PATTERN_DEF_GRAMMAR",), start="tree"),
    Entry("ast xpath", "pyoak", "pyoak/match/xpath.py", ("xpath_grammar",), start="xpath"),
    Entry("commented json", "commentjson", "commentjson/commentjson.py", ("parser",)),
    Entry("openqasm 2", "bloqade-circuit", "bloqade/qasm2/parse/qasm2.lark", start="mainprogram"),
    Entry(
        "genesis lattice",
        "lume-genesis",
        "genesis/version4/input/lattice.lark",
        needs=_SHIFT,
        texts=("genesis/**/*.lat",),
    ),
    Entry("genesis main input", "lume-genesis", "genesis/version4/input/main_input.lark", needs=_BOTH),
    Entry(
        "kestrel",
        "kestrel-core",
        "kestrel/syntax/kestrel.lark",
        needs=_BOTH,
    ),
    Entry("kestrel: ecg pattern", "kestrel-core", "kestrel/syntax/ecgpattern.lark", import_paths=("kestrel/syntax",)),
    Entry("openfoam", "fluidsimfoam", "fluidsimfoam/foam_input_files/grammar.lark", start="value", stock_loads=False),
    Entry(
        "openfoam advanced",
        "fluidsimfoam",
        "fluidsimfoam/foam_input_files/grammar_advanced.lark",
        start="value",
        stock_loads=False,
    ),
    Entry(
        "times",
        "timefhuman",
        "timefhuman/grammar.lark",
        options={"g_regex_flags": re.IGNORECASE},
        needs=_BOTH,
    ),
    Entry("dice", "d20", "d20/grammar.lark", start=("expr", "commented_expr"), needs=_SHIFT),
    Entry(
        "preql: docstring",
        "preql",
        "preql/docstring/docstring.lark",
        options={"postlex": DocstringIndenter()},
        refusal=Refusal(
            "opens blocks", "rules open blocks that others close, so that the stack does not tell the indentation"
        ),
    ),
    Entry("preql", "preql", "preql/core/preql.lark", start=("module", "expr"), needs=_SHIFT),
    Entry("opening hours", "osm-humanized-opening-hours", "humanized_opening_hours/field.ebnf", start="field"),
    Entry("iec 61131-3", "blark", "blark/iec.lark", start=("iec_source", "statement_list"), stock_loads=False),
    *(
        Entry(f"epics: {name}", "whatrecord", _WHATRECORD.format(name), needs=_SHIFT, texts=texts)
        for name, texts in (
            ("access_security", ("whatrecord/tests/**/*.acf",)),
            ("autosave_save", ()),
            ("db.v3", ("whatrecord/tests/**/*.db",)),
            ("db.v4", ("whatrecord/tests/**/*.db",)),
            ("gateway", ()),
            ("lcls_epicsarch", ()),
        )
    ),
    Entry(
        "epics: snl",
        "whatrecord",
        _WHATRECORD.format("snl"),
        needs=_BOTH,
    ),
    *(
        Entry(f"epics: {name}", "whatrecord", _WHATRECORD.format(name), stock_loads=False)
        for name in ("dbtemplate", "msi-sub", "streamdevice")
    ),
    *(
        Entry(
            f"syncode: {name}", "syncode", _SYNCODE.format(name), options={"lexer": "basic"}, needs=needs, depth=depth
        )
        for name, needs, depth in (
            ("c", _COMMIT, 4),
            ("calc", (), 4),
            ("go", _BOTH, 4),
            ("invariants", _SHIFT, 4),
            ("java", _BOTH, 4),
            ("json", (), 4),
            ("prover9", _SHIFT, 4),
            ("sql", _BOTH, 1),
            ("tiny", (), 4),
        )
    ),
    Entry("harmalysis: chords", "harmalysis", "harmalysis/parsers/chordlabel.lark"),
    Entry("harmalysis: roman", "harmalysis", "harmalysis/parsers/roman.lark", needs=_SHIFT),
)

ENTRIES = EXTRA + FURTHER
