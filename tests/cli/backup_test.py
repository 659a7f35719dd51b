#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast backup and restore: a world, also one under load, is copied, and the copy is a world again.

HOLDFAST_BACKUPS=50 makes so many backups of a world under load; otherwise a few."""
import http.client
import json
import os
import shutil
import stat
import subprocess
import threading
import time
import urllib.error
import urllib.request

BACKUPS = int(os.environ.get("HOLDFAST_BACKUPS", "3"))  # before the settings of others are removed

from letters import GOLDEN, LetterTest
from order_worlds import RECORDS
from program import PATIENCE, PROGRAM, main, wait_until


class BackupTest(LetterTest):
    def back_up(self, world="world", into="backup"):
        done = self.run_program("backup", world, into, "--json")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        return json.loads(done.stdout)

    def restore(self, backup="backup", world="restored", program=PROGRAM):
        done = subprocess.run([program, "restore", backup, world, "--any-file-system", "--json"], cwd=self.folder,
                              capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        return json.loads(done.stdout)

    def assert_clean(self, world="restored", program=PROGRAM):
        done = subprocess.run([program, "verify", world, "--all"], cwd=self.folder, capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0), done.stdout)


class Folder(BackupTest):
    def test_a_backup_is_restored_and_verified(self):
        self.make_world(snapshots=2, how=("sealed",))
        before = self.contents()
        report = self.back_up()
        self.assertEqual((report["number"], report["last_record"]), (1, 2 * RECORDS - 1))
        self.assertEqual(self.contents(), before, "the world stays as it is")
        restored = self.restore()
        self.assertEqual(restored["last_record"], 2 * RECORDS - 1)
        self.assertGreater(restored["life"], 0)
        self.assert_clean()
        shown = [self.run_program("ls", "--world", world, "--json").stdout for world in ("world", "restored")]
        self.assertEqual(json.loads(shown[0])["instances"], json.loads(shown[1])["instances"])

    def test_it_says_so_in_words(self):
        self.make_world()
        done = self.run_program("backup", "world", "backup")
        self.assertRegex(done.stdout.decode(), rf"\Abacked up records 1 to {RECORDS}, \d+ bytes, in backup\n"
                                               r"copied    \d+ bytes; 0 segments were there already\n\Z")
        done = self.run_program("restore", "backup", "again", "--any-file-system")
        self.assertEqual(done.stdout.decode(), f"restored  again up to record {RECORDS}\n"
                                               f"checked   {RECORDS} records, {RECORDS} of them replayed, 0 blobs\n")

    def test_repeated_it_copies_new_segments_only(self):
        self.make_world()
        first = self.back_up()
        self.assertEqual(first["kept_segments"], 0)
        self.make_world(orders=30)
        second = self.back_up()
        self.assertEqual(second["number"], 2)
        self.assertGreater(second["kept_segments"], 0)
        self.restore()
        self.assert_clean()

    def test_only_its_owner_can_read_it(self):
        self.make_world(how=("sealed",))
        self.back_up()
        self.restore()
        for place in ("backup", "restored"):
            for path in [self.folder / place, *(self.folder / place).rglob("*")]:
                mode = stat.S_IMODE(path.stat().st_mode)
                self.assertEqual(mode, 0o700 if path.is_dir() else 0o600, path)
        key = (self.folder / "world/keys/node").read_bytes()
        self.assertEqual((self.folder / "restored/keys/node").read_bytes(), key)

    def test_a_damaged_backup_is_refused_with_the_file(self):
        self.make_world(snapshots=1)
        self.back_up()
        for path in sorted((self.folder / "backup/data").iterdir()):
            with self.subTest(path.name):
                content = path.read_bytes()
                self.flip(path, len(content) // 2)
                done = self.run_program("restore", "backup", "restored", "--any-file-system")
                self.assertEqual((done.stdout, done.returncode), (b"", 1))
                self.assertIn(path.name, done.stderr.decode())
                self.assertFalse((self.folder / "restored").exists())
                shutil.rmtree(self.folder / "restored.unfinished")
                path.write_bytes(content)
        self.restore()

    def test_what_is_there_is_not_written_over(self):
        self.make_world()
        self.back_up()
        self.assert_refuses("holdfast: world: is there already\n", "restore", "backup", "world")
        (self.folder / "mine").mkdir()
        self.write("mine/thesis.txt", "mine")
        self.assert_refuses("holdfast: mine: is no backup: it holds thesis.txt\n", "backup", "world", "mine")
        self.assert_refuses("holdfast: mine: there is no finished backup\n", "restore", "mine", "new")
        self.assert_refuses("holdfast: nowhere: there is no finished backup\n", "restore", "nowhere", "new")

    def test_a_world_that_somebody_has_open_is_refused(self):
        with self.held_world() as pid:
            done = self.run_program("backup", "world", "backup")
        self.assertEqual((done.stdout, done.returncode), (b"", 1))
        self.assertRegex(done.stderr.decode(), rf"is held by process {pid} ")

    def test_a_restored_world_can_be_backed_up_and_restored_again(self):
        self.make_world(snapshots=2, how=("sealed",))
        self.back_up()
        first = self.restore()
        self.make_world("restored", orders=9, how=("sealed",))
        self.back_up("restored", "second")
        second = self.restore("second", "third")
        self.assertNotEqual(first["life"], second["life"])
        self.assert_clean("third")
        notes = json.loads(self.run_program("verify", "third", "--json").stdout)["notes"]
        self.assertEqual([note for note in notes if "restored" in note], [
            f"the world was restored from a backup that ends with record {first['last_record']}",
            f"the world was restored from a backup that ends with record {second['last_record']}"])

    def test_seals_of_the_life_before_do_not_pass_after_a_restore(self):
        # Both go on after the backup, and seal other records under the same numbers, with the same key.
        self.make_world(how=("sealed",))
        self.back_up()
        self.restore()
        for world in ("world", "restored"):
            self.make_world(world, orders=6, how=("sealed",))
            self.assert_clean(world)
        # The old journal and seals in the restored world's folder: its seals are of another life.
        for name in ("journal", "seals.db"):
            target = self.folder / "restored" / name
            shutil.rmtree(target) if target.is_dir() else target.unlink()
            source = self.folder / "world" / name
            shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        done = self.run_program("verify", "restored")
        self.assertEqual(done.returncode, 1)
        self.assertIn("was not signed by the key that it names, in this life of the world", done.stderr.decode())


class Server(BackupTest):
    def setUp(self):
        super().setUp()
        (self.folder / "backups").mkdir()

    def test_a_server_makes_one_below_its_folder_and_goes_on(self):
        self.make_world(snapshots=1, how=("recent",))
        with self.server("--backup-folder", "backups", applies=False) as url:
            done = self.run_program("backup", "--server", url, "nightly", "--json")
            self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
            made = json.loads(done.stdout)
            self.assertEqual((made["name"], made["status"], made["number"]), ("nightly", "finished", 1))
            again = self.run_program("backup", "--server", url, "nightly")
            self.assertRegex(again.stdout.decode(), r"\Abacked up records 1 to \d+, \d+ bytes, in the server's folder nightly\n\Z")
            self.assertEqual(self.get(url, "/v1/backups")["backups"][0]["number"], 2)
        self.restore("backups/nightly")
        self.assert_clean()

    def test_names_lead_nowhere_else(self):
        self.make_world(how=("recent",))
        with self.server("--backup-folder", "backups", applies=False) as url:
            for name in ("../outside", "/tmp/x", "a/b", "..", ".", "", ".hidden", "x" * 65, "a\u0000b", "a b"):
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    self.post(url, "/v1/backups", {"name": name})
                problem = json.loads(refused.exception.read())
                self.assertEqual((problem["code"], problem["path"]), ("bad_body", "$.name"), name)
        self.assertEqual(list((self.folder / "backups").iterdir()), [])
        self.assertFalse((self.folder / "outside").exists())

    def test_without_a_folder_it_is_refused(self):
        self.make_world(how=("recent",))
        with self.server(applies=False) as url:
            self.assertIn("there is no folder for backups", self.refused(url, "backup", "nightly"))
        done = self.run_program("serve", "--world", "world", "--any-file-system", "--backup-folder", "nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nowhere", done.stderr.decode())

    def test_one_that_is_killed_in_the_middle_is_completed_by_the_next(self):
        self.make_world(orders=600, snapshots=2, how=("recent",))
        with self.serving("--backup-folder", "backups", applies=False) as (url, process):
            self.post(url, "/v1/backups", {"name": "nightly"})
            wait_until(lambda: (self.folder / "backups/nightly/data").exists(), "it does not begin")
            process.kill()
            process.wait()
        # Killed before its manifest: it is none. Or it was quicker than we are, and is whole.
        done = self.run_program("restore", "backups/nightly", "early", "--any-file-system")
        self.assertIn(done.returncode, (0, 1))
        if done.returncode == 1:
            self.assertIn("there is no finished backup", done.stderr.decode())
        with self.server("--backup-folder", "backups", applies=False) as url:
            self.ask(url, "backup", "nightly")
        self.restore("backups/nightly")
        self.assert_clean()

    def test_readers_of_streams_are_told_of_the_restore(self):
        self.make_world(how=("recent",))
        with self.server("--backup-folder", "backups", applies=False) as url:
            self.ask(url, "backup", "nightly")
            for number in range(3):
                self.post(url, "/v1/events", {"schema": "demo/OrderPlaced@1", "value":
                                              {"id": f"later-{number}", "sku": "mug", "count": 1, "cents": 5}})
            seen = self.get(url, "/v1/journal?limit=1")["last"]
        restored = self.restore("backups/nightly")
        self.assertLess(restored["last_record"], seen)

        def follow(url, last_event, path="/v1/journal"):
            """The id of the first event, or the problem."""
            request = urllib.request.Request(url + path, headers={"Accept": "text/event-stream", "Last-Event-ID": last_event})
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                    for line in answer:
                        if line.startswith(b"id: "):
                            return line[4:].decode().strip()
            except urllib.error.HTTPError as error:
                return json.loads(error.read())["code"]
        with self.server("--backup-folder", "backups", world="restored", applies=False) as url:
            # The world has gone on beyond what the reader has seen: other records have these numbers now.
            while self.get(url, "/v1/journal?limit=1")["last"] <= seen:
                self.post(url, "/v1/events", {"schema": "demo/OrderPlaced@1", "value":
                                              {"id": f"new-{time.monotonic_ns()}", "sku": "mug", "count": 1, "cents": 5}})
            self.assertEqual(follow(url, str(seen)), "stale_cursor")
            # What both lives share is gone on with, and the ids are of this life.
            shared = restored["last_record"]
            life = f"{restored['life']:08x}"
            self.assertEqual(follow(url, str(shared)), f"{life}.{shared + 1}")
            self.assertEqual(follow(url, f"{life}.{shared + 1}"), f"{life}.{shared + 2}")
            self.assertEqual(follow(url, f"{life}.{10 ** 9}"), "stale_cursor")
            self.assertEqual(follow(url, f"{int(life, 16) ^ 1:08x}.{shared}"), "stale_cursor")
            self.assertEqual(follow(url, str(seen << 16), "/v1/instances/demo/Order@1/o-1/stream"), "stale_cursor")
        # And in a world that was never restored, a cursor beyond its end is no reason to wait.
        with self.server(world="world", applies=False) as url:
            self.assertEqual(follow(url, str(10 ** 9)), "stale_cursor")

    def test_blobs_that_workflows_put_are_in_it(self):
        with self.letter_world("--backup-folder", "backups") as url:
            self.ask(url, "backup", "nightly")
        self.restore("backups/nightly", program=GOLDEN)
        self.assert_letter_is_there("restored")


class Load(BackupTest):
    """Backups of a world under full load, with a snapshot every 2 000 records."""

    def test_each_is_a_whole_world_with_everything_that_was_acknowledged(self):
        # A new world after some of them: each is restored and read as a whole, while the world under it grows.
        for begin in range(0, BACKUPS, 5):
            self.back_up_under_load(f"world-{begin}", f"backups-{begin}", range(begin, min(begin + 5, BACKUPS)))
            shutil.rmtree(self.folder / f"world-{begin}")
            shutil.rmtree(self.folder / f"backups-{begin}")

    def back_up_under_load(self, world, backups, rounds):
        (self.folder / backups).mkdir()
        with self.server("--backup-folder", backups, "--snapshot-every", "2000", "--retention", "0", world=world) as url:
            ending = threading.Event()
            lock = threading.Lock()
            acknowledged = []  # (record, order), each when its answer was there
            failures = []

            def send(sender):
                number = 0
                connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE)
                while not ending.is_set():
                    number += 1
                    name = f"s{sender}-{number}"
                    try:
                        connection.request("POST", "/v1/events", json.dumps({"schema": "demo/OrderPlaced@1", "value":
                                           {"id": name, "sku": "mug", "count": 1, "cents": 5}}), {"Content-Type": "application/json"})
                        sent = json.load(connection.getresponse())
                    except OSError as error:
                        failures.append(error)
                        return
                    with lock:
                        acknowledged.append((sent["record"], name))
            senders = [threading.Thread(target=send, args=(number,)) for number in range(8)]
            for sender in senders:
                sender.start()
            try:
                for round in rounds:
                    # Some are brought up to date, some are new.
                    name = f"b{round % 3}"
                    with lock:
                        count = len(acknowledged)
                        before = max((record for record, _ in acknowledged), default=0)
                    made = self.ask(url, "backup", name)
                    self.assertEqual(made["status"], "finished")
                    self.assertGreaterEqual(made["last_record"], before)
                    shutil.rmtree(self.folder / "restored", ignore_errors=True)
                    self.restore(f"{backups}/{name}")
                    self.assert_clean()
                    with lock:
                        expected = {order for _, order in acknowledged[:count]}
                    self.assert_has(expected)
                    if BACKUPS > 3:
                        print(f"backup {round + 1}: records up to {made['last_record']}, {count} orders there", flush=True)
            finally:
                ending.set()
                for sender in senders:
                    sender.join()
            self.assertEqual(failures, [])
            self.assertGreater(len(acknowledged), 0)
        print(f"{len(rounds)} backups while {len(acknowledged)} events were acknowledged", flush=True)

    def assert_has(self, orders):
        """It opens elsewhere, and every order is there."""
        with self.server("--retention", "0", world="restored") as url:
            wait_until(lambda: self.get(url, "/v1/instances?limit=1")["lag"] == 0, "the index does not come up")
            found = set()
            after = ""
            while True:
                page = self.get(url, f"/v1/instances?workflow=demo/Order@1&limit=1000{after}")
                found.update(each["key"] for each in page["instances"])
                if page["next"] is None:
                    break
                after = f"&after={page['next']}"
            self.assertEqual(orders - found, set())


if __name__ == "__main__":
    main()
