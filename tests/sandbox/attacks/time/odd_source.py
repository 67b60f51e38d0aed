"""Programs that are not quite text: a zero byte, half a surrogate, a byte order mark, an unknown encoding.

Shows: an exception of the harness, or a result that is not the program's fault.
Variants: zero surrogate mark encoding form_feed
"""

print("@ODD@")
