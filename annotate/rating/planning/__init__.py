"""Assignment plans: the raters of each item, decided before a round opens. Pure: no Django.

Items and annotators are numbered from 0. A plan keeps its guarantees exactly, or is rejected with a
suggestion.
"""

from annotate.rating.planning.dealing import deal_balanced, everyone, sharing
from annotate.rating.planning.lists import ListRefusedError, plan_from_list, read_list
from annotate.rating.planning.plan import CannotBeMetError, DealtPlan, severity_between_systems
