#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Databases that lose commits, and databases behind a pooler."""
import shutil
import signal
import subprocess
import unittest

from cluster import Cluster
from pq import Connection
from serving import Server, ServingTest, refund
from waiting import PATIENCE, wait_until


class Copies(ServingTest):
    def copy(self, how):
        """The cluster as it is now, under a socket of its own."""
        other = Cluster(copy_of=self.cluster)
        self.addCleanup(other.remove)
        if how == "standby":
            (other.data / "standby.signal").touch()
            shutil.chown(other.data / "standby.signal", self.cluster.folder.stat().st_uid)
            other.settings["primary_conninfo"] = f"host={self.cluster.folder} user=super"
        return other

    def start_on_either(self, other, *arguments):
        both = self.server.conninfo.replace(f"host={self.cluster.folder}", f"host={self.cluster.folder},{other.folder}")
        self.server.start(*arguments, conninfo=both + " target_session_attrs=read-write")
        self.wait_for_catalogue()

    def test_a_standby_that_lost_commits_takes_over(self):
        standby = self.copy("standby")
        standby.start()
        self.start_on_either(standby, "--postgres-sweep", 300)
        early = [self.start(self.alice, f"early-{n}", 9900) for n in range(3)]
        for each in early:
            self.wait_for_status(each, "running")
        place = self.owner.value("SELECT pg_current_wal_lsn()")
        with standby.connect() as other:
            wait_until(lambda: other.value("SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn", place) == "t")
        standby.stop()
        # These the standby never sees: an answer to one of the early ones, and new ones.
        lost = [self.start(self.alice, f"lost-{n}") for n in range(3)]
        self.decide(self.alice, early[0], "early-0")
        for each in [*lost, early[0]]:
            self.wait_for_status(each, "completed")
        # It stays away from the primary, which would bring it up to date.
        standby.settings["primary_conninfo"] = ""
        self.cluster.stop(signal.SIGQUIT)
        standby.start()
        with standby.connect() as other:
            other("SELECT pg_promote()")
        self.use(standby)
        wait_until(lambda: "the database has lost commits" in self.server.log.read_text(), lambda: self.server.log.read_text())
        self.wait_for_status(early[0], "completed")  # written again
        for each in lost:
            self.assertIsNone(self.status(each))
        for n, each in enumerate(early[1:], 1):
            self.decide(self.alice, each, f"early-{n}")
            self.wait_for_status(each, "completed")
        after = self.start(self.alice, "after")
        self.wait_for_status(after, "completed")
        # The application starts what it has lost again, under the same key: it runs already.
        again = self.start(self.alice, "lost-0")
        self.wait_for_status(again, "refused")

    def use(self, other):
        """From now on everybody talks to this one."""
        connections, self.opened = self.opened, []
        for connection in connections:
            connection.close()
        first = self.cluster
        self.addCleanup(setattr, self, "cluster", first)
        self.addCleanup(first.start)
        self.cluster = other
        self.owner, self.alice, self.bob = (self.connect(role) for role in ("owner", "alice", "bob"))

    def test_a_database_restored_to_an_earlier_moment_repeats_nothing_and_swallows_nothing(self):
        self.serve()
        self.server.stop()
        waiting = [self.start(self.alice, f"w-{n}") for n in range(4)]
        restored = self.copy("restored")
        self.server.start()
        for each in waiting:
            self.wait_for_status(each, "completed")
        gone = self.start(self.alice, "gone")
        self.wait_for_status(gone, "completed")
        self.server.stop()
        self.cluster.stop()
        restored.start()
        self.use(restored)
        self.assertEqual([self.status(each) for each in waiting], ["pending"] * 4)
        self.server.conninfo = restored.conninfo("owner", self.database)
        # Sequences were set back as well: the next requests have numbers that were used before.
        new = [self.start(self.alice, f"n-{n}") for n in range(4)]
        self.server.start()
        for each in [*waiting, *new]:
            self.wait_for_status(each, "completed")
        found = self.in_engine()
        self.assertEqual(sorted(found), sorted(["gone", *(f"w-{n}" for n in range(4)), *(f"n-{n}" for n in range(4))]))

    def test_of_two_bridges_with_one_world_the_second_stands_by(self):
        self.serve()
        self.server.stop()
        twin = Server(self, "twin")
        shutil.copytree(self.server.world, twin.world)
        self.server.start()
        self.wait_for_status(self.start(self.alice, "first"), "completed")
        twin.start("--postgres-sweep", 200)
        wait_until(lambda: "another bridge serves this world" in twin.log.read_text(), lambda: twin.log.read_text())
        ids = [self.start(self.alice, f"t-{n}") for n in range(20)]
        for each in ids:
            self.wait_for_status(each, "completed")
        self.assertEqual(self.in_engine(twin), {})
        # It takes over when the first is gone, and from then on the first would write nothing.
        self.server.kill()
        last = self.start(self.alice, "last")
        self.wait_for_status(last, "completed")
        self.assertIn("last", self.in_engine(twin))

    def test_of_five_bridges_with_one_world_one_serves_until_it_is_gone(self):
        self.serve()
        self.server.stop()
        servers = [Server(self, f"twin{n}") for n in range(5)]
        for each in servers:
            shutil.copytree(self.server.world, each.world)
            each.start("--postgres-sweep", 200)
        done = []
        for n in range(5):
            ids = [self.start(self.alice, f"t-{n}-{m}") for m in range(10)]
            for each in ids:
                self.wait_for_status(each, "completed")
            serving = [each for each in servers if f"t-{n}-0" in self.in_engine(each)]
            self.assertEqual(len(serving), 1)
            self.assertEqual({key for key in self.in_engine(serving[0]) if key.startswith(f"t-{n}-")}, {f"t-{n}-{m}" for m in range(10)})
            for each in servers:
                if each is not serving[0]:
                    self.assertFalse([key for key in self.in_engine(each) if key.startswith(f"t-{n}-")])
            serving[0].kill()
            servers.remove(serving[0])
            done += ids
        self.assertEqual({self.status(each) for each in done}, {"completed"})

    def test_five_bridges_take_each_row_once(self):
        self.serve()
        servers = [self.server] + [Server(self, f"world{n}").start() for n in range(4)]
        wait_until(lambda: len(self.owner("SELECT FROM holdfast.workflows WHERE workflow = 'demo/RefundCase@1'")) == 5)
        worlds = [world for world, in self.owner("SELECT world FROM holdfast.worlds ORDER BY attached")]
        ids = [self.alice.value("SELECT holdfast.start('demo/RefundCase@1', $1, world => $2)", refund(f"r-{n}"), worlds[n % 5])
               for n in range(50)]
        for each in ids:
            self.wait_for_status(each, "completed")
        keys = [key for server in servers for key in self.in_engine(server)]
        self.assertEqual(sorted(keys), sorted(f"r-{n}" for n in range(50)))


