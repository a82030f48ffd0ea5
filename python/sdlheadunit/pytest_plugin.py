"""For pytest: the fixture `head_unit`, whose log is shown with a test that fails."""

from __future__ import annotations

import json
from typing import Any, Generator

import pytest

from ._head_unit import HeadUnit

_SHOWN_LINES = 40
_KEY = "_sdl_head_units"


@pytest.fixture
def head_unit(request: pytest.FixtureRequest) -> Generator[HeadUnit, None, None]:
    """A head unit; `@pytest.mark.head_unit("--preset", "core", app=["node", "index.js"])` gives it options and an app."""
    marker = request.node.get_closest_marker("head_unit")
    options = marker.args if marker else ()
    with HeadUnit(*options, **(marker.kwargs if marker else {})) as car:
        request.node.__dict__.setdefault(_KEY, []).append(car)
        yield car


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "head_unit(*options, app=None): options of sdl-head-unit, and the app that it starts")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        for car in item.__dict__.get(_KEY, []):
            lines = (json.dumps(line, ensure_ascii=False) for line in car.lines[-_SHOWN_LINES:])
            report.sections.append(("the head unit's log", "\n".join(lines)))
