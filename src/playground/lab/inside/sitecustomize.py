"""Imported by every python3 of the lab before its own program: a holder turns into its species here.

So a holder's argv is exactly what was asked for, `-m some.module` included, without that module being installed.
"""
import os

if "LAB_HOLDER" in os.environ:
    import lab_holder

    lab_holder.main(os.environ.pop("LAB_HOLDER"))
