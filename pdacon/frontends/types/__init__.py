"""Python types, functions and tools -> Grammar, and texts -> instances.

In: a type as annotations write it, functions, or descriptions of tools as servers send them. Out: a `Grammar` whose
sentences are the texts of exactly the values of the type, as JSON or as Python writes them, with what makes an instance
of a text and a text of an instance. Nothing is evaluated: a text is parsed, and only the classes that the type names
are called.

The rooms within, in the order in which data goes through them: ``hints`` (annotations), with ``classes`` (fields),
``pydantic_models`` and ``constraints`` (what ``Annotated`` says), makes shapes: ``shapes``, ``scalars``, ``dates``,
``containers``, ``records``, ``unions``. Each shape has the JSON Schema of its values, reads a value and writes one.
``forms`` is what JSON and Python write differently, ``python_texts`` reads Python's literals, ``tools`` makes shapes of
calls, ``grammars`` puts all together. It knows nothing of tokens, and of JSON Schema's front end only the door.
"""

from pdacon.frontends.types.forms import FormName
from pdacon.frontends.types.grammars import is_type, tools_grammar, type_grammar
from pdacon.frontends.types.tools import Call

__all__ = ["Call", "FormName", "is_type", "tools_grammar", "type_grammar"]
