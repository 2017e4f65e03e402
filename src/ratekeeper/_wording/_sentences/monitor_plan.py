"""How long a monitor takes to find a broken limit."""

MONITOR_PLAN = {
    "title": "Plan for a monitor of {rate} <= {alpha}, if it becomes {becomes}",
    "all": "{objects} until the alarm, if the truth of all becomes known",
    "audited": (
        "{objects} until the alarm, if alerts have labels and so do {audit} of the others at random"
    ),
    "half": "in half of all cases within",
    "most": "in {power} of all cases within",
    "mean": "on average",
    "fastest": "on average no monitor needs fewer than",
    "number": "{n}",
    "weeks": "{n}, or {weeks} weeks",
    "audits": "Objects to audit per week: at most {n}",
    "promise": (
        "Of all monitors of a rate that stays at or below {alpha}, at most {delta} ever raise a "
        "false alarm, however often one looks."
    ),
    "assumption": (
        "For a rate that is {becomes} from the first outcome on. After a long time below the "
        "limit, the alarm comes later."
    ),
}
