#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recipes: a worker with a registry holds leases for its tasks, swaps when only work for another recipe waits, and asks preemptible
tasks to yield. Real processes: a server, workers, the registry, the swap command."""
import json
import signal
import subprocess
import unittest

from live import PROGRAM, LiveTest, wait_until

FUNCTIONS = """
import os, time

def hold(input, task):
    # Until the file is there.
    while not os.path.exists(input["until"]):
        time.sleep(0.02)
    return input["until"]

def count(input, task):
    # One step after another, from where it was.
    at = (task.resume or {}).get("at", 0)
    with open("runs", "a") as runs:
        runs.write(f"{task.attempt} from {at}\\n")
    while at < input["to"]:
        if os.path.exists("go on") or at < input["stop_at"]:
            at += 1
        if task.stopped and task.stop_reason == "preempt":
            raise task.Yield({"at": at})
        time.sleep(0.01)
    return at
"""

# Says when it began, and waits for a file of its recipe, so that a test sees the swap.
SWAP = 'echo "$HOLDFAST_RECIPE" >> swaps; while [ ! -e "load $HOLDFAST_RECIPE" ]; do sleep 0.05; done; echo loaded "$HOLDFAST_RECIPE"'


class Recipes(LiveTest):
    def setUp(self):
        super().setUp()
        (self.folder / "functions.py").write_text(FUNCTIONS)

    def swapper(self, *flags, name="gpu", recipes="a,b", command=SWAP, slots=2):
        return self.worker("--python", "functions.py", "--registry", "registry", "--recipe", recipes, "--swap-command", command, *flags,
                           name=name, slots=slots)

    def let(self, *names):
        for name in names:
            (self.folder / name).touch()

    def submit(self, graph, recipe, type="hold", preemptible=False, **spec):
        (self.folder / "document.yaml").write_text(json.dumps({
            "apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": graph},
            "spec": {"taskType": type, "resources": {"recipe": recipe}, "preemptible": preemptible, **spec}}))
        self.ask("submit", "document.yaml", "--id", graph)
        return graph

    def registry(self, *flags):
        done = self.run_program("registry", "ls", "--dir", str(self.folder / "registry"), "--json", *flags)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def leases(self):
        return {each["name"]: each["recipe"] for each in self.registry()["workflows"] if each["standing"] == "live"}

    def why(self, graph):
        return self.client().get(f"/v1/instances/sys/Task@1/{graph}%2F0/why").json()

    def task(self, graph):
        return self.ask("tasks", graph)["tasks"][0]

    def swaps(self):
        path = self.folder / "swaps"
        return path.read_text().split() if path.exists() else []

    def wait_for(self, graph, status="DONE"):
        return wait_until(lambda: self.task(graph)["status"] == status and self.task(graph), f"{graph} is not {status}")

    def figure(self, name):
        [line] = [line for line in self.client().get("/metrics").body.decode().splitlines() if line.startswith(name + " ")]
        return float(line.split()[-1])

    def logged(self):
        path = self.folder / "registry" / "swap_log.jsonl"
        return [json.loads(line)["event"] for line in path.read_text().splitlines()]

    def test_two_recipes_on_one_worker(self):
        self.swapper()
        self.submit("first", "a", until="end a")
        self.submit("second", "b", until="end b")
        sentence = wait_until(lambda: "swapped in" in (said := self.why("first")["sentence"]) and said, "no swap is begun")
        worker = self.ask("workers", "ls")["workers"][0]
        self.assertEqual(sentence, f"Recipe a is being swapped in on worker {worker['worker']}.")
        placement = self.why("first")["reasons"][0]["placement"]
        self.assertEqual((placement["kind"], placement["recipe"], placement["worker"]), ("swapping", "a", worker["worker"]))
        self.assertEqual((worker["recipes"]["swapping"], worker["recipes"]["serving"]), ("a", []))
        self.assertEqual(self.registry()["swap_in_progress"]["recipe"], "a")
        self.assertEqual(self.figure("holdfast_workers_swapping"), 1)
        self.assertIn("serves: no recipe; swapping to a", self.command("workers", "show", "gpu"))
        self.let("load a")
        wait_until(lambda: self.task("first")["status"] == "DISPATCHED", "the first is not begun")
        wait_until(lambda: self.leases() == {"worker gpu": "a", "first/task": "a"}, "the leases are not there")
        # The first is not preemptible, so the second waits in the queue.
        self.assertIn("serves the recipe a", self.why("second")["sentence"])
        self.assertEqual(self.swaps(), ["a"])
        self.let("end a")
        self.wait_for("first")
        wait_until(lambda: "Recipe b is being swapped in" in self.why("second")["sentence"], "the second swap is not begun")
        self.assertEqual(self.leases(), {})
        self.let("load b", "end b")
        self.wait_for("second")
        wait_until(lambda: self.leases() == {"worker gpu": "b"}, "the lease of the worker is not there")
        self.assertEqual(self.swaps(), ["a", "b"])
        self.assertEqual(self.figure("holdfast_recipe_swaps_total"), 2)
        self.assertEqual([event for event in self.logged() if event.startswith("swap")], ["swap_begun", "swap_finished"] * 2)

    def test_work_for_the_recipe_that_is_served_goes_first(self):
        self.let("load a", "load b", "end")
        self.swapper(slots=1)
        self.submit("a-0", "a", until="end")
        self.wait_for("a-0")
        (self.folder / "end").unlink()
        self.submit("a-1", "a", until="end")
        self.wait_for("a-1", "DISPATCHED")
        self.submit("b-1", "b", until="end")
        for number in range(2, 5):
            self.submit(f"a-{number}", "a", until="end")
        self.let("end")
        self.wait_for("b-1")
        self.assertEqual(self.swaps(), ["a", "b"])
        for number in range(2, 5):
            self.assertLess(self.task(f"a-{number}")["ended_ns"], self.task("b-1")["ended_ns"])

    def test_a_worker_that_serves_the_recipe_is_preferred_to_a_swap(self):
        self.let("load a", "end 1")
        self.swapper(name="one")
        self.submit("a-1", "a", until="end 1")
        self.wait_for("a-1")
        self.swapper(name="two")
        wait_until(lambda: len(self.ask("workers", "ls")["workers"]) == 2, "the second worker is not there")
        for number in range(2, 5):
            self.submit(f"a-{number}", "a", until=f"end {number}")
            worker = self.wait_for(f"a-{number}", "DISPATCHED")["worker"]
            self.assertEqual(self.client().get(f"/v1/workers/{worker}").json()["name"], "one")
            self.let(f"end {number}")
            self.wait_for(f"a-{number}")
        self.assertEqual(self.swaps(), ["a"])

    def test_a_preemptible_task_yields_and_goes_on_where_it_was(self):
        self.let("load a", "load b")
        self.swapper("--preempt-after", "0s")
        self.submit("long", "a", type="count", preemptible=True, to=20, stop_at=5, maxAttempts=1)
        self.wait_for("long", "DISPATCHED")
        wait_until(lambda: (self.folder / "runs").exists(), "it does not run")
        self.submit("urgent", "b", until="end b")
        wait_until(lambda: "urgent/task" in self.leases(), "the swap is not done")
        waits = self.task("long")
        self.assertEqual((waits["status"], waits["attempts"]), ("PENDING", 0))
        self.assertIn("serves the recipe b", self.why("long")["sentence"])
        self.let("go on", "end b")
        self.wait_for("urgent")
        done = self.wait_for("long")
        self.assertEqual(done["attempts"], 1)
        runs = (self.folder / "runs").read_text().splitlines()
        self.assertEqual(runs, ["1 from 0", "1 from 5"])
        self.assertEqual(self.swaps(), ["a", "b", "a"])
        self.assertGreaterEqual(self.figure("holdfast_tasks_yielded_total"), 1)
        self.assertIn("preempt_requested", self.logged())
        ticks = [record["tick"] for record in self.client().get("/v1/instances/sys/Task@1/long%2F0/timeline?limit=100").json()["records"]]
        self.assertEqual([(lease["reason"], lease["resume"]) for tick in ticks if tick["kind"] == "returned" for lease in tick["leases"]],
                         [("yield", {"at": 5})])

    def test_a_recipe_is_served_for_a_while_before_tasks_are_asked_to_yield(self):
        self.let("load a", "load b", "go on", "end b")
        self.swapper("--preempt-after", "1h")
        self.submit("long", "a", type="count", preemptible=True, to=200, stop_at=5)
        self.wait_for("long", "DISPATCHED")
        self.submit("urgent", "b", until="end b")
        self.wait_for("long")
        self.wait_for("urgent")
        self.assertEqual((self.folder / "runs").read_text().splitlines(), ["1 from 0"])

    def test_a_task_that_does_not_yield_makes_the_swap_give_up(self):
        self.let("load a", "load b", "end b")
        self.swapper("--preempt-after", "0s", "--swap-deadline", "1s")
        self.submit("stubborn", "a", preemptible=True, until="end a")
        self.wait_for("stubborn", "DISPATCHED")
        self.submit("urgent", "b", until="end b")
        wait_until(lambda: "workflows have not yielded in time: stubborn/task" in self.why("urgent")["sentence"], "the swap goes on")
        self.assertEqual(self.swaps(), ["a"])
        wait_until(lambda: self.leases() == {"worker gpu": "a", "stubborn/task": "a"}, "the recipe is not served any more")
        self.let("end a")
        self.assertEqual(self.wait_for("stubborn")["attempts"], 1)
        self.wait_for("urgent")

    def test_a_swap_command_that_fails_is_tried_again(self):
        self.let("end a")
        self.swapper(command='echo "$HOLDFAST_RECIPE" >> swaps; [ -e mended ] || { echo no room >&2; exit 3; }')
        self.submit("first", "a", until="end a")
        wait_until(lambda: "the swap command exited with 3: no room" in self.why("first")["sentence"], "the failure is not said")
        self.assertGreaterEqual(self.figure("holdfast_recipe_swaps_failed_total"), 1)
        self.let("mended")
        self.assertEqual(self.wait_for("first")["attempts"], 1)
        self.assertIn("swap_aborted", self.logged())

    def test_a_job_of_another_program_is_not_disturbed(self):
        self.let("load a", "end a")
        job = subprocess.Popen([PROGRAM, "registry", "hold", "--name", "batch", "--recipe", "z", "--dir", self.folder / "registry", "--",
                                "sh", "-c", "while [ ! -e enough ]; do sleep 0.05; done"], cwd=self.folder)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        wait_until(lambda: "batch" in self.leases(), "the job does not run")
        self.swapper()
        self.submit("first", "a", until="end a")
        wait_until(lambda: "batch (z, process" in self.why("first")["sentence"], "who is in the way is not said")
        self.assertEqual(self.swaps(), [])
        self.let("enough")
        self.wait_for("first")

    def test_another_program_swaps_and_the_worker_swaps_back(self):
        self.let("load a", "end")
        self.swapper()
        self.submit("a-1", "a", until="end")
        self.wait_for("a-1")
        wait_until(lambda: self.leases() == {"worker gpu": "a"}, "the recipe is not served")
        swap = self.run_program("swap", "run", "--recipe", "z", "--dir", str(self.folder / "registry"), "--deadline", "20s", "--", "true")
        self.assertEqual(swap.returncode, 0, swap.stderr)
        self.assertEqual(self.leases(), {})
        self.submit("a-2", "a", until="end")
        self.wait_for("a-2")
        self.assertEqual(self.swaps(), ["a", "a"])

    def test_a_worker_without_a_swap_command_waits_for_the_swaps_of_others(self):
        self.let("end")
        self.worker("--python", "functions.py", "--registry", "registry", "--recipe", "a")
        self.submit("a-1", "a", until="end")
        self.wait_for("a-1")
        swap = subprocess.Popen([PROGRAM, "swap", "run", "--recipe", "z", "--dir", self.folder / "registry", "--", "sh", "-c",
                                 "while [ ! -e enough ]; do sleep 0.05; done"], cwd=self.folder)
        self.addCleanup(swap.wait)
        self.addCleanup(swap.kill)
        wait_until(lambda: self.registry()["swap_in_progress"], "the swap is not begun")
        self.submit("a-2", "a", until="end")
        wait_until(lambda: "a swap to z is under way" in self.why("a-2")["sentence"], "the swap is not said")
        self.let("enough")
        self.assertEqual(self.wait_for("a-2")["attempts"], 1)

    def test_a_worker_that_is_killed_in_a_swap(self):
        self.let("end")
        first = self.swapper()
        self.submit("a-1", "a", until="end")
        wait_until(lambda: self.swaps() == ["a"], "the swap is not begun")
        first.kill()
        first.wait()
        # The marker is an orphan for the next that looks; nothing was leased, so nothing is spent.
        self.assertIsNone(self.registry()["swap_in_progress"])
        self.assertIn("orphan_marker_cleared", self.logged())
        self.let("load a")
        self.swapper()
        self.assertEqual(self.wait_for("a-1")["attempts"], 1)
        self.assertEqual(self.swaps(), ["a", "a"])

    def test_a_server_that_is_killed_in_a_swap(self):
        self.let("end")
        self.swapper()
        self.submit("a-1", "a", until="end")
        wait_until(lambda: self.swaps() == ["a"], "the swap is not begun")
        self.kill()
        self.start(*self.settings, "--listen", f"127.0.0.1:{self.port}")
        wait_until(lambda: "Recipe a is being swapped in" in self.why("a-1")["sentence"], "the worker does not say it again")
        self.let("load a")
        self.assertEqual(self.wait_for("a-1")["attempts"], 1)
        self.assertEqual(self.swaps(), ["a"])

    def test_a_program_yields_with_its_output(self):
        self.let("load a", "load b", "end b")
        program = self.folder / "count.sh"
        program.write_text("#!/bin/sh\nread line\ntrap 'echo 5; exit 75' TERM\n"
                           "[ -n \"$HOLDFAST_RESUME\" ] && { echo \"\\\"from $HOLDFAST_RESUME\\\"\"; exit 0; }\n"
                           "touch running\nwhile true; do sleep 0.02; done\n")
        program.chmod(0o755)
        self.swapper("--preempt-after", "0s", "--exec", program)
        self.submit("long", "a", type="process", preemptible=True, maxAttempts=1)
        wait_until(lambda: (self.folder / "running").exists(), "it does not run")
        self.submit("urgent", "b", until="end b")
        self.wait_for("urgent")
        self.wait_for("long")
        [task] = self.client().get("/v1/graphs/long/tasks?results=1").json()["tasks"]
        self.assertEqual((task["result"], task["attempts"]), ("from 5", 1))

    def test_a_worker_that_is_killed_with_a_task_leaves_no_live_lease(self):
        self.let("load a")
        first = self.swapper()
        self.submit("a-1", "a", until="end")
        self.wait_for("a-1", "DISPATCHED")
        wait_until(lambda: "a-1/task" in self.leases(), "the lease is not there")
        first.kill()
        first.wait()
        self.assertEqual(self.leases(), {})
        self.let("end")
        self.swapper()
        # The loss spent the first attempt.
        self.assertEqual(self.wait_for("a-1")["attempts"], 2)

    def test_a_drain_ends_a_swap(self):
        first = self.swapper()
        self.submit("a-1", "a", until="end")
        wait_until(lambda: self.swaps() == ["a"], "the swap is not begun")
        first.send_signal(signal.SIGTERM)
        self.assertEqual(first.wait(timeout=60), 0)
        self.assertIsNone(self.registry()["swap_in_progress"])
        self.assertEqual(self.logged()[-1], "swap_aborted")

    def test_what_does_not_fit_together_is_refused(self):
        for flags, said in (
                (("--swap-command", "true", "--recipe", "a"), "swap command: is only for a worker with a registry"),
                (("--registry", "registry"), "registry: is only for a worker that names its recipes")):
            done = self.run_program("worker", "--server", self.url, "--dir", str(self.folder / "w"), *flags)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
