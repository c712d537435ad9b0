"""The literals of Lark's language without their ends, as patterns that take linear time.

Lark's own patterns match the same first, but can read two backslashes as a pair or one by one, so that they try
exponentially many ways where a literal is not closed. These read a backslash in one way only.
"""

OPEN_STRING = r'"(?:\\["\\]|\\(?!["\\])|[^"\\\n])*'
OPEN_REGEXP = r"/(?!/)(?:\\[/\\]|\\(?![/\\])|[^/\\])*"
