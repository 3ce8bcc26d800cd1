"""`python -m carom.cli`, where the script is not on the path."""

from . import main

if __name__ == "__main__":
    main()
