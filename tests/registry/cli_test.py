#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast registry, swap and preempt, as a script uses them."""
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from registry_folder import BUILD, PATIENCE, PROGRAM, TRY_AGAIN, RegistryFolderTest, wait_until

# Waits for a signal and for a file, and says that they came.
PATIENT = """
import os, signal, sys, time
came = []
signal.signal(signal.SIGUSR1, lambda *_: came.append(True) or os.write(1, b"signal\\n") and None)
print("path", os.environ.get("HOLDFAST_PREEMPT_PATH"), flush=True)
while not came or not os.path.exists(os.environ["HOLDFAST_PREEMPT_PATH"]):
    time.sleep(0.01)
print("file", flush=True)
sys.exit(7)
"""

IGNORANT = """
import os, signal, time
was = signal.signal(signal.SIGHUP, lambda *_: os.write(1, b"passed on\\n") and None)
print("ignored" if was == signal.SIG_IGN else "not ignored", flush=True)
while True:
    time.sleep(1)
"""

SIGNALLED = """
import os, signal, time
signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b"signal\\n") and None)
print("ready", flush=True)
while True:
    time.sleep(1)
"""


class Leases(RegistryFolderTest):
    def test_registered_renewed_listed_and_released_by_the_process_that_runs_the_command(self):
        nonce = self.succeed("registry", "register", "train", "--recipe", "llama", "--ttl", "2m").strip()
        listed = self.listed()
        self.assertIsNone(listed["swap_in_progress"])
        entry, = listed["workflows"]
        self.assertEqual((entry["name"], entry["recipe"], entry["owner_pid"], entry["owner_nonce"], entry["ttl_seconds"],
                          entry["preemptible"], entry["preempt_signal_path"], entry["standing"]),
                         ("train", "llama", os.getpid(), nonce, 120, False, None, "live"))
        self.succeed("registry", "renew", "train")
        self.succeed("registry", "renew", "train", "--lease", nonce)
        self.assertGreater(self.listed()["workflows"][0]["last_renewed_at"], entry["last_renewed_at"])
        self.assertIn("train  llama", self.succeed("registry", "ls"))
        self.assertEqual(json.loads(self.succeed("registry", "renew", "train", "--json")), {"name": "train", "renewed": True})
        self.succeed("registry", "release", "train")
        self.assertEqual(json.loads(self.succeed("registry", "release", "train", "--json")), {"name": "train", "released": True})
        self.assertEqual(self.listed(), {"workflows": [], "swap_in_progress": None})

    def test_a_registry_that_is_not_there_is_empty_and_reading_makes_nothing(self):
        self.assertEqual(self.listed(), {"workflows": [], "swap_in_progress": None})
        self.assertEqual(self.succeed("swap", "status"), "No swap is under way.\n")
        self.assertIn("nothing is wrong", self.succeed("registry", "doctor"))
        self.assertFalse(self.dir.exists())

    def test_without_dir_it_is_in_the_users_data_folder(self):
        for name, value, place in (("XDG_DATA_HOME", self.folder / "data", "data/holdfast/registry"),
                                   ("HOME", self.folder / "home", "home/.local/share/holdfast/registry")):
            environment = {"PATH": os.environ["PATH"], name: str(value)}
            subprocess.run([PROGRAM, "registry", "register", "train", "--recipe", "llama"], env=environment, check=True,
                           capture_output=True, timeout=PATIENCE)
            self.assertTrue((self.folder / place / "workflows.json").exists())

    def test_a_folder_may_have_a_name_that_json_cannot_hold(self):
        self.dir = self.folder / os.fsdecode(b"x\xffy")
        taken = json.loads(self.succeed("registry", "register", "train", "--recipe", "llama", "--preemptible", "--json"))
        self.assertIn("x\\xffy/preempt-train", taken["preempt_signal_path"])
        self.assertEqual(self.listed()["workflows"][0]["preempt_signal_path"], taken["preempt_signal_path"])

    def test_refusals_have_exit_codes_that_scripts_can_use(self):
        self.succeed("registry", "register", "train", "--recipe", "llama", "--pid", "1")
        self.refuse(1, "is registered by process 1", "registry", "register", "train", "--recipe", "llama")
        self.refuse(1, "belongs to process 1", "registry", "renew", "train")
        self.refuse(1, "belongs to process 1", "registry", "release", "train")
        self.refuse(1, "no such workflow", "registry", "renew", "nobody")
        self.refuse(1, "--ttl", "registry", "register", "x", "--recipe", "llama", "--ttl", "soon")
        self.refuse(1, "whole seconds", "registry", "register", "x", "--recipe", "llama", "--ttl", "1500ms")
        self.refuse(1, "ttl", "registry", "register", "x", "--recipe", "llama", "--ttl", "0")
        self.refuse(1, "signal file", "registry", "register", "x", "--recipe", "llama", "--preemptible", "--signal-path",
                    "/etc/passwd")
        self.refuse(1, "train (llama, process 1)", "swap", "run", "--recipe", "qwen", "--", "true")
        self.refuse(2, "required", "registry", "register", "x")
        self.succeed("registry", "release", "train", "--operator")

    def test_another_process_does_not_own_what_was_registered_from_here(self):
        self.succeed("registry", "register", "train", "--recipe", "llama")
        other = subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", *self.command("registry", "release", "train")],
                               capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(other.returncode, 1, other.stderr)
        self.assertIn(f"belongs to process {os.getpid()}", other.stderr)

    def test_a_lease_ends_with_the_script_that_took_it(self):
        script = subprocess.run(["sh", "-c", '"$@"; exit $?', "sh",
                                 *self.command("registry", "register", "train", "--recipe", "llama")],
                                capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(script.returncode, 0, script.stderr)
        self.assertEqual(self.live(), [])
        self.assertEqual([each["standing"] for each in self.listed("--all")["workflows"]], ["dead"])

    def test_a_lease_that_is_not_renewed_is_over(self):
        self.succeed("registry", "register", "train", "--recipe", "llama", "--ttl", "1")
        time.sleep(1.2)
        self.assertEqual(self.live(), [])
        self.refuse(1, "expired", "registry", "renew", "train")

    def test_preemption_round_trip(self):
        taken = json.loads(self.succeed("registry", "register", "train", "--recipe", "llama", "--preemptible", "--json"))
        self.assertEqual(self.succeed("preempt", "poll", "train"), "not requested\n")
        self.assertEqual(json.loads(self.succeed("preempt", "request", "train", "--json")), {"name": "train", "requested": True})
        self.assertTrue(pathlib.Path(taken["preempt_signal_path"]).exists())
        self.assertEqual(json.loads(self.succeed("preempt", "poll", "train", "--json")), {"requested": True})
        self.assertEqual(self.listed()["workflows"][0]["preempt_requested_by"], "operator")
        self.assertEqual(json.loads(self.succeed("preempt", "clear", "train", "--json")), {"name": "train", "cleared": True})
        self.assertEqual(self.signal_files(), [])
        self.refuse(1, "no such workflow", "preempt", "request", "nobody")


# Goes on until it is told to end, and how.
UNTIL_TOLD = 'while [ ! -s "$0" ]; do sleep 0.05; done; exit $(cat "$0")'


class Holding(RegistryFolderTest):
    def hold(self, *arguments, **more):
        return self.start("registry", "hold", *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def until_told(self):
        return "--", "sh", "-c", UNTIL_TOLD, str(self.folder / "told")

    def tell_to_end(self, code):
        (self.folder / "telling").write_text(f"{code}\n")
        (self.folder / "telling").rename(self.folder / "told")

    def test_the_lease_is_there_while_the_program_runs_and_its_exit_code_is_ours(self):
        held = self.hold("--recipe", "llama", "--name", "job", *self.until_told())
        wait_until(lambda: self.live() == ["job"])
        owner = self.listed()["workflows"][0]["owner_pid"]
        self.assertNotEqual(owner, held.pid)
        # The lease is there before the program runs.
        wait_until(lambda: pathlib.Path(f"/proc/{owner}/cmdline").read_bytes()[:3] == b"sh\0")
        self.refuse(1, "job (llama", "swap", "run", "--recipe", "qwen", "--", "true")
        self.tell_to_end(42)
        self.assertEqual(held.wait(timeout=PATIENCE), 42)
        self.assertEqual(self.state()["workflows"], [])

    def test_everything_behind_the_dashes_is_the_programs(self):
        done = self.run_program("registry", "hold", "--recipe", "llama", "--", "echo", "--recipe", "-x", "--", "--json")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("--recipe -x -- --json\n", "", 0))

    def test_it_is_renewed_for_as_long_as_the_program_runs(self):
        # Every 3 s, and has 6 more for it.
        held = self.hold("--recipe", "llama", "--name", "job", "--ttl", "9", *self.until_told())
        wait_until(lambda: self.live() == ["job"])
        first, = self.state()["workflows"]

        def is_renewed_beyond_its_end():
            later, = self.state()["workflows"]
            self.assertEqual(later["owner_nonce"], first["owner_nonce"], "the lease was lost and taken again")
            return later["renewed_since_boot_ns"] > first["renewed_since_boot_ns"] + 9 * 10**9
        wait_until(is_renewed_beyond_its_end)
        self.assertEqual(self.live(), ["job"])
        self.tell_to_end(0)
        self.assertEqual(held.wait(timeout=PATIENCE), 0)

    def test_a_preempt_request_becomes_a_signal_and_a_path(self):
        held = self.hold("--recipe", "llama", "--name", "job", "--preemptible", "--", sys.executable, "-c", PATIENT)
        path = held.stdout.readline().split()[1]
        self.assertEqual(path, self.listed()["workflows"][0]["preempt_signal_path"])
        swap = self.start("swap", "run", "--recipe", "qwen", "--deadline", "2m", "--", "sh", "-c", "exit 3")
        self.assertEqual(held.stdout.readline(), "signal\n")
        self.assertEqual(held.stdout.readline(), "file\n")
        self.assertEqual(held.wait(timeout=PATIENCE), 7)
        self.assertEqual(swap.wait(timeout=PATIENCE), 3)
        self.assertEqual(self.signal_files(), [])
        self.assertEqual(self.log()[-1]["event"], "swap_aborted")

    def test_a_program_that_catches_no_signal_is_not_ended_by_one(self):
        held = self.hold("--recipe", "llama", "--name", "job", "--preemptible", "--", "sh", "-c",
                         'while [ ! -e "$HOLDFAST_PREEMPT_PATH" ]; do sleep 0.05; done; sleep 0.6; exit 9')
        wait_until(lambda: self.live() == ["job"])
        self.succeed("preempt", "request", "job")
        self.assertEqual(held.wait(timeout=PATIENCE), 9)

    def test_a_signal_that_was_chosen_is_sent_whatever_it_does(self):
        held = self.hold("--recipe", "llama", "--name", "job", "--preemptible", "--signal", "TERM", "--", "sleep", "600")
        wait_until(lambda: self.live() == ["job"])
        self.succeed("preempt", "request", "job")
        self.assertEqual(held.wait(timeout=PATIENCE), 128 + signal.SIGTERM)

    def test_refused_by_a_contrary_swap_the_program_never_runs(self):
        swap = self.start("swap", "begin", "--recipe", "qwen", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        swap.stdout.readline()
        done = self.run_program("registry", "hold", "--recipe", "llama", "--", "touch", str(self.folder / "ran"))
        self.assertEqual(done.returncode, TRY_AGAIN)
        self.assertIn("EAgain", done.stderr)
        self.assertFalse((self.folder / "ran").exists())
        self.assertEqual(swap.communicate("finish\n", timeout=PATIENCE)[0], "")
        self.assertEqual(swap.returncode, 0)

    def test_a_program_that_cannot_be_run_says_so(self):
        done = self.run_program("registry", "hold", "--recipe", "llama", "--", "/nowhere/at/all")
        self.assertEqual(done.returncode, 127)
        self.assertIn("cannot run /nowhere/at/all", done.stderr)
        self.assertEqual(self.state()["workflows"], [])

    def test_a_signal_to_end_is_passed_on(self):
        held = self.hold("--recipe", "llama", "--name", "job", "--", "sh", "-c", "echo runs; exec sleep 600")
        self.assertEqual(held.stdout.readline(), "runs\n")
        self.assertEqual(self.live(), ["job"])
        held.terminate()
        self.assertEqual(held.wait(timeout=PATIENCE), 128 + signal.SIGTERM)
        self.assertEqual(self.state()["workflows"], [])

    def test_interrupted_before_the_program_runs_it_never_does(self):
        done = self.interrupted("clone", "registry", "hold", "--recipe", "llama", "--name", "job", "--", "touch",
                                self.folder / "ran")
        self.assertEqual(done.returncode, TRY_AGAIN, done.stderr)
        self.assertIn("job: a signal came before the program ran", done.stderr)
        self.assertFalse((self.folder / "ran").exists())
        self.assertEqual(self.state()["workflows"], [])

    def test_started_to_ignore_a_signal_it_ignores_it_and_so_does_its_program(self):
        held = self.hold("--recipe", "llama", "--name", "job", "--", sys.executable, "-c", IGNORANT,
                         preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(held.stdout.readline(), "ignored\n")
        held.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        self.assertIsNone(held.poll())
        self.assertEqual(self.live(), ["job"])
        held.terminate()
        self.assertEqual(held.wait(timeout=PATIENCE), 128 + signal.SIGTERM)
        self.assertEqual(held.stdout.read(), "")

    def test_started_to_ignore_its_children_it_waits_for_the_program_all_the_same(self):
        held = self.hold("--recipe", "llama", "--name", "job", "--", "sh", "-c", "exit 4",
                         preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(held.wait(timeout=PATIENCE), 4)

    def test_what_an_operator_has_released_is_not_taken_again(self):
        held = self.hold("--recipe", "llama", "--name", "job", "--ttl", "9", "--preemptible", "--", sys.executable, "-c",
                         SIGNALLED)
        self.assertEqual(held.stdout.readline(), "ready\n")
        wait_until(lambda: self.live() == ["job"])
        self.succeed("registry", "release", "job", "--operator")
        self.assertEqual(held.stdout.readline(), "signal\n")
        time.sleep(4)
        self.assertEqual(self.live(), [], "it is not taken again")
        self.succeed("swap", "run", "--recipe", "qwen", "--", "true")
        self.assertIsNone(held.poll(), "asked, not killed")
        held.terminate()
        self.assertEqual(held.wait(timeout=PATIENCE), 128 + signal.SIGTERM)
        said = held.stderr.read()
        self.assertEqual(said.count("taken away"), 1, said)

    def test_a_program_that_cannot_yield_goes_on_without_what_an_operator_has_released(self):
        held = self.hold("--recipe", "llama", "--name", "job", "--ttl", "9", *self.until_told())
        wait_until(lambda: self.live() == ["job"])
        self.succeed("registry", "release", "job", "--operator")
        # Its name is free, and what somebody else takes under it stays.
        self.succeed("registry", "register", "job", "--recipe", "qwen")
        self.assertIn("the program goes on without", held.stderr.readline())
        self.tell_to_end(6)
        self.assertEqual(held.wait(timeout=PATIENCE), 6)
        self.assertEqual([each["owner_pid"] for each in self.listed()["workflows"]], [os.getpid()])

    def test_a_lease_that_was_lost_because_it_came_too_late_is_taken_again(self):
        held = self.hold("--recipe", "llama", "--name", "job", "--ttl", "2", "--", "sleep", "600")
        wait_until(lambda: self.live() == ["job"])
        self.stop_outside_the_lock(held)
        time.sleep(2.5)
        self.assertEqual(self.live(), [])
        self.succeed("registry", "register", "other", "--recipe", "llama")  # sweeps it
        held.send_signal(signal.SIGCONT)
        wait_until(lambda: "job" in self.live())
        held.terminate()
        self.assertEqual(held.wait(timeout=PATIENCE), 128 + signal.SIGTERM)

    def test_killed_it_tells_its_program_to_end(self):
        held = self.hold("--recipe", "llama", "--name", "job", "--", "sleep", "600")
        wait_until(lambda: self.live() == ["job"])
        held.kill()
        wait_until(lambda: self.live() == [])


class Swapping(RegistryFolderTest):
    def test_the_marker_is_there_while_the_program_runs(self):
        inside = self.command("swap", "status", "--json")
        done = self.run_program("swap", "run", "--recipe", "qwen", "--", *inside)
        swap = json.loads(done.stdout)["swap_in_progress"]
        self.assertEqual((swap["recipe"], done.returncode), ("qwen", 0))
        self.assertIsNone(self.listed()["swap_in_progress"])
        self.assertEqual([line["event"] for line in self.log()], ["swap_begun", "swap_finished"])
        self.assertEqual({line["swap_id"] for line in self.log()}, {swap["swap_id"]})
        self.assertEqual({line["pid"] for line in self.log()}, {swap["holder_pid"]})

    def test_a_program_that_fails_aborts_it(self):
        self.assertEqual(self.run_program("swap", "run", "--recipe", "qwen", "--", "sh", "-c", "exit 5").returncode, 5)
        self.assertEqual([line["event"] for line in self.log()], ["swap_begun", "swap_aborted"])

    def test_contrary_registrations_and_other_swaps_are_told_to_try_again(self):
        swap = self.start("swap", "begin", "--recipe", "qwen", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        swap_id = swap.stdout.readline().strip()
        self.assertEqual(self.listed()["swap_in_progress"]["swap_id"], swap_id)
        self.refuse(TRY_AGAIN, "EAgain", "registry", "register", "train", "--recipe", "llama")
        self.refuse(TRY_AGAIN, "busy", "swap", "run", "--recipe", "llama", "--", "true")
        self.succeed("registry", "register", "serve", "--recipe", "qwen")
        swap.communicate("finish\n", timeout=PATIENCE)
        self.assertEqual(swap.returncode, 0)
        self.succeed("registry", "register", "train", "--recipe", "llama")

    def test_held_by_hand_it_ends_as_it_is_told(self):
        for given, code, event in (("finish\n", 0, "swap_finished"), ("abort\n", 0, "swap_aborted"),
                                   ("", 1, "swap_aborted"), ("finnish\n", 1, "swap_aborted"),
                                   ("x" * 100, 1, "swap_aborted")):
            done = self.run_program("swap", "begin", "--recipe", "qwen", input=given)
            self.assertEqual((done.returncode, self.log()[-1]["event"]), (code, event), given)
        done = self.run_program("swap", "begin", "--recipe", "qwen", "--json", input="finish\n")
        self.assertEqual(json.loads(done.stdout), {"swap_id": self.log()[-1]["swap_id"]})
        swap = self.start("swap", "begin", "--recipe", "qwen", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        swap.stdout.readline()
        swap.terminate()
        self.assertEqual(swap.wait(timeout=PATIENCE), 1)
        self.assertEqual(self.log()[-1]["event"], "swap_aborted")
        self.assertEqual(self.orphans(), [])

    def test_who_does_not_yield_in_time_is_left_alone(self):
        self.succeed("registry", "register", "train", "--recipe", "llama", "--preemptible")
        began = time.monotonic()
        self.refuse(TRY_AGAIN, "train", "swap", "run", "--recipe", "qwen", "--deadline", "300ms", "--", "true")
        self.assertGreater(time.monotonic() - began, 0.3)
        self.assertEqual(self.succeed("preempt", "poll", "train"), "not requested\n")
        self.assertEqual([line["event"] for line in self.log()], ["swap_begun", "preempt_requested", "swap_aborted"])

    def test_interrupted_while_it_waits_it_aborts(self):
        self.succeed("registry", "register", "train", "--recipe", "llama", "--preemptible")
        swap = self.start("swap", "run", "--recipe", "qwen", "--deadline", "60s", "--", "true", stderr=subprocess.DEVNULL)
        self.wait_for_signal_files()
        swap.send_signal(signal.SIGINT)
        self.assertEqual(swap.wait(timeout=PATIENCE), TRY_AGAIN)
        self.assertEqual(self.signal_files(), [])
        self.assertIsNone(self.listed()["swap_in_progress"])

    def test_interrupted_before_the_program_runs_it_aborts(self):
        done = self.interrupted("clone", "swap", "run", "--recipe", "qwen", "--", "touch", self.folder / "ran")
        self.assertEqual(done.returncode, TRY_AGAIN, done.stderr)
        self.assertIn("a signal came before anything was swapped", done.stderr)
        self.assertFalse((self.folder / "ran").exists())
        self.assertEqual([line["event"] for line in self.log()], ["swap_begun", "swap_aborted"])
        self.assertIsNone(self.state()["swap_in_progress"])

        # The same while it takes the lock, for one that is held by hand.
        done = self.interrupted("flock", "swap", "begin", "--recipe", "qwen")
        self.assertEqual((done.returncode, done.stdout), (TRY_AGAIN, ""), done.stderr)
        self.assertEqual(self.log()[-1]["event"], "swap_aborted")

    def test_started_to_ignore_a_signal_it_goes_on_waiting(self):
        self.succeed("registry", "register", "train", "--recipe", "llama", "--preemptible")
        swap = self.start("swap", "run", "--recipe", "qwen", "--deadline", "60s", "--", "true",
                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for_signal_files()
        swap.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        self.assertIsNone(swap.poll())
        self.succeed("registry", "release", "train")
        self.assertEqual(swap.wait(timeout=PATIENCE), 0)

    def test_one_that_has_ended_is_told_as_ended_although_the_log_cannot_be_written(self):
        self.dir.mkdir(parents=True, exist_ok=True)
        for number in range(1, 10):  # or it would be set aside
            (self.dir / f"swap_log.broken-{number}.jsonl").touch()
        for given, code in (("finish\n", 0), ("abort\n", 0), ("", 1)):
            with self.subTest(given):
                swap = self.start("swap", "begin", "--recipe", "qwen", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
                swap.stdout.readline()
                (self.dir / "swap_log.jsonl").rename(self.dir / "kept")
                (self.dir / "swap_log.jsonl").mkdir()
                _, said = swap.communicate(given, timeout=PATIENCE)
                (self.dir / "swap_log.jsonl").rmdir()
                (self.dir / "kept").rename(self.dir / "swap_log.jsonl")
                self.assertEqual(swap.returncode, code, said)
                self.assertIn("the swap has ended, but the log does not say so", said)
                self.assertIsNone(self.state()["swap_in_progress"])
        program = 'mv "$0/swap_log.jsonl" "$0/kept"; mkdir "$0/swap_log.jsonl"; exit $1'
        for code in (0, 5):
            done = self.run_program("swap", "run", "--recipe", "qwen", "--", "sh", "-c", program, self.dir, code)
            (self.dir / "swap_log.jsonl").rmdir()
            (self.dir / "kept").rename(self.dir / "swap_log.jsonl")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn("the log does not say so", done.stderr)


class Doctor(RegistryFolderTest):
    place = BUILD  # on a disk: that a registry is in memory is a finding, and where temporary files are may be memory

    def test_says_what_is_wrong_and_what_comes_of_it(self):
        self.succeed("registry", "register", "train", "--recipe", "llama")
        self.assertEqual(self.succeed("registry", "doctor"), f"nothing is wrong with {self.dir}\n")
        (self.dir / "preempt-nobody").touch()
        done = self.run_program("registry", "doctor")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, f"{self.dir}/preempt-nobody: is a signal file that is nobody's\n"
                                      "  to do: it asks nobody to yield; remove it\n")
        finding, = json.loads(self.run_program("registry", "doctor", "--json").stdout)["findings"]
        self.assertTrue(finding["needs_somebody"])

    def test_a_file_that_cannot_be_read_is_explained_and_never_replaced(self):
        self.succeed("registry", "register", "train", "--recipe", "llama")
        (self.dir / "workflows.json").write_text('{"workflows": [')
        self.refuse(1, "a copy is in", "registry", "ls")
        self.refuse(1, "a copy is in", "registry", "register", "x", "--recipe", "llama")
        self.refuse(1, "a copy is in", "swap", "run", "--recipe", "llama", "--", "true")
        self.assertEqual((self.dir / "workflows.json").read_text(), '{"workflows": [')
        copy, = self.dir.glob("workflows.json.corrupt-*")
        self.assertEqual(copy.read_text(), '{"workflows": [')
        done = self.run_program("registry", "doctor")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not a state", done.stdout)

    def test_a_lock_that_is_held_and_a_file_that_is_too_large_are_findings(self):
        self.succeed("registry", "register", "train", "--recipe", "llama")
        with open(self.dir / ".workflows.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = self.run_program("registry", "doctor")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn(".workflows.lock: others have had the lock all the time", done.stdout)
        (self.dir / "workflows.json").write_text(" " * (8 * 2**20 + 1))
        done = self.run_program("registry", "doctor")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("is 8388609 bytes long", done.stdout)
        self.assertEqual(list(self.dir.glob("workflows.json.corrupt-*")), [], "it changes nothing")
        self.refuse(1, "a copy of its beginning is in", "registry", "ls")
        copy, = self.dir.glob("workflows.json.corrupt-*")
        self.assertEqual(copy.stat().st_size, 8 * 2**20)


if __name__ == "__main__":
    unittest.main()
