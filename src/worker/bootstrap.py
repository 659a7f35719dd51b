# SPDX-License-Identifier: Apache-2.0
# Runs the functions of a Python file for `holdfast worker --python FILE`. It needs nothing but the
# standard library. docs/tasks.md says what functions see; docs/worker-protocol.md has the messages.
#
# Messages to the worker are lines on standard output that hold the marker; everything else there is
# the output of the task. Messages from the worker are lines of JSON on standard input.
import importlib.util
import inspect
import json
import os
import queue
import sys
import threading
import traceback


def main():
    marker, path = sys.argv[1], sys.argv[2]
    incoming = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
    outgoing = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # functions and the programs they start do not read our messages
    sys.stdin = open(os.devnull)
    lock = threading.Lock()

    def send(message):
        text = json.dumps(message, ensure_ascii=True, allow_nan=False)
        data = (marker + text + "\n").encode("ascii")
        with lock:
            sys.stdout.flush()
            while data:
                data = data[os.write(outgoing, data):]

    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    sys.stderr.reconfigure(errors="backslashreplace")

    try:
        folder = os.path.dirname(os.path.abspath(path))
        sys.path.insert(0, folder)
        name = os.path.splitext(os.path.basename(path))[0]
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        sys.argv = [path]
        spec.loader.exec_module(module)
    except BaseException as problem:  # also SystemExit: the file is to define functions
        traceback.print_exc()
        send({"broken": describe(problem)})
        return 1
    functions = {each: value for each, value in vars(module).items()
                 if inspect.isfunction(value) and value.__module__ == name and not each.startswith("_")}
    send({"ready": sorted(functions)})

    work = queue.Queue()
    state = {"task": None}

    def listen():
        for line in incoming:
            message = json.loads(line)
            if "work" in message:
                work.put(message["work"])
            elif "stop" in message and state["task"] is not None:
                state["task"]._stop(message["stop"]["reason"])
        os._exit(0)  # the worker is gone

    threading.Thread(target=listen, daemon=True).start()
    while True:
        entry = work.get()
        task = state["task"] = Task(entry, send)
        send(perform(functions, entry, task))
        state["task"] = None


class Yield(Exception):
    """Raised by a function that was asked to make room: `resume` comes back as task.resume."""

    def __init__(self, resume=None):
        super().__init__("yielded")
        self.resume = resume


class Task:
    """What a function can know of the task that it runs, as its second argument."""

    Yield = Yield

    def __init__(self, entry, send):
        self.key = entry["key"]
        self.name = entry["name"]
        self.graph = entry["graph"]
        self.attempt = entry["attempt"]
        self.devices = entry["devices"]
        self.resume = entry.get("resume")
        self.stop_reason = None
        self._dispatch = entry["d"]
        self._send = send
        self._stopped = threading.Event()

    @property
    def stopped(self):
        """Whether the task is to end: a function that takes long looks at it now and then."""
        return self._stopped.is_set()

    def wait(self, seconds):
        """Sleeps, but not longer than until the task is to stop. Returns whether it is."""
        return self._stopped.wait(seconds)

    def progress(self, value):
        self._send({"d": self._dispatch, "progress": value})

    def _stop(self, reason):
        self.stop_reason = reason
        self._stopped.set()


def perform(functions, entry, task):
    answer = {"d": entry["d"]}
    try:
        name = entry["function"]
        if name is None and len(functions) == 1:
            name = next(iter(functions))
        if name not in functions:
            known = ", ".join(sorted(functions)) or "none"
            text = f"there is no function {name!r}" if name else "'function' is needed: the file has several functions"
            answer["error"] = {"code": "python.function", "message": f"{text}; known: {known}", "retryable": False}
            return answer
        function = functions[name]
        arguments = [entry["input"], task]
        accepts = inspect.signature(function).parameters.values()
        positional = sum(each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in accepts)
        if not any(each.kind == each.VAR_POSITIONAL for each in accepts):
            arguments = arguments[:positional]
        result = function(*arguments)
    except Yield as yielded:
        answer["yield"] = yielded.resume
    except BaseException as problem:
        traceback.print_exc()
        answer["error"] = {"code": code_of(problem), "message": describe(problem),
                           "retryable": getattr(problem, "retryable", True) is not False}
    else:
        answer["ok"] = result
    try:
        json.dumps(answer, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        answer = {"d": entry["d"], "error": {"code": "python.result", "retryable": False,
                                             "message": "the result is not JSON: " + describe(problem)}}
    sys.stdout.flush()
    sys.stderr.flush()
    return answer


def describe(problem):
    return "".join(traceback.format_exception_only(type(problem), problem)).strip()[:4000]


def code_of(problem):
    code = getattr(problem, "code", None)
    return code if isinstance(code, str) and code else "python.exception"


if __name__ == "__main__":
    sys.exit(main())
