"""How long a monitor takes to find a broken limit."""

MONITOR_PLAN = {
    "title": "Plan for a monitor of {rate} <= {alpha}, if it becomes {becomes}",
    "all": "{objects} to the alarm, all with their truth known",
    "audited": (
        "{objects} to the alarm, if alerts have labels and of the others {audit} at random"
    ),
    "half": "in half of all cases within",
    "most": "in {power} of all cases within",
    "fastest": "what no monitor is much faster than on average",
    "number": "{n}",
    "weeks": "{n}, or {weeks} weeks",
    "audits": "Objects to audit per week: at most {n}",
    "promise": (
        "With a false alarm in at most {delta} of all monitors of a rate that stays at or below "
        "{alpha}, looked at as often as one likes."
    ),
    "assumption": (
        "For a rate that is {becomes} from the first outcome on. After a long good time the alarm "
        "comes later."
    ),
}
