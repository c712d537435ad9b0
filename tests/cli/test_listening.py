"""Where the servers of the commands listen: a free port of an address of either kind, or one line that says why not."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from pdacon.cli.failures import BadInput
from pdacon.cli.listening import listen


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_names_and_addresses_of_both_kinds(host: str) -> None:
    if host == "::1" and not _has_ipv6():
        pytest.skip("this machine has no loopback address of IPv6")
    with listen(host, 0) as listening, closing(socket.create_connection((host, listening.getsockname()[1]))):
        pass


def _has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def test_a_port_that_is_taken() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=rf"^cannot listen on 127\.0\.0\.1:{port}: .*; give another --port$"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "says"), [("no such host", "^cannot listen on"), ("a\0b", r"^--host 'a\\x00b' is no")]
)
def test_hosts_that_there_are_not(host: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        listen(host, 0)
