"""An export with known contents, short runs of three methods on two problems, and a browser for its page."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexicase.experiments.results import StudyResults, read_results

METHODS = ("lexicase", "ranked-num-nonzeros", "weighted-num-zeros")
PROBLEMS = ("mirror-image", "last-index-of-zero")
SEEDS = 8
SPEC = """name = "known"
kind = "gp"
problems = ["mirror-image", "last-index-of-zero"]
methods = ["lexicase", "ranked-num-nonzeros", "weighted-num-zeros"]
seeds = 9

[settings]
population = 10
generations = 6
"""


def length_of(method: str, seed: int) -> int:
    """Generations that a run selects parents in: lexicase's differ, those of the others do not."""
    return 1 + seed % 6 if method == "lexicase" else 6


def evaluations_of(method: str, seed: int, generation: int) -> int:
    return {"lexicase": 200, "ranked-num-nonzeros": 100, "weighted-num-zeros": 400}[method] + seed + 10 * generation


def write_known_export(folder: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from flexicase.experiments._tables import write_tables

    runs, rows, timings, provenance = [], [], [], []
    for seed in range(SEEDS + 1):
        for problem in PROBLEMS:
            for method in METHODS:
                run = {"id": f"{problem}-{method}-{seed}", "problem": problem, "method": method, "variant": "base"}
                done = seed < SEEDS
                success = method == "lexicase" and problem == "mirror-image" and seed < 6
                runs.append(
                    {**run, "seed": seed, "state": "done" if done else "planned", "digest": "0" * 64 if done else None}
                    | {"success": success if done else None, "program": "(in1 </script><b>)" if done else None}
                )
                if not done:
                    continue
                provenance.append(
                    {
                        "id": run["id"],
                        "attempts": 1,
                        **{"started": 0.0, "finished": 1.0, "seconds": 1.0},
                        "version": "1.2.3",
                        "machine": "a machine",
                        "command": "flexicase run",
                    }
                )
                for g in range(length_of(method, seed) + 1):
                    last = g == length_of(method, seed)
                    count = 0 if last else evaluations_of(method, seed, g)
                    rows.append(
                        {
                            "id": run["id"],
                            "generation": g,
                            "events": 0 if last else 17,
                            "evaluations": count,
                            "evaluations_distinct": count // 2,
                            "n_distinct_errors": 5 + g,
                        }
                    )
                    timings.append(
                        {"id": run["id"], "seconds_select": 0.01 * (g + 1), "seconds_evaluate": 0.03 * (g + 1)}
                    )
    tables = {
        name: pa.Table.from_pylist(content)
        for name, content in {"runs": runs, "rows": rows, "timings": timings, "provenance": provenance}.items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_tables(folder, tables, "parquet")
    (folder / "study.toml").write_text(SPEC)


@pytest.fixture(scope="session")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    write_known_export(folder)
    return folder


@pytest.fixture(scope="session")
def results(export: Path) -> StudyResults:
    return read_results(export)


def expected_means(method: str) -> list[float]:
    """Mean evaluations per generation over the runs still active, straight from the definition."""
    means = []
    for g in range(6):
        active = [evaluations_of(method, seed, g) for seed in range(SEEDS) if length_of(method, seed) > g]
        means.append(float(np.mean(active)))
    return means


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 60.0


class Page:
    """One open page."""

    def __init__(self, to_browser: int, from_browser: int, process: subprocess.Popen[bytes]) -> None:
        self._to, self._from, self._process = to_browser, from_browser, process
        self._number = 0
        self._buffer = b""
        self._session: str | None = None
        self.complaints: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self.requests: list[str] = []

    def open(self, path: Path, *, dark: bool = False, width: int = 1000) -> None:
        """Load a page; a width below 600 is that of a phone with a touch screen."""
        phone = width < 600
        self._call("Emulation.setTouchEmulationEnabled", enabled=phone)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._call("Emulation.setEmulatedMedia", features=features)
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=phone)
        self._call("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + PATIENCE
        while self.value("document.readyState") != "complete":
            assert time.monotonic() < end, "the page does not finish loading"
            time.sleep(0.05)

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def tap(self, x: float, y: float) -> None:
        self._call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self._call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def key(self, name: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=name, code=name)

    def picture(self, path: Path) -> None:
        shot = self._call("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])
            self._note(answer)

    def _read(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            chunk = os.read(self._from, 1 << 20)
            assert chunk, "the browser has gone away"
            self._buffer += chunk
        text, self._buffer = self._buffer.split(b"\0", 1)
        return dict(json.loads(text))

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(parameters["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])


@contextlib.contextmanager
def browse(profile: Path) -> Iterator[Page]:
    """A page of a browser that ends with the block."""
    read_end, to_browser = os.pipe()
    from_browser, write_end = os.pipe()
    command = (
        f'exec "{CHROMIUM}" --headless=new --no-sandbox --disable-gpu --no-first-run --disable-dev-shm-usage '
        f'--user-data-dir="{profile}" --remote-debugging-pipe about:blank 3<&{read_end} 4>&{write_end}'
    )
    process = subprocess.Popen(
        ["bash", "-c", command], pass_fds=(read_end, write_end), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(read_end)
    os.close(write_end)
    try:
        yield Page(to_browser, from_browser, process)
    finally:
        process.kill()
        process.wait()
        os.close(to_browser)
        os.close(from_browser)
