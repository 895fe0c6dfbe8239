//! The user that the agent starts an engine as: by name or number, from /etc/passwd and /etc/group.
//! The static agent has no libc that could query a name service.

use std::fs;
use std::path::Path;

use crate::error::{Diagnostic, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub uid: u32,
    pub gid: u32,
    /// IDs of its other groups.
    pub groups: Vec<u32>,
    /// Name and home, if /etc/passwd has the user.
    pub known: Option<(String, String)>,
}

impl User {
    /// Parses `NAME`, `UID`, `NAME:GID` or `UID:GID`. `root` is `/`, except in tests.
    ///
    /// # Errors
    /// If the user does not exist, or its group is unknown.
    pub fn find(text: &str, root: &Path) -> Result<Self> {
        let error = |answer: &dyn std::fmt::Display| {
            let help = "use a name from /etc/passwd, or numbers: --user UID:GID";
            Diagnostic::new(format!("looking for the user `{text}`"), answer, help)
        };
        let (who, group) = text.split_once(':').map_or((text, None), |(who, group)| (who, Some(group)));
        // An unreadable file has no names. Numbers work without it.
        let passwd = fs::read_to_string(root.join("etc/passwd")).unwrap_or_default();
        let number = who.parse::<u32>().ok();
        let line = passwd.lines().map(fields).find(|f| {
            let uid = || f.get(2).and_then(|uid| uid.parse().ok());
            f.first() == Some(&who) || number.is_some() && uid() == number
        });
        let field = |at: usize| line.as_ref().and_then(|f| f.get(at));
        let id = |at: usize| field(at).and_then(|n| n.parse::<u32>().ok());
        let uid = id(2).or(number).ok_or_else(|| error(&"/etc/passwd has no such user"))?;
        let gid = match group {
            Some(group) => group.parse().map_err(|e| error(&e))?,
            None => id(3).ok_or_else(|| error(&"/etc/passwd has no such user, so its group is unknown"))?,
        };
        // -1 means unchanged (setresuid(2)).
        if uid == u32::MAX || gid == u32::MAX {
            return Err(error(&"the number is out of range"));
        }
        let known = field(0).zip(field(5)).map(|(name, home)| ((*name).to_owned(), (*home).to_owned()));
        let member = known.as_ref().map(|(name, _)| name.as_str());
        let mut groups = vec![gid];
        let text = fs::read_to_string(root.join("etc/group")).unwrap_or_default();
        for f in text.lines().map(fields) {
            let (Some(id), Some(members)) = (f.get(2).and_then(|id| id.parse().ok()), f.get(3)) else {
                continue;
            };
            if member.is_some_and(|member| members.split(',').any(|m| m == member)) && !groups.contains(&id) {
                groups.push(id);
            }
        }
        Ok(Self { uid, gid, groups, known })
    }

    /// Parses the option of the command line.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub fn asked(text: &str) -> Result<Self> {
        Self::find(text, Path::new("/"))
    }

    /// The environment of a program that is started as this user: that of the agent, with name and
    /// home of the user.
    #[must_use]
    pub fn environment(&self) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
        let names = ["HOME", "USER", "LOGNAME"];
        let others = std::env::vars_os().filter(|(name, _)| names.iter().all(|n| name != n));
        let (name, home) = self.known.clone().unwrap_or_else(|| (self.uid.to_string(), "/".to_owned()));
        let own = names.into_iter().zip([home, name.clone(), name]);
        others.chain(own.map(|(name, value)| (name.into(), value.into()))).collect()
    }
}

fn fields(line: &str) -> Vec<&str> {
    line.split(':').collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn by_name_and_by_number() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("etc")).unwrap();
        let put = |name: &str, text: &str| fs::write(root.path().join("etc").join(name), text).unwrap();
        put("passwd", "root:x:0:0:root:/root:/bin/sh\n\nbroken\nllm:x:1001:1002:,,,:/home/llm:/bin/sh\n");
        put("group", "render:x:44:me,llm\nbad:x:y:llm\nllm:x:1002:\nvideo:x:45:llm\nother:x:46:ll\n");
        let find = |text: &str| User::find(text, root.path());
        let known = Some(("llm".to_owned(), "/home/llm".to_owned()));
        let llm = User { uid: 1001, gid: 1002, groups: vec![1002, 44, 45], known };
        assert_eq!(find("llm").unwrap(), llm);
        assert_eq!(find("1001").unwrap(), llm);
        assert_eq!(find("llm:7").unwrap(), User { gid: 7, groups: vec![7, 44, 45], ..llm.clone() });
        let unknown = User { uid: 65534, gid: 65533, groups: vec![65533], known: None };
        assert_eq!(find("65534:65533").unwrap(), unknown);
        for none in ["nobody", "65534", "", "llm:video", "-1", "4294967295:1", "1:4294967295", ":"] {
            assert!(find(none).is_err_and(|e| e.help.contains("UID:GID")), "{none}");
        }
        let has = |user: &User, name: &str, value: &str| {
            let all = user.environment();
            all.iter().filter(|(n, _)| n == name).map(|(_, v)| v).eq([value])
        };
        assert!(has(&llm, "HOME", "/home/llm") && has(&llm, "USER", "llm") && has(&unknown, "HOME", "/"));
    }
}
