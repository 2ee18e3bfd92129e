"""The command `halmark`, and `python3 -m halmark`: becomes the program, so that signals and status are its own."""
import os
import sys

from halmark_study import StudyError, program_path


def main():
    try:
        program = program_path()
    except StudyError as error:
        sys.exit(f"halmark: {error}")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
