//! `ASCEND_RT_VISIBLE_DEVICES`: which devices of the machine the process may use, and under which numbers.
//!
//! Three number spaces: the *user* id (what every call takes: an index into the list), the *logic* id (the entry itself) and
//! the *physical* id, which is the logic id outside containers (aclrtGetPhyDevIdByUserDevId#04).

use ascendcl_sys as sys;

use crate::error::Result;
use crate::process::Runtime;
use crate::refuse;

/// The devices that a process sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visible {
    /// Logic ids by user id.
    ids: Vec<u16>,
    /// What the list said that is not followed, for messages; empty when nothing.
    note: String,
}

/// The variable's name.
pub const VARIABLE: &str = "ASCEND_RT_VISIBLE_DEVICES";

impl Visible {
    /// What the environment says, for a machine with `machine` devices. An empty text counts as none (ours).
    pub fn from_env(machine: u16) -> Visible {
        match std::env::var_os(VARIABLE).filter(|list| !list.is_empty()) {
            Some(list) => Visible::parse(&list.to_string_lossy(), machine),
            None => Visible { ids: (0..machine).collect(), note: String::new() },
        }
    }

    /// The list `list`. The page of the variable: entries behind the first one that is no device id are not read.
    /// aclrtGetDeviceCount#03: a list that repeats an id or does not ascend shows no device at all.
    pub fn parse(list: &str, machine: u16) -> Visible {
        let mut ids: Vec<u16> = Vec::new();
        for entry in list.split(',') {
            let digits = !entry.is_empty() && entry.bytes().all(|byte| byte.is_ascii_digit());
            let id = entry.parse().ok().filter(|id| digits && *id < machine);
            let Some(id) = id else {
                let note = format!(
                    "{VARIABLE}={list}: entry '{entry}' is no device id in [0, {}]; it and what follows is ignored",
                    machine - 1
                );
                return Visible { ids, note };
            };
            if let Some(last) = ids.last().filter(|last| **last >= id) {
                let note = format!(
                    "{VARIABLE}={list}: {id} stands behind {last}; ids must ascend, so that no device is visible"
                );
                return Visible { ids: Vec::new(), note };
            }
            ids.push(id);
        }
        Visible { ids, note: String::new() }
    }

    /// How many devices there are.
    pub fn len(&self) -> u16 {
        self.ids.len() as u16
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// What the list says that is not followed; empty when nothing.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// The logic id of a user id.
    pub fn logic(&self, user: u16) -> u16 {
        self.ids.get(usize::from(user)).copied().unwrap_or(user)
    }

    fn user(&self, logic: i32) -> Option<i32> {
        self.ids.iter().position(|id| i32::from(*id) == logic).map(|user| user as i32)
    }
}

/// aclrtGetLogicDevIdByUserDevId, aclrtGetPhyDevIdByUserDevId and aclrtGetPhyDevIdByLogicDevId (whose argument is a user id
/// despite its name).
pub fn logic_by_user(rt: &Runtime, user: i32, rule: &'static str) -> Result<i32> {
    let device = super::resolve(rt, user, rule)?;
    Ok(rt.visible.logic(device.id).into())
}

/// aclrtGetUserDevIdByLogicDevId, aclrtGetUserDevIdByPhyDevId and aclrtGetLogicDevIdByPhyDevId (whose result is a user id
/// despite its name).
pub fn user_by_logic(rt: &Runtime, logic: i32, name: &str, rule: &'static str) -> Result<i32> {
    match rt.visible.user(logic) {
        Some(user) => Ok(user),
        None => refuse!(
            sys::ACL_ERROR_RT_INVALID_DEVICEID,
            rule,
            "{name}: {logic} is none of the visible devices {:?}",
            rt.visible.ids
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(list: &str) -> (Vec<u16>, bool) {
        let visible = Visible::parse(list, 8);
        (visible.ids.clone(), visible.note().is_empty())
    }

    /// The examples of the variable's page, aclrtGetLogicDevIdByUserDevId#02.
    #[test]
    fn entries_behind_the_first_bad_one_are_not_read() {
        assert_eq!(ids("1,2"), (vec![1, 2], true));
        assert_eq!(ids("1, 2,3"), (vec![1], false));
        assert_eq!(ids("1,3,8"), (vec![1, 3], false));
        assert_eq!(ids("0,-1,2"), (vec![0], false));
        assert_eq!(ids("0,,2"), (vec![0], false));
        assert_eq!(ids("+1"), (vec![], false));
        assert_eq!(ids("99999999999999999999"), (vec![], false));
        assert!(Visible::parse("1,3,8", 8).note().contains("'8'"));
    }

    /// aclrtGetDeviceCount#03
    #[test]
    fn repeated_and_falling_ids_show_no_device() {
        assert_eq!(ids("1,1"), (vec![], false));
        assert_eq!(ids("0,3,2"), (vec![], false));
    }

    #[test]
    fn ids_map_both_ways() {
        let visible = Visible::parse("1,4", 8);
        assert_eq!((visible.logic(0), visible.logic(1)), (1, 4));
        assert_eq!(
            (visible.user(1), visible.user(4), visible.user(0), visible.user(-1)),
            (Some(0), Some(1), None, None)
        );
    }
}
