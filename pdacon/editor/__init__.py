"""Serves editors that show grammars in Lark's language: a language server.

In: texts of grammars as they are typed, and places in them. Out: diagnostics with repairs, what a terminal matches,
where names are defined and used.

It uses the public names of `pdacon`. A grammar imports what lies beside it, as on the command line; nothing in it is
run. It needs ``pip install 'pdacon[editor]'``.
"""

from pdacon.editor.server import create_server

__all__ = ["create_server"]
