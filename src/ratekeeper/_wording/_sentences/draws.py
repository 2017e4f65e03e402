"""Random numbers that a promise rests on."""

DRAWS = {
    "drawn": (
        "The random numbers of this test were drawn once, independently of the data, when the "
        "calibration was made, and are stored with it. The promise covers that draw. Drawing again "
        "until a test looks better voids it."
    ),
    "loaded": (
        "The random numbers of this test were drawn, independently of the data, when its "
        "calibration was loaded from a file of an earlier version, which had none. They are kept "
        "only if it is saved again. Drawing again until a test looks better voids the promise."
    ),
    "fixed": (
        "The random numbers of this test come from a seed that was fixed by the user. The promise "
        "is over the choice of a seed: for one fixed seed it can fail more often. Trying seeds "
        "until a test looks better voids it."
    ),
}
