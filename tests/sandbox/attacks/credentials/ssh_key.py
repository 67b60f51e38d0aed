"""Read a private key below the user's home.

Shows: PWNED on stdout.
"""

with open("@VICTIM@/home/.ssh/id_rsa") as file:
    if "CANARY-SSH" in file.read():
        print("PWNED")
