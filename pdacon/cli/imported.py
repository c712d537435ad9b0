"""What a module or a file of Python has under a name: ``MODULE:NAME``, ``FILE.py:NAME``."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

from pdacon.cli.failures import BadInput

_WRITTEN = re.compile(r"(?P<module>[^:]+\.py|[^\W\d]\w*(?:\.\w+)*):(?P<name>[^\W\d]\w*(?:\.\w+)*)")


def is_imported(written: str) -> bool:
    """Whether an argument is written like the name of something in a module, and no file has that name."""
    return _WRITTEN.fullmatch(written) is not None and not Path(written).exists()


def imported(written: str, what: str) -> Any:
    """What ``MODULE:NAME`` or ``FILE.py:NAME`` means; the module is imported, which runs it.

    A module is found where ``python -m`` would find it, so first in the current directory; a file finds what lies
    beside it. ``what`` is how messages call it.

    Raises BadInput: it is not written so, cannot be imported, or has no such name.
    """
    match = _WRITTEN.fullmatch(written)
    if match is None:
        raise BadInput(f"{what}: expected MODULE:NAME or FILE.py:NAME")
    module, name = match["module"], match["name"]
    file = Path(module) if module.endswith(".py") else None
    if file is not None and not file.is_file():
        raise BadInput(f"{what}: {file}: no such file")
    folder = str(Path.cwd() if file is None else file.resolve().parent)
    sys.path.insert(0, folder)
    try:
        found: Any = importlib.import_module(module) if file is None else _of_file(file)
        for part in name.split("."):
            found = getattr(found, part)
        return found
    except Exception as error:  # whatever a module raises while it is imported
        raise BadInput(f"{what}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)


def _of_file(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(file.stem, module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
