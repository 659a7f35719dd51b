#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast tail of an instance ends with it; holdfast stream tells entries from the end, and is the same of a folder."""
import json
import os
import subprocess

from program import PATIENCE, PROGRAM, main
from serving import ORDER, ServingTest

WAITS = PROGRAM.parent / "tests" / "waits"
TELLER = PROGRAM.parent / "tests" / "teller"


class Tail(ServingTest):
    def test_of_one_that_has_ended_there_is_nothing_to_wait_for(self):
        with self.server() as url:
            record = self.ask(url, "start", "demo/Order@1", ORDER % ("a", "mug"), "--wait", "60000")["instance"]["record"]
            done = self.run_program("tail", "demo/Order@1/a", "--server", url)
            self.assertEqual((done.stdout, done.stderr, done.returncode), (b"", b"", 0))
            done = self.run_program("tail", "demo/Order@1/a", "--server", url, "--after", "1", "--json")
            self.assertEqual((done.stderr, done.returncode), (b"", 0))
            told = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([each["record"] for each in told],
                             [each["record"] for each in reversed(self.ask(url, "timeline", "demo/Order@1/a")["records"])])
            self.assertEqual((told[-1]["record"], told[-1]["instances"][0]["status"]), (record, "completed"))

    def test_it_ends_when_the_instance_does(self):
        with self.server(program=WAITS) as url:
            for key in ("a", "b"):
                self.ask(url, "start", "waits/ForEvent@1", f'{{"id":"{key}"}}')
            with subprocess.Popen([PROGRAM, "tail", "waits/ForEvent@1/a", "--server", url, "--after", "1", "--json"], cwd=self.folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as following:
                self.assertEqual(json.loads(following.stdout.readline())["instances"][0]["key"], "a")
                self.ask(url, "cancel", "waits/ForEvent@1/b")
                self.ask(url, "pause", "waits/ForEvent@1/a")
                self.assertEqual(json.loads(following.stdout.readline())["tick"]["control"], "pause")
                self.ask(url, "cancel", "waits/ForEvent@1/a")
                out, errors = following.communicate(timeout=PATIENCE)
            self.assertEqual((errors, following.returncode), (b"", 0))
            self.assertEqual([json.loads(line)["tick"]["control"] for line in out.splitlines()], ["cancel"])


    def test_one_that_is_cut_off_says_where_it_goes_on(self):
        for more, where in (("waits/ForEvent@1/a",), "waits/ForEvent@1/a"), ((), "journal"):
            with self.serving(program=WAITS, world="by-" + where[0]) as (url, process):
                last = self.ask(url, "start", "waits/ForEvent@1", '{"id":"a"}')["record"]
                with subprocess.Popen([PROGRAM, "tail", *more, "--server", url, "--after", str(last - 1)], cwd=self.folder,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE) as following:
                    self.assertTrue(following.stdout.readline().startswith(f"{last}  ".encode()))
                    process.kill()
                    out, errors = following.communicate(timeout=PATIENCE)
                self.assertEqual((out, errors.decode(), following.returncode),
                                 (b"", f"holdfast: {where}: the stream was cut off; it goes on with --after {last}\n", 75))

    def test_whoever_stops_reading_is_told_nothing(self):
        with self.server(program=WAITS) as url:
            last = self.ask(url, "start", "waits/ForEvent@1", '{"id":"a"}')["record"]
            with subprocess.Popen([PROGRAM, "tail", "waits/ForEvent@1/a", "--server", url, "--after", str(last - 1)], cwd=self.folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as following:
                following.stdout.readline()
                following.stdout.close()
                self.ask(url, "pause", "waits/ForEvent@1/a")
                self.assertEqual(following.stderr.read(), b"")
                following.wait(timeout=PATIENCE)
            self.assertEqual(following.returncode, self.run_to_a_closed_pipe("ls", "--server", url))

    def run_to_a_closed_pipe(self, *command):
        """How every command ends whose output nobody reads."""
        reading, writing = os.pipe()
        os.close(reading)
        done = self.run_program(*command, stdout=writing)
        os.close(writing)
        return done.returncode

    def test_a_key_may_be_written_in_other_ways(self):
        """As people write it, and not as records have it."""
        told = {"name": "..", "count": 2, "letters": 1, "leave": False}
        with self.server(program=TELLER) as url:
            last = self.ask(url, "start", "test/Tale@1", json.dumps(told))["record"]
            for name in ("test/Tale@1/..", "test/Tale@1/~.."):
                done = self.run_program("tail", name, "--server", url, "--after", str(last - 1), "--count", "1", "--json")
                self.assertEqual((json.loads(done.stdout)["record"], done.stderr, done.returncode), (last, b"", 0), name)
        streams = [self.run_teller("stream", name, "--world", "world", "--json") for name in ("test/Tale@1/~..", "test/Tale@1/..")]
        self.assertEqual(len(streams[0].splitlines()), 2)
        self.assertEqual(streams[1], streams[0])

    def run_teller(self, *arguments):
        done = subprocess.run([TELLER, *arguments], cwd=self.folder, capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        return done.stdout


class Stream(ServingTest):
    def lines(self, place, *more):
        done = self.run_program("stream", "demo/RefundCase@1/r", *place, "--json", *more)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_entries_have_numbers_and_the_end_a_name(self):
        with self.server() as url:
            place = ("--server", url)
            self.ask(url, "start", "demo/RefundCase@1", '{"id":"r","order":"o-1","cents":5}', "--wait", "60000")
            online = self.lines(place)
            self.assertGreater(len(online), 3)
            self.assertEqual({tuple(each) for each in online}, {("id", "event", "data")})
            self.assertEqual([each["event"] for each in online], ["message"] * (len(online) - 1) + ["end"])
            self.assertEqual(online[-1]["data"], {"status": "completed"})
            numbers = [each["id"] for each in online]
            self.assertEqual(numbers, sorted(set(numbers)))
            self.assertTrue(all("kind" in each["data"] for each in online[:-1]), online)
            later = self.lines(place, "--after", str(numbers[1]))
            self.assertEqual(later, online[2:])
        place = ("--world", "world")
        self.assertEqual(self.lines(place), online, "the folder has the same")
        self.assertEqual(self.lines(place, "--after", str(numbers[1])), online[2:])
        self.assertEqual(self.lines(place, "--count", "2"), online[:2])
        self.assertEqual(self.lines(place, "--after", str(numbers[-1])), online[-1:], "that it has ended is said to everybody")
        text = self.run_program("stream", "demo/RefundCase@1/r", *place).stdout.decode().splitlines()
        self.assertEqual(text[-1], f'{numbers[-1]}  end  {{"status":"completed"}}')

    def test_of_a_folder_it_stops_where_nothing_more_is_there(self):
        self.make_world(orders=3)
        done = self.run_program("stream", "demo/Order@1/o-3", "--world", "world", "--json")
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        self.assertNotIn(b'"end"', done.stdout, "it waits")


if __name__ == "__main__":
    main()
