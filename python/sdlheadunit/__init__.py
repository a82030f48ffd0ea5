"""A car for tests: starts sdl-head-unit, plays the driver, and expects what an app does.

    with HeadUnit(app=["node", "index.js"]) as car:
        app = car.expect_app("Welcome")
        app.expect("Show", mainField1="Hello SDL!")
        app.soft_button("ROCK").press()
        app.expect("Alert")
        assert not car.violations
"""

from ._events import Event, Expectation, ExpectationFailed, HeadUnitEnded
from ._head_unit import App, CommandFailed, HeadUnit, SoftButton

__all__ = ["App", "CommandFailed", "Event", "Expectation", "ExpectationFailed", "HeadUnit", "HeadUnitEnded", "SoftButton"]
