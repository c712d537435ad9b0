"""``python -m pdacon``: the command line, where the script is not on the path."""

import sys

from pdacon.cli import main

if __name__ == "__main__":
    sys.exit(main())
