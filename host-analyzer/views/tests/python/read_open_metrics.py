#!/usr/bin/env python3
"""read_open_metrics.py < TEXT

Reads OpenMetrics text by the parser of Prometheus' own Python library, which refuses what the standard does not allow, and prints its
samples as JSON: [[name, {label: value}, value]...].
"""

import json
import sys

from prometheus_client.openmetrics.parser import text_fd_to_metric_families

samples = [
    [sample.name, sample.labels, sample.value]
    for family in text_fd_to_metric_families(sys.stdin)
    for sample in family.samples
]
json.dump(samples, sys.stdout)
