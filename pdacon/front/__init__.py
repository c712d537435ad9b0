"""The front: what a user holds, made of all the rooms below it by plain calls.

In: grammars in any form, vocabularies, tokenizers. Out: `Grammar`, `Constraint`, `CompileCache`, reports and values.
The rooms below take and give `GrammarData`; `from_data` makes a `Grammar` of it.
"""
