#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workers that cannot be heard, are declared lost, and come back: a process that is stopped and resumed, and a host whose link is
cut and healed. What they held was given to another worker; their return changes nothing but a counter of stale reports."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fleet import Fleet, Story, hold_against
from waiting import PATIENCE, wait_until

SETTINGS = ("--worker-ttl", "2s", "--worker-grace", "2s")
STALE = "holdfast_stale_task_reports_total"


def one_task(workers=None, **spec):
    hint = {"annotations": {"schedule_hint": {"selected_worker": workers}}} if workers else {}
    return {"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": "one", **hint},
            "spec": {"taskType": "work", "number": 7, **spec}}


def check_return(test, fleet, silence, end_silence):
    """Worker 0 begins a task and falls silent; worker 1 does it; worker 0 comes back. The task ends in both."""
    fleet.start_server()
    fleet.start_worker(0)
    fleet.submit(one_task(seconds=1.5), "once")
    wait_until(lambda: fleet.count("begin") == 1, "it does not begin")
    silence()
    wait_until(lambda: fleet.modes()["w0"] == "lost", "it is not declared lost")
    fleet.start_worker(1)
    wait_until(lambda: fleet.status("once") == "DONE", "nobody else does it")
    [before] = fleet.tasks("once")
    stale = fleet.figure(STALE)
    wait_until(lambda: fleet.count("end") == 2, "the first execution does not end")
    end_silence()
    wait_until(lambda: fleet.modes()["w0"] == "active", "it does not come back")
    wait_until(lambda: fleet.figure(STALE) > stale, "what it held was not told to be stale")
    # It works again, which also shows that it has heard what does not count any more.
    fleet.submit(one_task("w0"), "again")
    wait_until(lambda: fleet.status("again") == "DONE", "it does not work any more")
    test.assertEqual(fleet.tasks("once"), [before])
    test.assertEqual((before["attempts"], before["result"]["total"]), (2, 7))
    answers = {graph: fleet.tasks(graph) for graph in ("once", "again")}
    test.assertEqual(fleet.figure("holdfast_workers_lost_total"), 1)
    fleet.stop_server()
    fleet.verify()
    story = Story(fleet.journal())
    hold_against(test, story, fleet, answers)
    test.assertEqual([(lease.worker, lease.end) for lease in story.of_task["once", 0]], [("w0", "lost"), ("w1", "ok")])
    test.assertEqual(story.changes["w0", "lose"], 1)


class Stopped(unittest.TestCase):
    def test_a_process_that_is_stopped_past_its_death_and_resumed_changes_nothing(self):
        with tempfile.TemporaryDirectory() as folder, Fleet(folder, 2, settings=SETTINGS) as fleet:
            check_return(self, fleet, lambda: fleet.workers[0].send_signal(signal.SIGSTOP),
                         lambda: fleet.workers[0].send_signal(signal.SIGCONT))

    def test_a_process_that_is_resumed_before_its_death_goes_on(self):
        with tempfile.TemporaryDirectory() as folder, Fleet(folder, 2, settings=("--worker-ttl", "1s", "--worker-grace", "600s")) as fleet:
            fleet.start_server()
            fleet.start_worker(0)
            fleet.submit(one_task(seconds=0.5), "once")
            wait_until(lambda: fleet.count("begin") == 1, "it does not begin")
            fleet.workers[0].send_signal(signal.SIGSTOP)
            wait_until(lambda: fleet.figure("holdfast_workers_live") == 0, "it counts as alive")
            fleet.start_worker(1)
            wait_until(lambda: fleet.modes().get("w1") == "active", "the other one does not come")
            fleet.workers[0].send_signal(signal.SIGCONT)
            wait_until(lambda: fleet.status("once") == "DONE", "it does not end")
            [task] = fleet.tasks("once")
            self.assertEqual((task["attempts"], fleet.count("begin")), (1, 1))


def inside():
    return os.environ.get("TEST_IS_IN_NAMESPACE") == "1"


class Partitioned(unittest.TestCase):
    """Two hosts: the server in a network namespace, workers in another one, and a link between them."""
    UNSHARE = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]

    def test_a_host_whose_link_is_cut_and_healed_changes_nothing(self):
        if not inside():
            probe = "ip link set lo up && ip link add probe0 type veth peer name probe1"
            try:
                made = subprocess.run([*self.UNSHARE, "sh", "-c", probe], capture_output=True, text=True)
            except FileNotFoundError as problem:
                self.skipTest(f"network namespaces need unshare and ip: {problem}")
            if made.returncode != 0:
                self.skipTest(f"network namespaces cannot be made here: {made.stderr.strip()}")
            again = subprocess.run([*self.UNSHARE, sys.executable, __file__, self.id().removeprefix("__main__.")],
                                   env={**os.environ, "TEST_IS_IN_NAMESPACE": "1"}, timeout=PATIENCE * 5, capture_output=True, text=True)
            return self.assertEqual(again.returncode, 0, again.stderr)
        run = subprocess.run
        run(["ip", "link", "set", "lo", "up"], check=True)
        other = subprocess.Popen(["unshare", "--net", "sleep", "3600"])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        enter = ["nsenter", f"--net=/proc/{other.pid}/ns/net"]
        own = os.readlink("/proc/self/ns/net")
        wait_until(lambda: os.readlink(f"/proc/{other.pid}/ns/net") != own, "there is no second namespace")
        run(["ip", "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", str(other.pid)], check=True)
        for around, name, address in ([], "near", "10.79.0.1/24"), (enter, "far", "10.79.0.2/24"):
            run([*around, "ip", "address", "add", address, "dev", name], check=True)
            run([*around, "ip", "link", "set", name, "up"], check=True)
        with tempfile.TemporaryDirectory() as folder, Fleet(folder, 2, settings=SETTINGS) as fleet:
            fleet.use_tls("10.79.0.1")
            fleet.around_worker = lambda number: enter if number == 0 else []
            check_return(self, fleet, lambda: run([*enter, "ip", "link", "set", "far", "down"], check=True),
                         lambda: run([*enter, "ip", "link", "set", "far", "up"], check=True))


if __name__ == "__main__":
    unittest.main()
