"""The shell script of one run on an emulated board: plants, the agent, the engine. Pure functions of a setup.

The board has busybox's tools; the planted programs and the engine's driver are /tmp/NAME and `nodes`.
"""

import shlex

#: The engine enters its group, writes its process ID and the time, then becomes the engine.
ENTER = """echo $$ >/tmp/pid; [ ! -d /sys/fs/cgroup/engine ] || echo $$ >/sys/fs/cgroup/engine/cgroup.procs
read now rest </proc/uptime; echo "exec $now" >/tmp/text; exec "$@" >>/tmp/text 2>/tmp/log"""
CLOCK = "/sys/devices/system/cpu/cpufreq/policy0"
ZONE = "/sys/class/thermal/thermal_zone0/temp"


def mask(cpus):
    """A list of CPUs as busybox's taskset reads it."""
    return f"{sum(1 << int(cpu) for cpu in str(cpus).split(',')):x}"


def niced(by, words):
    """A command with another niceness; the board's busybox has `renice`, and no `nice`."""
    return ["sh", "-c", f'renice -n {int(by)} -p $$ >/dev/null; exec "$@"', "sh", *words]


def until(spec):
    """Waits for the engine, and for so many of its calls."""
    return f"until [ -s /tmp/pid ] && [ -e /tmp/text ] && [ $(grep -c ^decode /tmp/text) -ge {spec.get('at', 0)} ]; do sleep 0.05; done"


def program(spec, cpus):
    """Command of a planted program."""
    words = ["taskset", mask(spec.get("cpu", cpus))] if spec["do"] != "stop" else []
    words += map(shlex.quote, niced(spec["nice"], [])) if "nice" in spec else []
    words += ["/tmp/realtime", str(spec["rt"])] if "rt" in spec else []
    name = "stopper" if spec["do"] == "stop" else spec["do"]
    process = ["$(cat /tmp/pid)"] if spec["do"] == "stop" else []
    return " ".join([*words, f"/tmp/{name}", *process, *map(str, spec.get("args", []))])


def clock(spec):
    """Writes what the board's files say of its clock and its temperature."""
    values = (("scaling_governor", spec["governor"]), ("scaling_max_freq", spec["limit"]), ("scaling_cur_freq", spec["clock"]))
    lines = [f"echo {value} >{CLOCK}/{name}" for name, value in values]
    return "; ".join([*lines, f"echo {spec['temperature']} >{ZONE}"])


def plant(spec, cpus):
    """Starts a plant; one that waits for the engine does so in a process that becomes it."""
    waits = spec.get("at", 0) > 0 or spec["do"] == "stop"
    before = until(spec) + "; " if waits else ""
    if spec["do"] == "narrow":
        return f"({before}for t in /proc/$(cat /tmp/pid)/task/*; do taskset -p {mask(spec['cpus'])} ${{t##*/}}; done >/dev/null) &"
    if spec["do"] == "clock":
        return f"({before}{clock(spec)}; echo hot >/tmp/hot) &" if waits else clock(spec)
    return f"({before}exec {program(spec, cpus)}) >/dev/null 2>&1 & echo $! >>/tmp/pids"


def group(limits):
    """A control group of version 2 for the engine, or none."""
    if not limits:
        return "rmdir /sys/fs/cgroup/engine 2>/dev/null || true"
    writes = "; ".join(f"echo {shlex.quote(value)} >/sys/fs/cgroup/engine/{name}" for name, value in limits.items())
    return ("mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup2 /sys/fs/cgroup; echo '+cpu +memory' >/sys/fs/cgroup/cgroup.subtree_control; "
            f"mkdir -p /sys/fs/cgroup/engine; {writes}")


def script(setup):
    """The script of a run. It leaves pid, pids, text, log, agent.json and t.pfi in /tmp."""
    engine = ["taskset", mask(setup["cpus"]), "nodes", "--warm-up", "-m", "/model.gguf", "-t", str(setup["threads"]), "-p", str(setup["prompt"]), "-n", str(setup["tokens"])]
    if setup["nice"]:
        engine = niced(setup["nice"], engine)
    engine = [*(f"{key}={value}" for key, value in setup["env"].items()), *engine]
    if setup["env"]:
        engine = ["env", *engine]
    run = ["profinfer-agent", "record", "--format", "json", "--out", "/tmp/t.pfi", *setup["agent"], "--", "sh", "-c", ENTER, "sh", *engine, *setup["args"]]
    return "\n".join([
        "rm -f /tmp/pid /tmp/pids /tmp/text /tmp/log /tmp/t.pfi /tmp/hot; : >/tmp/pids",
        group(setup["group2"]),
        *(plant(spec, setup["cpus"]) for spec in setup["plant"]),
        "[ ! -s /tmp/pids ] || sleep 1",
        # Each of them runs.
        "for p in $(cat /tmp/pids); do kill -0 $p || exit 3; done",
        f"{shlex.join(run)} >/tmp/agent.json 2>/tmp/agent.log",
        "status=$?",
        "for p in $(cat /tmp/pids); do kill $p; done 2>/dev/null",
        "exit $status",
    ])


#: Files like those of a kernel with cpufreq and thermal zones, mounted over the board's, which has none.
FILES = """set -e
[ ! -d /tmp/cpu ] || exit 0
mkdir -p /tmp/cpu/cpufreq/policy0 /tmp/thermal/thermal_zone0
cd /sys/devices/system/cpu
cp online possible present /tmp/cpu
for c in 0 1 2 3; do
	mkdir -p /tmp/cpu/cpu$c/regs/identification
	cp cpu$c/regs/identification/midr_el1 /tmp/cpu/cpu$c/regs/identification
	ln -s ../cpufreq/policy0 /tmp/cpu/cpu$c/cpufreq
done
cd /tmp/cpu/cpufreq/policy0
echo 2400000 >cpuinfo_max_freq
echo 400000 | tee cpuinfo_min_freq >scaling_min_freq
echo soc-thermal >/tmp/thermal/thermal_zone0/type
mount -o bind /tmp/cpu /sys/devices/system/cpu
mount -o bind /tmp/thermal /sys/class/thermal
"""
