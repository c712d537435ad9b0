"""The native core: integers and flat arrays in, integers and flat arrays out."""

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, Protocol, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

# regular

class CharacterDfa:
    """A least deterministic automaton over code points (S states, C classes of characters, I intervals of them)."""

    @staticmethod
    def make(
        firsts: NDArray[np.int32],
        numbers: NDArray[np.int32],
        table: NDArray[np.int32],
        accepting: NDArray[np.uint8],
        max_bytes: int = 0,
    ) -> CharacterDfa: ...
    @property
    def num_states(self) -> int: ...
    @property
    def num_classes(self) -> int: ...
    @property
    def firsts(self) -> NDArray[np.int32]: ...  # [I], the first code point of each interval
    @property
    def numbers(self) -> NDArray[np.int32]: ...  # [I], its class, or -1
    @property
    def table(self) -> NDArray[np.int32]: ...  # [S * C]
    @property
    def accepting(self) -> NDArray[np.uint8]: ...  # [S]
    def accepts(self, points: NDArray[np.int32]) -> bool: ...

class Formulas:
    """Decision diagrams; see pdacon.regular.Formulas."""

    def __init__(self, max_nodes: int) -> None: ...
    def node(self, formula: int) -> tuple[int, int, int]:
        """The variable that a node asks, and what holds if it does and if it does not; no constant has one."""
    def variable(self, variable: int) -> int:
        """The formula that is true exactly if a variable is."""
    def choice(self, condition: int, then: int, otherwise: int) -> int:
        """``then`` where the condition holds, else ``otherwise``."""
    def support(self, formulas: Sequence[int]) -> list[int]:
        """The variables that the formulas depend on, ascending."""
    def alternatives(self, formula: int) -> list[int] | None:
        """The variables of which the formula says that one holds, -1 for what always does; None if it says more."""
    def replaced(self, formulas: Sequence[int], variables: Sequence[int], by: int) -> list[int]:
        """The formulas with one formula in place of some variables."""

class Substitution:
    def __init__(self, formulas: Formulas) -> None: ...
    def give(self, variable: int, formula: int) -> None: ...
    def missing(self, formulas: Sequence[int]) -> list[int]: ...
    def apply(self, formula: int) -> int: ...

class Productions:
    """Productions over symbols that are told apart by keys; see pdacon.frontends.json_schema.productions."""

    def __init__(self, most: int) -> None: ...
    def nonterminal(self, key: Sequence[int]) -> int:
        """The nonterminal of a key, the first number of which is its kind."""
    def kind(self, nonterminal: int) -> int: ...
    def add(self, lhs: int, rhs: Sequence[int]) -> None: ...
    def lowered(
        self, start: int
    ) -> tuple[list[int], list[int], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]] | None:
        """What a sentence of the start can have: terminals and nonterminals by their new numbers, and of each
        production its left-hand side, offset and symbols; None if there is no sentence."""

class Container:
    """An object or an array that is to be written."""

    def __init__(
        self,
        machine: Sequence[int],
        depth: int,
        depth_within: int,
        is_deepest: bool,
        empty: Sequence[int],
        between: Sequence[int],
        opening: int,
        closing: int,
        comma: int,
    ) -> None: ...

class _AboutMembers(Protocol):
    """What the core asks while it writes; see ``frontends/containers.hpp``."""

    def step(self, variable: int, read: int, /) -> tuple[int, int, int, bool]: ...
    def at_end(self, variable: int, /) -> bool: ...
    def terminal(self, read: int, /) -> int | None: ...

class _AboutSchemas(Protocol):
    """What the core asks about schemas and facts; see ``frontends/questions.hpp``."""

    def types_of(self, variable: int, /) -> Sequence[int]: ...
    def meaning_of(self, variable: int, type: int, /) -> int: ...
    def values_of(self, variable: int, /) -> Sequence[int] | None: ...
    def holds_for_any(self, formula: int, type: int, /) -> bool: ...

