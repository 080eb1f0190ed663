"`python -m conformal_ar` is the command line"
from conformal_ar.cli.entry_point import main

if __name__ == "__main__": main()
