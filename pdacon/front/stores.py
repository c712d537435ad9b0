"""`ObjectStore`: files that many machines share, by fsspec: S3 and its like, or whatever else fsspec reaches.

In: a URL. Out: objects, read and published as a whole. It knows nothing of what is in them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pdacon.base.arguments import require_instance


class ObjectStore:
    """A place under a URL of fsspec's, such as ``s3://bucket/constraints``; safe to use from any number of threads.

    Parameters
    ----------
    url : str

    Raises
    ------
    ImportError
        fsspec is not there, or what it needs for this URL.
    TypeError, ValueError
        The URL is none of fsspec's.
    Exception
        What the backend raises if it cannot be asked: no such bucket, no permission, no network.
    """

    def __init__(self, url: str) -> None:
        require_instance("CompileCache", "store", url, str, "a URL of fsspec's")
        try:
            import fsspec
        except ImportError as error:
            raise ImportError(f"{url}: this needs fsspec: pip install 'pdacon[store]'") from error
        self._files: Any
        self._files, self._root = fsspec.core.url_to_fs(url)
        with suppress(FileNotFoundError):
            self._files.info(self._root)  # so that a wrong URL or key is an error now, not at the first object

    def read(self, name: str) -> bytes | None:
        """The content of an object; None if there is no such object.

        Raises
        ------
        Exception
            What the backend raises.
        """
        try:
            return bytes(self._files.cat_file(self._at(name)))
        except FileNotFoundError:
            return None

    def publish(self, name: str, content: bytes) -> None:
        """Put an object in its place. Nobody sees a part of it, where the backend can publish at once, as S3 does.

        Raises
        ------
        Exception
            What the backend raises.
        """
        try:
            self._write(name, content)
        except FileNotFoundError:  # a backend with folders, which S3 does not have
            self._files.makedirs(self._root, exist_ok=True)
            self._write(name, content)

    def _write(self, name: str, content: bytes) -> None:
        # Without autocommit the object is not there before `commit`, not even where a process dies on the way.
        file = self._files.open(self._at(name), "wb", autocommit=False)
        try:
            with file:
                file.write(content)
        except BaseException:
            file.discard()
            raise
        file.commit()

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"
