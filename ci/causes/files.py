"""Files of a machine like another one, for one run: mounted over the system's where only the agent and the engine see them."""

from pathlib import Path

CPUS = Path("/sys/devices/system/cpu")
#: Mounts its first argument over the CPUs' folder, and becomes the rest.
MOUNT = f'mount --bind "$0" {CPUS} && exec "$@"'


def tree(folder, per_cpu):
    """Fills `folder` with CPUs that have these files: by name, one text per CPU."""
    for name in ("online", "possible", "present"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((CPUS / name).read_text(encoding="utf-8"), encoding="utf-8")
    for name, texts in per_cpu.items():
        for cpu, text in enumerate(texts):
            path = folder / f"cpu{cpu}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")


def entered(folder):
    """Words that run a command with these files."""
    return ["unshare", "-m", "sh", "-c", MOUNT, str(folder)]
