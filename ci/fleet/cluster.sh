# shellcheck shell=bash
# A Spark cluster on the loopback of this machine: a master and two workers, each a separate
# process. Sourced, after common.sh.

# cluster_up DIR: start it, and set MASTER. The caller ends the processes in CLUSTER.
CLUSTER=()
cluster_up() {
	local dir=$1 spark class i
	spark=$("$PYTHON" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
	class=$spark/bin/spark-class
	export SPARK_HOME=$spark SPARK_LOCAL_IP=127.0.0.1 SPARK_NO_DAEMONIZE=1 PYSPARK_PYTHON=$PYTHON SPARK_WORKER_DIR=$dir/work SPARK_LOCAL_DIRS=$dir/local
	: >"$dir/master.log" # the loop below may read it before the process has begun
	"$class" org.apache.spark.deploy.master.Master --host 127.0.0.1 --port 0 --webui-port 0 >"$dir/master.log" 2>&1 &
	CLUSTER+=($!)
	for ((i = 0; i < 300; i++)); do
		MASTER=$(sed -n 's/.*Starting Spark master at \(spark:[^ ]*\).*/\1/p' "$dir/master.log")
		[ -z "$MASTER" ] || break
		sleep 0.2
	done
	[ -n "${MASTER:-}" ] || die "Spark's master did not start" "$(tail -n 3 "$dir/master.log")"
	for i in 1 2; do
		"$class" org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --webui-port 0 --cores 1 --memory 1g "$MASTER" >"$dir/worker-$i.log" 2>&1 &
		CLUSTER+=($!)
	done
}
cluster_down() { [ ${#CLUSTER[@]} = 0 ] || kill "${CLUSTER[@]}" 2>/dev/null || true; }
