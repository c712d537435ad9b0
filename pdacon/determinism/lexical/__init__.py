"""What the lexer does that its author may not expect: terminals that collide, are never matched, or end early.

In: grammar, and the lexing automaton. Out: findings about terminals. The room does not know the parser's stack.
"""
