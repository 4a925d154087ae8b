"""Work shared out among threads, and what interrupts it. Nothing here knows of Sudoku."""
