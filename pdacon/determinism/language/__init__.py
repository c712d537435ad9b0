"""What of the rules no text has: empty rules, dead ends, terminals that never follow one another, blocks.

In: grammar, tables, lexer, perhaps a vocabulary. Out: findings about rules and alternatives.
"""
