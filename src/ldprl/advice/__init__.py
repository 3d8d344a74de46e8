"""Which ε, mechanism and learner to take: forecasts by simulation, and a recommendation."""

from ldprl.advice.adviser import Advice as Advice
from ldprl.advice.adviser import Returning as Returning
from ldprl.advice.adviser import advise as advise
from ldprl.advice.forecast import Forecast as Forecast
from ldprl.catalogue import Pair as Pair
from ldprl.worlds.plausible import Scenario as Scenario
from ldprl.worlds.plausible import plausible_scenarios as plausible_scenarios
