# ruff: noqa: E501
"""Grammars in GBNF, in the shapes that engines document: JSON, lists, arithmetic, chess, C, tags, dates, calls.

Each with whether it is deterministic as it stands.
"""

from __future__ import annotations

import random

BLANKS = "ws ::= [ \\t\\n]*\n"

DETERMINISTIC: dict[str, str] = {
    "json": r"""
# a document is an object
root   ::= object
value  ::= object | array | text | number | ("true" | "false" | "null") ws
object ::= "{" ws (member ("," ws member)*)? "}" ws
member ::= text ":" ws value
array  ::= "[" ws (value ("," ws value)*)? "]" ws
text   ::= "\"" ([^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}))* "\"" ws
number ::= "-"? ("0" | [1-9] [0-9]{0,5}) ("." [0-9]+)? ([eE] [-+]? [0-9]+)? ws
ws     ::= | " " | "\n" [ \t]{0,5}
""",
    "json with blanks on both sides": r"""
root ::= element
element ::= ws value ws
value ::= "{" ws "}" | "{" members "}" | "[" ws "]" | "[" element ("," element)* "]" | [0-9]+ | text | "null"
members ::= member ("," member)*
member ::= ws text ws ":" element
text ::= "\"" [a-z]* "\""
"""
    + BLANKS,
    "list": 'root ::= ("- " item)+\nitem ::= [^\\n]+ "\\n"\n',
    "arithmetic": 'root ::= (expr "=" ws term "\\n")+\nexpr ::= term ([-+*/] term)*\nterm ::= id | num | "(" ws expr ")" ws\n'
    "id ::= [a-z] [a-z0-9_]* ws\nnum ::= [0-9]+ ws\nws ::= [ \\t]*\n",
    "calculator": "root ::= ws sum ws\nsum ::= product (ws [-+] ws product)*\nproduct ::= factor (ws [*/] ws factor)*\n"
    'factor ::= [0-9]+ | [a-z]+ | call | "(" ws sum ws ")"\ncall ::= [a-z]+ ws "(" ws (sum (ws "," ws sum)*)? ws ")"\n'
    + BLANKS,
    "ambiguous operators": 'root ::= e\ne ::= e "+" e | e "*" e | "-" e | "(" e ")" | [0-9]+\n',
    "chess": r"""
root ::= "1. " move " " move "\n" ([1-9] [0-9]? ". " move " " move "\n")+
move ::= (pawn | piece | castle) [+#]?
piece ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
pawn ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
castle ::= "O-O" "-O"?
""",
    "japanese": "root ::= word+ ([ \\t\\n] word+)*\nword ::= kana | [一-鿿] | [、。]\nkana ::= [ぁ-ゟ] | [ァ-ヿ]\n",
    "date": 'root ::= year "-" month "-" day ("T" hour ":" [0-5] [0-9])?\nyear ::= [0-9]{4}\nmonth ::= "0" [1-9] | "1" [0-2]\n'
    'day ::= "0" [1-9] | [12] [0-9] | "3" [01]\nhour ::= [01] [0-9] | "2" [0-3]\n',
    "choices": 'root ::= "red" | "green" | "blue" | "redder" | ""\n',
    "schema": r"""
item ::= "{" space item-name "," space item-age "}" space
item-age ::= "\"age\"" space ":" space ([0-9] | [1-8] [0-9] | "1" ([0-4] [0-9] | "50")) space
item-name ::= "\"name\"" space ":" space "\"" char{1,4} "\"" space
char ::= [^"\\\x7F\x00-\x1F] | [\\] (["\\bfnrt] | "u" [0-9a-fA-F]{4})
root ::= "[" space item ("," space item){0,2} "]" space
space ::= | " " | "\n" [ \t]{0,20}
""",
    "brackets": 'root ::= "(" root ")" root | ""\n',
    "left recursion": 'root ::= root "," [a-z]+ | [a-z]+\n',
    "right recursion": 'root ::= [a-z] "," root | [a-z] ("." root)?\n',
    "blanks by recursion": 'root ::= "[" ws list "]" ws\nlist ::= "" | root | root "," ws list\nws ::= ([ \\t] ws)?\n',
    "a thought, then json": 'root ::= "<think>" [^<]* "</think>\\n" value\nvalue ::= "[" (value ("," value)*)? "]" | [0-9]+\n',
    "call": r"""
root ::= "[" call (", " call)* "]"
call ::= name "(" (argument (", " argument)*)? ")"
argument ::= name "=" value
value ::= "'" [^'\n]* "'" | [0-9]+ | "True" | "[" (value (", " value)*)? "]" | name
name ::= [a-z_] [a-z_0-9]*
""",
    "statements": r"""
root ::= statement+
statement ::= type " " name " = " sum ";\n" | name " = " sum ";\n" | "while (" sum ") {\n" statement* "}\n" | comment
type ::= "int" | "float"
name ::= [a-z]+
sum ::= term ([-+] term)*
term ::= name | [0-9]+ | name "(" (sum ("," sum)*)? ")" | "(" sum ")"
comment ::= "//" [^\n]* "\n"
""",
    "lisp": 'root ::= s\ns ::= atom | "(" ws (s (ws1 s)*)? ws ")" | "\'" s\natom ::= [a-z0-9]+\nws ::= " "*\nws1 ::= " "+\n',
    "if, with an end": 'root ::= s\ns ::= "if " c " then " s (" else " s)? " end" | "skip"\nc ::= [a-z]+ | "(" c " and " c ")"\n',
    "any text between marks": 'root ::= (text "[" root "]")* text\ntext ::= [^\\[\\]]*\n',
    "csv": 'root ::= row ("\\n" row)*\nrow ::= field ("," field)*\nfield ::= [^",\\n]* | "\\"" ([^"] | "\\"\\"")* "\\""\n',
    "counted": 'root ::= "(" root ")" | [ab]{2,5} | "a"{3} "b"{1,} ("c" | "d"){0,2}\n',
    "newlines in groups": 'root ::= (\n  "a"   # first\n  | "b" root?\n)\n  \nunused ::= "x"\n',
    "tags": 'root ::= node\nnode ::= "<a>" node* "</a>" | "<b>" node* "</b>" | "<t>" [a-z ]+ "</t>"\n',
    "tags of two letters": 'root ::= ("<ab>" root* "</ab>" | "<ac/>" | "<ac" root "</ac>" | [a-z]+ ";")\n',
    "emoji": 'root ::= "😀" root "🎉" | [\\U0001F601-\\U0001F64F]+ | "\\u00e9"\n',
}

