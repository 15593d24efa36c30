# Starts far.py on the remote machine, from beside the folder of kerascheck. Works in any Python 3, and reports one
# that is too old.
import json
import sys

if sys.version_info < (3, 10):
    reason = "%s is Python %d.%d, and kerascheck needs 3.10; name another one with --python" % (
        (sys.executable,) + sys.version_info[:2]
    )
    with open(sys.argv[2], "a") if len(sys.argv) > 2 else sys.stdout as stream:
        stream.write("@kerascheck " + json.dumps({"event": "refused", "reason": reason}) + "\n")
else:
    from kerascheck.runtime.verify.remote.far import main

    main()
