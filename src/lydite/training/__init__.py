"""Training: recipes carried out in stages, with controls, checkpoints and a ledger of every attempt."""

from lydite.training.controls import Control
from lydite.training.progress import Progress
from lydite.training.recipe import Recipe
from lydite.training.recipe_io import dump_recipe, load_recipe, parse_recipe
from lydite.training.results import TrainResult
from lydite.training.run import train

__all__ = ["Control", "Progress", "Recipe", "TrainResult", "dump_recipe", "load_recipe", "parse_recipe", "train"]
