"""``python -m gpusudoku`` is the command ``gpusudoku``."""

from gpusudoku.cli import main

if __name__ == "__main__":
    main()
