"""Later learners of the literature, beside which ours are shown.

Constants of theirs that could not be compared with the printed text are said in their docstrings;
that they are optimistic is tested. ``ldprl regret --learner studies.rivals:PUCB`` runs one, from a
checkout.
"""

from studies.rivals.dp_ucbvi import DPUCBVI as DPUCBVI
from studies.rivals.private_ucb_vi import PrivateUCBVI as PrivateUCBVI
from studies.rivals.pucb import PUCB as PUCB
