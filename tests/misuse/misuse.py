"""What the misuse programs in Python share: each call must succeed unless it is the misuse itself. FIXED=1 mends them."""

import os

import acl

FIXED = bool(os.environ.get("FIXED"))


def ok(answer):
    """The values of a call that succeeds."""
    values, code = (answer[:-1], answer[-1]) if isinstance(answer, tuple) else ((), answer)
    if code != acl.ACL_SUCCESS:
        raise RuntimeError(f"code {code}: {acl.get_recent_err_msg()}")
    return values[0] if len(values) == 1 else values


class Session:
    """acl.init and device 0 at the start; the reverse at the end."""

    def __enter__(self):
        ok(acl.init())
        ok(acl.rt.set_device(0))
        return self

    def __exit__(self, *error):
        ok(acl.rt.reset_device(0))
        ok(acl.finalize())
