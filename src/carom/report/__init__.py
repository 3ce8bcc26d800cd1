"""The report of a run: one HTML file that needs nothing else, with a viewer that stretches time around every impact."""

from .page import Figure as Figure
from .page import report as report
from .page import write_report as write_report
from .samples import Seam as Seam
from .tabled import Quantity as Quantity
