"""spark.py FLEET-PROGRAM PLACE MASTER      the answers of Spark and of `analyze fleet sql` to the same SQL, cell by cell

MASTER is spark://HOST:PORT of a cluster with at least two workers. Prints a line for each query, and the time that both take with --times.
"""
import json
import math
import os
import subprocess
import sys
import time

from pyspark.sql import SparkSession

READY = ["trend", "ranking", "outliers", "regressions", "series"]
OTHERS = {
    "sums by operator": "SELECT op, count(*) AS n, sum(wall_ns) AS wall_ns, sum(executions) AS executions, sum(operations) AS operations "
    "FROM operators GROUP BY op ORDER BY op NULLS LAST",
    "one partition": "SELECT board, engine, count(*) AS n, min(tokens_per_s) AS low, max(tokens_per_s) AS high, avg(token_ns) AS mean_ns "
    "FROM captures WHERE board = 'rk3588' AND model IS NOT NULL GROUP BY board, engine ORDER BY board, engine",
    "verdicts": "SELECT code, verdict, count(*) AS n FROM findings GROUP BY code, verdict ORDER BY code, verdict",
    "all of the captures": "SELECT * FROM captures ORDER BY capture",
    "slowest operators": "SELECT c.board, o.name, o.op, sum(o.wall_ns) AS wall_ns FROM operators o JOIN captures c ON o.capture = c.capture "
    "WHERE o.phase = 'decode' GROUP BY c.board, o.name, o.op ORDER BY wall_ns DESC, c.board, o.name, o.op LIMIT 40",
}


def fleet(program, *arguments):
    return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def like(a, b):
    if isinstance(a, float) or isinstance(b, float):
        if a is None or b is None:
            return a is b
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    return a == b and type(a) is type(b)


def difference(ours, theirs, columns):
    if len(ours) != len(theirs):
        return f"{len(ours)} rows against {len(theirs)} of Spark"
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if list(a) != columns:
            return f"columns {list(a)} against {columns}"
        for column in columns:
            if not like(a[column], b[column]):
                return f"row {i}, {column}: {a[column]!r} against {b[column]!r}"
    return None


def main():
    program, place, master = sys.argv[1:4]
    times = "--times" in sys.argv
    spark = (
        SparkSession.builder.master(master)
        .appName("fleet")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        # Folder names are texts: the build 9001 is not a number.
        .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    status = spark.sparkContext._jsc.sc().statusTracker()
    waited = time.monotonic()
    while (executors := len(status.getExecutorInfos()) - 1) < 2:  # one of them is this process
        if time.monotonic() - waited > 60:
            sys.exit(f"the cluster has {executors} worker processes, and two are needed")
        time.sleep(0.2)
    ran_on = set(spark.sparkContext.parallelize(range(64), 16).mapPartitions(lambda _: [os.getppid()]).collect())
    print(f"Spark {spark.version}: {executors} worker processes, tasks ran on {len(ran_on)} of them")
    if len(ran_on) < 2:
        sys.exit("tasks ran on one of them only")
    for name, folder in (("captures", "captures"), ("operator_rows", "operators"), ("finding_rows", "findings")):
        spark.read.parquet(f"{place}/v1/{folder}").createOrReplaceTempView(name)
    for view in ("operators", "findings"):
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {view} AS {fleet(program, 'queries', view)}")
    queries = {name: fleet(program, "queries", name) for name in READY} | OTHERS
    failed = 0
    for name, sql in queries.items():
        began = time.monotonic()
        ours = json.loads(fleet(program, "sql", sql, "--in", place, "--format", "json"))
        between = time.monotonic()
        frame = spark.sql(sql)
        theirs = [row.asDict() for row in frame.collect()]
        ended = time.monotonic()
        wrong = difference(ours, theirs, frame.columns)
        failed += bool(wrong)
        cells = len(theirs) * len(frame.columns)
        taken = f"  {between - began:6.2f} s here, {ended - between:6.2f} s there" if times else ""
        print(f"{name:20} {len(theirs):6} rows {cells:8} cells: {'DIFFERENT: ' + wrong if wrong else 'the same'}{taken}")
    spark.stop()
    sys.exit(1 if failed else 0)


main()
