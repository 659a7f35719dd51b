# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of the tests' own: on a private socket, as a user without rights, with fsync on."""
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from pq import Connection, SqlError
from waiting import PATIENCE, wait_until

SQL = ROOT / "src" / "postgres" / "sql"


def find_programs():
    """The folder of initdb and postgres, which Debian keeps out of PATH."""
    folders = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    for folder in reversed(folders):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise RuntimeError("PostgreSQL is missing: scripts/setup installs it")


def schema_files():
    """All SQL files of the schema, in the order in which they are run."""
    return [file for version in sorted(SQL.glob("v*"), key=lambda p: int(p.name[1:])) for file in sorted(version.glob("*.sql"))]


class Cluster:
    def __init__(self, copy_of=None, **settings):
        """`copy_of`: a copy of another cluster as it is now, which is not started yet."""
        self.programs = find_programs()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hfpg"))
        self.as_user = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            owner = pwd.getpwnam("postgres")
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
            self.as_user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        self.data = self.folder / "data"
        self.process = None
        self.settings = {"fsync": "on", "listen_addresses": "", "unix_socket_directories": self.folder,
                         "max_connections": 60, "max_prepared_transactions": 10, "shared_buffers": "32MB",
                         "autovacuum_naptime": "10s", "wal_level": "replica", "max_wal_senders": 4, **settings}
        if copy_of:
            self._run("pg_basebackup", "-h", copy_of.folder, "-U", "super", "-D", self.data, "-c", "fast", "--no-sync")
            return
        self._run("initdb", "-D", self.data, "-U", "super", "-A", "trust", "--locale=C.UTF-8", "-E", "UTF8", "--no-sync")
        self.start()

    def _run(self, program, *arguments):
        done = subprocess.run([self.programs / program, *map(str, arguments)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, cwd=self.folder, timeout=PATIENCE, **self.as_user)
        if done.returncode != 0:
            raise RuntimeError(done.stdout.decode())

    def start(self):
        log = open(self.folder / "log", "ab")
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        self.process = subprocess.Popen([self.programs / "postgres", "-D", self.data, *options], cwd=self.folder,
                                        stdout=log, stderr=log, **self.as_user)
        log.close()
        wait_until(self.answers, lambda: (self.folder / "log").read_text())

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError((self.folder / "log").read_text())
        try:
            self.connect().close()
            return True
        except SqlError:
            return False

    def stop(self, how=signal.SIGINT):
        """SIGINT: at once but orderly. SIGQUIT: as in a crash, all processes end without cleaning up."""
        if self.process:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)
            self.process = None

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def conninfo(self, user="super", database="postgres"):
        return f"host={self.folder} user={user} dbname={database} connect_timeout={PATIENCE} client_encoding=UTF8"

    def connect(self, user="super", database="postgres"):
        return Connection(self.conninfo(user, database))


class ClusterTest(unittest.TestCase):
    """Tests that share a cluster; each has a database of its own, whose owner has no other rights."""
    settings = {}

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(**cls.settings)
        cls.addClassCleanup(cls.cluster.remove)
        with cls.cluster.connect() as admin:
            for role in ("owner", "alice", "bob", "pool"):
                admin(f"CREATE ROLE {role} LOGIN")
            admin("GRANT alice, bob TO pool")
            admin("ALTER ROLE pool NOINHERIT")

    def setUp(self):
        self.database = f"t{abs(hash(self.id())) % 10**12}"
        with self.cluster.connect() as admin:
            admin(f"CREATE DATABASE {self.database} OWNER owner TEMPLATE template0")
        self.addCleanup(self.drop)
        self.opened = []

    def drop(self):
        for connection in self.opened:
            connection.close()
        with self.cluster.connect() as admin:
            for gid, in admin("SELECT gid FROM pg_prepared_xacts WHERE database = $1", self.database):
                self.connect("super")(f"ROLLBACK PREPARED '{gid}'")
            admin(f"DROP DATABASE {self.database} WITH (FORCE)")

    def connect(self, user="alice"):
        self.opened.append(self.cluster.connect(user, self.database))
        return self.opened[-1]

    def refuses(self, state, connection, sql, *values):
        """The statement fails with this SQLSTATE; gives the error."""
        with self.assertRaises(SqlError) as caught:
            connection(sql, *values)
        self.assertEqual(caught.exception.state, state, str(caught.exception))
        return caught.exception
