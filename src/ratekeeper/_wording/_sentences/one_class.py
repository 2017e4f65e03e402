"""One class, or no labels at all."""

# Of calibrations that know one class only, or none.
ONE_CLASS = {
    "price": "{other} unknown: no calibration object is {side}.",
    "data": ("{n} {known} and no {side} scores ({type}), data {hash}, ratekeeper {version}."),
    "data.unlabelled": "{n} scores without labels ({type}), data {hash}, ratekeeper {version}.",
    "p_value": "unknown: no calibration object is of this class",
    "card": "No calibration object truly is {truth}.",
    "inspect": (
        "Of {side}s ({label}) nothing is known: neither the {other}, nor how well the score tells "
        "the classes apart."
    ),
    "unlabelled": (
        "The scores have no labels: nothing is known about classes, their errors, or how well the "
        "score tells them apart."
    ),
}