class Questions:
    """What questions say of values of each type; ``scalar`` says of each whether it is strings or numbers."""

    def __init__(self, formulas: Formulas, scalar: Sequence[int]) -> None: ...
    def types(self, about: _AboutSchemas, question: int, /) -> list[int]:
        """The types of which a value may satisfy a question, as far as that is plain."""
    def meaning(self, about: _AboutSchemas, question: int, type: int, /) -> int:
        """A question as a formula over facts about values of one type."""
    def meanings(self, about: _AboutSchemas, family: Sequence[int], type: int, /) -> dict[int, int]:
        """The same of several questions, without those that no value of the type satisfies."""
    def possible(self, about: _AboutSchemas, question: int, /) -> bool:
        """Whether any value might satisfy a question: no only where that is plain."""

def write_object(
    out: Productions,
    formulas: Formulas,
    questions: Questions,
    schemas: _AboutSchemas,
    about: _AboutMembers,
    object: Container,
    names: int,
    classes: int,
    unordered: bool,
    /,
) -> list[list[int]]:
    """Adds the productions of an object; the families of what lies within."""

def write_array(
    out: Productions,
    formulas: Formulas,
    questions: Questions,
    schemas: _AboutSchemas,
    about: _AboutMembers,
    array: Container,
    start: Sequence[int],
    /,
) -> list[list[int]]:
    """The same for an array; ``start`` is its machine in the facts that items are read with."""

def character_classes(  # the first code point and the class of each interval; the sets that each class lies in
    sets: Sequence[NDArray[np.int32]],
) -> tuple[NDArray[np.int32], NDArray[np.int32], list[list[int]]]: ...
def determinized(
    sets: Sequence[NDArray[np.int32]],
    edge_offsets: NDArray[np.int32],
    edge_sets: NDArray[np.int32],
    edge_lists: NDArray[np.int32],
    list_offsets: NDArray[np.int32],
    lists: NDArray[np.int32],
    accepting: NDArray[np.uint8],
    everything: int,
    start_list: int,
    max_states: int,
    max_bytes: int,
) -> CharacterDfa: ...
def characters_of(
    kind: NDArray[np.uint8],
    offset: NDArray[np.int32],
    low: NDArray[np.uint8],
    high: NDArray[np.uint8],
    target: NDArray[np.int32],
    start: int,
    max_states: int,
    max_bytes: int,
) -> CharacterDfa:
    """The texts of an automaton over UTF-8. Kinds of states: 0 bytes, 1 split, 2 end, 3 nowhere."""

def word_automaton(  # offsets of edges, their bytes and targets, and whether each state accepts; state 0 is the start
    letters: NDArray[np.uint8], lengths: NDArray[np.int32], max_states: int, max_bytes: int
) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int32], NDArray[np.uint8]]: ...
def longest_match(  # a deterministic automaton over bytes -> kind, offset, lo, hi and target of a Program
    offset: NDArray[np.int32],
    low: NDArray[np.uint8],
    high: NDArray[np.uint8],
    target: NDArray[np.int32],
    accepting: NDArray[np.uint8],
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int32]]: ...
def factor_automaton(  # as word_automaton: the substrings of a text of code points, the empty one left out
    points: NDArray[np.int32], max_states: int, max_bytes: int
) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int32], NDArray[np.uint8]]: ...
def combined(
    automata: Sequence[CharacterDfa],
    asked: NDArray[np.int32],
    then: NDArray[np.int32],
    otherwise: NDArray[np.int32],
    max_states: int,
    max_bytes: int,
) -> CharacterDfa: ...

# frontends

def json_strings(  # escapes: 0 needed ones, 1 all that are not ASCII, 2 any, 3 none: plain UTF-8
    contents: CharacterDfa, escapes: int, before: bytes, after: bytes, max_states: int, max_bytes: int
) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int32]]: ...
def all_but_words(  # the states of prefixes of the words; their targets count on to those of the automaton
    offset: NDArray[np.int32],
    low: NDArray[np.uint8],
    high: NDArray[np.uint8],
    target: NDArray[np.int32],
    letters: NDArray[np.uint8],
    lengths: NDArray[np.int32],
    max_states: int,
) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int32]]: ...

# lalr

