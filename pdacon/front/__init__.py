"""The front: what a user holds, made of all the rooms below it by plain calls.

In: grammars in any form, vocabularies, tokenizers. Out: `Grammar`, `Constraint`, `CompileCache`, reports and values.
The rooms below take and give `GrammarData`, which a `Grammar` has. From the bottom up:

    report         `DeterminismReport`: the report of the checker, which draws
    compiled       `Compiled`: the automata of all start symbols, which gives matchers
    stages         a grammar's data and a vocabulary -> `Compiled`: the rooms in order
    sampling       random sentences of what was compiled
    values         what a text of a grammar stands for
    questions      the methods of `Grammar` that answer, with `unreachable`
    ways_in        the methods of `Grammar` that make one of something else than Lark's language, with `tool_ways_in`
    grammar        `Grammar`, and what may be given in place of one (`given`, `endings`, `lark_options`)
    constraint     `Constraint`: `Compiled` with a `Grammar`, values, reports, files
    compiling, checking, caching (with `stores`)    `compile`, `check`, `CompileCache`
"""