NOT_DETERMINISTIC: dict[str, str] = {
    "palindromes": 'root ::= "a" root "a" | "b" root "b" | "a" | "b"\n',
    "dangling else": 'root ::= "if " root (" else " root)? | "x"\n',
}

REFUSED = {
    'root ::= "a': "closed",
    "root ::= [a-z": "closed",
    'root ::= ("a"': "closed",
    'root ::= "a")': "parenthesis",
    "root ::= * ": "repeat",
    "root ::= x\n": "no rule is called x",
    'rot ::= "a"\n': "no rule is called root",
    'root ::= "a"\nroot ::= "b"\n': "defined already",
    'root := "a"\n': "expected ::=",
    "root ::= 'a'\n": "double quotes",
    'root ::= "\\q"\n': "means nothing",
    'root ::= "\\u12"\n': "4 hexadecimal digits",
    "root ::= [z-a]\n": "out of order",
    'root ::= "a"{3,1}\n': "never",
    'root ::= "a"{,3}\n': "at least",
    'root ::=\nx ::= "a"\n': "another rule begins",
    "": "no rule is called root",
    'root ::= "\\ud800"\n': "no character",
}
"""Texts that are no grammars, each with words of the message."""


def _parts(rng: random.Random, depth: int, names: list[str]) -> str:
    kind = rng.random()
    if depth == 0 or kind < 0.35:
        return rng.choice(['"a"', '"b"', '"c"', "[ab]", '" "', "ws", '"ab"'])
    if kind < 0.6:
        return rng.choice(names)
    if kind < 0.75:
        return "(" + " | ".join(_side(rng, depth - 1, names) for _ in range(rng.randint(1, 2))) + ")"
    return "(" + _side(rng, depth - 1, names) + ")" + rng.choice(["*", "+", "?", "?", "{2}", "{1,2}"])


def _side(rng: random.Random, depth: int, names: list[str]) -> str:
    return " ".join(['""', *(_parts(rng, depth, names) for _ in range(rng.choice((0, 1, 1, 2, 2, 3))))])


def random_grammar(rng: random.Random) -> str:
    """A grammar of two or three rules over a, b, c and blanks."""
    names = ["root", "x", "y"][: rng.randint(2, 3)]
    rules = [f"{name} ::= {' | '.join(_side(rng, 2, names) for _ in range(rng.randint(1, 3)))}\n" for name in names]
    return "".join(rules) + f"ws ::= {rng.choice(['[ ]*', '[ ]?', '([ ] ws)?'])}\n"