class LalrTables:
    """What lalr_tables returns: read-only int32 views (S states, T terminals, N nonterminals, K starts)."""

    @property
    def action(self) -> NDArray[np.int32]: ...  # [S, T + 1]
    @property
    def goto_offset(self) -> NDArray[np.int32]: ...  # [S + 1]
    @property
    def goto_nonterminal(self) -> NDArray[np.int32]: ...  # [G], ascending for each state
    @property
    def goto_target(self) -> NDArray[np.int32]: ...  # [G]
    @property
    def start_states(self) -> NDArray[np.int32]: ...  # [K]
    @property
    def end_states(self) -> NDArray[np.int32]: ...  # [K]
    @property
    def accessing(self) -> NDArray[np.int32]: ...  # [S]
    @property
    def kernel_offset(self) -> NDArray[np.int32]: ...  # [S + 1]
    @property
    def kernel_production(self) -> NDArray[np.int32]: ...
    @property
    def kernel_dot(self) -> NDArray[np.int32]: ...
    @property
    def conflicts(self) -> NDArray[np.int32]:
        """[n, 8]: kind, state, symbol, shift_to, settled, chosen, lark_only, first production."""
    @property
    def conflict_productions(self) -> NDArray[np.int32]: ...

def lalr_tables(
    *,
    num_terminals: int,
    num_nonterminals: int,
    lhs: NDArray[np.int32],
    rhs_offset: NDArray[np.int32],
    rhs: NDArray[np.int32],
    priority: NDArray[np.int32],
    starts: NDArray[np.int32],
    max_states: int,
    max_bytes: int,
) -> LalrTables: ...

# lexer

class Nfa:
    """The ordered byte automata of all terminals, in one numbering."""

    @staticmethod
    def make(
        *,
        kind: NDArray[np.uint8],
        offset: NDArray[np.int32],
        low: NDArray[np.uint8],
        high: NDArray[np.uint8],
        target: NDArray[np.int32],
        owner: NDArray[np.int32],
        entry: NDArray[np.int32],
        behind: NDArray[np.int32],
        wanted: NDArray[np.uint8],  # by state of `behind`: 0 begins, 1 is, 2 is outside; empty: all are
        leaves: NDArray[np.int32],  # by position: what a match there adds to the state of `behind`; empty: nothing
    ) -> Nfa: ...
    @staticmethod
    def joined(num_terminals: int, programs: Sequence[Piece | None]) -> Nfa:
        """Programs that begin at their first position, one behind the other."""

Piece: TypeAlias = tuple[int, bytes] | tuple[int, bytes, bytes, bytes, bytes, bytes]
"""A terminal and its text, or the arrays of its program as bytes: kind, offset, lo, hi and target."""

def lexical_contexts(  # the terminals of each context, that of each LR state, and those behind each terminal
    action: NDArray[np.int32], order: NDArray[np.int32], always: NDArray[np.uint8]
) -> tuple[list[list[int]], NDArray[np.int32], list[list[int]]]: ...

class LexingAutomaton:
    """A deterministic automaton over byte classes whose transitions can commit a terminal."""

    @staticmethod
    def make(
        nfa: Nfa,
        *,
        ignored: NDArray[np.uint8],
        alternations: list[list[int]],
        renames: list[list[tuple[int, list[int]]]],
        follow: list[list[int]],
        starts: list[int],
        newline: int,
        tab_width: int,
        max_states: int,
        max_bytes: int = 0,
        escaped_lines: bool = False,
    ) -> LexingAutomaton: ...
    @property
    def num_states(self) -> int: ...
    @property
    def num_classes(self) -> int: ...
    @property
    def lookahead(self) -> int: ...
    @property
    def unbounded(self) -> list[tuple[int, bytes, bytes]]: ...  # label, prefix, loop
    # Step by step: a state, -1: no lexeme goes on, or less: a commit's number. At its end: 0 between two lexemes.
    def entry(self, context: int, behind: int) -> int: ...
    def byte_class(self, byte: int) -> int: ...
    def next(self, state: int, byte_class: int) -> int: ...
    def at_end(self, state: int) -> int: ...
    def commit(self, next: int) -> tuple[int, int, list[int]]: ...  # label, what lies behind, classes to read again
    # The same as a whole.
    @property
    def transitions(self) -> NDArray[np.int32]:
        """[S, classes]: a state, -1: dead, -2 - i: commit i."""
    @property
    def ends(self) -> NDArray[np.int32]: ...  # [S]: what the end of the text makes: 0: nothing is open, else as above
    @property
    def entries(self) -> NDArray[np.int32]: ...  # [contexts, behind]; -1: no text leads there
    @property
    def commits(self) -> NDArray[np.int32]: ...  # [n, 3]: label, what lies behind, word
    @property
    def waiting(self) -> NDArray[np.int32]: ...  # [S, 2]: label of the match that waits (-1: none), bytes behind it
    @property
    def matched(self) -> NDArray[np.int32]: ...  # [T]: 1 where some text makes the terminal the first to match
    @property
    def states_by_terminal(self) -> NDArray[np.int32]: ...  # [T]

