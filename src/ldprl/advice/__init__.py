"""What ε can we afford? Forecasts by simulation, and a recommendation."""

from ldprl.advice.adviser import Advice as Advice
from ldprl.advice.adviser import advise as advise
from ldprl.advice.forecast import Forecast as Forecast
from ldprl.advice.pairs import Pair as Pair
from ldprl.advice.worlds import World as World
from ldprl.advice.worlds import plausible_worlds as plausible_worlds
