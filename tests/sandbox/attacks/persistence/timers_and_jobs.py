"""Ask the machine to run something later: cron, at, systemd, a shell's background.

Shows: a file outside, or a process goes on running.
"""

import os
import subprocess
from contextlib import suppress

command = "touch @VICTIM@/lydite-attack-later"
for tool in (
    ["crontab", "-"],
    ["at", "now"],
    ["batch"],
    ["systemd-run", "--user", "--on-active=1", "sh", "-c", command],
    ["sh", "-c", f"(sleep 1; {command}) & disown 2>/dev/null; true"],
    ["nohup", "sh", "-c", f"(sleep 1; {command}) &"],
    ["setsid", "-f", "sh", "-c", f"sleep 1; {command}"],
):
    with suppress(OSError, subprocess.TimeoutExpired):
        text = f"* * * * * {command}\n" if tool[0] == "crontab" else f"{command}\n"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(tool, input=text.encode(), timeout=0.5, check=False, **quiet)
for path in (
    "/etc/cron.d/lydite-attack",
    "/var/spool/cron/crontabs/root",
    os.path.expanduser("~/.config/autostart/lydite-attack.desktop"),
):
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(f"* * * * * root {command}\n")
