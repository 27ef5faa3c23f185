use proptest::prelude::*;

use super::*;

#[test]
fn a_name_is_kept_in_ascii_and_lower_case() {
    let named = |url: &str, name: &str| check(url, &UrlHost::Named(name.to_owned()));
    named("https://EXAMPLE.COM./a", "example.com");
    named("https://example.com:8443/?u=evil.example", "example.com");
    named("https://modelcontextprotocol.io.evil.example/", "modelcontextprotocol.io.evil.example");
    named("https://bücher.example/", "xn--bcher-kva.example");
    named("https://аpple.com/", "xn--pple-43d.com");
    named("https://example.com/a@b", "example.com");
}

#[test]
fn what_is_near_is_private_however_it_is_written() {
    for url in [
        "http://2130706433/",
        "http://0x7f.1/",
        "http://127.1:4096/x",
        "http://0177.0.0.1",
        "http://0/",
        "http://localhost:4096/session",
        "http://app.localhost/",
        "http://printer.local/",
        "http://vault.corp.internal/",
        "http://intranet/",
        "http://10.0.0.1/",
        "http://172.31.255.255/",
        "http://192.168.1.1/",
        "http://169.254.1.1/",
        "http://100.64.0.1/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[64:ff9b::127.0.0.1]/",
        "http://[2002:7f00:1::]/",
        "http://[fe80::1]/",
        "http://[fd12::1]/",
    ] {
        let host = UrlHost::from_url(url).unwrap();
        assert!(matches!(host, UrlHost::Private(_)), "{url}: {host:?}");
    }
}

#[test]
fn credentials_of_the_cloud_are_known_however_they_are_asked_for() {
    for url in [
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[fd00:ec2::254]/",
        "http://Metadata.Google.Internal./",
        "http://①⑥⑨.254.169.254/",
    ] {
        let host = UrlHost::from_url(url).unwrap();
        assert!(matches!(host, UrlHost::Metadata(_)), "{url}: {host:?}");
    }
}

#[test]
fn the_rest_of_the_addresses_is_public() {
    check("http://1.1.1.1/", &UrlHost::Public("1.1.1.1".parse().unwrap()));
    check("http://[2606:4700::1111]/", &UrlHost::Public("2606:4700::1111".parse().unwrap()));
    assert_eq!(
        UrlHost::from_url("http://[2606:4700::1111]/").unwrap().to_string(),
        "[2606:4700::1111]"
    );
}

#[test]
fn what_parsers_disagree_on_is_refused() {
    for url in [
        "https://docs.python.org\\@evil.example/",
        "https://evil.example\0.google.com/",
        "https://exam\nple.com/",
        " https://example.com/",
        "https://user:word@example.com/",
        "https://@example.com/",
        "https:example.com",
        "https:///example.com",
        "https://exam\u{200b}ple.com/",
        "https://a..b/",
        "example.com",
        "",
    ] {
        assert!(UrlHost::from_url(url).is_err(), "{url:?}");
    }
    for url in ["file:///etc/passwd", "ftp://example.com/", "gopher://x/", "data:text/html,x"] {
        assert!(matches!(UrlHost::from_url(url), Err(UrlError::Scheme(_))), "{url}");
    }
}

#[test]
fn addresses_are_read_as_the_c_library_does() {
    for host in [
        "169.254.169.254",
        "2852039166",
        "0xA9FEA9FE",
        "0251.0376.0251.0376",
        "169.254.43518",
        "[::ffff:169.254.169.254]",
        "::ffff:a9fe:a9fe",
        "169.254.169.254:80",
        "metadata.google.internal",
        "[fd00:ec2::254]",
    ] {
        assert!(is_metadata(host), "{host}");
    }
    for host in ["1.2.3.4", "localhost", "example.com", "2130706433", "", ".", "1..2", "4294967296"]
    {
        assert!(!is_metadata(host), "{host}");
    }
}

proptest! {
    #[test]
    fn no_text_breaks_the_reading(text in ".*", host in "[a-zA-Z0-9.:@\\[\\]-]{0,20}") {
        let _ = UrlHost::from_url(&text);
        let _ = UrlHost::from_url(&format!("http://{host}/"));
        let _ = is_metadata(&host);
    }
}

#[track_caller]
fn check(url: &str, host: &UrlHost) {
    assert_eq!(UrlHost::from_url(url).as_ref(), Ok(host), "{url}");
}
