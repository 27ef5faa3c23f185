//! Who gets a place, and who gives way.

use std::net::Ipv4Addr;

use super::*;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));

fn table(per_address: usize, in_all: usize) -> Arc<ConnectionTable> {
    let undisturbed = Duration::ZERO;
    ConnectionTable::new(ConnectionLimits {
        per_address,
        in_all,
        undisturbed,
        ..ConnectionLimits::default()
    })
}

#[tokio::test]
async fn the_connection_that_is_quiet_longest_gives_way() {
    let table = table(2, 9);
    let first = table.admit(HERE).await.unwrap();
    let second = table.admit(HERE).await.unwrap();
    first.begin_request();
    first.finish_request();
    let third = table.admit(HERE).await.unwrap();
    assert!(second.closing.is_cancelled());
    assert!(!first.closing.is_cancelled() && !third.closing.is_cancelled());
}

#[tokio::test]
async fn an_address_that_has_all_its_places_takes_none_of_another() {
    let table = table(1, 9);
    let there = table.admit(THERE).await.unwrap();
    let first = table.admit(HERE).await.unwrap();
    let _second = table.admit(HERE).await.unwrap();
    assert!(first.closing.is_cancelled() && !there.closing.is_cancelled());
}

#[tokio::test]
async fn whatever_is_being_answered_keeps_its_place() {
    let table = table(9, 1);
    let busy = table.admit(HERE).await.unwrap();
    busy.begin_request();
    assert!(table.admit(THERE).await.is_none());
    assert!(!busy.closing.is_cancelled());
    // It waits for a person, after it has shown a credential.
    busy.set_aside();
    assert!(table.admit(THERE).await.is_some());
}

#[tokio::test]
async fn a_new_connection_is_left_the_time_to_say_what_it_wants() {
    let limits = ConnectionLimits { in_all: 1, ..ConnectionLimits::default() };
    let table =
        ConnectionTable::new(ConnectionLimits { undisturbed: Duration::from_hours(1), ..limits });
    let young = table.admit(HERE).await.unwrap();
    let (admitted, ()) = tokio::join!(table.admit(HERE), async { drop(young) });
    assert!(admitted.is_some());
}

#[test]
fn a_network_of_ipv6_counts_as_one_address() {
    let address = |text: &str| counted_address(text.parse().unwrap());
    assert_eq!(address("2001:db8::1"), address("2001:db8::ffff:2"));
    assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));
    assert_eq!(address("::ffff:127.0.0.1"), HERE);
}
