# SPDX-License-Identifier: Apache-2.0
"""A real server and real workers that tests kill, stop and restart, with a ledger outside of both: the tasks themselves write
down that they begin and end. `Story` reads the journal afterwards and holds the ledger against it."""
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from waiting import PATIENCE, wait_until

PROGRAM = pathlib.Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build")) / "holdfast"

# What the tests are asked for, such as HOLDFAST_TASKS. The programs that they start see none of it, and no settings of the
# user who runs the tests.
ASKED = {name.removeprefix("HOLDFAST_"): value for name, value in os.environ.items() if name.startswith("HOLDFAST_")}
for name in ASKED:
    if name not in ("BUILD", "SANITIZE"):
        del os.environ["HOLDFAST_" + name]

FUNCTIONS = '''
import json, os, time

LEDGER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ledger")

def _note(what, task):
    line = json.dumps([what, task._dispatch, task.graph, task.name, task.attempt, time.time_ns()]) + "\\n"
    ledger = os.open(LEDGER, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(ledger, line.encode())
    os.close(ledger)

def work(input, task):
    _note("begin", task)
    time.sleep(input.get("seconds", 0))
    if task.attempt <= input.get("failures", 0):
        _note("fail", task)
        raise RuntimeError("as the document says")
    inputs = input.get("inputs", [])
    total = input.get("number", 0) + sum(sum(each) if isinstance(each, list) else each for each in inputs)
    _note("end", task)
    return {"total": total, "parity": total % 2}
'''

ENDED = ("DONE", "FAILED", "CANCELLED")  # of a graph
Entry = collections.namedtuple("Entry", "what dispatch graph name attempt time_ns")


def free_port():
    """Below the ports that the system gives to clients, so that it is still free when a server is started again."""
    while True:
        port = random.randint(15000, 31000)
        with contextlib.closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port


