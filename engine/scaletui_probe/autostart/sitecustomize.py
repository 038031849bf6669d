"""Arms the probe at the start of every Python that has this folder on PYTHONPATH, then hands over to the
next sitecustomize.

Every Python of the job reads this file, also one that is too old for the probe: it keeps to what all of
them understand. The place of the probe is on the path only while the probe itself is imported, so that
nothing else that lies there becomes importable.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_PROBE = os.path.dirname(_HERE)

if sys.version_info >= (3, 9) and not os.environ.get("SCALETUI_DISABLE"):
    try:
        sys.path.insert(0, os.path.dirname(_PROBE))
        try:
            __import__("scaletui_probe")
        finally:
            del sys.path[0]
        from scaletui_probe.arming import arm

        arm()
    except Exception:
        sys.modules.pop("scaletui_probe", None)

sys.path[:] = [_place for _place in sys.path if os.path.abspath(_place or os.curdir) != _HERE]
_own = sys.modules.pop("sitecustomize", None)
try:
    __import__("sitecustomize")
except ImportError as _error:
    if getattr(_error, "name", "sitecustomize") != "sitecustomize":
        raise
finally:
    if _own is not None:
        sys.modules.setdefault("sitecustomize", _own)
