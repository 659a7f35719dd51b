#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The smallest worker that keeps to docs/worker-protocol.md: it runs `echo`, with the standard library only. With --bug it breaks
one rule; the conformance script must notice."""
import argparse
import http.client
import json
import os
import pathlib
import random
import secrets
import signal
import sys
import threading
import time
import urllib.parse


class Problem(Exception):
    def __init__(self, status, code):
        super().__init__(f"{status} {code}")
        self.status, self.code = status, code


class Worker:
    def __init__(self, options):
        self.options = options
        self.address = urllib.parse.urlparse(options.server).netloc
        self.dir = pathlib.Path(options.dir)
        self.dir.mkdir(exist_ok=True)
        identity = self.dir / "identity.json"
        if not identity.exists():
            self.write(identity, {"secret": secrets.token_hex(32)})
        self.secret = json.loads(identity.read_text())["secret"]
        if options.bug == "forget_identity":
            self.secret = secrets.token_hex(32)
        self.outbox = {}  # d -> ("done" | "back", entry)
        if options.bug != "forget_outbox":
            for path in self.dir.glob("report-*"):
                held = json.loads(path.read_text())
                self.outbox[held[1]["d"]] = tuple(held)
        self.running = {}  # d -> {"ends", "work", "deadline"}
        self.process = secrets.token_hex(8)
        self.first = True
        self.session = None
        self.seq = 0
        self.newest = 0
        self.draining = False
        self.drain_ends = None
        self.lock = threading.Condition()
        signal.signal(signal.SIGTERM, lambda *_: self.drain())

    @staticmethod
    def write(path, value):
        temporary = path.with_suffix(".new")
        with open(temporary, "w") as file:
            file.write(json.dumps(value))
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)

    def drain(self):
        self.draining = True
        self.drain_ends = time.monotonic() + self.options.drain

    def ask(self, path, body, credential=None, wait=0):
        connection = http.client.HTTPConnection(self.address, timeout=wait + 20)
        try:
            headers = {"Content-Type": "application/json"}
            if credential:
                headers["Authorization"] = "Bearer " + credential
            connection.request("POST", path, json.dumps(body), headers)
            answer = connection.getresponse()
            document = json.loads(answer.read())
        finally:
            connection.close()
        if answer.status >= 300:
            raise Problem(answer.status, document.get("code"))
        return document

    def enrol(self):
        types = ["echo"]
        body = {"protocol": 1, "node": "mini", "name": "mini", "secret": self.secret, "types": types, "slots": 4}
        if self.options.bug == "unknown_member":
            body["colour"] = "blue"
        self.limits = self.ask("/v1/workers", body)
        self.path = "/v1/workers/" + self.limits["worker"]

    def begin(self):
        holding = [*self.running, *self.outbox]
        first = self.first or self.options.bug == "always_first"
        answer = self.ask(self.path + "/session", {"process": self.process, "first": first, "holding": holding}, self.secret)
        self.session, self.first = answer["session"], False
        self.newest = self.seq
        for d in answer["drop"]:
            self.drop(d)

    def drop(self, d):
        if self.options.bug != "ignore_drop":
            self.running.pop(d, None)
        self.settle(d)

    def settle(self, d):
        if self.outbox.pop(d, None) is not None:
            (self.dir / f"report-{d.replace(':', '-')}").unlink(missing_ok=True)

    def report(self, d, kind, entry):
        self.running.pop(d, None)
        self.outbox[d] = (kind, {"d": d, **entry})
        self.write(self.dir / f"report-{d.replace(':', '-')}", self.outbox[d])

    def finish_some(self):
        now = time.monotonic()
        for d, task in list(self.running.items()):
            if task["deadline"] is not None and now >= task["deadline"]:
                self.report(d, "done", {"status": "timeout", "error": {"code": "task.timeout", "message": "too long"}})
            elif task["ends"] <= now:
                outputs = [{"output": each} for each in task["items"]]
                self.report(d, "done", {"status": "ok", "payload": {"items": outputs, "count": len(outputs)}})
        if self.draining and now >= self.drain_ends:
            for d in list(self.running):
                self.report(d, "back", {"reason": "drain"})

    def start(self, work):
        d = work["d"]
        if self.options.bug == "run_twice":
            self.settle(d)
        elif d in self.running or d in self.outbox:
            return
        if work["kind"] != "task":
            return self.report(d, "back", {"reason": "refused"})
        data = work["input"].get("data", {})
        delay = data.get("delay_sec") or 0
        if not isinstance(delay, (int, float)):
            return self.report(d, "done", {"status": "error", "error": {
                "code": "echo.input", "message": "delay_sec", "retryable": False}})
        now = time.monotonic()
        limit = work["timeout_ms"]
        self.running[d] = {"ends": now + delay, "items": data.get("items", []), "deadline": now + limit / 1000 if limit else None}

    def sync(self):
        done = [entry for kind, entry in self.outbox.values() if kind == "done"][:100]
        back = [entry for kind, entry in self.outbox.values() if kind == "back"][:100]
        self.seq += 1
        holding = [*self.running, *self.outbox]
        if self.options.bug == "hold_too_little":
            holding = [*self.running]
        body = {"session": self.session, "seq": self.seq, "done": done, "back": back, "holding": holding,
                "want": 0 if self.draining else max(0, 4 - len(self.running)), "wait_ms": 0 if done or back else 100}
        if self.draining and self.options.bug != "drain_in_silence":
            body["draining"] = True
        if self.options.bug == "report_once":
            for entry in done:
                self.settle(entry["d"])
        answer = self.ask(self.path + "/sync", body, self.secret)
        for result in answer["results"]:
            if result["result"] == "refused" and self.options.bug != "ignore_refusals":
                self.report(result["d"], "done", {"status": "error", "error": {
                    "code": "task.bad_result", "message": result["problem"]["detail"], "retryable": False}})
            else:
                self.settle(result["d"])
        if answer["seq"] <= self.newest:
            return
        self.newest = answer["seq"]
        for d in answer["drop"]:
            self.drop(d)
        for work in answer["work"]:
            self.start(work)
        for stop in answer["stop"]:
            if stop["d"] in self.running and self.options.bug != "ignore_stops":
                if stop["reason"] == "preempt":
                    self.report(stop["d"], "back", {"reason": "yield"})
                else:
                    self.report(stop["d"], "done", {"status": "cancelled", "error": {"code": "task.cancelled", "message": "stopped"}})
        if answer["mode"] == "draining" and not self.draining:
            self.drain()

    def run(self):
        pause = 0.2
        step = self.enrol
        while True:
            try:
                if step == self.enrol:
                    self.enrol()
                    step = self.begin
                if step == self.begin:
                    self.begin()
                    step = self.sync
                self.finish_some()
                self.sync()
                pause = 0.2
                if self.draining and not self.running and not self.outbox:
                    self.ask(self.path + "/leave", {"session": self.session}, self.secret)
                    return 0
                time.sleep(0.02)
            except Problem as problem:
                if problem.code in ("superseded", "bad_body"):
                    return 1
                if problem.code == "session":
                    step = self.begin
                elif problem.status in (401, 404):
                    step = self.enrol
                else:
                    time.sleep(pause)
            except (OSError, http.client.HTTPException):
                time.sleep(pause * random.uniform(0.5, 1))
                pause = min(pause * 2, 5)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--dir", required=True)
    parser.add_argument("--drain", type=float, default=20)
    parser.add_argument("--bug")
    return Worker(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
