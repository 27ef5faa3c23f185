//! `${…}`: the forms that neither assign, nor follow a name, nor evaluate.

/// What `${…}` stands for.
pub(super) enum Parameter<'a> {
    /// The variable's own value.
    Plain(&'a str),
    /// Something made of it.
    Changed(&'a str),
}

/// Reads the inside of `${…}` if it neither assigns, nor follows a name, nor evaluates.
pub(super) fn parameter(body: &str) -> Option<Parameter<'_>> {
    if let Some(name) = body.strip_prefix('#') {
        return (!name.is_empty() && leading_name(name) == name)
            .then_some(Parameter::Changed(name));
    }
    let name = leading_name(body);
    let rest = body.strip_prefix(name).filter(|_| !name.is_empty())?;
    let substring = |text: &str| text.chars().all(|c| c.is_ascii_digit() || ": -".contains(c));
    match rest.strip_prefix(':') {
        _ if rest.is_empty() => Some(Parameter::Plain(name)),
        Some(after) if after.starts_with(['-', '+']) || substring(after) => {
            Some(Parameter::Changed(name))
        }
        Some(_) => None,
        None => rest
            .starts_with(['-', '+', '%', '#', '/', '^', ','])
            .then_some(Parameter::Changed(name)),
    }
}

pub(super) fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let name = text.get(..end).unwrap_or_default();
    if name.starts_with(|c: char| c.is_ascii_digit()) { "" } else { name }
}
