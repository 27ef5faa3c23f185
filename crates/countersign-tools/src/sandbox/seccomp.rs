//! The second fence, for system calls: what no command of an agent needs, and what opens ways out.
//!
//! It names what is closed and leaves the rest: a list of what is open would break programs nobody
//! has thought of. What is closed says `EPERM`, as it would to somebody without the right to it.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op,
    SeccompCondition as Condition, SeccompFilter, SeccompRule as Rule, TargetArch,
};

type SyscallRules = BTreeMap<i64, Vec<Rule>>;
type SeccompResult<T> = Result<T, seccompiler::BackendError>;

/// Other processes, mounts, namespaces, the kernel itself, keys, and ways around all of these.
const CLOSED: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

#[cfg(target_arch = "x86_64")]
const CLOSED_HERE: &[i64] = &[
    libc::SYS_ioperm,
    libc::SYS_iopl,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS__sysctl,
    // Some calls have a second number in the x32 way of calling.
    521, // ptrace
    528, // kexec_load
    539, // process_vm_readv
    540, // process_vm_writev
];
#[cfg(not(target_arch = "x86_64"))]
const CLOSED_HERE: &[i64] = &[];

/// Programs that find these missing use something older that can be looked into.
const MISSING: &[i64] = &[libc::SYS_clone3, libc::SYS_openat2];

/// Families of sockets that stay within the sandbox's own network.
const FAMILIES: &[i32] = &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
/// The same, with sockets that are files.
const FAMILIES_AND_UNIX: &[i32] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Which families of sockets a child may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SocketFamilies {
    /// It has a network of its own: what it opens leads nowhere. Sockets that are files would: no
    /// mount keeps anybody from connecting to one that can be seen.
    Apart,
    /// The same, where Landlock keeps it from sockets that are files elsewhere.
    ApartAndUnix,
    /// It shares the network: it opens none.
    None,
}

/// Closes the calls for this process and all it starts, for good.
pub(super) fn close(sockets: SocketFamilies) -> Result<(), seccompiler::Error> {
    let missing = MISSING.iter().map(|call| (*call, Vec::new())).collect();
    let missing = filter(missing, libc::ENOSYS)?;
    let closed = filter(closed_syscall_rules(sockets)?, libc::EPERM)?;
    seccompiler::apply_filter(&missing)?;
    seccompiler::apply_filter(&closed)
}

fn filter(mut rules: SyscallRules, errno: i32) -> SeccompResult<BpfProgram> {
    // The same calls can be made in the x32 way, by numbers with one more bit.
    if cfg!(target_arch = "x86_64") {
        let twins: Vec<_> =
            rules.iter().map(|(call, rules)| (call | 0x4000_0000, rules.clone())).collect();
        rules.extend(twins);
    }
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    let refused = SeccompAction::Errno(errno.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)?.try_into()
}

fn closed_syscall_rules(sockets: SocketFamilies) -> SeccompResult<SyscallRules> {
    let mut rules: SyscallRules =
        CLOSED.iter().chain(CLOSED_HERE).map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_socket, families(sockets)?);
    rules.insert(libc::SYS_socketpair, loose_pairs()?);
    rules.insert(libc::SYS_clone, namespaces()?);
    rules.extend(devices()?);
    rules.extend(set_id()?);
    // A terminal that could be typed into.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX];
    let typing = typing.iter().map(|request| one(1, Length::Dword, Op::Eq, *request));
    rules.insert(libc::SYS_ioctl, typing.collect::<SeccompResult<_>>()?);
    Ok(rules)
}

/// Sockets of any other family: of machines above this one (vsock), of devices, of the kernel.
fn families(sockets: SocketFamilies) -> SeccompResult<Vec<Rule>> {
    let open = match sockets {
        SocketFamilies::Apart => FAMILIES,
        SocketFamilies::ApartAndUnix => FAMILIES_AND_UNIX,
        SocketFamilies::None => return Ok(Vec::new()),
    };
    let other = open
        .iter()
        .map(|family| Condition::new(0, Length::Dword, Op::Ne, u64::from(family.unsigned_abs())));
    Ok(vec![Rule::new(other.collect::<SeccompResult<_>>()?)?])
}

/// Pairs of sockets of which one can be sent elsewhere later. Those of streams stay together.
fn loose_pairs() -> SeccompResult<Vec<Rule>> {
    // The kernel takes a raw one for one of datagrams.
    let kinds = [libc::SOCK_DGRAM, libc::SOCK_RAW].map(|kind| u64::from(kind.unsigned_abs()));
    kinds.iter().map(|kind| one(1, Length::Dword, Op::MaskedEq(0xf), *kind)).collect()
}

fn namespaces() -> SeccompResult<Vec<Rule>> {
    let flags = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let set = |flag: &i32| {
        let flag = u64::from(flag.unsigned_abs());
        one(0, Length::Qword, Op::MaskedEq(flag), flag)
    };
    flags.iter().map(set).collect()
}

/// Nodes of devices, and files made with the bits of [`set_id`].
fn devices() -> SeccompResult<SyscallRules> {
    let node = |at: u8| -> SeccompResult<Vec<Rule>> {
        let kinds = [libc::S_IFCHR, libc::S_IFBLK].map(u64::from);
        let kinds = kinds.map(|kind| (u64::from(libc::S_IFMT), kind));
        let bits = [libc::S_ISUID, libc::S_ISGID].map(|bit| (u64::from(bit), u64::from(bit)));
        let masks = kinds.into_iter().chain(bits);
        masks.map(|(mask, value)| one(at, Length::Dword, Op::MaskedEq(mask), value)).collect()
    };
    let mut rules = SyscallRules::from([(libc::SYS_mknodat, node(2)?)]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_mknod, node(1)?);
    Ok(rules)
}

/// Files that give whoever starts them the rights of their owner: they would outlive the sandbox.
fn set_id() -> SeccompResult<SyscallRules> {
    let bits = [u64::from(libc::S_ISUID), u64::from(libc::S_ISGID)];
    let with_bit = |at: u8| -> SeccompResult<Vec<Rule>> {
        bits.iter().map(|bit| one(at, Length::Dword, Op::MaskedEq(*bit), *bit)).collect()
    };
    // The mode of a file that is opened counts only if it is made.
    let made_with_bit = |flags: u8, mode: u8| -> SeccompResult<Vec<Rule>> {
        let create = u64::from(libc::O_CREAT.unsigned_abs());
        let rule = |bit: &u64| {
            Rule::new(vec![
                Condition::new(flags, Length::Dword, Op::MaskedEq(create), create)?,
                Condition::new(mode, Length::Dword, Op::MaskedEq(*bit), *bit)?,
            ])
        };
        bits.iter().map(rule).collect()
    };
    let mut rules = SyscallRules::from([
        (libc::SYS_fchmod, with_bit(1)?),
        (libc::SYS_fchmodat, with_bit(2)?),
        (libc::SYS_fchmodat2, with_bit(2)?),
        (libc::SYS_openat, made_with_bit(2, 3)?),
    ]);
    #[cfg(target_arch = "x86_64")]
    rules.extend([
        (libc::SYS_chmod, with_bit(1)?),
        (libc::SYS_creat, with_bit(1)?),
        (libc::SYS_open, made_with_bit(1, 2)?),
    ]);
    Ok(rules)
}

fn one(argument: u8, length: Length, op: Op, value: u64) -> SeccompResult<Rule> {
    Rule::new(vec![Condition::new(argument, length, op, value)?])
}