class NextLexemes:
    """What can be committed next, for one who follows texts lexeme by lexeme."""

    @staticmethod
    def make(lexer: LexingAutomaton, trie: Trie, max_states: int, max_bytes: int = 0) -> NextLexemes: ...
    def beginning(self) -> int: ...
    def after(self, context: int, residue: int) -> list[tuple[int, int]]: ...  # label, residue

def find_collisions(
    nfa: Nfa,
    pairs: NDArray[np.int32],
    following: list[list[int]],
    max_states: int,
    max_bytes: int = 0,
) -> list[tuple[int, int, bytes, bytes]]: ...  # first, second, witness, what has to follow it
def read_words(
    letters: NDArray[np.uint8],
    lengths: NDArray[np.int32],
    after: NDArray[np.int32],  # of each word: -1 it has matched, -2 the tail decides, or the list that comes next
    num_words: NDArray[np.int32],
    max_states: int,
    max_bytes: int = 0,
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.uint8], NDArray[np.int32], int] | None: ...
def find_early_end(nfa: Nfa, terminal: int, max_states: int, max_bytes: int = 0) -> tuple[bytes, int] | None: ...

class Columns:
    """The columns that a newline of a lexer has to be told apart by, with what was found out on the way."""

    @staticmethod
    def make(lexer: LexingAutomaton, trie: Trie, newline: int, max_states: int, max_bytes: int = 0) -> Columns: ...
    @property
    def single(self) -> int: ...
    @property
    def period(self) -> int: ...

# composition

class Trie:
    """The detokenizing trie of a vocabulary."""

    @property
    def num_nodes(self) -> int: ...

class Tries:
    """The tries that are in use: those of the same tokens are one."""

    def __init__(self) -> None: ...
    def of(
        self, text: bytes, offsets: NDArray[np.int32], end_tokens: NDArray[np.int32], num_labels: int = 0
    ) -> Trie: ...

class CanonicalFilter:
    """The automaton over tokens of what a tokenizer itself produces; state 0 is the start of a text."""

    def step(self, state: int, token: int) -> int: ...  # -1: there is none
    def ends(self, state: int) -> bool: ...
    def keeps(self, state: int, token: int) -> bool: ...  # whether the text stays as it is with the token's
    @property
    def changes_texts(self) -> bool: ...
    def followers(self, token: int) -> NDArray[np.int32]: ...  # a mask
    def encode(self, text: bytes) -> NDArray[np.int32]: ...  # of one pretoken
    def definition(self) -> bytes: ...  # what it is made from, as files have it
    @property
    def prefixed(self) -> bool: ...
    def statistics(self) -> dict[str, int]: ...

