"""A PostgreSQL server of its own on a Unix socket in a private folder; refused as root, so it runs
as the user postgres then."""
import glob
import os
import pwd
import signal
import subprocess
import tempfile
import time


def programs():
    """The folder of initdb and pg_ctl, or None."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/pg_ctl"))
    return os.path.dirname(found[-1]) if found else None


class Server:
    """`settings`: words of the server's command line; `trusted`: addresses that need no password."""

    def __init__(self, settings="", trusted=None):
        self.settings, self.trusted = settings or "-c listen_addresses=''", trusted

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="halmark-pg-")
        self.root = self.folder.name
        self.identity = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.root, user.pw_uid, user.pw_gid)
            self.identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.run("initdb", "-D", self.root + "/data", "-A", "trust", "-E", "UTF8", "--locale=C",
                 "-U", "postgres")
        if self.trusted:
            with open(self.root + "/data/pg_hba.conf", "a", encoding="ascii") as file:
                file.write(f"host all all {self.trusted} trust\n")
        self.start()
        return self

    def run(self, program, *arguments):
        subprocess.run([os.path.join(programs(), program), *arguments], check=True, cwd="/",
                       stdout=subprocess.DEVNULL, **self.identity)

    def start(self):
        self.run("pg_ctl", "-D", self.root + "/data", "-w", "-l", self.root + "/log", "-o",
                 f"{self.settings} -c unix_socket_directories={self.root}", "start")

    def kill(self):
        """The postmaster alone, by SIGKILL; its children see it and leave."""
        with open(self.root + "/data/postmaster.pid", encoding="ascii") as file:
            os.kill(int(file.readline()), signal.SIGKILL)

    def restart(self, limit_s=30):
        """After kill(): refused for about a second, while children of the killed one are there."""
        end = time.monotonic() + limit_s
        while True:
            try:
                return self.start()
            except subprocess.CalledProcessError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.3)

    def stop(self):
        self.run("pg_ctl", "-D", self.root + "/data", "-m", "immediate", "stop")

    def database(self, name):
        """Makes one; its URL for Halmark and for SQLAlchemy."""
        self.run("createdb", "-h", self.root, "-U", "postgres", name)
        tail = f"postgres@/{name}?host={self.root}"
        return "postgresql://" + tail, "postgresql+psycopg2://" + tail

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()
