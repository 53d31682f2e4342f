"""The AscendCL runtime API for Python.

Values come with a return code as ``(value, ret)``; 0 (``ACL_SUCCESS``) is success. Addresses and handles are ints.
``acl.rt`` has devices, contexts, streams, events, memory and callbacks, ``acl.util`` addresses of Python objects.

The module uses the ``libascendcl.so`` that the process has already loaded, else the one in this package.
"""

import sys as _sys

from . import _acl, segments
from ._acl import *
from ._acl import __version__, mdl, rt, util
from .constants import *

# `import acl.rt` means the same module.
for _module in (rt, util, mdl):
    _sys.modules[_module.__name__] = _module
del _module
