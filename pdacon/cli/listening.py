"""The socket that a command's server listens on, asked for before what takes long to load."""

from __future__ import annotations

import socket

from pdacon.cli.failures import BadInput


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; for port 0 on a free one. The host is a name or an address, of IPv4 or IPv6.

    Raises BadInput: the port is taken, or there is no such host.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise BadInput(f"cannot listen on {host}:{port}: {error.strerror or error}; give another --port") from error
    except (TypeError, ValueError) as error:  # a name that cannot be one
        raise BadInput(f"--host {host!r:.80} is no address: {error}") from error
