#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a worker keeps to docs/worker-protocol.md. It plays the server, starts the worker, and looks at everything that
the worker sends.

usage: worker_conformance.py [--list] [--only SCENARIO]... [--patience SECONDS] [--verbose] -- COMMAND...

The worker is started with COMMAND, in which {server}, {dir} and {drain} are replaced: the address to connect to, a folder that
is empty at first and stays the same over restarts of the worker, and the time in seconds that running tasks have when the worker
drains. It must run tasks of the type `echo` (docs/tasks.md) with at least 4 slots, and drain on SIGTERM.

Example: worker_conformance.py -- holdfast worker --server {server} --dir {dir} --slots 4 --drain-timeout {drain}s
"""
import argparse
import http.server
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

PATIENCE = 60  # seconds for what must come
NAME = re.compile(r"[A-Za-z0-9_./:@-]{1,128}\Z")
SECRET = re.compile(r"[0-9a-f]{64}\Z")
MAX_BATCH = 256
MAX_RESULT = 1 << 20


class Violation(Exception):
    """The worker does not keep to the protocol."""


def expect(condition, text):
    if not condition:
        raise Violation(text)


# ---------------------------------------------------------------- what requests look like


def member(body, name, kind, needed=False, where="body"):
    if name not in body:
        expect(not needed, f"{where}.{name} is missing")
        return None
    value = body[name]
    good = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    expect(good, f"{where}.{name}: expected {getattr(kind, '__name__', kind)}, got {value!r:.80}")
    return value


def no_others(body, known, where):
    extra = set(body) - set(known)
    expect(not extra, f"{where} has members that the protocol does not know: {sorted(extra)}")


def check_dispatches(values, where):
    expect(len(values) <= 65536, f"{where} is too long")
    expect(all(isinstance(each, str) and 0 < len(each.encode()) <= 128 for each in values), f"{where}: expected dispatches")
    expect(len(set(values)) == len(values), f"{where} names a dispatch twice")


def check_enrolment(body):
    no_others(body, ["protocol", "node", "name", "secret", "queues", "types", "slots", "labels", "resources", "recipes"], "enrolment")
    expect(member(body, "protocol", int, True) == 1, "protocol must be 1")
    for name in ("node", "name"):
        expect(NAME.match(member(body, name, str, True)), f"{name} is not a name: {body[name]!r}")
    expect(SECRET.match(member(body, "secret", str, True)), "secret must be 64 lower-case hexadecimal digits")
    types = member(body, "types", list, True)
    expect(1 <= len(types) <= 256 and all(isinstance(each, str) and (each == "*" or NAME.match(each)) for each in types), "types")
    for name in member(body, "queues", list) or []:
        expect(NAME.match(name), f"queue {name!r}")
    expect(1 <= (member(body, "slots", int) or 1) <= 65536, "slots")
    for name, value in (member(body, "labels", dict) or {}).items():
        expect(NAME.match(name) and isinstance(value, str) and len(value.encode()) <= 256, f"label {name!r}")
    resources = member(body, "resources", dict) or {}
    no_others(resources, ["cpu_milli", "memory_bytes", "gpus"], "resources")
    for name in ("cpu_milli", "memory_bytes"):
        expect((member(resources, name, int) or 0) >= 0, f"resources.{name}")


def check_session(body):
    no_others(body, ["process", "first", "holding"], "session")
    expect(1 <= len(member(body, "process", str, True).encode()) <= 64, "process")
    member(body, "first", bool, True)
    check_dispatches(member(body, "holding", list, True), "holding")


def check_error(error, where):
    no_others(error, ["code", "message", "retryable", "details"], where)
    expect(0 < len(member(error, "code", str, True, where).encode()) <= 128, f"{where}.code")
    expect(len(member(error, "message", str, True, where).encode()) <= 4096, f"{where}.message")
    member(error, "retryable", bool, False, where)


def check_sync(body):
    no_others(body, ["session", "seq", "done", "back", "progress", "logs", "holding", "want", "wait_ms", "draining"], "sync")
    member(body, "session", str, True)
    expect(member(body, "seq", int, True) >= 1, "seq")
    holding = member(body, "holding", list, True)
    check_dispatches(holding, "holding")
    held = set(holding)
    for entry in member(body, "done", list) or []:
        no_others(entry, ["d", "status", "payload", "error", "started_ns", "ended_ns"], "done[]")
        status = member(entry, "status", str, True, "done[]")
        expect(status in ("ok", "error", "cancelled", "timeout"), f"done[].status {status!r}")
        expect(("payload" in entry) == (status == "ok"), "done[]: payload if and only if the status is ok")
        expect(("error" in entry) == (status != "ok"), "done[]: error if and only if the status is not ok")
        if status != "ok":
            check_error(entry["error"], "done[].error")
        expect(entry["d"] in held, "holding must include what the request reports")
    for entry in member(body, "back", list) or []:
        no_others(entry, ["d", "reason", "resume"], "back[]")
        expect(entry["reason"] in ("drain", "refused", "yield"), f"back[].reason {entry['reason']!r}")
        expect("resume" not in entry or entry["reason"] == "yield", "back[]: resume only with yield")
        expect(entry["d"] in held, "holding must include what the request gives back")
    for name in ("done", "back", "progress"):
        expect(len(body.get(name, [])) <= MAX_BATCH, f"{name} has more than max_batch entries")
    for entry in member(body, "progress", list) or []:
        no_others(entry, ["d", "n", "payload"], "progress[]")
        expect(member(entry, "n", int, True, "progress[]") >= 1, "progress[].n")
    logs = member(body, "logs", list) or []
    expect(len(logs) <= 256, "logs has more than 256 entries")
    for entry in logs:
        no_others(entry, ["d", "from", "lines"], "logs[]")
        expect(member(entry, "from", int, True, "logs[]") >= 0, "logs[].from")
        expect(len(entry["lines"]) <= 1000, "logs[].lines has more than 1000 lines")
        for moment, stream, text in entry["lines"]:
            expect(isinstance(moment, int) and stream in ("out", "err") and len(text.encode()) <= 8192, "logs[].lines[]")
    want = member(body, "want", int) or 0
    expect(0 <= want <= MAX_BATCH, "want")
    expect((member(body, "wait_ms", int) or 0) >= 0, "wait_ms")
    if member(body, "draining", bool):
        expect(want == 0, "a worker that drains wants nothing")


# ---------------------------------------------------------------- the server


class Server:
    """The server's side, in memory. Scenarios tell it what to hand out and what to get wrong."""

    def __init__(self, verbose=False):
        self.changed = threading.Condition()
        self.verbose = verbose
        self.requests = []  # (kind, body), in the order of arrival
        self.violations = []
        self.ttl_ms = 3000
        self.worker = None  # (node, name, secret)
        self.token_of_worker = None
        self.session = None
        self.sessions = 0
        self.process = None
        self.last_seq = 0
        self.parked = 0  # the seq of the newest sync
        self.queue = []  # work to hand out
        self.leased = {}  # d -> work, until it is settled
        self.results = {}  # d -> entry
        self.returned = {}  # d -> entry
        self.settled = set()
        self.lost = []  # what died with a process
        self.reports = {}  # d -> how often it was reported
        self.refuse = {}  # d -> problem, once
        self.stops = {}
        self.drops = []
        self.logs = {}  # d -> lines
        self.progress = {}
        self.left = False
        self.mode = "active"
        self.faults = []  # (kind, action), in the order in which they happen
        self.numbers = 0
        self.slots = 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *arguments):
                pass

            def do_POST(self):
                outer.handle(self)

        class Listener(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                if not isinstance(sys.exc_info()[1], ConnectionError):  # workers are killed, and connections with them
                    super().handle_error(request, client_address)

        self.http = Listener(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        with self.changed:
            self.changed.notify_all()

    # -- what scenarios do

    def give(self, spec=None, *, kind="task", type="echo", timeout_ms=0, attempt=1, **more):
        with self.changed:
            self.numbers += 1
            d = f"{self.numbers}:{'%04x' % (self.numbers * 7919)}"
            self.queue.append({"d": d, "key": "sha256:" + "%064x" % self.numbers, "kind": kind, "type": type, "queue": "default",
                               "graph": "g-1", "task": self.numbers, "name": f"task-{self.numbers}", "attempt": attempt,
                               "timeout_ms": timeout_ms, "input": spec if spec is not None else {}, "devices": [], **more})
            self.changed.notify_all()
            return d

    def echo(self, *items, delay=None, **more):
        data = {"items": list(items)}
        if delay is not None:
            data["delay_sec"] = delay
        return self.give({"data": data}, **more)

    def fault(self, kind, action):
        """The next request of this kind meets this: a status, "lose" (the connection is cut before it is taken), "cut" (after it
        was taken), or a function of the request's body that gives the answer."""
        with self.changed:
            self.faults.append((kind, action))

    def wait(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        with self.changed:
            while True:
                if self.violations:
                    raise Violation(self.violations[0])
                found = condition()
                if found:
                    return found
                left = deadline - time.monotonic()
                if left <= 0:
                    raise Violation(f"it does not come: {what}")
                self.changed.wait(min(left, 0.2))

    def result(self, d):
        return self.wait(lambda: self.results.get(d), f"the result of {d}")

    def holds(self, d):
        """Waits until the newest request lists it."""
        self.wait(lambda: any(kind == "sync" and d in body["holding"] for kind, body in self.requests[-3:]), f"{d} in holding")

    def mark(self):
        with self.changed:
            return len(self.requests)

    def after(self, mark, kind, condition=lambda body: True, what=None):
        """The first request of this kind after the mark that fits."""
        def look():
            for each, body in self.requests[mark:]:
                if each == kind and condition(body):
                    return {"body": body}
            return None
        return self.wait(look, what or f"a {kind} that fits")["body"]

    # -- HTTP

    def handle(self, handler):
        try:
            length = int(handler.headers.get("Content-Length", "0"))
            body = json.loads(handler.rfile.read(length))
            bearer = (handler.headers.get("Authorization") or "").removeprefix("Bearer ")
            kind = "enrol" if handler.path == "/v1/workers" else handler.path.rsplit("/", 1)[-1]
            if self.verbose:
                print(f"> {kind} {json.dumps(body)[:300]}", file=sys.stderr)
            with self.changed:
                self.requests.append((kind, body))
                self.changed.notify_all()
                action = next((each for each in self.faults if each[0] == kind), None)
                if action is not None:
                    self.faults.remove(action)
                    action = action[1]
            if action == "lose":
                return self.cut(handler)
            if isinstance(action, int):
                code = {401: "unauthenticated", 404: "not_found", 503: "unavailable", 409: "session"}.get(action, "problem")
                if action == 409:
                    with self.changed:
                        self.session = None
                return self.answer(handler, action, {"code": code, "detail": "as the scenario wants it"})
            try:
                status, answer = action(body) if callable(action) else getattr(self, "on_" + kind)(body, handler.path, bearer)
            except (Violation, KeyError, TypeError, ValueError) as violation:
                with self.changed:
                    self.violations.append(f"{kind}: {violation!r}" if not isinstance(violation, Violation) else f"{kind}: {violation}")
                    self.changed.notify_all()
                return self.answer(handler, 400, {"code": "bad_body", "detail": str(violation)})
            if action == "cut":
                return self.cut(handler)
            self.answer(handler, status, answer)
        except (ConnectionError, socket.timeout):
            handler.close_connection = True

    def answer(self, handler, status, document):
        if self.verbose:
            print(f"< {status} {json.dumps(document)[:300]}", file=sys.stderr)
        data = json.dumps(document).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
        with self.changed:
            self.changed.notify_all()

    @staticmethod
    def cut(handler):
        handler.close_connection = True
        try:
            handler.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    # -- the protocol

    def check_credential(self, path, bearer):
        expect(self.worker is not None and bearer == self.worker[2], "the credential must be the secret of the worker")
        expect(path.split("/")[3] == "w-1", "the path must hold the worker id of the enrolment")

    def on_enrol(self, body, path, bearer):
        check_enrolment(body)
        with self.changed:
            known = self.worker == (body["node"], body["name"], body["secret"])
            expect(self.worker is None or known, "a restarted worker must enrol with the same node, name and secret")
            self.worker = (body["node"], body["name"], body["secret"])
            self.slots = body.get("slots", 1)
        return (200 if known else 201), {"protocol": 1, "worker": "w-1", "mode": self.mode, "ttl_ms": self.ttl_ms,
                                         "max_wait_ms": self.ttl_ms // 3, "max_batch": MAX_BATCH, "max_result_bytes": MAX_RESULT,
                                         "max_held_logs": 10000, "a_member_of_the_future": {"x": [1]}}

    def on_session(self, body, path, bearer):
        check_session(body)
        with self.changed:
            self.check_credential(path, bearer)
            if body["first"] and body["process"] != self.process:
                for d in [each for each in self.leased if each not in body["holding"]]:
                    del self.leased[d]
                    self.settled.add(d)
                    self.lost.append(d)
            elif body["process"] != self.process:
                return 409, {"code": "superseded", "detail": "another process is active"}
            self.process = body["process"]
            self.sessions += 1
            self.session = f"s-{self.sessions}"
            self.last_seq = 0
            keep = [d for d in body["holding"] if d in self.leased]
            drop = [d for d in body["holding"] if d not in self.leased]
            self.changed.notify_all()
        return 200, {"session": self.session, "seq": 0, "keep": keep, "drop": drop, "mode": self.mode, "ttl_ms": self.ttl_ms}

    def take_report(self, entry, into):
        d = entry["d"]
        self.reports[d] = self.reports.get(d, 0) + 1
        if d in self.refuse:
            return {"d": d, "result": "refused", "problem": self.refuse.pop(d)}
        if d not in self.leased:
            return {"d": d, "result": "ok" if d in self.results or d in self.returned else "stale"}
        del self.leased[d]
        self.settled.add(d)
        self.stops.pop(d, None)
        into[d] = entry
        return {"d": d, "result": "ok"}

    def on_sync(self, body, path, bearer):
        check_sync(body)
        with self.changed:
            self.check_credential(path, bearer)
            if self.session is None or body["session"] != self.session:
                return 409, {"code": "session", "detail": "the session has ended"}
            results = [self.take_report(entry, self.results) for entry in body.get("done", [])]
            results += [self.take_report(entry, self.returned) for entry in body.get("back", [])]
            for entry in body.get("progress", []):
                before = self.progress.get(entry["d"], (0, None))[0]
                expect(entry["n"] >= before, "progress numbers must grow")
                self.progress[entry["d"]] = (entry["n"], entry["payload"])
            logs_to = []
            for entry in body.get("logs", []):
                lines = self.logs.setdefault(entry["d"], [])
                expect(entry["from"] <= len(lines) or len(lines) > 3000, "lines are missing although few were sent")
                lines += entry["lines"][max(0, len(lines) - entry["from"]):]
                logs_to.append([entry["d"], len(lines)])
            answer = {"seq": body["seq"], "mode": self.mode, "results": results, "work": [], "stop": [], "drop": [], "logs_to": logs_to}
            self.changed.notify_all()
            if body["seq"] <= self.last_seq:
                return 200, answer
            self.last_seq = body["seq"]
            self.changed.notify_all()  # a newer one ends the one that is held back
            holding = set(body["holding"])
            expect(not body.get("draining") or body.get("want", 0) == 0, "draining and want")
            answer["drop"] = [d for d in holding if d not in self.leased and not any(d == each["d"] for each in results)]
            answer["work"] = [work for d, work in self.leased.items() if d not in holding]  # sent again
            deadline = time.monotonic() + min(body.get("wait_ms", 0), self.ttl_ms // 3) / 1000
            may_wait = not body.get("done") and not body.get("back")
            while True:
                for d in [each for each in self.drops if each in holding]:
                    self.drops.remove(d)
                    self.leased.pop(d, None)
                    self.settled.add(d)
                    answer["drop"].append(d)
                answer["stop"] = [{"d": d, **self.stops[d]} for d in holding if d in self.stops]
                free = body.get("want", 0) - len(answer["work"])
                while self.queue and free > 0 and len(self.leased) < self.slots and not body.get("draining"):
                    work = self.queue.pop(0)
                    self.leased[work["d"]] = work
                    answer["work"].append(work)
                    free -= 1
                left = deadline - time.monotonic()
                fresh_stop = any(d not in self.told_stops for d in (each["d"] for each in answer["stop"]))
                if answer["work"] or answer["drop"] or fresh_stop or not may_wait or left <= 0 or self.last_seq != body["seq"]:
                    break
                if self.mode != answer["mode"]:
                    answer["mode"] = self.mode
                    break
                self.changed.wait(left)
            self.told_stops.update(each["d"] for each in answer["stop"])
            if self.last_seq != body["seq"]:  # a newer one is there, and brings the work
                answer["work"] = []
            answer["mode"] = self.mode
            return 200, answer

    told_stops = frozenset()

    def on_leave(self, body, path, bearer):
        no_others(body, ["session"], "leave")
        with self.changed:
            self.check_credential(path, bearer)
            expect(body["session"] == self.session, "leave must name the session")
            self.left = True
            self.changed.notify_all()
        return 200, {}


# ---------------------------------------------------------------- the worker


class Worker:
    def __init__(self, command, server, folder, drain=20):
        arguments = [each.replace("{server}", server.url).replace("{dir}", str(folder)).replace("{drain}", str(drain))
                     for each in command]
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def send(self, number):
        self.process.send_signal(number)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=PATIENCE)

    def ends(self):
        """Its exit code."""
        try:
            return self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise Violation("the worker does not end") from None

    def text(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")


class Scene:
    """A server, a folder, and workers that are started in it."""

    def __init__(self, command, verbose):
        self.command = command
        self.server = Server(verbose)
        self.server.told_stops = set()
        self.folder = tempfile.TemporaryDirectory()
        self.workers = []

    def worker(self, **more):
        made = Worker(self.command, self.server, pathlib.Path(self.folder.name) / "worker", **more)
        self.workers.append(made)
        return made

    def close(self):
        for worker in self.workers:
            worker.kill()
        self.server.close()
        self.folder.cleanup()


def items(entry):
    expect(entry["status"] == "ok", f"expected a result, got {entry}")
    return [each["output"] for each in entry["payload"]["items"]]


# ---------------------------------------------------------------- scenarios

SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


@scenario
def a_worker_enrols_begins_a_session_and_runs_a_task(scene):
    server = scene.server
    scene.worker()
    d = server.echo("hello", 7, None, {"a": [1.5, True]})
    expect(items(server.result(d)) == ["hello", 7, None, {"a": [1.5, True]}], "the result is another one")
    kinds = [kind for kind, _ in server.requests[:3]]
    expect(kinds == ["enrol", "session", "sync"], f"expected enrol, session, sync, got {kinds}")
    expect(server.requests[1][1]["first"] is True, "the first session of a process is first")


@scenario
def many_tasks_are_each_reported_once_while_nothing_is_lost(scene):
    server = scene.server
    scene.worker()
    all_ = [server.echo(number) for number in range(300)]
    for number, d in enumerate(all_):
        expect(items(server.result(d)) == [number], "a result belongs to another task")
    expect(all(server.reports[d] == 1 for d in all_), "an acknowledged result was reported again")


@scenario
def tasks_run_at_once_up_to_the_slots(scene):
    server = scene.server
    scene.worker()
    all_ = [server.echo(number, delay=1.0) for number in range(4)]
    server.wait(lambda: all(any(d in body["holding"] for kind, body in server.requests if kind == "sync") for d in all_),
                "four tasks at once")
    for d in all_:
        server.result(d)


@scenario
def a_worker_without_work_sends_heartbeats(scene):
    server = scene.server
    scene.worker()
    server.after(0, "sync")
    begun = time.monotonic()
    server.wait(lambda: sum(kind == "sync" for kind, _ in server.requests) >= 4, "four heartbeats")
    expect(time.monotonic() - begun < PATIENCE, "heartbeats")


@scenario
def a_result_whose_answer_is_lost_is_reported_again(scene):
    server = scene.server
    scene.worker()
    server.after(0, "sync")
    server.fault("sync", "cut")  # the one that is held back, or the next
    d = server.echo("x", delay=0.3)
    server.wait(lambda: d in server.leased or d in server.results, "the task is handed out")
    server.fault("sync", "cut")
    expect(items(server.result(d)) == ["x"], "the result is another one")
    mark = server.mark()
    server.after(mark, "sync", lambda body: d not in body["holding"], "a sync that does not hold the task any more")


@scenario
def a_request_that_never_arrived_is_sent_again(scene):
    server = scene.server
    scene.worker()
    server.after(0, "sync")
    d = server.echo("x", delay=0.5)
    server.wait(lambda: d in server.leased, "the task is handed out")
    for _ in range(2):
        server.fault("sync", "lose")
    expect(items(server.result(d)) == ["x"], "the result is another one")


@scenario
def work_that_is_sent_twice_runs_once(scene):
    server = scene.server
    scene.worker()
    d = server.echo("once", delay=1.0)
    server.holds(d)

    def again(body):
        status, answer = server.on_sync(body, "/v1/workers/w-1/sync", server.worker[2])
        if status == 200 and d in server.leased:
            answer["work"].append(server.leased[d])
        return status, answer
    for _ in range(3):
        server.fault("sync", again)
    server.result(d)
    expect(server.reports[d] == 1, "the task was reported more than once")

    # The same for one whose result is not acknowledged.
    d = server.echo("once", delay=0.3)
    server.holds(d)
    unanswered = []

    def forget(body):
        if not any(entry["d"] == d for entry in body.get("done", [])):
            server.faults.insert(0, ("sync", forget))
            return server.on_sync(body, "/v1/workers/w-1/sync", server.worker[2])
        unanswered.append(body["seq"])
        return 200, {"seq": body["seq"], "mode": "active", "results": [], "work": [server.leased[d]], "stop": [], "drop": [], "logs_to": []}
    server.fault("sync", forget)
    server.result(d)
    later = [body for kind, body in server.requests if kind == "sync" and unanswered and body["seq"] > unanswered[0] and d in body["holding"]]
    expect(later and any(entry["d"] == d for entry in later[0].get("done", [])), "a task whose result was in the outbox was run again")


@scenario
def work_in_an_answer_that_comes_late_is_not_taken(scene):
    server = scene.server
    scene.worker()
    slow = server.echo("slow", delay=1.0)
    server.holds(slow)
    released = threading.Event()
    late = {"d": "late:1", "key": "sha256:" + "f" * 64, "kind": "task", "type": "echo", "queue": "default", "graph": "g", "task": 99,
            "name": "late", "attempt": 1, "timeout_ms": 0, "input": {}, "devices": []}

    def held_back(body):
        # Answered only after a newer request was.
        released.wait(PATIENCE)
        return 200, {"seq": body["seq"], "mode": "active", "results": [], "work": [late], "stop": [], "drop": [], "logs_to": []}
    server.fault("sync", held_back)
    server.result(slow)  # needs a newer request beside the one that is held back
    server.wait(lambda: server.requests[-1][0] == "sync" and slow not in server.requests[-1][1]["holding"], "a newer answer was taken")
    mark = server.mark()
    released.set()
    after = server.echo("after")
    server.result(after)
    expect(not any("late:1" in body.get("holding", []) for _, body in server.requests[mark:]),
           "work of an answer that is older than one it has taken was started")
    expect("late:1" not in server.reports, "work of an answer that is too old was run")


@scenario
def when_the_session_ends_the_worker_begins_another_and_goes_on(scene):
    server = scene.server
    scene.worker()
    d = server.echo("x", delay=1.5)
    server.holds(d)
    mark = server.mark()
    server.fault("sync", 409)
    session = server.after(mark, "session")
    expect(session["first"] is False, "the process was in a session before: first must be false")
    expect(d in session["holding"], "a running task is held")
    expect(items(server.result(d)) == ["x"], "the result is another one")
    expect(server.reports[d] == 1, "one report")


@scenario
def a_server_that_does_not_know_the_worker_any_more_is_enrolled_with_again(scene):
    server = scene.server
    scene.worker()
    d = server.echo("x", delay=1.5)
    server.holds(d)
    mark = server.mark()
    server.fault("sync", 401)
    server.after(mark, "enrol")
    session = server.after(mark, "session")
    expect(session["first"] is False and d in session["holding"], "what runs goes on over an enrolment")
    server.result(d)


@scenario
def a_busy_server_is_asked_again_later(scene):
    server = scene.server
    scene.worker()
    d = server.echo("x", delay=0.5)
    server.holds(d)
    for _ in range(2):
        server.fault("sync", 503)
    expect(items(server.result(d)) == ["x"], "the result is another one")


@scenario
def results_of_a_killed_worker_arrive_from_its_next_process(scene):
    server = scene.server
    worker = scene.worker()
    d = server.echo("kept", delay=0.5)
    server.holds(d)
    sent = threading.Event()

    def swallow(body):
        if any(entry["d"] == d for entry in body.get("done", [])):
            sent.set()
            return 503, {"code": "unavailable", "detail": "not now"}
        return server.on_sync(body, "/v1/workers/w-1/sync", server.worker[2])
    for _ in range(50):
        server.fault("sync", swallow)
    expect(sent.wait(PATIENCE), "the result is never reported")
    worker.kill()
    with server.changed:
        server.faults.clear()
    mark = server.mark()
    scene.worker()
    session = server.after(mark, "session")
    expect(session["first"] is True, "a new process begins with first: true")
    expect(d in session["holding"], "a result in the outbox is held")
    expect(items(server.result(d)) == ["kept"], "the result is another one")


@scenario
def a_killed_worker_does_not_hold_what_it_was_running(scene):
    server = scene.server
    worker = scene.worker()
    d = server.echo("x", delay=3600)
    server.holds(d)
    worker.kill()
    mark = server.mark()
    scene.worker()
    session = server.after(mark, "session")
    expect(d not in session["holding"], "a task that died with its process is not held")
    expect(session["process"] != [body for kind, body in server.requests[:mark] if kind == "session"][0]["process"],
           "each process has an id of its own")


@scenario
def a_dispatch_that_is_dropped_is_ended_and_not_reported(scene):
    server = scene.server
    scene.worker()
    d = server.echo("x", delay=2.0)
    server.holds(d)
    with server.changed:
        server.drops.append(d)
        server.changed.notify_all()
    mark = server.mark()
    server.after(mark, "sync", lambda body: d not in body["holding"], "a sync without the dropped task")
    time.sleep(2.5)  # it would have ended by now
    expect(d not in server.reports, "a dropped task was reported")


@scenario
def a_task_that_is_stopped_ends_within_its_grace(scene):
    server = scene.server
    scene.worker()
    d = server.echo("x", delay=3600)
    server.holds(d)
    with server.changed:
        server.stops[d] = {"reason": "cancelled", "grace_ms": 1000}
        server.changed.notify_all()
    entry = server.result(d)
    expect(entry["status"] in ("cancelled", "ok", "error"), f"a status of a stopped task: {entry}")


@scenario
def a_task_that_takes_too_long_is_ended_with_timeout(scene):
    server = scene.server
    scene.worker()
    d = server.echo("x", delay=3600, timeout_ms=300)
    expect(server.result(d)["status"] == "timeout", "expected the status timeout")


@scenario
def a_task_that_was_preempted_is_given_back(scene):
    server = scene.server
    scene.worker()
    d = server.echo("x", delay=3600)
    server.holds(d)
    with server.changed:
        server.stops[d] = {"reason": "preempt", "grace_ms": 1000}
        server.changed.notify_all()
    entry = server.wait(lambda: server.returned.get(d) or server.results.get(d), "an end of the preempted task")
    expect(entry.get("reason") == "yield" or entry.get("status") == "ok", f"expected yield: {entry}")


@scenario
def a_result_that_is_refused_becomes_an_error(scene):
    server = scene.server
    scene.worker()
    with server.changed:
        d = server.echo("x")
        server.refuse[d] = {"code": "too_large", "detail": "the result is too large for this server"}
    entry = server.result(d)
    expect(entry["status"] == "error" and entry["error"]["code"] == "task.bad_result", f"expected task.bad_result: {entry}")
    expect(entry["error"].get("retryable") is False, "retryable must be false")
    expect("too large" in entry["error"]["message"], "the message must hold the detail")


@scenario
def a_kind_of_work_that_is_not_known_is_given_back(scene):
    server = scene.server
    scene.worker()
    d = server.give({"x": 1}, kind="something-new")
    entry = server.wait(lambda: server.returned.get(d) or server.results.get(d), "an end")
    expect(entry.get("reason") == "refused", f"expected back with the reason refused: {entry}")


@scenario
def input_that_a_task_cannot_take_is_an_error_of_the_task(scene):
    server = scene.server
    scene.worker()
    d = server.give({"data": {"items": [1], "delay_sec": "soon"}})
    entry = server.result(d)
    expect(entry["status"] == "error" and entry["error"].get("retryable") is False, f"expected an error: {entry}")


@scenario
def a_worker_that_drains_takes_no_work_reports_and_leaves(scene):
    server = scene.server
    worker = scene.worker()
    d = server.echo("last", delay=1.5)
    server.holds(d)
    mark = server.mark()
    worker.send(signal.SIGTERM)
    server.after(mark, "sync", lambda body: body.get("draining") is True, "a sync that says draining")
    waiting = server.echo("never")
    expect(items(server.result(d)) == ["last"], "a result during the drain counts")
    server.wait(lambda: server.left, "leave")
    expect(worker.ends() == 0, "a worker that has drained exits with 0")
    # What was on its way already is given back, and not run.
    back = server.returned.get(waiting)
    expect(waiting not in server.results and (back is None or back.get("reason") == "drain"), "a worker that drains took new work")


@scenario
def a_task_that_does_not_end_in_time_is_given_back_when_draining(scene):
    server = scene.server
    worker = scene.worker(drain=0)
    d = server.echo("x", delay=3600)
    server.holds(d)
    worker.send(signal.SIGTERM)
    entry = server.wait(lambda: server.returned.get(d) or server.results.get(d), "the task comes back")
    expect(entry.get("reason") == "drain", f"expected back with the reason drain: {entry}")
    server.wait(lambda: server.left, "leave")
    expect(worker.ends() == 0, "a worker that has drained exits with 0")


@scenario
def a_server_can_drain_a_worker(scene):
    server = scene.server
    worker = scene.worker()
    server.result(server.echo("x"))
    with server.changed:
        server.mode = "draining"
        server.changed.notify_all()
    server.wait(lambda: server.left, "leave")
    expect(worker.ends() == 0, "a worker that has drained exits with 0")


@scenario
def a_process_whose_place_was_taken_ends(scene):
    server = scene.server
    worker = scene.worker()
    server.result(server.echo("x"))
    server.fault("sync", lambda body: (409, {"code": "superseded", "detail": "another process is active"}))
    expect(worker.ends() != 0, "a superseded worker ends with an error")


@scenario
def results_computed_while_the_server_is_away_arrive_when_it_is_back(scene):
    server = scene.server
    scene.worker()
    all_ = [server.echo(number, delay=0.5) for number in range(4)]
    server.wait(lambda: all(d in server.leased for d in all_), "all are handed out")
    for _ in range(4):
        server.fault("sync", "lose")
    for number, d in enumerate(all_):
        expect(items(server.result(d)) == [number], "the result is another one")


def main():
    global PATIENCE
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the scenarios")
    parser.add_argument("--only", action="append", default=[], metavar="SCENARIO", help="run these only")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="how long to wait for what must come")
    parser.add_argument("--verbose", action="store_true", help="print the messages")
    parser.add_argument("command", nargs="*", metavar="COMMAND")
    options = parser.parse_args()
    PATIENCE = options.patience
    known = {each.__name__: each for each in SCENARIOS}
    if options.list:
        print("\n".join(known))
        return 0
    if not options.command:
        parser.error("say how the worker is started, behind --")
    wrong = [name for name in options.only if name not in known]
    if wrong:
        parser.error(f"no such scenario: {', '.join(wrong)}")
    failed = []
    for name, run in known.items():
        if options.only and name not in options.only:
            continue
        scene = Scene(options.command, options.verbose)
        try:
            run(scene)
            if scene.server.violations:
                raise Violation(scene.server.violations[0])
            print(f"ok      {name}", flush=True)
        except Exception as problem:  # the others are looked at all the same
            failed.append(name)
            text = str(problem) if isinstance(problem, Violation) else traceback.format_exc()
            print(f"FAILED  {name}: {text}", flush=True)
            for worker in scene.workers:
                print("        worker: " + worker.text().replace("\n", "\n        worker: "), flush=True)
        finally:
            scene.close()
    print(f"{len(failed)} of {len(options.only) or len(known)} scenarios failed" if failed else "conforms", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
