"""Words of a terminal that are never read as one, because other terminals take them wherever they may come.

In: the lexing automaton. Out: findings PDA010, for terminals of which other words are read. Only terminals that match a
few words are looked at: what is said of each word then holds whatever text it stands in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pdacon.base.quoting import quote
from pdacon.determinism.deadline import Deadline
from pdacon.determinism.examples import Examples
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.determinism.report.findings import TITLES, Finding, Witness
from pdacon.determinism.report.listing import listed
from pdacon.errors import LimitExceededError, UnsupportedGrammarError
from pdacon.regular import RegularSet
from pdacon.regular.ordered import compile_whole

_MOST_WORDS = 64
_FEW = 6


def hidden_word_findings(
    texts: WitnessTexts, examples: Examples, deadline: Deadline, collisions: Collection[tuple[str, ...]] = ()
) -> Iterator[Finding]:
    """PDA010, a warning for each terminal some of whose words are never read as one.

    What is claimed: no text, read from the start of a lexeme in any context that texts lead to, has the word as this
    terminal. Left out are pairs that an error says are ``collisions`` already, words that become a keyword, and
    terminals that are never matched at all.

    Cost: a walk through the lexing automaton for each word and context.
    """
    grammar = texts.grammar
    for index, terminal in enumerate(grammar.terminals):
        pattern = terminal.pattern
        if index not in texts.labels or index in grammar.ignore or pattern is None or pattern.kind != "re":
            continue
        deadline.require()
        words = _words(texts, index)
        contexts = [context for context in texts.entered if index in texts.looked_for(context)]
        hidden: dict[bytes, tuple[int, int]] = {}
        for word in words:
            if any(_is_read(texts, context, word, index, deadline) for context in contexts):
                continue
            takers = ((context, lexeme.label) for context in contexts if (lexeme := texts.taken(context, word)))
            taker = next((pair for pair in takers if pair[1] != index), None)
            if taker is not None and not _is_keyword(texts, index, taker[1]):
                hidden[word] = taker
        pairs = {
            (grammar.symbol_name(label) if label <= grammar.end else "", terminal.name) for _, label in hidden.values()
        }
        if hidden and pairs.isdisjoint(collisions) and len(hidden) < len(words):
            yield _finding(texts, examples, index, hidden)


def _words(texts: WitnessTexts, index: int) -> list[bytes]:
    """The words of a terminal; none if there are many, or it can match something else."""
    grammar = texts.grammar
    pattern = grammar.terminals[index].pattern
    assert pattern is not None
    if grammar.options.use_bytes or texts.looks_ahead(index) or texts.looks_behind(index):
        return []
    try:
        found = RegularSet.from_program(compile_whole(pattern.regexp, flags=grammar.options.g_regex_flags), "")
    except (UnsupportedGrammarError, LimitExceededError):
        return []
    words = found.automaton.words(_MOST_WORDS)
    return [word.encode() for word in words or () if word]


def _is_read(texts: WitnessTexts, context: int, word: bytes, terminal: int, deadline: Deadline) -> bool:
    """Whether some text begins with the word as this terminal."""
    automaton = texts.automaton
    for entry in automaton.entries[context].tolist():
        reached = [entry]
        while len(reached) <= len(word) and reached[-1] >= 0:
            reached.append(int(texts.next[reached[-1], texts.classes[word[len(reached) - 1]]]))
        if len(reached) <= len(word):
            continue
        if reached[-1] < 0:
            if reached[-1] < -1 and _is_committed(texts, reached[-1], terminal, 0):
                return True
            continue
        pending = [(reached[-1], 0)]
        seen = set(pending)
        for state, beyond in pending:  # grows
            deadline.require()
            ends = int(automaton.ends[state])
            commits = [(ends, beyond)] if ends < -1 else []
            for after in set(texts.next[state].tolist()):
                if after < -1:
                    commits.append((after, beyond + 1))
                elif after >= 0 and beyond < automaton.lookahead and (after, beyond + 1) not in seen:
                    seen.add((after, beyond + 1))
                    pending.append((after, beyond + 1))
            if any(_is_committed(texts, commit, terminal, length) for commit, length in commits):
                return True
    return False


def _is_committed(texts: WitnessTexts, commit: int, terminal: int, beyond: int) -> bool:
    label, _, again = texts.automaton.commit(commit)
    return label == terminal and len(again) == beyond


def _is_keyword(texts: WitnessTexts, terminal: int, label: int) -> bool:
    """Whether the terminal's lexemes can have the name of another one."""
    renames = (rename for context in texts.lexer.contexts for rename in context.renames)
    return any(regex == terminal and label in keywords for regex, keywords in renames)


def _finding(texts: WitnessTexts, examples: Examples, index: int, hidden: dict[bytes, tuple[int, int]]) -> Finding:
    grammar = texts.grammar
    terminal, shown = grammar.terminals[index], grammar.describe_symbol(index)
    words = listed([quote(word) for word in hidden], _FEW)
    word, (context, taker) = next(iter(hidden.items()))
    prefix = texts.way_to(examples, [context]) or ()
    span = grammar.terminals[taker].span if taker < grammar.end else None
    return Finding(
        id="PDA010",
        level="warning",
        title=f"{TITLES['PDA010']}: {shown} as {words}",
        message=f"Wherever {shown} may come, Lark's lexer takes {quote(word)} for something else: for "
        f"{texts.shown(taker)}.\nSo no text has {shown} as {words}.",
        span=terminal.span,
        symbols=(terminal.name, *([grammar.terminals[taker].name] if taker < grammar.end else [])),
        witness=Witness((*prefix, shown), len(prefix), word),
        repair=f"give {shown} a higher priority if it is meant, or leave out of its pattern what is not; or make one "
        "terminal of what is read together.",
        related=() if span is None else ((f"{texts.shown(taker)}, which is taken instead", span),),
        cause="hidden-words",
    )
