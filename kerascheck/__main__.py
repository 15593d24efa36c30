from kerascheck.cli import main

if __name__ == "__main__":
    main()
