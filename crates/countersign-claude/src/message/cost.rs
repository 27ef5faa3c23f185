//! Costs as people read them.

/// Writes a cost in US dollars with four decimals: `$0.0234`.
///
/// A cost too small to show is not shown as free: `<$0.0001`.
pub fn format_cost(usd: f64) -> String {
    if usd > 0.0 && usd < 0.000_05 { "<$0.0001".to_owned() } else { format!("${usd:.4}") }
}
