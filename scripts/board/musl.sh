# shellcheck shell=bash
need_musl() { return 1; }
