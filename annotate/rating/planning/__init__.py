"""Assignment plans: the raters of each item, decided before a round opens. Pure: no Django.

Items and annotators are numbered from 0. A plan keeps its guarantees exactly, or is rejected with a
suggestion.
"""

from annotate.rating.planning.plan import (
    CannotBeMetError,
    DealtPlan,
    ListRefusedError,
    deal_balanced,
    everyone,
    plan_from_list,
    read_list,
    severity_between_systems,
    sharing,
)
