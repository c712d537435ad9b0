"""Conflicts of the parse tables: what they are between, texts that show them, and their causes.

In: grammar and tables. Out: findings PDA001 to PDA004. The room does not know how a text is cut into lexemes, but for
sentences, which it spells.

Source: C. L. Isradisaikul and A. C. Myers, "Finding Counterexamples from Parsing Conflicts", PLDI 2015.
"""
