#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast gc, where workflows have put blobs: those that the world names stay, the others go."""
import contextlib
import hashlib
import json
import sqlite3

from letters import LetterTest
from program import main


class EffectBlobs(LetterTest):
    def put(self, content):
        with contextlib.closing(sqlite3.connect(self.folder / "world/effects.db", isolation_level=None)) as blobs:
            blobs.execute("INSERT INTO blobs(hash, bytes) VALUES (?, ?)", (hashlib.sha256(content).digest(), content))

    def collect(self):
        done = self.run_golden("gc", "world", "--json")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        return json.loads(done.stdout)["effects"]

    def test_what_the_world_names_stays_and_the_rest_goes(self):
        with self.letter_world():
            pass
        self.put(b"nobody has ever named this")
        self.assertEqual(self.collect(), {"marked": 2, "removed": 1, "removed_bytes": 26})
        self.assertEqual(self.collect(), {"marked": 2, "removed": 0, "removed_bytes": 0})
        verified = self.run_golden("verify", "world", "--all")
        self.assertEqual((verified.stderr.decode(), verified.returncode), ("", 0))
        self.assert_letter_is_there("world")

    def test_a_damaged_blob_is_named_and_nothing_goes(self):
        with self.letter_world():
            pass
        self.put(b"nobody has ever named this")
        with contextlib.closing(sqlite3.connect(self.folder / "world/effects.db", isolation_level=None)) as blobs:
            blobs.execute("UPDATE blobs SET bytes = 'x' WHERE id = 1")
            digest = blobs.execute("SELECT hash FROM blobs WHERE id = 1").fetchone()[0].hex()
        done = self.run_golden("gc", "world")
        self.assertEqual((done.stderr.decode(), done.returncode), (f"holdfast: sha256:{digest}: the blob is damaged\n", 1))
        with contextlib.closing(sqlite3.connect(self.folder / "world/effects.db")) as blobs:
            self.assertEqual(blobs.execute("SELECT count(*) FROM blobs").fetchone(), (3,))


if __name__ == "__main__":
    main()
