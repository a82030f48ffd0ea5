"""The package against the program: SDL_HEAD_UNIT names it, SHOW_APP an app that shows a text with a button."""

import os
import re
import sys
import threading
import unittest

from sdlheadunit import CommandFailed, ExpectationFailed, HeadUnit, HeadUnitEnded


def app(end: str) -> list:
    return [sys.executable, os.environ["SHOW_APP"], end]


class HeadUnitTests(unittest.TestCase):
    def test_an_app_is_driven(self) -> None:
        with HeadUnit(app=app("stays")) as car:
            shown = car.expect_app("Map").expect("Show", mainField1="Hello SDL!", mainField2=lambda text: len(text) == 400)
            self.assertEqual(shown["softButtons.0.text"], "ROCK")
            with self.assertRaises(KeyError):
                shown["softButtons.1.text"]
        self.assertEqual(car.summary["status"], 0)
        self.assertEqual(car.output, "SUCCESS\n")

    def test_events_between_two_calls_are_not_missed(self) -> None:
        with HeadUnit(app=app("unregisters")) as car:
            map_app = car.expect_app()
            map_app.expect("unregistered")
            # What came before is over.
            with self.assertRaisesRegex(ExpectationFailed, "expected Show within 0.1 s"):
                map_app.expect("Show", within=0.1)
            self.assertEqual([event.name for event in map_app.events("Show")], ["Show"])

    def test_buttons_and_levels(self) -> None:
        with HeadUnit(app=app("stays")) as car:
            map_app = car.expect_app()
            map_app.expect("Show")
            map_app.soft_button("ROCK").press()
            map_app.expect("OnButtonPress", customButtonID=7, buttonPressMode=re.compile("^SHORT$"))
            map_app.press("OK")
            map_app.expect("OnButtonPress", buttonName="OK")
            map_app.level("NONE")
            map_app.expect("hmi-none")
            map_app.never("violation", seconds=0.1)
            with self.assertRaisesRegex(ExpectationFailed, "'BLUES': the app has shown ROCK"):
                map_app.soft_button("BLUES")

    def test_failures_say_what_came(self) -> None:
        with HeadUnit(app=app("stays")) as car:
            map_app = car.expect_app()
            with self.assertRaisesRegex(ExpectationFailed, "Show came once: mainField1 was 'Hello SDL!'"):
                map_app.expect("Show", mainField1="Bye", within=1)
            with self.assertRaisesRegex(ExpectationFailed, "instead came .*Show"):
                map_app.expect("Alert", within=0.1)
            timer = threading.Timer(0.2, lambda: car.command("level none"))
            timer.start()
            with self.assertRaisesRegex(ExpectationFailed, "hmi-none must not come for 5 s, but came"):
                map_app.never("hmi-none", seconds=5)
            timer.join()

    def test_commands(self) -> None:
        with HeadUnit() as car:
            car.vehicle(speed=120, prndl="DRIVE", gps={"longitudeDegrees": 1.5, "latitudeDegrees": 2})
            for command, text in [("lvel", "unknown command"), ("cut", "no app is registered"), ("a\nb", "one line")]:
                with self.assertRaisesRegex(CommandFailed, text):
                    car.command(command)
            with self.assertRaisesRegex(ExpectationFailed, "nothing came|instead came"):
                car.expect_app(within=0.1)

    def test_mistakes_are_told(self) -> None:
        with self.assertRaises(TypeError):
            HeadUnit(app="sleep 5")
        with HeadUnit(app=app("stays")) as car:
            map_app = car.expect_app()
            map_app.expect("Show")
            with self.assertRaisesRegex(ValueError, "no event and no RPC 'Shwo'"):
                map_app.never("Shwo", seconds=0.1)
            for command in ("press soft-button 99", "menu nothing", " "):
                with self.assertRaises(CommandFailed):
                    car.command(command)
            car.command("help")
            car._process.kill()
            with self.assertRaises(HeadUnitEnded):
                map_app.never("Alert", seconds=20)
        with self.assertRaises(RuntimeError):
            car.__enter__()

    def test_two_apps(self) -> None:
        with HeadUnit() as car:
            import subprocess
            environment = dict(os.environ, SDL_PORT=str(car.port))
            programs = []
            for name in ("A", "B"):
                programs.append(subprocess.Popen([*app("stays"), name, name], env=environment, stdout=subprocess.DEVNULL))
                programs[-1].app = car.expect_app(name)
                programs[-1].app.expect("Show")
            first, second = (program.app for program in programs)
            with self.assertRaisesRegex(CommandFailed, "is not on the screen"):
                (second if first.events("hmi-full") else first).level("background")
            second.activate()
            second.level("background")
            second.expect("hmi-background")
            for program in programs:
                program.kill()
                program.wait()

    def test_two_at_once(self) -> None:
        with HeadUnit() as first, HeadUnit("--preset", "core") as second:
            self.assertNotEqual(first.port, second.port)
            self.assertEqual(first.uri, f"sdl://127.0.0.1:{first.port}")

    def test_ends(self) -> None:
        with self.assertRaisesRegex(HeadUnitEnded, "unknown option --nonsense"):
            HeadUnit("--nonsense").__enter__()
        with self.assertRaisesRegex(HeadUnitEnded, "can't be started"):
            HeadUnit(program="/nonexistent").__enter__()
        with HeadUnit() as car:
            car.command("quit")
            with self.assertRaisesRegex(ExpectationFailed, "sdl-head-unit has ended"):
                car.expect("registered")
            with self.assertRaises(HeadUnitEnded):
                car.command("cut")


if __name__ == "__main__":
    unittest.main()