class Filters:
    """The filters that are in use: those of the same tokens and an equal tokenizer are one."""

    def __init__(self) -> None: ...
    def of(
        self,
        trie: Trie,
        *,
        pairs: NDArray[np.int32],  # left, right, rank and what they become, one after another
        ranks: NDArray[np.int32],  # of each token, or empty: any two tokens become the one that spells both
        roles: NDArray[np.uint8],  # of each token: 0 unused, 1 used, 2 a byte, 3 unmerged; see MergeTable::Role
        classes: NDArray[np.uint8],  # of each code point
        next: NDArray[np.int32],  # [states, classes, 2]
        ends: NDArray[np.uint8],
        free: NDArray[np.uint8],
        bytewise: NDArray[np.uint8],  # of each class, whether it is spelled byte by byte; empty: texts are bytes
        text_classes: NDArray[np.int32],  # of each code point; empty: the tokenizer changes no text
        text_next: NDArray[np.int32],  # [states, classes]
        settled: NDArray[np.uint8],  # of each code point
        star_offset: NDArray[np.int32],  # the automaton of settled texts over bytes
        star_low: NDArray[np.uint8],
        star_high: NDArray[np.uint8],
        star_target: NDArray[np.int32],
        star_accepting: NDArray[np.uint8],
        added: NDArray[np.int32],  # tokens that the tokenizer reads before all else
        restarts: bool,  # behind them the normalizer begins anew
        words: NDArray[np.uint8],  # of each token: 1 begins a word, 2 goes on with one, 3 is one; empty: no WordPiece
        most: int,  # characters of a word
        # Of each token of a unigram model, where `words` is 1 for those that it has; empty: it is none.
        scores: NDArray[np.float64],
        # Of a character that is no token; after it, unless texts are split at each space, how far paths may differ.
        unknown: NDArray[np.float64],
        prefixed: bool,  # a space is put before a text
        spaced: bool,  # and written, so that no token without one is the first
    ) -> CanonicalFilter: ...

class ParseTables:
    """LALR tables, and the lexical context of each of their states."""

    def __init__(
        self,
        *,
        action: NDArray[np.int32],
        goto_offset: NDArray[np.int32],
        goto_nonterminal: NDArray[np.int32],
        goto_target: NDArray[np.int32],
        num_nonterminals: int,
        lhs: NDArray[np.int32],
        length: NDArray[np.int32],
        context: NDArray[np.int32],
        are_without_conflicts: bool,
    ) -> None: ...

class Layout:
    """The terminals of an Indenter, and what each LR state knows of blocks."""

    def __init__(
        self,
        *,
        newline: int,
        indent: int,
        dedent: int,
        indent_len: int,  # a block is so much further in than the one around it; 0: by any width
        in_parens: NDArray[np.uint8],
        classes: tuple[int, int],  # of columns: single ones, period
        block: NDArray[np.int32],
        opened: NDArray[np.int32],
        closes: NDArray[np.uint8],
        columns: Columns | None = None,  # whose computation need not be done again
    ) -> None: ...

class PdaParts:
    """What the token-level pushdown automata of all start symbols of a grammar are made of."""

    def __init__(
        self,
        *,
        lexer: LexingAutomaton,
        tables: ParseTables,
        layout: Layout | None,
        trie: Trie,
        labels: NDArray[np.int32],  # a mask for each label, one after another
    ) -> None: ...

class TokenPda:
    """A token-level pushdown automaton: what a Constraint holds for each start symbol."""

    @staticmethod
    def make(
        parts: PdaParts, start_state: int, end_state: int, max_states: int, max_depth: int, max_bytes: int = 0
    ) -> TokenPda:
        """Raises ValueError if the parts do not fit together."""
    # Label, the other one or -1, a token of both, and a beginning of a lexeme behind which it is so.
    def label_conflicts(self, max_states: int) -> list[tuple[int, int, int, bytes]]: ...
    # As many masks as there is time for, in seconds; 0: all.
    def mask_all(self, max_columns: int, max_states: int, max_bytes: int = 0, seconds: float = 0.0) -> None: ...
    def empty_language(self, leading_space: bool = False) -> bool: ...
    def reached(
        self, max_states: int, max_bytes: int = 0
    ) -> tuple[
        list[int],  # productions that are reduced
        NDArray[np.int32],  # [n, 2] each: LR state and terminal of shifts
        NDArray[np.int32],  # LR state and nonterminal of gotos
        NDArray[np.int32],  # LR state and the label that comes next
        NDArray[np.int32],  # the same in sentences
    ]: ...
    def statistics(self) -> dict[str, int]: ...
    @property
    def held(self) -> int: ...  # bytes, without the lexer's; takes no lock
    @property
    def lexer_held(self) -> int: ...
    def set_filter(self, filter: CanonicalFilter) -> None: ...
    def mask_table(self, since: int) -> NDArray[np.int32]: ...

ARTIFACT_VERSION: int

class StoredConstraint:
    """What `save_artifact` has written. Its methods raise ArtifactError."""

    def settings(self) -> bytes: ...
    def grammar(self) -> bytes: ...
    def tokens(self) -> list[bytes | None]: ...
    def filter(self) -> CanonicalFilter | None: ...
    def pdas(self) -> list[TokenPda]: ...

