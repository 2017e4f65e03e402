"""How many labels are needed."""

PLAN = {
    "title": "Plan for {promise}, in held-out {objects}",
    "average": "on average (Conformal)",
    "certain": "except with probability {delta} (HighProbability)",
    "excess": "on average, and above {above} with probability at most {delta}",
    "least": "at least {n}",
    "with": "with {n}, if no scores are tied",
    "with.groups": "with {n} in each group, if no scores are tied",
    "impossible": "impossible",
    "true_rate": (
        "true rate {mean} on average, {low} to {high} in 90% of calibration sets, above alpha in "
        "{above}"
    ),
    "fnr": "positives",
    "fpr": "negatives",
    "alerts": "objects, labelled or not",
    "clusters": "clusters with {objects}",
    "rows": "at least {n} (some {n_rows} rows)",
    "clusters.note": (
        "Rows of one cluster count as one: more rows of the same clusters are not more objects."
    ),
    "groups": "for {groups} groups, each with a promise of its own",
    "groups.average": "each on average",
    "groups.each": "each except with probability {delta}",
    "groups.joint": "all together except with probability {delta} ({chance} for each)",
    "groups.n": "{n} per group, {total} in all",
    "certify.title": "Plan for {promise}, if {quantity} is {expected} in truth",
    "certify.precision": "the precision of a threshold",
    "certify.npv": "the NPV of a threshold",
    "certify.wrong": "the share of wrong decisions",
    "certify.called.precision": "called positive",
    "certify.called.npv": "called negative",
    "certify.called.wrong": "decided",
    "certify.goal": "to certify it with probability {power}, at delta {delta}",
    "certify.tested": "objects {which} that certify it",
    "certify.tested.all": "objects {which}, with those that guide the search",
    "certify.objects": "labelled objects, if {part} of them are {which}",
    "certify.about": "about {n}",
    "certify.assumption": (
        "Exact for one threshold that is tested at {chance}, the least share of delta that the "
        "search gives to one. It finds such a threshold if the score ranks the objects, so that "
        "stricter thresholds are right more often; if it does not, the power can be lower."
    ),
    "audit.title": "Plan for an audit of {rate} <= {alpha}, if it is {worse} in a group in truth",
    "audit.goal": 'to call this group "above" with probability {power}',
    "audit.n": "labelled {objects} of each of {groups} groups",
    "audit.n.one": "labelled {objects}",
    "audit.total": "in all",
    "audit.assumption": (
        "Exact binomial test at {chance}, which is 5% divided by the number of groups: Holm's "
        "method asks no more. An audit of several columns has as many groups as it has rows, and "
        "twice as many if both rates are controlled."
    ),
    "price.title": "Labels until {other} is {price} or less, with {rate} <= {alpha} by {method}",
    "price.now": "with the {n} {objects} at hand",
    "price.now.none": "impossible: at least {n} are needed",
    "price.needed": "{objects} needed",
    "price.reached": "the {n} at hand are enough",
    "price.more": "about {n}, {more} more",
    "price.never": "no number of labels reaches it",
    "price.beyond": "more than a billion",
    "price.then": "with {n}",
    "price.limit": "with any number, at best",
    "price.share": "objects to label for that",
    "price.share.n": "about {n}, if {part} of them are {objects}",
    "price.assumption": (
        "An estimate from this calibration: the price at the threshold that so many {objects} "
        "allow on average, with a 95% interval. More {rest} only make it better known."
    ),
    "price.doubt": "The interval of the best includes {price}: whether it can be reached is open.",
}
