"""Serves a page on which grammars are tried: findings as they are written, and what a text may go on with.

In: vocabularies by name, and requests of the page: a grammar with its notation, a text, a token to explain. Out: the
page, whole in itself (it asks nobody but this server), and answers as JSON: findings with repairs that can be taken,
lexemes, masks, reasons, pictures, samples.

It uses the public names of `pdacon` and of `pdacon.drawing`, and knows nothing of what is behind them. It runs no code
that a page sends: Python types and Indenters by name are no notations here. It needs ``pip install 'pdacon[serve]'``.
"""

from pdacon.playground.application import create_app
from pdacon.playground.exporting import export_page
from pdacon.playground.listening import serve

__all__ = ["create_app", "export_page", "serve"]
