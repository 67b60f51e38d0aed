"""Ask the metadata service of a cloud for its credentials.

Shows: PWNED on stdout.
"""

import socket
from contextlib import suppress

for address in (("169.254.169.254", 80), ("169.254.170.2", 80), ("fd00:ec2::254", 80), ("100.100.100.200", 80)):
    with suppress(OSError), socket.create_connection(address, 0.3):
        print("PWNED", address)
