//! Names of programs.

/// The file name of the program by its command line: tasks name themselves as they like. The task's
/// name where the command is unknown. Without a process, a row may stand for tasks of many commands.
#[must_use]
pub fn program<'a>(pid: u32, task: &'a str, command: &'a str) -> &'a str {
    let several = pid == 0 && !task.is_empty();
    let path = command.split(' ').next().filter(|_| !several).unwrap_or("");
    path.rsplit('/').next().filter(|file| !file.is_empty()).unwrap_or(task)
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn a_program_is_named_by_its_file() {
        assert_eq!(program(7, "opt x", "/usr/bin/rustc --edition 2024"), "rustc");
        assert_eq!(program(7, "kworker/0:1", ""), "kworker/0:1");
        assert_eq!(program(0, "cc1", "/usr/lib/cc1plus x.cc"), "cc1");
        assert_eq!(program(0, "", "/usr/lib/cc1plus x.cc"), "cc1plus");
        assert_eq!(program(7, "sh", "/"), "sh");
    }
}
