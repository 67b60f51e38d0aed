"""End ourselves by signals: does the job's end come promptly, although it may be the first process of its namespace?

Shows: the job returns late.
Variants: SIGTERM SIGKILL SIGSEGV SIGBUS SIGFPE SIGILL SIGABRT SIGTRAP SIGXCPU SIGXFSZ SIGSYS SIGHUP SIGPIPE
    SIGALRM SIGQUIT
"""

import os
import signal

number = getattr(signal, "@VARIANT@")
signal.signal(number, signal.SIG_DFL) if number not in (9, 19) else None
os.kill(os.getpid(), number)
os.kill(os.getpid(), signal.SIGKILL)
os.abort()
