#!/usr/bin/python3
"""Asks and commands a head unit over HTTP (`--control`), with an app of show.py: control.py HEAD-UNIT SHOW

Says "ok" at the end.
"""

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time

TOKEN = "letmein"


class Car:
    def __init__(self, head_unit, show):
        self.process = subprocess.Popen(
            [head_unit, "--port", "0", "--control", "0", "--control-token", TOKEN, "--", sys.executable, show, "stays"],
            stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.startswith("listening "):
                self.head_unit_port = int(line.split()[1])
            if line.startswith("control "):
                assert line.split()[2:] == ["token", TOKEN], line
                self.port = int(line.split()[1].rsplit(":", 1)[1])
                break
        # What comes later is read, so that nothing waits.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        connection.request(method, path, body, {"Authorization": f"Bearer {TOKEN}", **headers})
        response = connection.getresponse()
        return response.status, response.read()

    def memory(self):
        """In kB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def app(self):
        """The one that is registered; waits for it."""
        for _ in range(300):
            apps = json.loads(self.ask("GET", "/state")[1])["apps"]
            if apps and apps[0]["shows"] and apps[0]["level"] == "FULL":
                return apps[0]
            time.sleep(0.1)
        raise AssertionError("no app")


def check_refusals(car):
    assert car.ask("GET", "/state", Authorization="Bearer wrong")[0] == 401
    assert car.ask("GET", "/state", Authorization="")[0] == 401
    assert car.ask("GET", "/state", Origin="http://evil.invalid")[0] == 403
    assert car.ask("GET", "/state", Origin="null")[0] == 403
    assert car.ask("GET", "/state", Origin=f"http://127.0.0.1:{car.port}")[0] == 200
    assert car.ask("GET", "/")[0] == 404 and car.ask("DELETE", "/state")[0] == 404
    assert car.ask("POST", "/command", b"x" * 70_000)[0] == 413
    assert car.ask("POST", "/command", iter([b"level none"]))[0] == 413
    for text in ("lvel", "", "a\nb"):
        status, body = car.ask("POST", "/command", text)
        assert status == 400 and json.loads(body)["cause"], (text, status, body)
    # Of a length that nobody can count nothing is kept either.
    endless = socket.create_connection(("127.0.0.1", car.port), timeout=60)
    endless.sendall(b"POST /command HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n")
    for _ in range(300):
        endless.sendall(bytes(1 << 20))
    assert car.memory() < 200_000, f"{car.memory()} kB"
    endless.close()


def check_commands(car):
    status, body = car.ask("POST", "/command", json.dumps({"command": "vehicle speed 120"}))
    answer = json.loads(body)
    assert status == 200 and answer["result"] == "done" and answer["seq"] > 0, body
    status, body = car.ask("GET", f"/log?since={answer['seq'] - 1}")
    lines = [json.loads(line) for line in body.splitlines()]
    assert lines[0]["seq"] == answer["seq"] and lines[0]["text"] == "vehicle speed 120", lines[0]
    assert b"expect EVENT" in car.ask("POST", "/command", "help")[1]
    # A connection without an app is none.
    with socket.create_connection(("127.0.0.1", car.head_unit_port)):
        assert len(json.loads(car.ask("GET", "/state")[1])["apps"]) == 1
    status, body = car.ask("GET", "/screenshot.png")
    assert status == 409 and b"no app shows a picture" in body, body


def check_expectations(car):
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(car.ask("POST", "/expect", "hmi-none within 20")))
    waiting.start()
    for _ in range(100):
        car.ask("POST", "/command", "level none")
        car.ask("POST", "/command", "level full")
        waiting.join(0.1)
        if answers:
            break
    assert answers[0][0] == 200 and json.loads(answers[0][1])["result"] == "met", answers
    status, body = car.ask("POST", "/expect", json.dumps({"expect": "Alert within 0.2"}))
    assert status == 417 and "not within 0.2 s" in json.loads(body)["cause"], body
    assert car.ask("POST", "/expect", "never Alert for 0.2")[0] == 200
    assert car.ask("POST", "/expect", "Shwo")[0] == 400 and car.ask("POST", "/expect", "cut")[0] == 400


def check_followers(car):
    """One that follows gets each line; one that reads nothing, and a thousand that say nothing, keep nobody waiting."""
    silent = []
    for _ in range(1000):
        try:
            silent.append(socket.create_connection(("127.0.0.1", car.port), timeout=10))
        except OSError:
            break
    assert len(silent) > 900, len(silent)
    request = f"GET /log?follow HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
    silent[0].sendall(request)
    connection = http.client.HTTPConnection("127.0.0.1", car.port, timeout=30)
    connection.request("GET", "/log?follow", headers={"Authorization": f"Bearer {TOKEN}"})
    response = connection.getresponse()
    seen = []
    number = 0
    while len(seen) < 50:
        line = json.loads(response.readline())
        assert line["seq"] == number + 1, (line, number)
        number = line["seq"]
        if line.get("text", "").startswith("vehicle speed"):
            seen.append(line["text"])
        elif not seen:
            car.ask("POST", "/command", "vehicle speed 0")
        if seen:
            car.ask("POST", "/command", f"vehicle speed {len(seen)}")
    connection.close()
    for one in silent:
        one.close()


def check_memory(car):
    """What was sent is not kept."""
    for number in range(30):
        car.ask("POST", "/command", f"vehicle speed{' ' * 50_000}{number}")
    for attempt in range(200):
        assert len(car.ask("GET", "/log")[1]) > 1_500_000
        if attempt == 50:
            before = car.memory()
    assert car.memory() < before + 100_000, f"{car.memory()} kB after {before} kB"


def check_descriptors(car):
    """A connection that its client keeps, and then closes, is closed here as well."""
    def count():
        return len(os.listdir(f"/proc/{car.process.pid}/fd"))

    before = count()
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", car.port), timeout=60) as connection:
            connection.sendall(f"GET /state HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
            assert connection.recv(1000)
    for _ in range(600):
        if count() <= before + 5:
            return
        time.sleep(0.05)
    raise AssertionError(f"{count()} descriptors after {before}")


def main():
    car = Car(*sys.argv[1:])
    try:
        app = car.app()
        assert app["name"] == "Map" and app["shows"]["mainField1"] == "Hello SDL!" and app["permissions"], app
        check_refusals(car)
        check_commands(car)
        check_expectations(car)
        check_followers(car)
        check_memory(car)
        check_descriptors(car)
        assert car.memory() < 200_000, f"{car.memory()} kB"
        assert car.ask("POST", "/command", "quit")[0] == 200
        # One of its expectations was not met.
        assert car.process.wait(20) == 3
    finally:
        car.process.kill()
    print("ok")


if __name__ == "__main__":
    main()
