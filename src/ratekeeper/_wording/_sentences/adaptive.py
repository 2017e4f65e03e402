"""What adaptive tests promise, and what has come of it."""

ADAPTIVE = {
    "headline": (
        "CERTIFICATE  {rate}: never more than {extra} errors above {alpha}, late labels apart"
    ),
    "headline.decaying": "CERTIFICATE  {rate}: a cap on errors, now {extra} above {alpha}",
    "headline.audit": "CERTIFICATE  {rate} {alpha}: a cap on the errors that an audit estimates",
    "kind": "for every sequence",
    "kind.audit": "for every sequence, about estimates",
    "promise": (
        "Whatever the scores and labels are, and however they change: of the {objects} ({label}) "
        "whose labels were learned, at most {alpha} plus {extra} are ever called {called}, if each "
        "label is learned before the next decision. With T such objects that is {alpha} of T + "
        "{exact}, at every moment."
    ),
    "promise.waiting": (
        "If up to w errors wait for their labels at the same time, as within a batch, it is "
        "{alpha} of T + {fixed} + {each_waiting} w. So far w has been at most {waiting}."
    ),
    "promise.decaying": (
        "Whatever the scores and labels are, and however they change: of the {objects} ({label}) "
        "whose labels were learned, no more than the cap are ever called {called}. Steps get "
        "smaller, so the cap depends on the levels used: it is now {extra} above {alpha} of T. "
        "Before anything is known, it is {worst} above at T = 10,000, if each label is learned "
        "before the next decision."
    ),
    "promise.audit.fnr": (
        "Whatever the scores and labels are: each audited error stands for {weight}, and the "
        "number of errors estimated in this way is never more than {alpha} of the estimated number "
        "of {objects} ({label}) plus {extra}, if each label is learned before the next decision. "
        "The estimates are right on average, so all errors together, seen or not, have this cap on "
        "average. A single sequence has no such cap: nobody knows the errors that nobody looks at."
    ),
    "promise.audit.fpr": (
        "Whatever the scores and labels are: each audited object stands for {weight}, and there "
        "are never more errors than {alpha} of the number of {objects} ({label}) estimated in this "
        "way plus {extra}, if each label is learned before the next decision. The estimate is "
        "right on average, so the errors have this cap on average."
    ),
    "promise.audit.decaying": (
        "Whatever the scores and labels are: each object that only the audit shows stands for "
        "{weight}, and the number of errors so estimated is never more than the cap. Steps fall, "
        "so the cap depends on the levels that were used: it is now {extra} above {alpha} of T, "
        "the estimated number of {objects} ({label}). Before anything is known it is {worst} above "
        "at T = 10,000, if each label is learned before the next decision. The estimates are "
        "right on average, so on average all errors together are at most the cap. For one "
        "sequence nothing is known of the errors that nobody looks at."
    ),
    "needs": (
        "nothing about scores, labels or their order. The label of every object of the class must "
        "be learned, in any order."
    ),
    "needs.audit": (
        "the labels of all alerts and of all objects that the audit chooses, and that its choice "
        "has nothing to do with the objects."
    ),
    "not_covered": (
        "errors whose labels are never learned, or not yet; the other error, {other}, which pays "
        "for it; and when errors come: after a change, many may come together."
    ),
    "not_covered.groups": "Subsets of the {objects} have no cap of their own.",
    "groups": "Each group has a level and a cap of its own; the caps add up.",
    "rule": (
        "called {called} if {p} <= level. The level starts at {start}, falls by {down} with each "
        "error that is learned, and rises by {up} with each other object of the class."
    ),
    "rule.decaying": (
        "called {called} if {p} <= level. The level starts at {start}, falls with each error that "
        "is learned, and rises with each other object of the class, by steps that get smaller: "
        "the next one is {step}."
    ),
    "so_far": (
        "{errors} of {n} {objects} whose labels were learned were errors{observed}; up to {cap} "
        "were possible. The level is now {level_now}."
    ),
    "so_far.audit": (
        "an estimated {errors} of {n} {objects} were errors{observed}; up to {cap} were possible. "
        "The level is now {level_now}."
    ),
    "open": "Decisions that still wait for their labels, and are not counted: {open}.",
    "estimated": "* Estimated: audited objects stand for those that were not audited.",
    "learned.learned": "New labels: {n}.",
    "learned.repeated": "Learned before: {n}.",
    "learned.not_audited": "Ignored, since the audit did not choose them: {n}.",
    "learned.unknown": "Ignored, since they have no decision here: {n}.",
    "late": (
        "On average, labels arrive {delay} objects of the class after their decision. Times the "
        "step of {step} that is {product}, above {limit}: the level swings, and the other error "
        "pays for it."
    ),
}