def load_artifact(
    buffer: Any, verify: bool, tries: Tries, filters: Filters, name: str, advice: str, trie: Trie | None = None
) -> StoredConstraint:
    """`trie`: of the vocabulary, where `save_artifact` has left the tokens out."""

def save_artifact(settings: bytes, grammar: bytes, pdas: list[TokenPda], with_tokens: bool) -> bytes: ...

# matching

class Matcher:
    """A position in a text that a Constraint allows, token by token."""

    @overload
    def __init__(
        self,
        pda: TokenPda,
        max_rollback: int,
        leading_space: bool = False,
        keep_text: bool = True,
        most: int = -1,
        soft: int = -1,
        in_bytes: bool = False,
    ) -> None: ...
    @overload
    def __init__(self, other: Matcher) -> None: ...
    def fill_bitmask(self, bitmask: Any, row: SupportsIndex = 0) -> None: ...
    def mask_id(self) -> int: ...
    def is_allowed(self, token: SupportsIndex) -> bool: ...
    def accept_token(self, token: SupportsIndex) -> bool: ...
    def accept_bytes(self, text: bytes) -> bool: ...
    def validate_tokens(self, tokens: Iterable[SupportsIndex]) -> int: ...
    def rollback(self, count: SupportsIndex) -> None: ...
    def reset(self) -> None: ...
    def is_accepting(self) -> bool: ...
    def is_terminated(self) -> bool: ...
    def shortest_completion(self) -> bytes: ...
    def forced_bytes(self, limit: SupportsIndex = 65536) -> bytes: ...
    def _least(self, in_bytes: bool) -> int: ...
    def _limit(self, most: int, soft: int, in_bytes: bool) -> None: ...
    def _distances_are_exact(self) -> bool: ...
    def _left(self) -> tuple[int, int, int]: ...  # tokens, bytes, and with how many left nothing is begun any more
    def _completion_length(self) -> int: ...
    def _completion_head(self, most: int) -> tuple[int, bytes]: ...  # its length, and at least so much of it
    def _merged(self, forced: bytes) -> list[int]: ...
    def _settled(self, tokens: Sequence[SupportsIndex], forced: bytes) -> int: ...
    def _leading_space(self) -> bool: ...
    def _memory(self) -> tuple[int, int]: ...  # bytes of its own, nodes of its stack
    def _keeps_text(self) -> bool: ...
    def _length(self) -> int: ...
    def _is_stuck(self) -> bool: ...
    def _is_filtered(self) -> bool: ...
    def _filter_state(self) -> int: ...
    def _grammar_allows(self, token: int) -> bool: ...  # whatever a filter says
    def _stack(self) -> list[int]: ...
    # With the spellings of labels; `_labelled`: where those are, and the token read as each.
    def _text(self) -> bytes: ...
    def _labelled(self) -> list[tuple[int, int]]: ...
    def _accept_spelled(self, text: bytes) -> bool: ...
    # Labels of what is unfinished, and of what is next; `text`: what has been read.
    def _outlook(self, text: bytes) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    def _trace(
        self, text: bytes, since: int, most: int
    ) -> tuple[
        int,  # how many lexemes become certain behind `since` bytes
        NDArray[np.int64],  # of the last ones, four numbers each: label, begin, end, whether the parser does not see it
        int,  # where the lexeme begins that is open
        NDArray[np.int32],  # the parser's stack, in symbols
        NDArray[np.int32],  # the columns of the open blocks
    ]: ...
    def __reduce__(self) -> NoReturn: ...

def fill_bitmasks(matchers: Sequence[Matcher], bitmask: Any, rows: Sequence[SupportsIndex] | None = None) -> None: ...
def mask_ids(matchers: Sequence[Matcher]) -> NDArray[np.int32]: ...

# Addresses: of llama.cpp's `llama_sampler_init`, and of a sampler, which llama.cpp frees. Sizes: of its structures.
def llama_sampler(
    matcher: Matcher, init: int, sampler: int, interface: int, candidate: int, candidates: int
) -> int: ...
def check_llama_sampler(sampler: int) -> None: ...  # raises what went wrong since the start of the text