class Pooler(ServingTest):
    def test_the_server_and_the_application_work_through_pgbouncer_in_transaction_mode(self):
        folder = self.cluster.folder / "bouncer"
        folder.mkdir()
        shutil.chown(folder, self.cluster.folder.stat().st_uid)
        (folder / "ini").write_text(
            f"[databases]\n* = host={self.cluster.folder}\n[pgbouncer]\npool_mode = transaction\nauth_type = trust\nauth_file = {folder}/users\n"
            f"unix_socket_dir = {folder}\nlisten_addr =\nlisten_port = 6432\nserver_reset_query_always = 0\n"
            f"default_pool_size = 2\nlogfile = {folder}/log\n")
        (folder / "users").write_text('"owner" ""\n"alice" ""\n')
        for file in ("ini", "users"):
            (folder / file).chmod(0o644)
        program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin")
        self.assertTrue(program, "scripts/setup installs pgbouncer")
        bouncer = subprocess.Popen([program, folder / "ini"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.cluster.as_user)
        self.addCleanup(lambda: (bouncer.terminate(), bouncer.wait(PATIENCE)))
        wait_until(lambda: (folder / ".s.PGSQL.6432").exists())
        through = f"host={folder} port=6432 dbname={self.database}"
        self.server.start("--postgres-poll", 20, conninfo=through + " user=owner")
        self.wait_for_catalogue()
        application = Connection(through + " user=alice")
        self.opened.append(application)
        ids = []
        for n in range(10):
            application("BEGIN")
            ids.append(self.start(application, f"b-{n}", 9900 if n == 0 else 100))
            application("COMMIT")
        for each in ids[1:]:
            self.wait_for_status(each, "completed")
        self.decide(application, ids[0], "b-0")
        self.wait_for_status(ids[0], "completed")
        # One that is killed and started again takes over when its lease is over.
        self.server.kill()
        self.server.start("--postgres-poll", 20, "--postgres-sweep", 200, conninfo=through + " user=owner")
        last = self.start(application, "last")
        self.wait_for_status(last, "completed")


if __name__ == "__main__":
    unittest.main()