class Fleet:
    """Use it with `with`: everything that it started has ended afterwards."""

    def __init__(self, folder, workers=3, slots=4, settings=()):
        self.folder = pathlib.Path(folder)
        self.world = self.folder / "world"
        self.slots, self.settings = slots, settings
        self.host, self.port, self.scheme = "127.0.0.1", free_port(), "http"
        self.token, self.worker_token, self.tls = None, None, None
        self.worker_flags, self.around_worker = [], lambda number: []
        self.server, self.workers = None, [None] * workers
        self.kills = collections.defaultdict(list)  # worker -> when it was killed
        (self.folder / "functions.py").write_text(FUNCTIONS)
        (self.folder / "ledger").touch()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in [self.server, *self.workers]:
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()

    # The server.

    def start_server(self):
        with open(self.folder / "server.log", "ab") as log:
            self.server = subprocess.Popen(
                [PROGRAM, "serve", "--world", self.world, "--apply", "--any-file-system", "--listen",
                 f"{self.host}:{self.port}", *self.settings], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.server.stdout.readline()
        self.server.stdout.close()
        assert line.startswith("listening on"), f"{line} exit {self.server.wait()}: {(self.folder / 'server.log').read_text()}"

    def kill_server(self):
        self.server.kill()
        self.server.wait()

    def stop_server(self):
        self.server.terminate()
        assert self.server.wait(timeout=PATIENCE) == 0, (self.folder / "server.log").read_text()

    def ask(self, method, path, body=None):
        return json.loads(self.ask_text(method, path, None if body is None else json.dumps(body).encode()))

    def ask_text(self, method, path, body=None):
        request = urllib.request.Request(f"{self.scheme}://{self.host}:{self.port}{path}", method=method, data=body)
        request.add_header("Content-Type", "application/json")
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE, context=self.tls) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as problem:
            raise AssertionError(f"{method} {path}: {problem.code} {problem.read()}") from None

    def submit(self, document, graph):
        return self.ask("POST", "/v1/graphs", {"document": document, "id": graph})

    def status(self, graph):
        return self.ask("GET", f"/v1/graphs/{graph}")["status"]

    def tasks(self, graph):
        found, after = [], ""
        while True:
            page = self.ask("GET", f"/v1/graphs/{graph}/tasks?limit=500&results=1{after}")
            found += page["tasks"]
            if not page.get("next"):
                return found
            after = f"&after={page['next']}"

    def figure(self, name):
        """Some are left out where the server is too busy to say them: then they are asked for again."""
        def look():
            return re.search(rf"^{re.escape(name)} (\S+)$", self.ask_text("GET", "/metrics"), re.M)
        return float(wait_until(look, f"there is no {name}")[1])

    def modes(self):
        return {each["name"]: each["mode"] for each in self.ask("GET", "/v1/workers")["workers"]}

    def use_tls(self, host):
        """For a server that others than this machine reach."""
        self.host, self.scheme = host, "https"
        certificate, key = self.folder / "server.pem", self.folder / "server.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                        "-out", certificate, "-days", "2", "-subj", "/CN=server", "-addext", f"subjectAltName=IP:{host}"],
                       check=True, capture_output=True)
        self.settings = (*self.settings, "--tls-certificate", certificate, "--tls-key", key)
        self.worker_flags += ["--authorities", certificate]
        self.tls = ssl.create_default_context(cafile=certificate)
        self.token, self.worker_token = (
            subprocess.run([PROGRAM, "token", "add", "--new", "--world", self.world, "--role", role], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.split()[-1] for role in ("admin", "worker"))

    # The workers.

    def start_worker(self, number, *flags):
        environment = {**os.environ, **({"HOLDFAST_TOKEN": self.worker_token} if self.worker_token else {})}
        with open(self.folder / f"worker-{number}.log", "ab") as log:
            self.workers[number] = subprocess.Popen(
                [*self.around_worker(number), PROGRAM, "worker", "--server", f"{self.scheme}://{self.host}:{self.port}", "--dir",
                 self.folder / f"worker-{number}", "--name", f"w{number}", "--node-name", "here", "--slots", str(self.slots),
                 "--python", self.folder / "functions.py", *self.worker_flags, *flags],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def start(self):
        self.start_server()
        for number in range(len(self.workers)):
            self.start_worker(number)

    def kill_worker(self, number):
        self.kills[f"w{number}"].append(time.time_ns())
        self.workers[number].kill()
        self.workers[number].wait()

    def stop_worker(self, number):
        self.workers[number].terminate()
        assert self.workers[number].wait(timeout=PATIENCE) == 0, (self.folder / f"worker-{number}.log").read_text()

    # What happened.

    def ledger(self):
        return [Entry(*json.loads(line)) for line in (self.folder / "ledger").read_text().splitlines()]

    def count(self, what="end"):
        return (self.folder / "ledger").read_text().count(f'["{what}"')

    def journal(self):
        """All records. The server has stopped."""
        shown = subprocess.run([PROGRAM, "journal", self.world, "--json", "--limit", "100000000"], check=True, stdout=subprocess.PIPE,
                               timeout=PATIENCE * 5)
        return json.loads(shown.stdout)["records"]

    def verify(self):
        subprocess.run([PROGRAM, "verify", self.world], check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE * 5)


class Lease:
    def __init__(self, task, worker, dispatch, intent, time_ns):
        self.task, self.worker, self.dispatch, self.time_ns = task, worker, dispatch, time_ns
        self.text = f"{dispatch}:{intent.removeprefix('sha256:')}"  # as workers see it
        self.end, self.end_ns = None, None  # "ok", "error", "timeout", "cancelled", "lost", "drain", "denied", "yield", "refused"


class Story:
    """What the records say of each task: its leases in their order, and how each ended. It is strict: a lease of a task that is
    held, or an end under another dispatch than the present one, is an error."""

    def __init__(self, records):
        self.leases = {}  # dispatch as workers see it -> Lease
        self.of_task = collections.defaultdict(list)  # (graph, number) -> leases
        self.settled = collections.Counter()  # (graph, number) -> results that were accepted with status ok
        self.names = {}  # id of a worker -> name
        self.changes = collections.Counter()  # (name of a worker, change)
        self.unheld = collections.Counter()  # (graph, number) -> ends that no worker reported
        self._held = {}  # intent -> Lease
        self._task_of = {}  # intent -> task
        for record in records:
            self._take(record)

    def _take(self, record):
        tick, now = record["tick"], record["time_ns"]
        kind = tick["kind"]
        if kind == "worker enrolled":
            self.names[tick["worker"]] = tick["name"]
        elif kind == "worker changed":
            self.changes[self.names[tick["worker"]], tick["change"]] += 1
            if tick["change"] in ("lose", "leave"):
                for intent, lease in list(self._held.items()):
                    if lease.worker == self.names[tick["worker"]]:
                        self._end(intent, lease.dispatch, {"lose": "lost", "leave": "drain"}[tick["change"]], now)
        elif kind == "leased":
            for item in tick["leases"]:
                intent = item["intent"]
                assert intent not in self._held, f"{self._task_of[intent]} is leased while it is held"
                lease = Lease(self._task_of[intent], self.names[tick["worker"]], item["dispatch"], intent, now)
                self._held[intent] = self.leases[lease.text] = lease
                self.of_task[lease.task].append(lease)
        elif kind == "returned":
            for item in tick["leases"]:
                self._end(item["intent"], item["dispatch"], item["reason"], now)
        elif kind == "receipt" and tick["intent"] in self._task_of:
            intent = tick["intent"]
            if tick.get("dispatch"):
                self._end(intent, tick["dispatch"], tick["status"], now)
            else:
                self.unheld[self._task_of[intent]] += 1
            if tick["status"] == "ok":
                self.settled[self._task_of[intent]] += 1
        for instance in record["instances"]:
            if instance["workflow"] == "sys/Task@1":
                graph, number = instance["key"].rsplit("/", 1)
                for opened in instance["opened"]:
                    if opened["effect"] == "sys/task.run@1":
                        self._task_of[opened["intent"]] = (graph, int(number))

    def _end(self, intent, dispatch, how, now):
        lease = self._held.pop(intent, None)
        assert lease is not None and lease.dispatch == dispatch, f"{self._task_of.get(intent)}: {how} under dispatch {dispatch}"
        lease.end, lease.end_ns = how, now

    def charged(self, task):
        """Executions that cost an attempt, as docs/task-documents.md says."""
        return sum(lease.end in ("ok", "error", "timeout", "lost") for lease in self.of_task[task])

    def losses(self):
        return [lease for lease in self.leases.values() if lease.end == "lost"]


SLACK_NS = 5_000_000_000  # between a kill, and what the server still does for the process that was killed


def hold_against(test, story, fleet, graphs):
    """The ledger, the journal and what the server answers (`graphs`: id -> tasks) must tell the same story."""
    ledger = fleet.ledger()
    begins = collections.Counter(entry.dispatch for entry in ledger if entry.what == "begin")
    for dispatch, times in begins.items():
        test.assertEqual(times, 1, f"{dispatch} was run twice")
        test.assertIn(dispatch, story.leases, "it was handed out before it was durable")
    ended = {entry.dispatch for entry in ledger if entry.what == "end"}
    failed = {entry.dispatch for entry in ledger if entry.what == "fail"}
    for dispatch, lease in story.leases.items():
        if lease.end == "ok":
            test.assertIn(dispatch, ended, f"{lease.task}: a result that no execution has")
        elif lease.end == "error":
            test.assertIn(dispatch, failed, f"{lease.task}: an error that no execution has")
        elif lease.end in ("drain", "denied", "refused"):
            test.assertNotIn(dispatch, ended, f"{lease.task}: it ended, and was given back for nothing")
        # A loss that the new process of a worker tells is one of a process that we have killed.
        if lease.end == "lost" and not story.changes[lease.worker, "lose"]:
            kills = [when for when in fleet.kills[lease.worker] if lease.time_ns - SLACK_NS <= when <= lease.end_ns + SLACK_NS]
            test.assertTrue(kills, f"{lease.task}: {lease.worker} lost dispatch {lease.dispatch}, and was not killed")
    for graph, tasks in graphs.items():
        for task in tasks:
            name = (graph, task["task"])
            leases = story.of_task[name]
            if task["kind"] != "task" or task["skipped"]:
                test.assertEqual([lease.dispatch for lease in leases], [], name)
                continue
            test.assertEqual(task["attempts"], story.charged(name), (name, [lease.end for lease in leases]))
            test.assertEqual(story.settled[name], task["status"] == "DONE", name)
            # All but the last one ended in a way that explains the next one.
            test.assertNotIn("ok", [lease.end for lease in leases[:-1]], f"{name} ran again after it was done")
            runs = sum(begins[lease.text] for lease in leases)
            explained = sum(lease.end in ("lost", "error", "timeout") for lease in leases[:-1])
            test.assertLessEqual(runs, 1 + explained, f"{name} ran {runs} times: {[lease.end for lease in leases]}")

